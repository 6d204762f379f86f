"""Generalised orthogonal matching pursuit in plain NumPy on the materialised features, the same algorithm as ours."""

import time

import numpy as np

from gaussian_features import feature_tuples, in_threads, standardise, timing
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

    Written in tiles of rows, so that the inputs of a tile stay in the cache while they are multiplied with
    one another, and the tiles are spread over threads.
    """
    rows, inputs = x.shape
    features = np.empty((1 + inputs + inputs * (inputs + 1) // 2, rows))

    def make_tile(first):
        tile = np.ascontiguousarray(x[first : first + TILE_ROWS].T)  # [inputs x tile]
        out = features[:, first : first + TILE_ROWS]
        envelope = out[0]
        np.exp(np.einsum("jn,jn->n", tile, tile) / (-2 * sigma**2), out=envelope)
        np.multiply(tile, envelope / sigma, out=out[1 : 1 + inputs])
        row = 1 + inputs
        for i in range(inputs):
            left = tile[i] * envelope / sigma**2
            np.multiply(tile[i] / np.sqrt(2), left, out=out[row])  # a! = 2 for a square
            np.multiply(tile[i + 1 :], left, out=out[row + 1 : row + inputs - i])
            row += inputs - i

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
