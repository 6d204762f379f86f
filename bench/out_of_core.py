#!/usr/bin/env python3
"""What it costs to learn from a table that does not fit into memory.

    bench/out_of_core.py [--rows N] [--inputs N] [--memory-limit MIB] [--folder FOLDER] [--options OPTIONS] [--compare]

Makes a CSV table with `mfga generate` in the folder, trains with a memory limit, by default a tenth of its size, and
removes it. Reports the first pass, which reads the file and keeps the rows on disk, beside `wc -l` and, if it is installed, a
sum of all columns with polars' streaming engine; a later pass, which predicts all rows, beside reading a file of the
same size; and the peak memory. Before it is read, a file is dropped from the memory of the operating system. With
--compare it also trains with all rows in memory, and looks whether the models are the same.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build" / "mfga"


def forget(path):
    """Drop a file from the memory of the operating system."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def seconds_of(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def read_all(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


# In a process of its own: what a process holds counts as the peak memory of those that it starts.
SUM_WITH_POLARS = """
import sys, time
import polars
start = time.monotonic()
polars.scan_csv(sys.argv[1]).sum().collect(engine="streaming")
print(time.monotonic() - start)
"""


def polars_seconds(path):
    """Seconds to sum all columns; None: it is not installed."""
    done = subprocess.run([sys.executable, "-c", SUM_WITH_POLARS, str(path)], capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def train(table, options, model):
    command = [str(TOOL), "train", str(table), "--json", "--model", str(model), *options]
    processor = os.times()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    after = os.times()
    report = json.loads(done.stdout)
    report["processor"] = after.children_user + after.children_system - processor.children_user - processor.children_system
    return report


def on_disk(report):
    """The megabytes of the rows on disk."""
    found = re.search(r"rows are kept on disk: ([0-9.]+) MB", " ".join(report["remarks"]))
    return float(found.group(1)) if found else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--inputs", type=int, default=90)
    parser.add_argument("--memory-limit", type=int, help="MiB; default: a tenth of the table's size")
    parser.add_argument("--folder", default="/var/tmp", help="for the table and the rows on disk")
    parser.add_argument("--options", default="--terms 10 --ridge 1 --tune no --engine lazy --features 'linear + hinge(knots=4)'")
    parser.add_argument("--compare", action="store_true", help="train with all rows in memory as well")
    arguments = parser.parse_args()
    options = shlex.split(arguments.options)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        table = pathlib.Path(folder) / "table.csv"
        generate = [str(TOOL), "generate", "--rows", str(arguments.rows), "--inputs", str(arguments.inputs), "-o", str(table), "--quiet"]
        made = seconds_of(lambda: subprocess.run(generate, check=True))
        size = table.stat().st_size
        limit = arguments.memory_limit or max(1, size // 10 // (1 << 20))
        print(f"table: {arguments.rows} rows, {arguments.inputs} inputs, {size / 1e6:.0f} MB of CSV; made in {made:.0f} s", flush=True)
        forget(table)
        lines = seconds_of(lambda: subprocess.run(["wc", "-l", str(table)], check=True, stdout=subprocess.DEVNULL))
        print(f"wc -l: {lines:.1f} s, {size / 1e6 / lines:.0f} MB/s", flush=True)
        forget(table)
        summed = polars_seconds(table)
        print("polars does not run here" if summed is None else f"polars, sum of all columns, streaming: {summed:.1f} s", flush=True)
        forget(table)
        model = pathlib.Path(folder) / "model.json"
        report = train(table, [*options, "--memory-limit", str(limit), "--cache", folder], model)
        seconds = report["seconds"]
        kept = on_disk(report)
        print(f"memory limit: {limit} MiB; peak memory: {report['peak_rss_mib']:.0f} MiB; rows on disk: {kept:.0f} MB")
        print(f"first pass: {seconds['load']:.1f} s, {seconds['load'] / lines:.1f} times wc -l")
        print(f"fit: {seconds['fit']:.1f} s for {report['terms']} terms, {seconds['stability']:.1f} s to learn from each half again; all: {seconds['total']:.1f} s, {report['processor']:.1f} s of processors")
        print(f"one later pass (predictions of all rows): {seconds['predict']:.1f} s, {kept / max(seconds['predict'], 1e-9):.0f} MB/s from disk")
        if not arguments.compare:
            table.unlink()  # there may be no room for both
        sample = pathlib.Path(folder) / "sample"
        with open(sample, "wb") as file:
            piece = os.urandom(1 << 20)
            for _ in range(int(kept)):
                file.write(piece)
        forget(sample)
        reading = seconds_of(lambda: read_all(sample))
        print(f"reading a file of that size: {reading:.1f} s, {kept / reading:.0f} MB/s")
        if arguments.compare:
            in_memory = pathlib.Path(folder) / "memory.json"
            whole = train(table, options, in_memory)
            same = "the same model" if in_memory.read_bytes() == model.read_bytes() else "ANOTHER MODEL"
            print(
                f"in memory: {same}; first pass {whole['seconds']['load']:.1f} s, fit {whole['seconds']['fit']:.1f} s, "
                f"all {whole['seconds']['total']:.1f} s, {whole['processor']:.1f} s of processors, peak memory {whole['peak_rss_mib']:.0f} MiB"
            )


if __name__ == "__main__":
    main()
