#!/usr/bin/env python3
"""Errors by number of terms for each way to select, on the automatic dictionary, as a Markdown table.

    repro/selection.py DATA_FOLDER [--sets year,news] [--terms 10,20] [--out results.json]

DATA_FOLDER has the public data sets as described in the README. The ridge of every fit is chosen by 2-fold
cross-validation on the training rows. An error is marked "+" or "-" where it is better or worse than that of `gradient`
by more than two standard errors of the difference, row by row of the test table; unmarked ones may differ by chance.
With --out, results that are in the file already are not computed again.
"""

import argparse
import csv
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

from tool_runs import PUBLIC_TABLES, TOOL, load_results, run_tool, save_results

SETS = {
    "year": PUBLIC_TABLES["year"].options(),
    "news": PUBLIC_TABLES["news"].options(),
    "adult": PUBLIC_TABLES["adult"].options(),
    "epileptic": PUBLIC_TABLES["epileptic by recording"].options(),
}
RULES = {
    "gradient": ["--select", "gradient"],
    "normalised": ["--select", "normalised"],
    "gain": ["--select", "gain"],
    "gain + refine": ["--select", "gain", "--refine"],
}
RIDGES = ["--ridge", "cv", "--folds", "2", "--ridges", "1e-4,1e-3,1e-2,0.1,1,10,100"]
STEPS = 20  # at least so many greedy steps, if there are so many terms


def value_after(options, name, default):
    return options[options.index(name) + 1] if name in options else default


def true_targets(data, options):
    comment = value_after(options, "--comment", "#")
    target = value_after(options, "--target", "-1")
    with open(data / value_after(options, "--test", None), newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row and not row[0].startswith(comment)]
    if target in rows[0]:
        return [row[rows[0].index(target)] for row in rows[1:]]
    return [row[int(target)] for row in rows]


def row_losses(data, options, model):
    """Of each test row: the square error, or 1 if the class is wrong."""
    command = [TOOL, "predict", model, data / value_after(options, "--test", None), "--quiet"]
    for name in ("--header", "--comment"):
        if name in options:
            command += [name, value_after(options, name, None)]
    run = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, check=True, text=True)
    predicted = [line.split(",")[-1] for line in run.stdout.splitlines()[1:]]
    truth = true_targets(data, options)
    if len(predicted) != len(truth):
        sys.exit(f"{len(predicted)} predictions for {len(truth)} rows of the test table")
    if all(label in ("0", "1") or not label[-1].isdigit() for label in predicted):
        return [float(p != t.rstrip(".")) for p, t in zip(predicted, truth)]
    return [(float(p) - float(t)) ** 2 for p, t in zip(predicted, truth)]


def train(data, options, terms, rule):
    """What is reported of one fit, and the losses of the test rows."""
    arguments = [str(data / value) if value.startswith(tuple(f"{name}/" for name in SETS)) else value for value in options]
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.json"
        size = ["--terms", terms, "--per-step", max(1, terms // STEPS)]
        report = run_tool("train", *arguments, "--tune", "no", *RIDGES, *rule, *size, "--model", model)
        losses = row_losses(data, options, model)
    test = report["test"]
    classes = report["task"] == "classification"
    mean = statistics.fmean(losses)
    error = test["error_percent"] if classes else test["rmse"]
    if not math.isclose(error, 100 * mean if classes else math.sqrt(mean), rel_tol=1e-6):
        sys.exit(f"the tool reports an error of {error}, its predictions have {mean}")
    result = {
        "error": error,
        "log_loss": test.get("log_loss"),
        "ridge": report["ridge"],
        "terms": report["terms"],
        "seconds": report["seconds"]["total"],
    }
    return result, losses


def standard_errors_apart(losses, base):
    """How far the mean loss is below that of `base`, in standard errors of the difference."""
    differences = [b - a for a, b in zip(losses, base)]
    deviation = statistics.stdev(differences)
    return statistics.fmean(differences) / (deviation / math.sqrt(len(differences))) if deviation > 0 else 0.0


def table(results, sets, sizes):
    lines = ["| data | rule | " + " | ".join(f"{size} terms" for size in sizes) + " |", "|---|---|" + "---|" * len(sizes)]
    for name in sets:
        for rule in RULES:
            cells = []
            for size in sizes:
                result = results.get(f"{name} {rule} {size}")
                if not result:
                    cells.append("")
                    continue
                apart = result["better_than_gradient"]
                mark = " +" if apart > 2 else " -" if apart < -2 else ""
                cells.append(f"{result['error']:.5g}{mark}")
            lines.append(f"| {name} | {rule} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--terms", default="10,20,40,100,400")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    sets = arguments.sets.split(",")
    unknown = [name for name in sets if name not in SETS]
    if unknown:
        parser.error(f"there is no data set {unknown[0]!r}; there are: {', '.join(SETS)}")
    if not TOOL.exists():
        parser.error("build/mfga is missing; run ./dev build")
    sizes = [int(size) for size in arguments.terms.split(",")]
    results = load_results(arguments.out)
    for name in sets:
        for size in sizes:
            if f"{name} gradient {size}" in results:
                continue
            row = {}
            base = None
            for rule, options in RULES.items():
                result, losses = train(arguments.data, SETS[name], size, options)
                base = base or losses
                result["better_than_gradient"] = standard_errors_apart(losses, base)
                row[f"{name} {rule} {size}"] = result
                print(f"{name} {rule} {size}: {result}", file=sys.stderr, flush=True)
            results.update(row)
            save_results(results, arguments.out)
    print(table(results, sets, sizes))


if __name__ == "__main__":
    main()
