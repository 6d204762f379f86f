#!/usr/bin/env python3
"""Compares the defaults of mfga with gradient boosted trees, exact kernels and the paper, as Markdown tables.

    repro/ours.py DATA_FOLDER [--sets year,news] [--out results.json] [--only ours]

DATA_FOLDER has the public data sets as described in the README. All methods have the same training and test rows, and
choose what they choose on the training rows. With --out, results that are in the file already are not computed again,
except those of --only. Needs scikit-learn and pandas: `./dev ours` has them.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
from functools import partial

import pandas

import ours_report
from ours_report import KERNEL, OURS, TREES, TUNED_TREES, our_key
from ours_tables import OTHER_CASES, PAPER_CASES
from tool_runs import TOOL, Stopwatch, load_results, run_tool, save_results
from trees import measure_trees

ALL_CASES = [*PAPER_CASES, *OTHER_CASES]
METHODS = [OURS, TREES, TUNED_TREES, KERNEL]
KERNEL_METHODS = ["gk", "glk"]
KERNEL_FOLDS = 2
MOST_KERNEL_ROWS = 8000  # about as many as in the paper
PREDICTED_ROWS = 20000  # at least; the test rows are repeated until there are as many
PREDICTION_RUNS = 3
WHAT_IS_MEASURED = f"""\
Errors are those of the test rows; every choice is made on the training rows. The exact kernel is the better of GK and
GLK in a {KERNEL_FOLDS}-fold cross-validation, on at most {MOST_KERNEL_ROWS:,} rows drawn at random. The paper's figures
for year are of nine times as many rows. Fit: seconds from the table to the model, with all searches; for `mfga` (ours
and the exact kernels) the wall time of `mfga train` on all cores, with reading and its checks; for trees one thread,
the table in memory. CPU: the same in seconds of all processors, which say more where others use the machine. Per row:
microseconds on one thread for rows in memory, at least {PREDICTED_ROWS:,} of them, the best of {PREDICTION_RUNS} runs;
for `mfga` what `mfga predict` reports for the prediction itself, for trees `predict`. Bytes: the model file, the
pickled trees. What took several splits is a mean over them.
"""


def ours_options(terms):
    """All that the tool is told beside where the table is: the rest are its defaults."""
    return ["--terms", terms]


def kernel_options(method, rows):
    return [
        *("--method", method, "--ridge", "cv", "--folds", KERNEL_FOLDS, "--ridges", "1e-3,0.01,0.1,1,10,100"),
        *("--subsample", min(1, MOST_KERNEL_ROWS / rows)),
    ]


def repeats_for_prediction(rows):
    return -(-PREDICTED_ROWS // rows)


def write_repeated(source, target, repeats, has_names):
    """The rows of a text table, repeated."""
    lines = pathlib.Path(source).read_text().splitlines(keepends=True)
    head, body = (lines[:1], lines[1:]) if has_names else ([], lines)
    with open(target, "w") as file:
        file.writelines(head)
        for _ in range(repeats):
            file.writelines(body)


def measure_tool(split, options):
    """One model of the tool, and what it reports of its training."""
    files = split.files
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, table = folder / "model.json", folder / "table"
        training = ["--train", files.train, *files.format_options(), *files.column_options()]
        stopwatch = Stopwatch()
        report = run_tool("train", *training, *options, "--model", model)
        seconds = stopwatch.seconds()
        evaluation = run_tool("evaluate", model, files.test, *files.format_options())
        if evaluation["rows"] != len(split.test_target):
            sys.exit(f"{files.test}: {evaluation['rows']} rows for mfga, {len(split.test_target)} for scikit-learn")
        write_repeated(files.test, table, repeats_for_prediction(len(split.test_target)), files.has_names())
        prediction = ["predict", model, table, *files.format_options(), "--threads", 1, "--output", folder / "out.csv"]
        predictions = [run_tool(*prediction) for _ in range(PREDICTION_RUNS)]
        result = {
            "metrics": evaluation["metrics"],
            "bytes": model.stat().st_size,
            **seconds,
            "microseconds_per_row": 1e6 * min(run["seconds"]["predict"] / run["rows"] for run in predictions),
            "terms": report["terms"],
            "ridge": report["ridge"],
        }
    return result, report


def measure_ours(split, terms):
    return measure_tool(split, ours_options(terms))[0]


def measure_kernel(split):
    """The kernel that is better in the cross-validation; the seconds are of both, since both are tried."""
    tried = {
        method: measure_tool(split, kernel_options(method, len(split.train_target))) for method in KERNEL_METHODS
    }
    best = min(tried, key=lambda method: tried[method][1]["cross_validation"]["chosen"]["mean"])
    seconds = {name: sum(result[name] for result, _ in tried.values()) for name in ("fit_seconds", "fit_cpu_seconds")}
    return {**tried[best][0], **seconds, "method": best.upper()}


def measure_peer_trees(split, scoring, tuned):
    repeated = pandas.concat([split.test_inputs] * repeats_for_prediction(len(split.test_inputs)), ignore_index=True)
    return measure_trees(split, scoring, tuned, repeated, PREDICTION_RUNS)


def over_splits(results):
    """Means of the numbers of all splits, beside the results of each."""
    numbers = [name for name, value in results[0].items() if isinstance(value, (int, float))]
    summary = {name: statistics.fmean(result[name] for result in results) for name in numbers}
    names = [name for name, value in results[0]["metrics"].items() if isinstance(value, (int, float))]
    summary["metrics"] = {name: statistics.fmean(result["metrics"][name] for result in results) for name in names}
    methods = {result["method"] for result in results if "method" in result}
    return {**summary, "method": ", ".join(sorted(methods)), "splits": results}


def jobs_of(case, methods):
    """By the name of a result: the function that measures it on a split."""
    jobs = {}
    if OURS in methods:
        for terms in case.at_most:
            jobs[our_key(terms)] = partial(measure_ours, terms=terms)
    for method in (TREES, TUNED_TREES):
        if method in methods:
            jobs[method] = partial(measure_peer_trees, scoring=case.measure.scoring, tuned=method == TUNED_TREES)
    if KERNEL in methods:
        jobs[KERNEL] = measure_kernel
    return jobs


def run_job(case, measure_split, data):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for split in case.make_splits(data, folder):
            result = measure_split(split)
            results.append({"error": case.measure.error(result["metrics"], split), **result})
    return over_splits(results)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(case.name for case in ALL_CASES)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", metavar="A,B", help=f"only these tables of: {names}")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="results to go on with")
    parser.add_argument("--only", choices=METHODS, help="compute this method again, and no other")
    parser.add_argument("--no-kernels", action="store_true", help="do not compute exact kernels")
    arguments = parser.parse_args()
    arguments.sets = [case.name for case in ALL_CASES] if arguments.sets is None else arguments.sets.split(",")
    unknown = set(arguments.sets) - {case.name for case in ALL_CASES}
    if unknown:
        parser.error(f"there is no table {unknown.pop()!r}; there are: {names}")
    if not TOOL.exists():
        parser.error("build/mfga is missing; run ./dev build")
    return arguments


def main():
    arguments = parse_arguments()
    methods = [arguments.only] if arguments.only else METHODS
    if arguments.no_kernels:
        methods = [method for method in methods if method != KERNEL]
    results = load_results(arguments.out)
    for case in ALL_CASES:
        if case.name not in arguments.sets:
            continue
        for key, measure_split in jobs_of(case, methods).items():
            of_case = results.setdefault(case.name, {})
            if arguments.only or key not in of_case:
                of_case[key] = run_job(case, measure_split, arguments.data)
                save_results(results, arguments.out)
            shown = {name: of_case[key][name] for name in ("error", "fit_seconds")}
            print(f"{case.name}, {key}: {shown}", file=sys.stderr, flush=True)
    chosen = [[case for case in cases if case.name in arguments.sets] for cases in (PAPER_CASES, OTHER_CASES)]
    print(WHAT_IS_MEASURED)
    print(ours_report.as_markdown(results, *chosen))


if __name__ == "__main__":
    main()
