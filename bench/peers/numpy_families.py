"""One gradient pass over the features of a family in NumPy: the features as a matrix, and its product with residuals.

Features are those of `mfga options`; where ours are drawn at random or depend on a sample of the rows, these are drawn
here, as many of the same kind. What does not depend on a row (knots, frequencies, landmarks) costs nothing.

Like the matrix of numpy_greedy, features are made in tiles of rows, and tiles are spread over threads. The product is
spread over threads as well, by features.
"""

import os
import statistics
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads are across tiles

import numpy as np

from gaussian_features import envelope, feature_tuples, in_threads, second_order, standardise
from machine import available_cores, peak_memory_mib

# The fastest of 256 to 16384: for functions of one or two inputs Python's own time counts, for projections the cache.
TILE_ROWS = 8192
PROJECTION_TILE_ROWS = 1024
PRODUCTS = 5  # of which the median counts


def run(job):
    table = np.load(job["file"])
    x, y = standardise(table[:, :-1]), table[:, -1]
    count, fill = FAMILIES[job["family"]](x, np.random.default_rng(1), **job["options"])
    inputs = np.ascontiguousarray(x.T)
    rows = PROJECTION_TILE_ROWS if job["family"] in PROJECTIONS else TILE_ROWS
    residual = y - y.mean()

    start = time.perf_counter()
    features = np.empty((count, len(y)))  # one per row, so that products are of contiguous numbers

    def make_tile(first):
        tile = np.ascontiguousarray(inputs[:, first : first + rows])
        fill(tile, features[:, first : first + rows])

    in_threads(make_tile, range(0, len(y), rows))
    made = time.perf_counter() - start

    products = []
    for _ in range(PRODUCTS):
        start = time.perf_counter()
        correlations = product(features, residual)
        products.append(time.perf_counter() - start)
    known = ATOMS[job["family"]](x.shape[1]) if job["family"] in ATOMS else None
    sizes = 2 * np.abs(correlations) / len(y)  # gradients of the mean squared error
    return {
        "seconds": made + statistics.median(products),
        "product": statistics.median(products),
        "features": count,
        "best": known[int(np.argmax(sizes))] if known else None,
        "largest": float(sizes.max()),
        "peak_mib": peak_memory_mib(),
    }


def product(features, residual):
    result = np.empty(len(features))
    parts = np.array_split(np.arange(len(features)), available_cores())

    def multiply(part):
        np.matmul(features[part[0] : part[-1] + 1], residual, out=result[part[0] : part[-1] + 1])

    in_threads(multiply, [part for part in parts if len(part)])
    return result


# Each family: (x, random, options) -> the number of features, and what writes them for a tile of rows:
# fill(tile[inputs x rows], out[features x rows]).


def linear(x, random):
    return x.shape[1], lambda tile, out: np.copyto(out, tile)


def polynomial(x, random):
    """Of degree 2: factors sqrt(2! / (2 - k)!) for products of k inputs."""

    def fill(tile, out):
        second_order(tile, np.ones(tile.shape[1]), (1, np.sqrt(2), np.sqrt(2)), out)

    return len(feature_tuples(x.shape[1])), fill


def gaussian(x, random, sigma):
    def fill(tile, out):
        second_order(tile, envelope(tile.T, sigma), (1, 1 / sigma, 1 / sigma**2), out)

    return len(feature_tuples(x.shape[1])), fill


def quantiles(x, count):
    """Of each input, [inputs x count]."""
    return np.quantile(x, np.arange(1, count + 1) / (count + 1), axis=0).T


def step(x, random, knots):
    positions = quantiles(x, knots)

    def fill(tile, out):
        for j, own in enumerate(positions):
            np.greater_equal(tile[j], own[:, None], out=out[j * knots : (j + 1) * knots])

    return x.shape[1] * knots, fill


def set_hinges(positions, tile, out):
    knots = positions.shape[1]
    for j, own in enumerate(positions):
        right, left = out[2 * j * knots : (2 * j + 1) * knots], out[(2 * j + 1) * knots : 2 * (j + 1) * knots]
        np.subtract(tile[j], own[:, None], out=right)
        np.subtract(own[:, None], tile[j], out=left)
    np.maximum(out, 0, out=out)


