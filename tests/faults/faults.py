#!/usr/bin/env python3
"""Lets the n-th call by which the tool asks the system for something fail, for one n after the other.

Every command is run once to count its calls of each kind and the places they come from (chains of callers), and
then once for the first call from each place, which fails: with an error code once, and for memory also from then
on. However it goes, the tool must end by itself, with 0 and the very files of the undisturbed run, or with 1, 2 or
3, a message, and the files that were there before; nothing else may be left in the folder.

  ./dev faults                 all places, and the table of them
  tests/faults/faults.py --tool build/mfga --library build/libmfga_faults.so --sample 5
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import gzip
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

KINDS = ["alloc", "open", "read", "write", "fsync", "rename", "thread", "map"]
BEFORE = b"what stood there before\n"
SECONDS = 600  # a run that takes so long hangs


@dataclasses.dataclass
class Command:
    name: str
    arguments: list
    outputs: list = dataclasses.field(default_factory=list)
    # A file that may be there or not, whole: of a fit that is not done.
    checkpoint: str = ""
    # Copied into the folder of the run, from the inputs.
    copies: list = dataclasses.field(default_factory=list)


def commands(inputs):
    table, model = str(inputs / "t.csv"), str(inputs / "m.json")
    train = ["train", table, "--terms", "2", "--threads", "2", "--features", "linear", "--tune", "no"]
    kept = [*train, "--model", "m.json", "--checkpoint", "c.ckpt", "--checkpoint-every", "0"]
    return [
        Command("train", [*train, "--model", "m.json", "--report", "r.html"], ["m.json", "r.html"]),
        Command("train.gz", ["train", str(inputs / "t.csv.gz"), *train[2:], "--model", "m.json"], ["m.json"]),
        Command("predict", ["predict", model, table, "--output", "p.csv"], ["p.csv"]),
        Command("predict to stdout", ["predict", model, table]),
        Command("evaluate", ["evaluate", model, table]),
        Command("inspect", ["inspect", model]),
        Command("explain", ["explain", model, table, "--output", "e.csv"], ["e.csv"]),
        Command("report", ["report", model, "--data", table, "--output", "r.html"], ["r.html"]),
        Command("export", ["export", model, "--format", "c", "--output", "m.c"], ["m.c"]),
        Command("generate", ["generate", "--rows", "30", "--output", "g.csv", "--truth", "t.json"],
                ["g.csv", "t.json"]),
        Command("statistics", ["statistics", table, "--features", "linear", "--output", "s.stat"], ["s.stat"]),
        Command("train from statistics", ["train", "--statistics", str(inputs / "s.stat"), "--terms", "2",
                                          "--model", "m.json"], ["m.json"]),
        Command("checkpoint", kept, ["m.json"], "c.ckpt"),
        Command("resume", [*kept, "--resume"], ["m.json"], "c.ckpt", ["c.ckpt"]),
    ]  # fmt: skip


class Runner:
    def __init__(self, tool, library, folder):
        self.tool, self.library, self.folder = tool, library, folder
        self.inputs = folder / "inputs"

    def run(self, command, number, environment=(), arguments=None, most_bytes=None):
        """Runs it in a folder of its own; returns the process and the files that are there then."""
        folder = self.folder / str(number)
        folder.mkdir()
        for name in command.outputs:
            (folder / name).write_bytes(BEFORE)
        for name in command.copies:
            shutil.copy(self.inputs / name, folder / name)
        variables = dict(os.environ, **dict(environment))
        if environment:
            variables["LD_PRELOAD"] = str(self.library)
        if most_bytes is None:
            limits = None
        else:
            limits = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        try:
            process = subprocess.run([self.tool, *(arguments or command.arguments)], cwd=folder, env=variables,
                                     stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
                                     preexec_fn=limits)  # fmt: skip
        except subprocess.TimeoutExpired:
            process = None
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        shutil.rmtree(folder)
        return process, files

    def make_inputs(self):
        self.inputs.mkdir()
        draw = random.Random(2)
        rows = [(draw.gauss(0, 1), draw.uniform(0, 5), draw.choice(["red", "blue"])) for _ in range(60)]
        lines = ["a,b,colour,y"] + [f"{a:.3f},{b:.3f},{c},{a * b + (c == 'red'):.3f}" for a, b, c in rows]
        (self.inputs / "t.csv").write_text("\n".join(lines) + "\n")
        (self.inputs / "t.csv.gz").write_bytes(gzip.compress((self.inputs / "t.csv").read_bytes()))
        of = {command.name: command for command in commands(self.inputs)}
        _, files = self.run(of["train"], "model")
        (self.inputs / "m.json").write_bytes(files["m.json"])
        _, files = self.run(of["statistics"], "statistics")
        (self.inputs / "s.stat").write_bytes(files["s.stat"])
        # A checkpoint stays where the model, the last file that gets its name, could not be saved.
        renames = self.count(of["checkpoint"], "rename")[0]
        _, files = self.run(of["checkpoint"], "kept", {"MFGA_FAULT_KIND": "rename", "MFGA_FAULT_AT": str(renames)})
        (self.inputs / "c.ckpt").write_bytes(files["c.ckpt"])

    def count(self, command, kind):
        """How many calls, and the first one from each place."""
        report = self.folder / f"report {command.name} {kind}"
        process, _ = self.run(command, f"count {command.name} {kind}",
                              {"MFGA_FAULT_KIND": kind, "MFGA_FAULT_REPORT": str(report)})  # fmt: skip
        if process.returncode != 0:
            sys.exit(f"faults: {command.name} fails undisturbed: {process.stderr.decode()}")
        calls, *firsts = report.read_text().splitlines()
        return int(calls), sorted((int(line.split()[0]), line.split()[1]) for line in firsts)


def without_times(printed):
    return re.sub(rb"[0-9.]+ MB in [0-9.]+ s \([0-9.]+ MB/s\)", b"", printed)


def is_whole(name, content, expected):
    if content is not None and name.endswith(".html"):  # which tells how long the fit took
        return content.endswith(b"</html>\n") and abs(len(content) - len(expected)) < 200
    return content == expected


def problem(command, process, files, expected):
    """What is wrong with the end of a run, or None."""
    if process is None:
        return "hangs"
    code, message = process.returncode, process.stderr.decode(errors="replace")
    if code < 0:
        return f"killed by {signal.Signals(-code).name}: {message[-300:]}"
    if code not in (0, 1, 2, 3):
        return f"exit code {code}"
    stray = set(files) - set(command.outputs) - {command.checkpoint}
    if stray:
        return f"leaves {sorted(stray)}"
    if code == 0:
        if not command.outputs and without_times(process.stdout) != without_times(expected[0].stdout):
            return "prints something else"
        wrong = [name for name in command.outputs if not is_whole(name, files.get(name), expected[1][name])]
        return f"exit code 0, but {wrong} are not as undisturbed" if wrong else None
    if "mfga: " not in message:
        return f"exit code {code} without a message: {message!r}"
    # Several outputs are saved one after the other: each is old or new, whole.
    wrong = [name for name in command.outputs
             if files.get(name) != BEFORE and not is_whole(name, files.get(name), expected[1][name])]  # fmt: skip
    if wrong:
        return f"{wrong} are neither as before nor as undisturbed, after: {message}"
    # What is printed comes after the files: then an error is one of printing.
    told = [name for name in command.outputs if f"mfga: {name}: " in message and files.get(name) != BEFORE]
    if told:
        return f"{told} are new, and yet: {message}"
    return None


def expect_system_fault(process):
    """Memory, disk and threads are nothing that the user has got wrong."""
    return process is not None and process.returncode in (0, 3)


def fail_everywhere(runner, sample, jobs):
    table, problems, seen = [], [], set()
    for command in commands(runner.inputs):
        expected = runner.run(command, f"expected {command.name}")
        for kind in KINDS:
            calls, places = runner.count(command, kind)
            # What all commands begin with fails in the first of them. Other calls have other arguments.
            firsts = [n for n, place in places if kind != "alloc" or place not in seen]
            seen.update(place for _, place in places)
            chosen = firsts
            if sample and len(firsts) > sample:
                chosen = [firsts[i * len(firsts) // sample] for i in range(sample)]
            tries = [(n, False) for n in chosen] + ([(n, True) for n in chosen] if kind == "alloc" else [])

            def attempt(case, command=command, kind=kind, expected=expected):
                n, stays = case
                faults = {"MFGA_FAULT_KIND": kind, "MFGA_FAULT_AT": str(n)}
                if stays:
                    faults["MFGA_FAULT_STAYS"] = "1"
                process, files = runner.run(command, f"{command.name} {kind} {n} {stays}", faults)
                found = problem(command, process, files, expected)
                if found is None and not expect_system_fault(process):
                    found = f"exit code {process.returncode}, not 3: {process.stderr.decode()[-300:]}"
                return found, process is not None and process.returncode == 0

            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                results = list(pool.map(attempt, tries))
            bad = [(case, found) for case, (found, _) in zip(tries, results, strict=True) if found]
            for (n, stays), found in bad:
                problems.append(f"{command.name}, {kind} {n}{' and all after it' if stays else ''}: {found}")
            if calls:
                went_on = sum(fine for _, fine in results)
                well = len(tries) - len(bad)
                table.append((command.name, kind, calls, len(places), len(firsts), len(tries), went_on, well))
    return table, problems


def check_short_moves(runner):
    """One byte at a time, with interruptions, everything is as ever."""
    problems = []
    for command in commands(runner.inputs):
        expected = runner.run(command, f"expected {command.name}")
        process, files = runner.run(command, f"{command.name} short", {"MFGA_FAULT_SHORT": "1"})
        found = problem(command, process, files, expected)
        if found is None and process.returncode != 0:
            found = f"exit code {process.returncode}: {process.stderr.decode()}"
        if found:
            problems.append(f"{command.name}, short reads and writes: {found}")
    return problems


def check_places(runner):
    """Outputs where nothing can be written, and inputs that are not there."""
    problems = []

    def expect(name, process, codes, files=None):
        if process is None or process.returncode not in codes or "mfga: " not in process.stderr.decode():
            what = process and (process.returncode, process.stderr.decode())
            problems.append(f"{name}: {what}; expected a message and {codes}")
        if files:
            problems.append(f"{name}: leaves {sorted(files)}")

    for command in commands(runner.inputs):
        bare = dataclasses.replace(command, outputs=[], copies=[])
        name = command.name
        if command.outputs and name != "resume":
            target = command.outputs[0]
            for place, codes in (("/dev/full", (3,)), ("/no such folder/x", (2,)), ("/proc/x", (2, 3))):
                arguments = [place if argument == target else argument for argument in command.arguments]
                process, files = runner.run(bare, f"{name} to a bad place", (), arguments)
                rest = {file for file in files if file not in command.outputs and file != command.checkpoint}
                expect(f"{name} to {place}", process, codes, rest)
        given = [argument for argument in command.arguments if argument.startswith(str(runner.inputs))]
        for path in given:
            arguments = ["/no such folder/x" if argument == path else argument for argument in command.arguments]
            process, files = runner.run(bare, f"{name} from a bad place", (), arguments)
            expect(f"{name} without {pathlib.Path(path).name}", process, (2,), set(files) - {command.checkpoint})
        if not command.outputs:
            with open("/dev/full", "wb") as full:
                process = subprocess.run([runner.tool, *command.arguments], stdout=full, stderr=subprocess.PIPE,
                                         timeout=SECONDS, check=False)  # fmt: skip
            expect(f"{name} > /dev/full", process, (3,))
    return problems


def check_small_disk(runner):
    """A file may have so many bytes, as on a disk that is nearly full: whole or not at all."""
    problems = []
    for command in commands(runner.inputs):
        expected = runner.run(command, f"expected {command.name}")
        largest = max([len(expected[1][name]) for name in command.outputs], default=0)
        for most in (0, 1, 500):
            if most >= largest:
                continue
            process, files = runner.run(command, f"{command.name} {most} bytes", most_bytes=most)
            found = problem(command, process, files, expected)
            if found is None and process.returncode != 3:
                found = f"exit code {process.returncode}, not 3: {process.stderr.decode()}"
            if found:
                problems.append(f"{command.name}, files of at most {most} bytes: {found}")
    return problems


def check_signals(runner):
    """Who is told to end leaves nothing behind, and what was there before."""
    problems = []
    inputs = runner.inputs
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGINT, signal.SIGPIPE):
        folder = runner.folder / "signal"
        folder.mkdir()
        (folder / "g.csv").write_bytes(BEFORE)
        # Long enough to be told in the midst of it.
        process = subprocess.Popen([runner.tool, "generate", "--rows", "100000000", "--output", "g.csv"], cwd=folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        while len(list(folder.iterdir())) < 2 and process.poll() is None:
            pass
        process.send_signal(number)
        process.communicate(timeout=SECONDS)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        shutil.rmtree(folder)
        if process.returncode != -number or files != {"g.csv": BEFORE}:
            problems.append(f"{number.name}: exit code {process.returncode}, leaves {sorted(files)}")
    # Who reads the output has gone.
    process = subprocess.Popen([runner.tool, "predict", str(inputs / "m.json"), str(inputs / "t.csv")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdout.close()
    process.stderr.read()
    if process.wait(timeout=SECONDS) not in (-signal.SIGPIPE, 2, 3):
        problems.append(f"a closed pipe: exit code {process.returncode}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=int, default=0, help="places of each kind of each command; 0: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mfga-faults-") as folder:
        runner = Runner(parsed.tool.resolve(), parsed.library.resolve(), pathlib.Path(folder))
        runner.make_inputs()
        problems = check_places(runner) + check_short_moves(runner) + check_small_disk(runner) + check_signals(runner)
        table, found = fail_everywhere(runner, parsed.sample, parsed.jobs)
        problems += found
    print("| command | what fails | calls | places | of them new | runs | went on all the same | ended well |")
    print("|---|---|---|---|---|---|---|---|")
    for row in table:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    runs, well = sum(row[5] for row in table), sum(row[7] for row in table)
    print(f"\n{runs} runs with a fault, {well} ended well")
    for text in problems:
        print("PROBLEM:", text)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
