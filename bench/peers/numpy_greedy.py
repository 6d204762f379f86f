"""Generalised orthogonal matching pursuit in plain NumPy on the materialised features, the same algorithm as ours."""

import time

import numpy as np

from gaussian_features import envelope, feature_tuples, in_threads, second_order, standardise, timing
from machine import peak_memory_mib

TILE_ROWS = 2048  # the fastest of 256 to all rows; also faster than features stored row by row


def run(job):
    table = np.load(job["file"])
    clock = [time.perf_counter()]
    x, y = standardise(table[:, :-1]), table[:, -1]
    clock.append(time.perf_counter())
    features = materialise(x, job["sigma"])
    clock.append(time.perf_counter())
    chosen, mse = learn(features, y, job["terms"], job["per_step"])
    clock.append(time.perf_counter())
    tuples = feature_tuples(x.shape[1])
    return {
        **timing(clock),
        "mse": mse,
        "atoms": [tuples[j] for j in chosen],
        "peak_mib": peak_memory_mib(),
    }


def materialise(x, sigma):
    """All features, one per row of the result, so that a chosen feature is contiguous. [features x rows]

    Written in tiles of rows, which are spread over threads.
    """
    rows, inputs = x.shape
    features = np.empty((len(feature_tuples(inputs)), rows))

    def make_tile(first):
        tile = np.ascontiguousarray(x[first : first + TILE_ROWS].T)
        factors = (1, 1 / sigma, 1 / sigma**2)
        second_order(tile, envelope(tile.T, sigma), factors, features[:, first : first + TILE_ROWS])

    in_threads(make_tile, range(0, rows, TILE_ROWS))
    return features


def learn(features, y, terms, per_step):
    """Returns the chosen features and the mean squared error."""
    rows = len(y)
    y = y - y.mean()
    # Row 0 is the intercept; the Gram matrix of these rows grows by a block per step.
    active = np.empty((1 + terms, rows))
    active[0] = 1
    gram = np.zeros((1 + terms, 1 + terms))
    gram[0, 0] = rows
    products = np.zeros(1 + terms)
    chosen = []
    residual = y
    while len(chosen) < terms:
        size = 1 + len(chosen)
        count = min(per_step, terms - len(chosen))
        correlation = np.abs(features @ residual)
        correlation[chosen] = -1
        best = np.argpartition(correlation, -count)[-count:]
        best = best[np.argsort(-correlation[best])]
        chosen.extend(best.tolist())

        new = slice(size, size + count)
        active[new] = features[best]
        gram[new, : size + count] = active[new] @ active[: size + count].T
        gram[:size, new] = gram[new, :size].T
        products[new] = active[new] @ y
        size += count
        residual = y - cholesky_solve(gram[:size, :size], products[:size]) @ active[:size]
    return chosen, float(residual @ residual) / rows


def cholesky_solve(matrix, right):
    """NumPy has no triangular solve; its general one costs nothing that matters at these sizes."""
    lower = np.linalg.cholesky(matrix)
    return np.linalg.solve(lower.T, np.linalg.solve(lower, right))
