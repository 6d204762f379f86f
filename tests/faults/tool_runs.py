"""Runs of the tool in a folder of their own, and what must be true when they have ended. See faults.py."""

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

BEFORE = b"what stood there before\n"
SECONDS = 600  # a run that takes so long hangs
LEAKS = 23  # the exit code of LeakSanitizer


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
        Command("train from disk", [*train, "--model", "m.json", "--cache", "."], ["m.json"]),
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
    def __init__(self, tool, library, folder, leaks):
        self.tool, self.library, self.folder = tool, library, folder
        self.inputs = folder / "inputs"
        self.preloaded = str(library)
        if leaks:
            self.preloaded += " " + compiler_file("liblsan.so")

    def run(self, command, number, environment=(), arguments=None, most_bytes=None, **how):
        """Runs it in a folder of its own; returns the process and the files that are there then."""
        folder = self.folder / str(number)
        folder.mkdir()
        for name in command.outputs:
            (folder / name).write_bytes(BEFORE)
        for name in command.copies:
            shutil.copy(self.inputs / name, folder / name)
        variables = dict(os.environ, **dict(environment))
        if environment:
            variables["LD_PRELOAD"] = self.preloaded
            variables["LSAN_OPTIONS"] = f"exitcode={LEAKS}"
        if most_bytes is not None:
            limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
            how["preexec_fn"] = limit
        try:
            process = subprocess.run([self.tool, *(arguments or command.arguments)], cwd=folder, env=variables,
                                     stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
                                     **how)  # fmt: skip
        except subprocess.TimeoutExpired:
            process = None
        files = {}
        if folder.exists():
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


def compiler_file(name):
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = pathlib.Path(found.stdout.strip())
    if not path.is_absolute():
        sys.exit(f"faults: the compiler has no {name}; to look for leaks takes the LeakSanitizer of gcc")
    return str(path.resolve())


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
    if code == LEAKS:
        return f"leaks: {message[-3000:]}"
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
    # Several outputs are saved one after the other, and what is printed comes last: each file is old, or new and whole,
    # and the message says which are new.
    for name in command.outputs:
        if files.get(name) == BEFORE:
            if f"{name} was saved" in message:
                return f"{name} is as before, but the message is: {message}"
        elif not is_whole(name, files.get(name), expected[1][name]):
            return f"{name} is neither as before nor as undisturbed, after: {message}"
        elif f"mfga: {name} was saved before that" not in message:
            return f"{name} is new, but the message is: {message}"
    return None


def is_fault_of_system(process):
    """Memory, disk and threads are nothing that the user has got wrong."""
    return process is not None and process.returncode in (0, 3)
