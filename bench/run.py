#!/usr/bin/env python3
"""Compares the speed of mfga with that of its peers, and with what the machine can do.

Every run is a process of its own; ours and the peers alternate. A peer that gives another answer than ours, where both
solve the same problem, is an error and not a row. Prints one table and writes it as JSON and as a page.
"""

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path

import machine
import page
import report
from harness import Bench, say
from process import RunError
from settings import SETTINGS

ROOT = Path(__file__).resolve().parent.parent


def parse_arguments():
    lines = [f"  {setting.number}  {setting.title}" for setting in SETTINGS]
    parser = argparse.ArgumentParser(
        prog="./dev bench",
        description=__doc__,
        epilog="settings (sizes of the full run):\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", metavar="1,2,...", help="only these settings; default: all that have a number")
    parser.add_argument("--repeats", type=int, help="runs of each (fewer of the slow peers); 3, with --quick 1")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all works")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "bench", help="folder for bench.json, .html and .md; build/bench"
    )
    of_defaults = parser.add_argument_group("the setting `defaults`")
    of_defaults.add_argument(
        "--tables", type=lambda text: text.split(","), metavar="A,B", help="only these tables, or groups: paper,other,rules,classes,large"
    )
    of_defaults.add_argument("--splits", type=int, help="splits of each table, or seeds where it has one split; 3")
    of_defaults.add_argument("--no-tuned-trees", action="store_true", help="no tuned trees but those that an earlier run has kept")
    of_defaults.add_argument(
        "--train-options", type=shlex.split, default=[], metavar="TEXT", help='more options, e.g. "--effort quick"'
    )
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "mfga", help="the program mfga; build/mfga")
    arguments = parser.parse_args()
    if arguments.repeats is None:
        arguments.repeats = 1 if arguments.quick else 3
    elif arguments.repeats < 1:
        parser.error("--repeats must be at least 1")
    numbers = {str(setting.number) for setting in SETTINGS}
    usual = {str(setting.number) for setting in SETTINGS if not setting.by_itself}
    wanted = set(arguments.settings.split(",")) if arguments.settings is not None else usual
    if not wanted <= numbers:
        parser.error(f"--settings: expected some of {','.join(sorted(numbers))}, found {arguments.settings}")
    arguments.settings = [setting for setting in SETTINGS if str(setting.number) in wanted]
    if not arguments.tool.is_file():
        parser.error(f"there is no program {arguments.tool}; ./dev build makes it")
    return arguments


def data_folder():
    """Real data sets: MFGA_DATA, or ../shared/datasets beside the repository, if there."""
    candidates = [os.environ.get("MFGA_DATA"), ROOT.parent / "shared" / "datasets"]
    return next((Path(folder) for folder in candidates if folder and Path(folder).is_dir()), None)


def measure_peaks(bench):
    return bench.child(
        "peaks", "measure", order=1024 if bench.quick else 3072, megabytes=96 if bench.quick else 768
    )


def run_setting(setting, bench):
    title = setting.title + (f" (quick: {setting.quick})" if bench.quick else "")
    say(f"{setting.number}. {title}")
    load = machine.OtherLoad()
    start = time.monotonic()
    before = len(bench.errors)
    try:
        rows = setting.run(bench)
    except RunError as error:
        say(f"   error: {error}")
        bench.errors.append(str(error))
        rows = []
    return {
        "number": setting.number,
        "title": title,
        "short": setting.short,
        "timed": setting.timed,
        "rows": rows,
        "errors": [f"setting {setting.number}: {error}" for error in bench.errors[before:]],
        "busy": load.share(),
        "seconds": time.monotonic() - start,
    }


def main():
    arguments = parse_arguments()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mfga-bench-") as folder:
        bench = Bench(arguments.tool.resolve(), folder, arguments.quick, arguments.repeats, data_folder())
        bench.out = arguments.out
        bench.tables, bench.splits = arguments.tables, arguments.splits
        bench.tuned_trees, bench.train_options = not arguments.no_tuned_trees, arguments.train_options
        say("measuring the machine")
        bench.peaks = measure_peaks(bench)
        results = [run_setting(setting, bench) for setting in arguments.settings]
    outcome = {
        "machine": {
            "cpu": machine.cpu_model(),
            "cores": machine.available_cores(),
            **bench.peaks,
        },
        "quick": arguments.quick,
        "repeats": arguments.repeats,
        "date": time.strftime("%Y-%m-%d"),
        "seconds": time.monotonic() - start,
        "settings": results,
        "errors": [error for result in results for error in result["errors"]],
    }
    print(report.as_text(outcome))
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "bench.json").write_text(json.dumps(report.as_json(outcome), indent=2) + "\n")
    (arguments.out / "bench.html").write_text(page.as_html(outcome))
    (arguments.out / "bench.md").write_text(report.as_markdown(outcome))
    say(f"written: bench.json, bench.html and bench.md in {arguments.out}")
    return 1 if outcome["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
