#!/usr/bin/env python3
"""Errors by number of terms for each way to select, on the automatic dictionary, as a Markdown table.

    repro/selection.py DATA_FOLDER [--sets year,news] [--terms 10,20] [--out results.json]

DATA_FOLDER has the public data sets as described in the README. The ridge of every fit is chosen by 2-fold
cross-validation on the training rows. With --out, results that are in the file already are not computed again.
"""

import argparse
import pathlib
import sys

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


def train(data, options, terms, rule):
    arguments = [str(data / value) if value.startswith(tuple(f"{name}/" for name in SETS)) else value for value in options]
    report = run_tool("train", *arguments, *RIDGES, *rule, "--terms", terms, "--per-step", max(1, terms // STEPS))
    test = report["test"]
    classes = report["task"] == "classification"
    return {
        "error": test["error_percent"] if classes else test["rmse"],
        "log_loss": test.get("log_loss"),
        "ridge": report["ridge"],
        "terms": report["terms"],
        "seconds": report["seconds"]["total"],
    }


def table(results, sets, sizes):
    lines = ["| data | rule | " + " | ".join(f"{size} terms" for size in sizes) + " |", "|---|---|" + "---|" * len(sizes)]
    for name in sets:
        for rule in RULES:
            cells = []
            for size in sizes:
                result = results.get(f"{name} {rule} {size}")
                cells.append(f"{result['error']:.5g}" if result else "")
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
            for rule, options in RULES.items():
                key = f"{name} {rule} {size}"
                if key not in results:
                    results[key] = train(arguments.data, SETS[name], size, options)
                    save_results(results, arguments.out)
                print(f"{key}: {results[key]}", file=sys.stderr, flush=True)
    print(table(results, sets, sizes))


if __name__ == "__main__":
    main()
