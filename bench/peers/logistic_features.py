"""The dictionary of the logistic setting, materialised, and what is minimised there.

Features, each times sqrt(1/2), the weight of its kernel: the standardised inputs z, and exp(-|z|^2 / 2 s^2) times 1 and
z_i / s. What is minimised: the sum of log(1 + exp(-y f)), y = -1 or +1, plus ridge |theta|^2; the intercept is free.
"""

import time

import numpy as np

from gaussian_features import envelope
from machine import peak_memory_mib


def learn(job, choose):
    """choose(features, y, terms, ridge) returns the coefficients of all features and the intercept."""
    table = np.load(job["file"])
    x, y = table[:, :-1], table[:, -1]
    clock = [time.perf_counter()]
    features, atoms = materialise(x, job["sigma"])
    clock.append(time.perf_counter())
    coefficients, intercept = choose(features, y, job["terms"], job["ridge"])
    clock.append(time.perf_counter())
    peak_mib = peak_memory_mib()
    losses = np.logaddexp(0, -y * (features @ coefficients + intercept))
    return {
        "seconds": clock[2] - clock[0],
        "parts": {"prepare": clock[1] - clock[0], "learn": clock[2] - clock[1]},
        "objective": float(losses.sum() + job["ridge"] * coefficients @ coefficients),
        "atoms": [atoms[j] for j in np.flatnonzero(coefficients)],
        "peak_mib": peak_mib,
    }


def materialise(x, sigma):
    """[rows x features], columns contiguous; and the atoms: the input's number, with G if the envelope multiplies it."""
    used = np.flatnonzero(x.max(axis=0) > x.min(axis=0))
    z = np.array(x[:, used], order="F")
    z -= z.mean(axis=0)
    z /= z.std(axis=0)
    weight = envelope(z, sigma) * np.sqrt(0.5)
    inputs = len(used)
    features = np.empty((len(x), 2 * inputs + 1), order="F")
    np.multiply(z, np.sqrt(0.5), out=features[:, :inputs])
    features[:, inputs] = weight
    np.multiply(z, (weight / sigma)[:, None], out=features[:, inputs + 1 :])
    return features, [f"x{j}" for j in used] + ["G"] + [f"x{j} G" for j in used]
