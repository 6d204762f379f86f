"""A trained model's predictions in NumPy, tuned by hand: the terms of second order are a quadratic form, one product with
a matrix of inputs x inputs per tile of rows; tiles are spread over threads."""

import json
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads are across tiles

import numpy as np

from gaussian_features import feature_tuples, in_threads
from machine import peak_memory_mib
from peers.sklearn_predict import coefficients

TILE_ROWS = 1024  # 512 to 4096 differ little; 128 and 16384 are slower


def run(job):
    with open(job["model"]) as file:
        model = json.load(file)
    mean = np.array([each["mean"] for each in model["inputs"]])
    deviation = np.array([each["deviation"] for each in model["inputs"]])
    inputs = len(mean)
    weights, sigma = coefficients(model)
    form = np.zeros((inputs, inputs))
    for atom, weight in zip(feature_tuples(inputs), weights):
        if len(atom) == 2:
            form[atom] = weight
    constant, linear = weights[0], weights[1 : 1 + inputs]

    start = time.perf_counter()
    table = np.load(job["file"], mmap_mode="r")
    predictions = np.empty(len(table))

    def predict(first):
        z = table[first : first + TILE_ROWS] - mean
        z /= deviation
        scores = np.einsum("nj,nj->n", z @ form, z) + z @ linear + constant
        scores *= np.exp(np.einsum("nj,nj->n", z, z) / (-2 * sigma**2))
        predictions[first : first + TILE_ROWS] = scores + model["intercept"]

    in_threads(predict, range(0, len(table), TILE_ROWS))
    np.save(job["output"], predictions)
    return {"seconds": time.perf_counter() - start, "peak_mib": peak_memory_mib()}
