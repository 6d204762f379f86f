#!/usr/bin/env python3
"""What exported models cost: size and time of the C code beside boosted trees, and a million rows beside `predict`.

    build/python/bin/pip install lightgbm m2cgen
    ./dev python bench/export_speed.py [TABLE] [--quick]

TABLE is a tab-separated file of numbers, the target last, half of whose rows are for the test; without one, Friedman's
first function. The trees are LightGBM's as C by m2cgen: as few as have the error of the model, or of 400 as many as
have the lowest. Without these packages they are left out. Sizes are those of the text section with `cc -Os`.
"""

import argparse
import ctypes
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas

from mfga import MFGARegressor

LOOP = """
void predict_rows(double *x, long rows, double *out) {{
  for (long i = 0; i < rows; ++i) out[i] = {function}(x + {columns} * i);
}}
"""


def friedman1(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(rows, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y + rng.normal(size=rows)


def rmse(truth, predictions):
    return float(np.mean((truth - predictions) ** 2) ** 0.5)


def seconds(function, repeats):
    """Time of the processor, so that other work on the machine matters less; all of it is on one thread."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


class CompiledModel:
    """C code of a function of the row, for size as it is and for speed with a loop over rows."""

    def __init__(self, folder, name, code, function, columns):
        source = folder / f"{name}.c"
        source.write_text(code)
        small = folder / f"{name}.o"
        subprocess.run(["cc", "-std=c99", "-Os", "-c", source, "-o", small], check=True)
        sizes = subprocess.run(["size", small], check=True, capture_output=True, text=True).stdout.split()
        self.bytes = int(sizes[6])  # below "text", after the six titles
        source.write_text(code + LOOP.format(function=function, columns=columns))
        fast = folder / f"{name}.so"
        subprocess.run(["cc", "-std=c99", "-O3", "-shared", "-fPIC", source, "-o", fast, "-lm"], check=True)
        self.library = ctypes.CDLL(str(fast))

    def predict(self, x):
        out = np.empty(len(x))
        pointer = ctypes.POINTER(ctypes.c_double)
        self.library.predict_rows(x.ctypes.data_as(pointer), ctypes.c_long(len(x)), out.ctypes.data_as(pointer))
        return out


def train_and_test(path, is_quick):
    """Rows to train on and rows to test with."""
    if path is None:
        return *friedman1(2000 if is_quick else 15000, 0), *friedman1(20000, 1)
    table = pandas.read_csv(path, sep="\t").to_numpy(dtype=float)
    order = np.random.default_rng(0).permutation(len(table))
    train, test = np.array_split(table[order], 2)
    return train[:, :-1], train[:, -1], np.ascontiguousarray(test[:, :-1]), test[:, -1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", help="tab-separated numbers, the target last")
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats, to see that it works")
    arguments = parser.parse_args()
    quick = arguments.quick
    rows, repeats = (20000, 3) if quick else (1_000_000, 3)
    x, y, test_x, test_y = train_and_test(arguments.table, quick)
    # The same rows over and over: their number matters, not their values.
    many = np.resize(test_x, (rows, x.shape[1]))
    model = MFGARegressor(terms=10 if quick else 40).fit(x, y).set_params(n_jobs=1)
    error = rmse(test_y, model.predict(test_x))
    print(f"{len(x)} training rows, {x.shape[1]} columns; model of {len(model.terms_)} terms: test RMSE {error:.5g}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code = model.export("c")
        # Only the columns that it needs are asked for.
        used = [int(column["name"].removeprefix("x")) for column in json.loads(model.export("json"))["columns"]]
        needed, test_needed = (np.ascontiguousarray(part[:, used]) for part in (many, test_x))
        ours = CompiledModel(folder, "model", code, re.search(r"double (\w+_predict)\(", code)[1], len(used))
        np.testing.assert_allclose(ours.predict(test_needed), model.predict(test_x), rtol=1e-6)
        own = seconds(lambda: model.predict(many), repeats)
        print(f"{rows} rows on one core: predict {own:.3f} s")
        taken = seconds(lambda: ours.predict(needed), repeats)
        print(f"  C: {taken:.3f} s, {1e9 * taken / rows:.0f} ns per row, {ours.bytes} bytes of code")
        compare_onnx(model, many, test_x, repeats)
        compare_trees(folder, x, y, test_x, test_y, many, error, repeats)


def compare_onnx(model, many, test_x, repeats):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.export("onnx"), options, providers=["CPUExecutionProvider"])
    run = lambda rows: session.run(["prediction"], {"X": rows})[0][:, 0]  # noqa: E731
    np.testing.assert_allclose(run(test_x.astype(np.float32)), model.predict(test_x), rtol=1e-4)
    single = many.astype(np.float32)
    print(f"  ONNX Runtime: {seconds(lambda: run(single), repeats):.3f} s")


def trees_with_error(x, y, test_x, test_y, error, most=400):
    """As few as have this error on the test rows; if none do, as many as have the lowest."""
    import lightgbm

    def fitted(count):
        return lightgbm.LGBMRegressor(num_leaves=8, n_estimators=count, n_jobs=1, verbose=-1).fit(x, y)

    trees = fitted(most)
    sums = np.zeros(len(test_x))
    errors = []
    for i in range(most):
        sums += trees.predict(test_x, start_iteration=i, num_iteration=1)
        errors.append(rmse(test_y, sums))
        if errors[-1] <= error:
            break
    count = int(np.argmin(errors)) + 1
    return fitted(count), count


def compare_trees(folder, x, y, test_x, test_y, many, error, repeats):
    try:
        import m2cgen

        sys.setrecursionlimit(100_000)  # it goes from tree to tree by calling itself
        trees, count = trees_with_error(x, y, test_x, test_y, error)
    except ImportError as problem:
        print(f"  no boosted trees: {problem}")
        return
    compiled = CompiledModel(folder, "trees", m2cgen.export_to_c(trees), "score", x.shape[1])
    np.testing.assert_allclose(compiled.predict(test_x), trees.predict(test_x), rtol=1e-6)
    taken = seconds(lambda: compiled.predict(many), repeats)
    their_error = rmse(test_y, trees.predict(test_x))
    print(
        f"  boosted trees as C, {count} of at most 8 leaves, test RMSE {their_error:.5g}: "
        f"{taken:.3f} s, {1e9 * taken / len(many):.0f} ns per row, {compiled.bytes} bytes of code"
    )


if __name__ == "__main__":
    main()
