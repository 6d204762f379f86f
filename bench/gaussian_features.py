"""The dictionary of the settings with second-order features, materialised:

    phi_a(x) = exp(-|x|^2 / 2 s^2) x^a / (s^|a| sqrt(a!)),   |a| <= 2,

of standardised inputs x, in the order of scikit-learn's PolynomialFeatures.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from machine import available_cores


def feature_tuples(inputs):
    """The inputs that each feature multiplies."""
    first = [()] + [(i,) for i in range(inputs)]
    return first + [(i, j) for i in range(inputs) for j in range(i, inputs)]


def feature_scales(inputs, sigma):
    """1 / (s^|a| sqrt(a!)) of each feature."""
    return np.array(
        [sigma ** -len(a) / (2**0.5 if len(a) == 2 and a[0] == a[1] else 1) for a in feature_tuples(inputs)]
    )


def envelope(z, sigma):
    return np.exp(np.einsum("nj,nj->n", z, z) / (-2 * sigma**2))


def second_order(tile, weight, factors, out):
    """weight * factors[|a|] / sqrt(a!) * x^a for all |a| <= 2, in the order of feature_tuples. [features x rows]

    The tile [inputs x rows] is small enough to stay in the cache while inputs are multiplied with one another.
    """
    inputs = len(tile)
    np.multiply(weight, factors[0], out=out[0])
    np.multiply(tile, weight * factors[1], out=out[1 : 1 + inputs])
    row = 1 + inputs
    for i in range(inputs):
        left = tile[i] * weight * factors[2]
        np.multiply(tile[i] / np.sqrt(2), left, out=out[row])  # a! = 2 for a square
        np.multiply(tile[i + 1 :], left, out=out[row + 1 : row + inputs - i])
        row += inputs - i


def standardise(x):
    z = x - x.mean(axis=0)
    z /= np.sqrt(np.einsum("nj,nj->j", z, z) / len(z))
    return z


def in_threads(function, items):
    """NumPy's element-wise operations use one core each, but leave Python free meanwhile."""
    with ThreadPoolExecutor(available_cores()) as pool:
        list(pool.map(function, items))


def envelope_and_centre(polynomials, z, sigma):
    """Makes centred features, in place, of PolynomialFeatures' columns (Fortran order)."""
    weight = envelope(z, sigma)
    scales = feature_scales(z.shape[1], sigma)

    def finish(j):
        column = polynomials[:, j]
        np.multiply(column, weight, out=column)
        np.multiply(column, scales[j], out=column)
        np.subtract(column, column.mean(), out=column)

    in_threads(finish, range(polynomials.shape[1]))


def chosen_features(z, sigma, atoms):
    """The features of these tuples only, not centred. [rows x atoms]"""
    weight = envelope(z, sigma)
    columns = np.empty((len(z), len(atoms)), order="F")
    for column, atom in zip(columns.T, atoms):
        column[:] = weight
        for i in atom:
            column *= z[:, i] / sigma
        if len(atom) == 2 and atom[0] == atom[1]:
            column /= np.sqrt(2)
    return columns


def timing(clock):
    """What a run on a materialised dictionary took, from the times before and after each of its parts."""
    names = ("prepare", "materialise", "learn")
    return {
        "seconds": clock[-1] - clock[0],
        "parts": {name: end - begin for name, begin, end in zip(names, clock, clock[1:])},
    }
