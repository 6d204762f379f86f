"""scikit-learn's random features, kernel ridge regression and support vector machine, on standardised inputs.

gamma = 1 / (2 sigma^2) makes its Gaussian kernel ours.
"""

import time

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from machine import peak_memory_mib


def load(job):
    table = np.load(job["file"])
    return table[:, :-1], table[:, -1]


def random_features(job):
    x, y = load(job)
    start = time.perf_counter()
    fit_random_features(StandardScaler().fit_transform(x), y, job, job["seed"])
    return {"seconds": time.perf_counter() - start, "peak_mib": peak_memory_mib()}


def random_features_r2(job):
    """Mean and standard error over seeds."""
    x, y = load(job)
    z = StandardScaler().fit_transform(x)
    scores = []
    for seed in range(job["seeds"]):
        sampler, ridge = fit_random_features(z, y, job, seed)
        scores.append(ridge.score(sampler.transform(z), y))
    return {
        "mean": float(np.mean(scores)),
        "standard_error": float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
    }


def fit_random_features(z, y, job, seed):
    sampler = RBFSampler(gamma=1 / (2 * job["sigma"] ** 2), n_components=job["terms"], random_state=seed)
    # Its features are ours times sqrt(2 / M), so the same penalty has a smaller ridge.
    ridge = Ridge(alpha=2 * job["ridge"] / job["terms"], solver="cholesky", copy_X=False)
    ridge.fit(sampler.fit_transform(z), y)
    return sampler, ridge


def kernel_ridge(job):
    x, y = load(job)
    start = time.perf_counter()
    z = StandardScaler().fit_transform(x)
    machine = KernelRidge(kernel="rbf", gamma=1 / (2 * job["sigma"] ** 2), alpha=job["ridge"]).fit(z, y)
    seconds = time.perf_counter() - start
    # (K + ridge I) a = y, so the residuals are ridge a.
    return {
        "seconds": seconds,
        "peak_mib": peak_memory_mib(),
        "mse": float(np.mean((job["ridge"] * machine.dual_coef_) ** 2)),
    }


def support_vectors(job):
    x, y = load(job)
    start = time.perf_counter()
    scaler = StandardScaler()
    z = scaler.fit_transform(x)
    # Its C multiplies the loss, our ridge twice half the norm.
    machine = SVC(C=1 / (2 * job["ridge"]), gamma=1 / (2 * job["sigma"] ** 2), cache_size=1000).fit(z, y)
    seconds = time.perf_counter() - start
    peak_mib = peak_memory_mib()
    test = np.load(job["test"])
    accuracy = machine.score(scaler.transform(test[:, :-1]), test[:, -1])
    return {"seconds": seconds, "peak_mib": peak_mib, "accuracy": float(accuracy)}
