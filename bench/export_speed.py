#!/usr/bin/env python3
"""What exported models cost: size and time of the C code beside boosted trees, and a million rows beside `predict`.

    ./dev python bench/export_speed.py [--quick]

The trees are scikit-learn's GradientBoostingRegressor with as many trees as have the error of the model, or all of
them, written as nested conditions in C, as m2cgen does. Sizes are those of the text section with `cc -Os`.
"""

import argparse
import ctypes
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from mfga import MFGARegressor

COLUMNS = 10
LOOP = """
void predict_rows(const double *x, long rows, double *out) {{
  for (long i = 0; i < rows; ++i) out[i] = {function}(x + {columns} * i);
}}
"""


def friedman1(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(rows, COLUMNS))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y + rng.normal(size=rows)


def rmse(truth, predictions):
    return float(np.mean((truth - predictions) ** 2) ** 0.5)


def seconds(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class CompiledModel:
    """C code of a function of the row, for size as it is and for speed with a loop over rows."""

    def __init__(self, folder, name, code, function):
        source = folder / f"{name}.c"
        source.write_text(code)
        small = folder / f"{name}.o"
        subprocess.run(["cc", "-std=c99", "-Os", "-c", source, "-o", small], check=True)
        sizes = subprocess.run(["size", small], check=True, capture_output=True, text=True).stdout.split()
        self.bytes = int(sizes[6])  # below "text", after the six titles
        source.write_text(code + LOOP.format(function=function, columns=COLUMNS))
        fast = folder / f"{name}.so"
        subprocess.run(["cc", "-std=c99", "-O3", "-shared", "-fPIC", source, "-o", fast, "-lm"], check=True)
        self.library = ctypes.CDLL(str(fast))

    def predict(self, x):
        out = np.empty(len(x))
        pointer = ctypes.POINTER(ctypes.c_double)
        self.library.predict_rows(x.ctypes.data_as(pointer), ctypes.c_long(len(x)), out.ctypes.data_as(pointer))
        return out


def trees_with_error(x, y, test_x, test_y, error):
    """As few as have this error on the test rows; all of them if none do."""
    trees = GradientBoostingRegressor(max_leaf_nodes=8, max_depth=None, n_estimators=400, random_state=0).fit(x, y)
    errors = [rmse(test_y, predictions) for predictions in trees.staged_predict(test_x)]
    count = next((i for i, own in enumerate(errors, 1) if own <= error), len(errors))
    trees.estimators_ = trees.estimators_[:count]
    trees.n_estimators_ = trees.n_estimators = count
    return trees


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats, to see that it works")
    quick = parser.parse_args().quick
    rows, repeats = (20000, 3) if quick else (1_000_000, 7)
    x, y = friedman1(2000 if quick else 15000, 0)
    test_x, test_y = friedman1(20000, 1)
    many, _ = friedman1(rows, 2)
    model = MFGARegressor(terms=10 if quick else 40).fit(x, y)
    error = rmse(test_y, model.predict(test_x))
    print(f"model of {len(model.terms_)} terms: test RMSE {error:.4f} (noise 1)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code = model.export("c")
        ours = CompiledModel(folder, "model", code, re.search(r"double (\w+_predict)\(", code)[1])
        np.testing.assert_allclose(ours.predict(test_x), model.predict(test_x), rtol=1e-6)
        own = seconds(lambda: model.predict(many), repeats)
        print(f"{rows} rows: predict {own:.3f} s, all cores")
        taken = seconds(lambda: ours.predict(many), repeats)
        print(f"  C: {ours.bytes} bytes of code, {1e9 * taken / rows:.0f} ns per row, {taken:.3f} s on one core")
        compare_onnx(model, many, test_x, repeats)
        compare_trees(folder, x, y, test_x, test_y, many, error, repeats)


def compare_onnx(model, many, test_x, repeats):
    import onnxruntime

    session = onnxruntime.InferenceSession(model.export("onnx"), providers=["CPUExecutionProvider"])
    run = lambda rows: session.run(["prediction"], {"X": rows})[0][:, 0]  # noqa: E731
    np.testing.assert_allclose(run(test_x.astype(np.float32)), model.predict(test_x), rtol=1e-4)
    single = many.astype(np.float32)
    print(f"  ONNX Runtime: {seconds(lambda: run(single), repeats):.3f} s, all cores")


def tree_as_c(tree, node=0):
    if tree.children_left[node] < 0:
        return repr(float(tree.value[node, 0, 0]))
    left, right = (tree_as_c(tree, child[node]) for child in (tree.children_left, tree.children_right))
    # The trees compare in single precision.
    return f"((float)x[{tree.feature[node]}] <= {float(tree.threshold[node])!r} ? {left} : {right})"


def trees_as_c(trees, x):
    lines = [f"  sum += {trees.learning_rate!r} * {tree_as_c(tree.tree_)};" for tree in trees.estimators_[:, 0]]
    start = float(trees.init_.predict(x[:1])[0])
    return "\n".join(["double score(const double *x) {", f"  double sum = {start!r};", *lines, "  return sum;", "}\n"])


def compare_trees(folder, x, y, test_x, test_y, many, error, repeats):
    trees = trees_with_error(x, y, test_x, test_y, error)
    compiled = CompiledModel(folder, "trees", trees_as_c(trees, x), "score")
    np.testing.assert_allclose(compiled.predict(test_x), trees.predict(test_x), rtol=1e-6)
    taken = seconds(lambda: compiled.predict(many), repeats)
    their_error = rmse(test_y, trees.predict(test_x))
    print(
        f"  boosted trees as C, {len(trees.estimators_)} of at most 8 leaves, test RMSE {their_error:.4f}: "
        f"{compiled.bytes} bytes of code, {1e9 * taken / len(many):.0f} ns per row"
    )


if __name__ == "__main__":
    main()
