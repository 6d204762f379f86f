"""What the learners on a materialised dictionary have in common: scikit-learn's PolynomialFeatures with the Gaussian's
envelope multiplied in, centred.

Centring features and target is what an intercept without penalty comes to. Columns are contiguous (order="F"), as the
learners want them; what PolynomialFeatures leaves to do is spread over threads.
"""

import time

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from gaussian_features import chosen_features, envelope_and_centre, feature_tuples, timing
from machine import peak_memory_mib


def learn(job, choose):
    """choose(features, target, terms) returns the coefficients of all features; it may overwrite them."""
    table = np.load(job["file"])
    x, y = table[:, :-1], table[:, -1]
    clock = [time.perf_counter()]
    z = StandardScaler().fit_transform(x)
    clock.append(time.perf_counter())
    features = PolynomialFeatures(2, order="F").fit_transform(z)
    envelope_and_centre(features, z, job["sigma"])
    clock.append(time.perf_counter())
    coefficients = choose(features, y - y.mean(), job["terms"])
    clock.append(time.perf_counter())
    peak_mib = peak_memory_mib()

    # The error is that of the coefficients on features made anew.
    tuples = feature_tuples(x.shape[1])
    chosen = np.flatnonzero(coefficients)
    atoms = [tuples[j] for j in chosen]
    residual = y - chosen_features(z, job["sigma"], atoms) @ coefficients[chosen]
    return {
        **timing(clock),
        "mse": float(residual.var()),
        "atoms": atoms,
        "peak_mib": peak_mib,
    }
