"""A trained model's predictions by scikit-learn: StandardScaler, PolynomialFeatures, LinearRegression.

In chunks of rows, which are spread over threads. The envelope, one factor per row, multiplies the linear model's result.
"""

import json
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads are across chunks

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from gaussian_features import envelope, feature_scales, feature_tuples, in_threads
from machine import peak_memory_mib

CHUNK_ROWS = 512  # 256 to 4096 differ by a tenth, less than the noise of measuring them


def run(job):
    with open(job["model"]) as file:
        model = json.load(file)
    inputs = len(model["inputs"])
    scaler = StandardScaler()
    scaler.mean_ = np.array([each["mean"] for each in model["inputs"]])
    scaler.scale_ = np.array([each["deviation"] for each in model["inputs"]])
    scaler.n_features_in_ = inputs
    polynomials = PolynomialFeatures(2, order="F").fit(np.zeros((1, inputs)))
    linear = LinearRegression()
    linear.coef_, sigma = coefficients(model)
    linear.intercept_ = 0.0

    start = time.perf_counter()
    table = np.load(job["file"], mmap_mode="r")
    predictions = np.empty(len(table))

    def predict(first):
        z = scaler.transform(table[first : first + CHUNK_ROWS])
        scores = linear.predict(polynomials.transform(z))
        predictions[first : first + CHUNK_ROWS] = model["intercept"] + envelope(z, sigma) * scores

    in_threads(predict, range(0, len(table), CHUNK_ROWS))
    np.save(job["output"], predictions)
    return {"seconds": time.perf_counter() - start, "peak_mib": peak_memory_mib()}


def coefficients(model):
    """Of all polynomials, and the kernel's width."""
    names = {each["name"]: i for i, each in enumerate(model["inputs"])}
    tuples = {atom: j for j, atom in enumerate(feature_tuples(len(names)))}
    sigma = model["terms"][0]["sigma"]
    result = np.zeros(len(tuples))
    for term in model["terms"]:
        powers = zip(term["inputs"], term["exponents"])
        atom = tuple(sorted(names[name] for name, power in powers for _ in range(power)))
        result[tuples[atom]] = term["coefficient"]
    return result * feature_scales(len(names), sigma), sigma
