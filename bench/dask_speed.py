#!/usr/bin/env python3
"""What a cluster of Dask costs: a fit on LocalCluster beside the command line's of the same rows, and beside XGBoost.

    ./dev python bench/dask_speed.py [--rows N] [--inputs N] [--terms N] [--workers N] [--repeats N]

Fits alternate. The table is in the memory of the workers before a fit begins, and the tool's seconds are those of its
report without reading and writing. Processor seconds, which tell more on a machine with other work, are those of all
workers, or of the tool with all that it does. XGBoost is compared if it is installed where this runs
(build/python/bin/pip install xgboost). Errors are those of other rows of the same kind.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import dask
import dask.array as da
import distributed
import numpy as np
from inputs import regression_table
from python_speed import PARTS_OF_A_FIT, children_seconds

from mfga.dask import MFGARegressor

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build" / "mfga"
PARAMETERS = {"features": "gaussian(order=2)", "ridge": 1, "tune": False}
OPTIONS = ("--features", "gaussian(order=2)", "--ridge", 1, "--tune", "no")
TEST_PART = 10  # one row of so many is for the errors


def rows_of_file(path, first, last):
    return np.load(path, mmap_mode="r")[first:last].copy()


def held_by_workers(client, path, rows, columns, blocks):
    """The table as an array in the memory of the workers."""
    edges = [rows * block // blocks for block in range(blocks + 1)]
    parts = [
        da.from_delayed(dask.delayed(rows_of_file)(path, first, last), (last - first, columns), np.float64)
        for first, last in itertools.pairwise(edges)
    ]
    workers = sorted(client.nthreads())
    places = [workers[block * len(workers) // blocks] for block in range(blocks)]
    table = da.concatenate([client.persist(part, workers=[place]) for part, place in zip(parts, places, strict=True)])
    x, y = client.persist([table[:, :-1], table[:, -1]])
    distributed.wait([x, y])
    return x, y


def measured(client, action):
    """Seconds, and processor seconds of all workers."""
    before = client.run(time.process_time)
    start = time.perf_counter()
    result = action()
    seconds = time.perf_counter() - start
    after = client.run(time.process_time)
    return result, seconds, sum(after.values()) - sum(before.values())


def fit_by_tool(table, terms, workers, model):
    """With as many threads as the workers have together."""
    command = [TOOL, "train", table, "--target", -1, "--terms", terms, *OPTIONS, "--threads", workers, "--json"]
    used = children_seconds()
    done = subprocess.run([*map(str, command), "--model", str(model)], check=True, capture_output=True, text=True)
    seconds = json.loads(done.stdout)["seconds"]
    return sum(seconds[part] for part in PARTS_OF_A_FIT), children_seconds() - used


def boosted(client, x, y, test):
    """Trees with their defaults, and more and smaller steps: fit, and error on the other rows."""
    try:
        from xgboost import dask as xgboost
    except ImportError:
        print("XGBoost is not installed here")
        return
    for settings in ({}, {"n_estimators": 400, "learning_rate": 0.1}):
        trees = xgboost.DaskXGBRegressor(tree_method="hist", **settings)
        trees.client = client
        _, seconds, processor = measured(client, lambda trees=trees: trees.fit(x, y))
        predicted = trees.get_booster().inplace_predict(test[:, :-1])
        show(f"XGBoost, {settings or 'defaults'}", seconds, processor, rmse(predicted, test))


def rmse(predicted, test):
    return float(np.sqrt(np.mean((predicted - test[:, -1]) ** 2)))


def show(name, seconds, processor, error):
    print(f"{name}: {seconds:.1f} s, {processor:.1f} processor s, RMSE of other rows {error:.4f}", flush=True)


def compare(folder, arguments):
    rows, terms, workers = arguments.rows, arguments.terms, arguments.workers
    everything = folder / "all.npy"
    more = rows + rows // TEST_PART
    regression_table({"rows": more, "inputs": arguments.inputs, "seed": 0, "file": everything})
    table = np.load(everything, mmap_mode="r")
    train, test = folder / "train.npy", np.array(table[rows:])
    np.save(train, table[:rows])
    del table
    everything.unlink()
    with (
        distributed.LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        x, y = held_by_workers(client, train, rows, arguments.inputs + 1, 4 * workers)
        on_dask, by_tool = [], []
        for _ in range(arguments.repeats):
            model = MFGARegressor(terms=terms, **PARAMETERS)
            on_dask.append(measured(client, lambda model=model: model.fit(x, y))[1:])
            by_tool.append(fit_by_tool(train, terms, workers, folder / "tool.json"))
        model.save(folder / "dask.json")
        terms_of = [json.loads((folder / name).read_text())["terms"] for name in ("dask.json", "tool.json")]
        if terms_of[0] != terms_of[1]:
            raise SystemExit("the two models differ")
        error = rmse(model.predict(test[:, :-1]), test)
        print(f"{rows} rows x {arguments.inputs}, {model.n_terms_} terms, {workers} workers of a thread each")
        medians = [[statistics.median(run[k] for run in runs) for k in (0, 1)] for runs in (on_dask, by_tool)]
        show("mfga on Dask", *medians[0], error)
        show("mfga train, the same model", *medians[1], error)
        print(f"Dask over the tool: {medians[0][0] / medians[1][0]:.2f} of the seconds")
        boosted(client, x, y, test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=463_715, help="default: those of the Year data")
    parser.add_argument("--inputs", type=int, default=90)
    parser.add_argument("--terms", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    with tempfile.TemporaryDirectory() as folder:
        compare(pathlib.Path(folder), parser.parse_args())


if __name__ == "__main__":
    main()
