#!/usr/bin/env python3
"""What Python costs: fits and predictions beside the command line's on the same numbers, and one row by itself.

    ./dev python bench/python_speed.py [--quick]

Fits alternate between the two; the tool's seconds are those of its report without reading and writing. On a machine
with other work CPU seconds tell more.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time
import timeit

import numpy as np

from mfga import MFGARegressor

PARTS_OF_A_FIT = ("prepare", "validate", "tune", "score", "fit", "leverage", "stability")


def make_table(rows, columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, columns))
    y = np.sin(2 * x[:, 0]) * x[:, 1] + np.maximum(0, x[:, 2]) + 0.3 * rng.normal(size=rows)
    return x, y


def tool_seconds(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments), "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["seconds"]


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare_fits(tool, folder, repeats, rows):
    x, y = make_table(rows, 20)
    np.save(folder / "train.npy", np.column_stack([x, y]))
    ours, tools, our_cpu, tool_cpu = [], [], [], []
    for _ in range(repeats):
        start, cpu = time.perf_counter(), time.process_time()
        model = MFGARegressor(terms=40).fit(x, y)
        ours.append(time.perf_counter() - start)
        our_cpu.append(time.process_time() - cpu)
        cpu = children_seconds()
        seconds = tool_seconds(tool, "train", folder / "train.npy", "--terms", 40, "--model", folder / "tool.json")
        tools.append(sum(seconds[part] for part in PARTS_OF_A_FIT))
        tool_cpu.append(children_seconds() - cpu)
    model.save(folder / "python.json")
    terms = [json.loads((folder / name).read_text())["terms"] for name in ("python.json", "tool.json")]
    if terms[0] != terms[1]:
        raise SystemExit("the two models differ")
    print(f"fit of {rows} rows x 20, the same model: Python {statistics.median(ours):.3f} s, tool "
          f"{statistics.median(tools):.3f} s, ratio {statistics.median(ours) / statistics.median(tools):.3f}; "
          "CPU, all of the tool's included, "
          f"{statistics.median(our_cpu):.2f} and {statistics.median(tool_cpu):.2f} s")


def compare_predictions(tool, folder, repeats, rows):
    x, y = make_table(20000, 90)
    model = MFGARegressor(terms=40, tune=False, features="linear + hinge + gaussian(order=2)", per_step=5).fit(x, y)
    many = make_table(rows, 90)[0]
    np.save(folder / "many.npy", many)
    model.save(folder / "model.json")
    ours, tools = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        model.predict(many)
        ours.append(time.perf_counter() - start)
        seconds = tool_seconds(tool, "predict", folder / "model.json", folder / "many.npy", "--output",
                               folder / "predicted.npy")
        tools.append(seconds["predict"])
    start = time.perf_counter()
    model._model.predictions(many)
    alone = time.perf_counter() - start
    print(f"predictions of {rows} rows x 90: Python {statistics.median(ours):.3f} s, of which the model {alone:.3f} s; "
          f"tool {statistics.median(tools):.3f} s, ratio {statistics.median(ours) / statistics.median(tools):.3f}")


def time_one_row():
    x, y = make_table(2000, 10)
    model = MFGARegressor(terms=40, tune=False).fit(x, y)
    row = x[:1].copy()
    calls = 200  # a few milliseconds: some of the repeats pass without other work between
    seconds = min(timeit.repeat(lambda: model.predict(row), number=calls, repeat=250)) / calls
    print(f"prediction of one row, {model.n_terms_} terms: {1e6 * seconds:.1f} microseconds")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default=pathlib.Path(__file__).parents[1] / "build" / "mfga")
    parser.add_argument("--quick", action="store_true", help="few rows, once")
    arguments = parser.parse_args()
    repeats, scale = (1, 0.01) if arguments.quick else (5, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare_fits(arguments.tool, folder, repeats, max(1000, int(20000 * scale)))
        compare_predictions(arguments.tool, folder, repeats, int(1000000 * scale))
    time_one_row()


if __name__ == "__main__":
    main()
