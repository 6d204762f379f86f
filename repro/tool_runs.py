"""What the scripts of this folder share: the public data sets, the tool, and results that outlive an interruption."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "build" / "mfga"


@dataclass(frozen=True)
class TableFiles:
    """A training and a test table, and what the tool must be told to read them. None: what the tool does by itself."""

    train: str
    test: str
    target: str | None = None
    ignore: str | None = None
    header: str | None = None
    comment: str | None = None

    def in_folder(self, folder):
        return TableFiles(**{**vars(self), "train": str(folder / self.train), "test": str(folder / self.test)})

    def has_names(self):
        """Whether the first line has the names of the columns. These tables need them where the target is named."""
        return self.target is not None and self.header != "no"

    def format_options(self):
        return given_options({"--header": self.header, "--comment": self.comment})

    def column_options(self):
        return given_options({"--target": self.target, "--ignore": self.ignore})

    def options(self):
        return ["--train", self.train, "--test", self.test, *self.format_options(), *self.column_options()]


PUBLIC_TABLES = {
    "year": TableFiles("year/train.csv", "year/test.csv", target="0", header="no"),
    "news": TableFiles("news/train.csv", "news/test.csv", target="shares"),
    "adult": TableFiles("adult/adult.data", "adult/adult.test", comment="|"),
    "adult a9a": TableFiles("adult/a9a", "adult/a9a.t"),
    "epileptic": TableFiles("epileptic/train.csv", "epileptic/test.csv", target="seizure", ignore="recording"),
    "epileptic by recording": TableFiles(
        "epileptic/train_by_recording.csv", "epileptic/test_by_recording.csv", target="seizure", ignore="recording"
    ),
}


def given_options(values):
    return [text for name, value in values.items() if value is not None for text in (name, value)]


def run_tool(*arguments):
    """Runs the tool; returns the JSON object that it prints."""
    command = [*map(str, (TOOL, *arguments)), "--json", "--quiet"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


class Stopwatch:
    """Seconds since it was made: of the clock, and of all processors for this process and the children that ended."""

    def __init__(self):
        self.wall_start = time.perf_counter()
        self.cpu_start = self.cpu_now()

    @staticmethod
    def cpu_now():
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def seconds(self):
        wall, cpu = time.perf_counter() - self.wall_start, self.cpu_now() - self.cpu_start
        return {"fit_seconds": wall, "fit_cpu_seconds": cpu}


def load_results(path):
    return json.loads(path.read_text()) if path and path.exists() else {}


def save_results(results, path):
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        json.dump(results, file, indent=1)
    os.replace(file.name, path)
