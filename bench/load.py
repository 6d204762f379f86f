#!/usr/bin/env python3
"""Tables that are large in one way: each is learned from or refused with a message, within the memory that it may take.

  python3 bench/load.py --tool build/mfga [--memory 1000]

--memory: MiB of --memory-limit. The tool may not take more than that, beside the file itself, which is mapped. The table that it prints is that of docs/robustness.md.
"""

import argparse
import gzip
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time


def many_columns(folder):
    path = folder / "columns.csv"
    draw = random.Random(1)
    with open(path, "w") as file:
        for _ in range(40):
            file.write(",".join(f"{draw.random():.3f}" for _ in range(100_001)) + "\n")
    return path


def many_rows(folder):
    path = folder / "rows.csv"
    draw = random.Random(2)
    lines = "".join(f"{draw.random():.3f},{draw.random():.3f},{draw.random():.3f}\n" for _ in range(100_000))
    with open(path, "w") as file:
        file.write("a,b,y\n")
        for _ in range(100):
            file.write(lines)
    return path


def many_levels(folder):
    path = folder / "levels.csv"
    draw = random.Random(3)
    with open(path, "w") as file:
        file.write("a,id,y\n")
        for i in range(1_000_000):
            file.write(f"{draw.random():.3f},level{i},{draw.random():.3f}\n")
    return path


def long_lines(folder):
    path = folder / "lines.csv"
    with open(path, "w") as file:
        file.write("a,b,y\n")
        for i in range(3):
            file.write(f"{i}," + "x" * 100_000_000 + f",{i}\n")
    return path


def long_line_of_fields(folder):
    path = folder / "fields.csv"
    with open(path, "w") as file:
        for _ in range(2):
            file.write("1," * 50_000_000 + "1\n")
    return path


def open_quote(folder):
    path = folder / "quote.csv"
    with open(path, "w") as file:
        file.write('a,b,y\n1,"' + "2,3\n4,5," * 20_000_000)
    return path


def gzip_bomb(folder):
    path = folder / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"a,b,y\n")
        for _ in range(4000):
            file.write(b"1,2,3\n" * 200_000)
    return path


def huge_index(folder):
    path = folder / "index.libsvm"
    path.write_text("1 1:1 2147483647:1\n-1 2:1\n" * 50)
    return path


TABLES = {
    "100,000 columns, 40 rows": many_columns,
    "10,000,000 rows, 3 columns": many_rows,
    "1,000,000 levels of a text": many_levels,
    "3 lines of 100 MB": long_lines,
    "lines of 50,000,001 fields": long_line_of_fields,
    "a quote that does not end, 160 MB": open_quote,
    "gzip, 4.8 GB in a file of 5 MB": gzip_bomb,
    "LIBSVM with the feature 2147483647": huge_index,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", type=pathlib.Path, required=True)
    parser.add_argument("--memory", type=int, default=1000)
    parsed = parser.parse_args()
    bad = 0
    print("| table | file, MB | peak memory, MiB | processor s | |\n|---|---|---|---|---|", flush=True)
    # The peak of a process counts that of the one that started it, so tables are made by another.
    with tempfile.TemporaryDirectory() as folder, multiprocessing.Pool(1) as maker:
        for name, make in TABLES.items():
            path = maker.apply(make, [pathlib.Path(folder)])
            megabytes = path.stat().st_size / 1e6
            start = time.monotonic()
            process = subprocess.Popen(
                [parsed.tool, "train", path, "--features", "linear", "--terms", "3", "--tune", "no", "--quiet",
                 "--memory-limit", str(parsed.memory), "--model", pathlib.Path(folder) / "m.json"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
            message = process.stderr.read().strip()
            _, status, usage = os.wait4(process.pid, 0)
            code = os.waitstatus_to_exitcode(status)
            peak = usage.ru_maxrss / 1024
            what = "learned" if code == 0 else message.split(": ", 2)[-1]
            fine = code in (0, 1, 2, 3) and peak < parsed.memory + megabytes / 1.048576
            bad += not fine
            note = "" if fine else f" **BAD: exit code {code}, {time.monotonic() - start:.0f} s**"
            seconds = usage.ru_utime + usage.ru_stime
            print(f"| {name} | {megabytes:.0f} | {peak:.0f} | {seconds:.1f} | {what[:160]}{note} |", flush=True)
            path.unlink()
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
