#!/usr/bin/env python3
"""Lets the n-th call by which the tool asks the system for something fail, for one n after the other.

Every command is run once to count its calls of each kind and the places they come from (chains of callers), and
then once for the first call from each place, which fails: with an error code once, and for memory also from then
on. However it goes, the tool must end by itself, with 0 and the very files of the undisturbed run, or with 1, 2 or
3, a message, and the files that were there before; nothing else may be left in the folder. A file that was saved
before the fault is new and whole, and the message says so.

  ./dev faults                 all places, and the table of them
  ./dev faults --leaks         the same under LeakSanitizer: what fails gives back all memory
  tests/faults/faults.py --tool build/mfga --library build/tests/libmfga_faults.so --sample 5

Before that, the conditions of conditions.py: full disks, folders that go, signals.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile

from conditions import CONDITIONS
from tool_runs import Runner, commands, is_fault_of_system, problem

KINDS = ["alloc", "open", "read", "write", "fsync", "rename", "thread", "map", "page"]


def chosen_places(places, seen, kind, sample):
    """What all commands begin with fails in the first of them. Other calls have other arguments."""
    firsts = [n for n, place in places if kind != "alloc" or place not in seen]
    seen.update(place for _, place in places)
    if not sample or len(firsts) <= sample:
        return firsts, firsts
    return firsts, [firsts[i * len(firsts) // sample] for i in range(sample)]


def attempt(runner, command, kind, case, expected):
    n, stays = case
    faults = {"MFGA_FAULT_KIND": kind, "MFGA_FAULT_AT": str(n)}
    if stays:
        faults["MFGA_FAULT_STAYS"] = "1"
    process, files = runner.run(command, f"{command.name} {kind} {n} {stays}", faults)
    found = problem(command, process, files, expected)
    if found is None and not is_fault_of_system(process):
        found = f"exit code {process.returncode}, not 3: {process.stderr.decode()[-300:]}"
    return found, process is not None and process.returncode == 0


def fail_everywhere(runner, sample, jobs, only):
    table, problems, seen = [], [], set()
    for command in commands(runner.inputs):
        if only and command.name not in only:
            continue
        expected = runner.run(command, f"expected {command.name}")
        for kind in KINDS:
            calls, places = runner.count(command, kind)
            firsts, chosen = chosen_places(places, seen, kind, sample)
            tries = [(n, False) for n in chosen] + ([(n, True) for n in chosen] if kind == "alloc" else [])
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                results = list(
                    pool.map(lambda case: attempt(runner, command, kind, case, expected), tries)  # noqa: B023
                )
            bad = [(case, found) for case, (found, _) in zip(tries, results, strict=True) if found]
            for (n, stays), found in bad:
                problems.append(f"{command.name}, {kind} {n}{' and all after it' if stays else ''}: {found}")
                print("PROBLEM:", problems[-1], flush=True)
            if calls:
                went_on = sum(fine for _, fine in results)
                well = len(tries) - len(bad)
                row = (command.name, kind, calls, len(places), len(firsts), len(tries), went_on, well)
                print(*row, sep=", ", file=sys.stderr, flush=True)
                table.append(row)
    return table, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=int, default=0, help="places of each kind of each command; 0: all")
    parser.add_argument("--only", action="append", help="this command alone; conditions: those of conditions.py alone")
    parser.add_argument("--leaks", action="store_true", help="under LeakSanitizer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parsed = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory(prefix="mfga-faults-") as folder:
        runner = Runner(parsed.tool.resolve(), parsed.library.resolve(), pathlib.Path(folder), parsed.leaks)
        runner.make_inputs()
        if not parsed.only or "conditions" in parsed.only:
            for condition in CONDITIONS:
                found = condition(runner)
                print(f"{condition.__name__.replace('_', ' ')}: {'PROBLEMS' if found else 'well'}", flush=True)
                problems += found
        for text in problems:
            print("PROBLEM:", text)
        table, found = fail_everywhere(runner, parsed.sample, parsed.jobs, parsed.only)
        problems += found
    print("| command | what fails | calls | places | of them new | runs | went on all the same | ended well |")
    print("|---|---|---|---|---|---|---|---|")
    for row in table:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    runs, well = sum(row[5] for row in table), sum(row[7] for row in table)
    print(f"\n{runs} runs with a fault, {well} ended well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
