#!/usr/bin/env python3
"""Errors by number of terms for each way to select, on the automatic dictionary, as a Markdown table.

    repro/selection.py DATA_FOLDER [--sets year,news] [--terms 10,20] [--out results.json]

DATA_FOLDER has the public data sets as described in the README. The ridge of every fit is chosen by 2-fold
cross-validation on the training rows. With --out, results that are in the file already are not computed again.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build" / "mfga"
SETS = {
    "year": ["--train", "year/train.csv", "--test", "year/test.csv", "--header", "no", "--target", "0"],
    "news": ["--train", "news/train.csv", "--test", "news/test.csv", "--target", "shares"],
    "adult": ["--train", "adult/adult.data", "--test", "adult/adult.test", "--comment", "|"],
    "epileptic": [
        *("--train", "epileptic/train_by_recording.csv", "--test", "epileptic/test_by_recording.csv"),
        *("--target", "seizure", "--ignore", "recording"),
    ],
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
    command = [TOOL, "train", *arguments, *RIDGES, *rule, "--terms", str(terms), "--per-step", str(max(1, terms // STEPS))]
    run = subprocess.run([*map(str, command), "--json", "--quiet"], stdout=subprocess.PIPE, check=True, text=True)
    report = json.loads(run.stdout)
    test = report["test"]
    classes = report["task"] == "classification"
    return {
        "error": test["error_percent"] if classes else test["rmse"],
        "log_loss": test.get("log_loss"),
        "ridge": report["ridge"],
        "terms": report["terms"],
        "seconds": report["seconds"]["total"],
    }


def save(results, path):
    if path is None:
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        json.dump(results, file, indent=1)
    os.replace(file.name, path)


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
    results = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.exists() else {}
    for name in sets:
        for size in sizes:
            for rule, options in RULES.items():
                key = f"{name} {rule} {size}"
                if key not in results:
                    results[key] = train(arguments.data, SETS[name], size, options)
                    save(results, arguments.out)
                print(f"{key}: {results[key]}", file=sys.stderr, flush=True)
    print(table(results, sets, sizes))


if __name__ == "__main__":
    main()
