"""What the machine can do at most: matrix products with NumPy's BLAS, and memory traffic, on all cores."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from machine import available_cores


def measure(job):
    return {
        "gemm_double": gemm(np.float64, job["order"]),
        "gemm_single": gemm(np.float32, job["order"]),
        "bandwidth": triad(job["megabytes"]),
        "numpy": np.__version__,
        "blas": blas_name(),
    }


def blas_name():
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"


def fastest(function, repeats=7):
    function()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def gemm(dtype, order):
    """Operations per second of a square matrix product."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((order, order)).astype(dtype) for _ in range(2))
    out = np.empty_like(a)
    return 2 * order**3 / fastest(lambda: np.matmul(a, b, out=out))


def triad(megabytes):
    """Bytes per second of a = b + s c, counted as STREAM does: two arrays read, one written."""
    size = megabytes * 2**20 // 24
    a, b, c = np.zeros(size), np.ones(size), np.ones(size)
    piece = 2**14  # a piece of a stays in the cache between its two operations
    pieces = [slice(first, first + piece) for first in range(0, size, piece)]
    cores = available_cores()

    def work(part):
        for where in pieces[part::cores]:
            np.multiply(c[where], 3.0, out=a[where])
            np.add(a[where], b[where], out=a[where])

    with ThreadPoolExecutor(cores) as pool:
        return 24 * size / fastest(lambda: list(pool.map(work, range(cores))))
