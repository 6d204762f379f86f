#!/usr/bin/env python3
"""What checkpoints cost: seconds of fits with and without one, its size, and how much of a killed fit is done again.

    bench/checkpoint_cost.py TABLE... [--every SECONDS] [--repeats N] [--options OPTIONS]

Fits of each table, whose target is `target`, alternate: without a checkpoint, and with one written every so many
seconds. Seconds are those of the report, without reading and writing tables and models. Then a fit is killed when it
has taken half of its time, and goes on: `twice` is what was computed a second time, as a part of the whole fit.
"""

import argparse
import json
import pathlib
import shlex
import signal
import statistics
import subprocess
import tempfile
import time

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build" / "mfga"


def command(table, options):
    return [str(TOOL), "train", str(table), "--target", "target", "--json", *options]


def fit_seconds(report):
    seconds = report["seconds"]
    return seconds["total"] - seconds["load"] - seconds["predict"] - seconds["save"]


def run(table, options):
    done = subprocess.run(command(table, options), check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def largest_size(table, options, path):
    """Run a fit and look at its checkpoint now and then."""
    largest = 0
    process = subprocess.Popen(command(table, options), stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            largest = max(largest, path.stat().st_size)
        except FileNotFoundError:
            pass
        time.sleep(0.002)
    return largest


def part_done_twice(table, options, path, whole):
    """Kill a fit at half of its time; then compare the seconds of both runs with those of one."""
    process = subprocess.Popen(command(table, options), stdout=subprocess.DEVNULL)
    start = time.monotonic()
    time.sleep(whole / 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed_after = time.monotonic() - start
    start = time.monotonic()
    resumed = run(table, options)["seconds"]["resumed"]
    return (killed_after - resumed) / whole, resumed / whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=pathlib.Path)
    parser.add_argument("--every", default="10")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--options", default="", help="of every fit, such as '--tune no --terms 100'")
    arguments = parser.parse_args()
    plain = shlex.split(arguments.options)
    print("| table | seconds | with checkpoints, of that | largest file, KiB | twice |")
    print("|---|---:|---:|---:|---:|")
    for table in arguments.tables:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "checkpoint"
            kept = [*plain, "--checkpoint", str(path), "--checkpoint-every", arguments.every, "--resume"]
            pairs = [(fit_seconds(run(table, plain)), fit_seconds(run(table, kept))) for _ in range(arguments.repeats)]
            start = time.monotonic()
            size = largest_size(table, kept, path)
            whole = time.monotonic() - start
            twice, _ = part_done_twice(table, kept, path, whole)
        seconds = statistics.median(without for without, _ in pairs)
        ratio = statistics.median(with_one / without for without, with_one in pairs)
        name = table.name.split(".")[0]
        print(f"| {name} | {seconds:.2f} | {ratio:.3f} | {size / 1024:.0f} | {twice:.2f} |", flush=True)


if __name__ == "__main__":
    main()
