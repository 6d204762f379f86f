"""What the setting `defaults` needs of repro/: its tables, and trees. Runs in a process of its own."""

import os
import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "repro"))

from ours import ours_options
from ours_tables import CASES_FOR_RULES, CLASSES_CASES, LARGE_CASES, OTHER_CASES, PAPER_CASES
from trees import measure_trees

RUNS_OF_TREES = 3
GROUPS = {"paper": PAPER_CASES, "other": OTHER_CASES, "rules": CASES_FOR_RULES, "classes": CLASSES_CASES, "large": LARGE_CASES}


def case_named(name):
    return next(case for cases in GROUPS.values() for case in cases if case.name == name)


def tables(_):
    """The names of all tables with their groups, and the numbers of terms."""
    return {"tables": [(group, case.name, list(case.at_most)) for group, cases in GROUPS.items() for case in cases]}


def make_split(job):
    """The files of the split with this number, or of the last one if there are fewer; and what the tool is told."""
    case = case_named(job["table"])
    for number, split in enumerate(case.make_splits(Path(job["data"]), job["folder"])):
        if number == job["number"]:
            break
    Path(job["pickle"]).write_bytes(pickle.dumps(split))
    files = split.files
    return {
        "split": number,
        "train": ["--train", files.train, *files.format_options(), *files.column_options()],
        "test": [files.test, *files.format_options()],
        "options": {terms: list(map(str, ours_options(terms))) for terms in case.at_most},
        "metric": case.measure.metric,
        "unit": case.measure.error({case.measure.metric: 1.0}, split),  # of the metric, in that of the error
        "title": case.measure.title,
    }


def trees(job):
    """With their defaults on all cores, the fastest of some runs, for beside other work their threads wait for one another;
    tuned, where the error counts and not the time, on one."""
    case = case_named(job["table"])
    split = pickle.loads(Path(job["pickle"]).read_bytes())
    threads = 1 if job["tuned"] else len(os.sched_getaffinity(0))
    runs = 1 if job["tuned"] else RUNS_OF_TREES
    results = [
        measure_trees(split, case.measure.scoring, job["tuned"], split.test_inputs, 0, threads) for _ in range(runs)
    ]
    result = min(results, key=lambda one: one["fit_seconds"])
    if not job["tuned"]:  # without threads that wait
        alone = measure_trees(split, case.measure.scoring, False, split.test_inputs, 0, 1)
        result["fit_cpu_seconds"] = alone["fit_cpu_seconds"]
    return {
        "seconds": result["fit_seconds"],
        "cpu_seconds": result["fit_cpu_seconds"],
        "error": case.measure.error(result["metrics"], split),
    }