def hinge(x, random, knots, interactions):
    positions = quantiles(x, knots)
    inputs, own = x.shape[1], 2 * knots
    singles = inputs * own

    def fill(tile, out):
        hinges = np.empty((singles, tile.shape[1]))
        set_hinges(positions, tile, hinges)
        out[:singles] = hinges
        row = singles
        for h in range(singles - own):
            partners = hinges[(h // own + 1) * own :]
            np.multiply(partners, hinges[h], out=out[row : row + len(partners)])
            row += len(partners)

    if interactions == 1:
        return singles, lambda tile, out: set_hinges(positions, tile, out)
    return singles + own * own * inputs * (inputs - 1) // 2, fill


def spline(x, random, knots):
    """Cubic, all functions of an input at once."""
    degree = 3
    low, high = x.min(axis=0)[:, None], x.max(axis=0)[:, None]
    outside = np.arange(1, degree + 1) * (high - low) / (knots + 1)
    positions = np.hstack([low - outside[:, ::-1], low, quantiles(x, knots), high, high + outside])
    functions = knots + 1 + degree

    def fill(tile, out):
        for j, t in enumerate(positions):
            values = ((tile[j] >= t[:-1, None]) & (tile[j] < t[1:, None])).astype(np.float64)
            for d in range(1, degree + 1):
                weights = (tile[j] - t[:-d, None]) / (t[d:] - t[:-d])[:, None]
                values = weights[:-1] * values[:-1] + (1 - weights[1:]) * values[1:]
            out[j * functions : (j + 1) * functions] = values

    return x.shape[1] * functions, fill


def periodic(x, random, count):
    frequencies = 2 * np.pi * np.arange(1, count + 1) / (2 * (x.max(axis=0) - x.min(axis=0))[:, None])

    def fill(tile, out):
        for j, own in enumerate(frequencies):
            waves = out[2 * j * count : 2 * (j + 1) * count]
            angles = np.multiply.outer(own, tile[j])
            np.cos(angles, out=waves[:count])
            np.sin(angles, out=waves[count:])

    return 2 * count * x.shape[1], fill


def additive(x, random, order):
    zeros = x.min(axis=0)
    own = 2 * order + 1
    frequencies = 2 * np.pi / (5.86 * np.sqrt(order) + 3.65) * np.arange(1, order + 1)

    def fill(tile, out):
        for j, zero in enumerate(zeros):
            distances = np.maximum(1e-300, tile[j] - zero)
            features = out[own * j : own * (j + 1)]
            np.sqrt(distances, out=features[0])
            angles = np.multiply.outer(frequencies, np.log(distances))
            np.cos(angles, out=features[1 : 1 + order])
            np.sin(angles, out=features[1 + order :])
            features[1:] *= features[0]

    return own * x.shape[1], fill


def fourier(x, random, count, sigma):
    frequencies = random.standard_normal((count, x.shape[1])) / sigma
    phases = random.uniform(0, 2 * np.pi, (count, 1))

    def fill(tile, out):
        np.matmul(frequencies, tile, out=out)
        out += phases
        np.cos(out, out=out)

    return count, fill


def set_gaussians(centres, sigma, tile, out):
    """exp((<x, c> - |x|^2 / 2 - |c|^2 / 2) / s^2)"""
    np.matmul(centres / sigma**2, tile, out=out)
    out -= np.einsum("jn,jn->n", tile, tile) / (2 * sigma**2)
    out -= np.einsum("ij,ij->i", centres, centres)[:, None] / (2 * sigma**2)
    np.exp(out, out=out)


def landmark(x, random, count, sigma, kernel="gaussian"):
    centres = x[random.choice(len(x), count, replace=False)]

    def fill_laplace(tile, out):
        differences = np.empty_like(tile)
        for centre, values in zip(centres, out):
            np.subtract(tile, centre[:, None], out=differences)
            np.abs(differences, out=differences)
            np.add.reduce(differences, axis=0, out=values)
        out /= -sigma
        np.exp(out, out=out)

    def fill(tile, out):
        set_gaussians(centres, sigma, tile, out)

    return count, fill_laplace if kernel == "laplace" else fill


def nystrom(x, random, count, sigma):
    centres = x[random.choice(len(x), count, replace=False)]
    kernel = np.empty((count, count))
    set_gaussians(centres, sigma, np.ascontiguousarray(centres.T), kernel)
    values, vectors = np.linalg.eigh(kernel)
    weights = (vectors / np.sqrt(values)).T.copy()

    def fill(tile, out):
        columns = np.empty((count, tile.shape[1]))
        set_gaussians(centres, sigma, tile, columns)
        np.matmul(weights, columns, out=out)

    return count, fill


def maclaurin(x, random, count, sigma):
    """Products of N projections on random signs, N drawn with probability 2^-N; the constant is one of no projection."""
    orders = random.geometric(0.5, count - 1)
    starts = np.concatenate([[0], np.cumsum(orders)[:-1]])
    signs = random.choice([-1.0, 1.0], (orders.sum(), x.shape[1])) / sigma

    def fill(tile, out):
        out[0] = 1
        np.multiply.reduceat(signs @ tile, starts, axis=0, out=out[1:])

    return count, fill


def by_name(*functions):
    return {function.__name__: function for function in functions}


PROJECTIONS = by_name(fourier, landmark, nystrom, maclaurin)
FAMILIES = by_name(linear, polynomial, step, hinge, spline, periodic, additive, gaussian) | PROJECTIONS
# Where the features are ours: the inputs that each multiplies.
ATOMS = {
    "linear": lambda inputs: [(i,) for i in range(inputs)],
    "polynomial": feature_tuples,
    "gaussian": feature_tuples,
}
