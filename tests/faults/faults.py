#!/usr/bin/env python3
"""Lets the n-th call by which the tool asks the system for something fail, for one n after the other.

Every command is run once to count its calls of each kind and the places they come from (chains of callers), and
then once for the first call from each place, or for every call, which fails: with an error code once, and for memory
also from then on. What all commands begin with is tried in the first of them. However it goes, the tool must end by
itself, with 0 and the very files of the undisturbed run, or with 1, 2 or 3, a message, and the files that were there
before; nothing else may be left in the folder. A file that was saved before the fault is new and whole, and the message
says so.

  ./dev faults                 all places, and the tables of them
  ./dev faults --every         all calls, n = 1, 2, 3, ... until there is none left
  ./dev faults --leaks         the same under LeakSanitizer: what fails gives back all memory
  tests/faults/faults.py --tool build/mfga --library build/tests/libmfga_faults.so --sample 5

Before that, the conditions of conditions.py: full disks, folders that go, signals.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import sys
import tempfile

from conditions import CONDITIONS
from tool_runs import Runner, commands, is_fault_of_system, problem

KINDS = ["alloc", "open", "read", "write", "fsync", "rename", "thread", "map", "page"]


def chosen_calls(calls, places, seen, kind, sample, every):
    """The numbers of those that are to fail, of all that are new in this command."""
    # Other calls than those for memory have other arguments in each command.
    firsts = [n for n, place in places if kind != "alloc" or place not in seen]
    seen.update(place for _, place in places)
    if every and firsts:
        return list(range(firsts[0], calls + 1))
    if not sample or len(firsts) <= sample:
        return firsts
    return [firsts[i * len(firsts) // sample] for i in range(sample)]


@dataclasses.dataclass
class Row:
    """Of a command and a kind of calls, or of several."""

    calls: int = 0
    places: int = 0
    failed: int = 0  # calls, or all from one on
    went_on: int = 0
    well: int = 0

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def attempt(runner, command, kind, case, expected):
    """What is wrong with how it ended, whether it went on all the same, and whether a call failed at all."""
    n, stays = case
    # Threads make other numbers of calls in other runs.
    report = runner.folder / f"report {command.name} {kind} {n} {stays}"
    faults = {"MFGA_FAULT_KIND": kind, "MFGA_FAULT_AT": str(n), "MFGA_FAULT_REPORT": str(report)}
    if stays:
        faults["MFGA_FAULT_STAYS"] = "1"
    process, files = runner.run(command, f"{command.name} {kind} {n} {stays}", faults)
    found = problem(command, process, files, expected)
    if found is None and not is_fault_of_system(process):
        found = f"exit code {process.returncode}, not 3: {process.stderr.decode()[-300:]}"
    is_fine = process is not None and process.returncode == 0
    has_failed = not is_fine or (report.exists() and int(report.read_text()) >= n)
    report.unlink(missing_ok=True)
    return found, is_fine, has_failed


def fail_everywhere(runner, parsed):
    rows, problems, seen = {}, [], set()
    for command in commands(runner.inputs):
        is_wanted = not parsed.only or command.name in parsed.only
        expected = runner.run(command, f"expected {command.name}")
        for kind in KINDS:
            if not is_wanted and kind != "alloc":
                continue
            calls, places = runner.count(command, kind)
            chosen = chosen_calls(calls, places, seen, kind, parsed.sample, parsed.every)
            if not is_wanted or not calls:
                continue
            tries = [(n, stays) for n in chosen for stays in ([False, True] if kind == "alloc" else [False])]
            row = rows[command.name, kind] = Row(calls, len(places))
            with concurrent.futures.ThreadPoolExecutor(parsed.jobs) as pool:
                results = pool.map(lambda case: attempt(runner, command, kind, case, expected), tries)  # noqa: B023
                for (n, stays), (found, is_fine, has_failed) in zip(tries, results, strict=True):
                    row.failed += has_failed
                    row.went_on += is_fine and has_failed
                    row.well += has_failed and not found
                    if found:
                        problems.append(f"{command.name}, {kind} {n}{' and all after it' if stays else ''}: {found}")
                        print("PROBLEM:", problems[-1], flush=True)
            print(f"{command.name}, {kind}: {row}", file=sys.stderr, flush=True)
    return rows, problems


def print_table(rows, place, heading):
    """The rows by one part of their keys."""
    total, sums = Row(), {}
    for key, row in rows.items():
        sums.setdefault(key[place], Row()).add(row)
        total.add(row)
    print(f"\n| {heading} | calls | places | failed | went on all the same | ended well |")
    print("|---|---|---|---|---|---|")
    for name, row in [*sums.items(), ("all", total)]:
        print(f"| {name} | " + " | ".join(str(number) for number in dataclasses.astuple(row)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=int, default=0, help="places of each kind of each command; 0: all")
    parser.add_argument("--every", action="store_true", help="all calls, not the first from each place alone")
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
        rows, found = fail_everywhere(runner, parsed)
        problems += found
    print_table(rows, 0, "command")
    print_table(rows, 1, "what fails")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
