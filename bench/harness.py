"""What a setting gets to work with, and the loop that alternates ours and the peers."""

import json
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

import process
from process import NotInstalled, RunError, TookTooLong


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclass
class Target:
    limit: float
    at_least: bool
    unit: str = "x"  # or "%"

    def __str__(self):
        return f"{'>=' if self.at_least else '<='} {self.limit:g}{self.unit}"

    def met_by(self, value):
        return value >= self.limit if self.at_least else value <= self.limit


def at_least(limit, unit="x"):
    return Target(limit, True, unit)


def at_most(limit, unit="x"):
    return Target(limit, False, unit)


@dataclass
class Row:
    """A line of the table: a run of somebody, or a figure derived from runs."""

    who: str
    seconds: list = field(default_factory=list)  # of every run
    peak_mib: float | None = None
    measured: float | None = None  # compared with the target: of medians
    measured_fastest: float | None = None  # the same of the fastest runs
    unit: str = "x"
    target: Target | None = None
    answer: str = ""  # how it was checked that both sides did the same
    note: str = ""  # why there are no figures
    is_peer: bool = False

    @property
    def median(self):
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def fastest(self):
        return min(self.seconds) if self.seconds else None


@dataclass
class Peer:
    name: str
    run: object  # (our run) -> a dictionary with seconds and peak_mib
    check: object  # (ours, theirs) -> words about the agreement; raises RunError
    target: Target | None = None  # of the ratio of times
    repeats: int = 100  # at most; for slow ones


def median_of(runs, key):
    values = [run[key] for run in runs if run[key] is not None]
    return statistics.median(values) if values else None


class Bench:
    def __init__(self, tool, folder, quick, repeats, data):
        self.tool = tool
        self.folder = Path(folder)
        self.quick = quick
        self.repeats = repeats
        self.data = data  # folder of real data sets, or None
        self.peaks = None
        self.errors = []
        # Of the setting `defaults`:
        self.out = self.folder  # what is kept from run to run
        self.tables = None  # names of tables or groups; None: all
        self.splits = None
        self.tuned_trees = True
        self.train_options = []

    def child(self, module, function, limit=None, **job):
        return process.run_child(module, function, job, limit)

    def mfga(self, *arguments):
        return process.run_tool(self.tool, *arguments)

    def train(self, file, *arguments):
        """Trains, without tuning unless asked, and reports; `seconds` is what the fit takes after loading, `model` the
        path of the model."""
        if "--tune" not in arguments:
            arguments = (*arguments, "--tune", "no")
        model = self.folder / "model.json"
        report = json.loads(self.mfga("train", "--train", file, "--json", "--model", model, *arguments))
        report["parts"] = report["seconds"]
        report["seconds"] = sum(report["parts"].get(part, 0) for part in ("prepare", "validate", "tune", "score", "fit"))
        report["peak_mib"] = report["peak_rss_mib"]
        return report

    def help_of(self, command):
        return self.mfga(command, "--help")

    def table(self, rows, inputs):
        """A generated regression table, made when first asked for."""
        file = self.folder / f"table-{rows}x{inputs}.npy"
        if not file.exists():
            say(f"   generating {rows:,} rows of {inputs} inputs")
            self.child("inputs", "regression_table", file=str(file), rows=rows, inputs=inputs, seed=1)
        return file

    def compare(self, ours, peers, name="mfga"):
        """Alternates ours and each peer; returns the rows: ours first, then one per peer, and our runs."""
        our_runs = []
        their_runs = {peer.name: [] for peer in peers}
        notes, answers = {}, {}
        for repeat in range(self.repeats):
            if not peers:
                our_runs.append(self.timed(name, ours))
            for peer in peers:
                if repeat >= peer.repeats or peer.name in notes:
                    continue
                our_runs.append(self.timed(name, ours))
                try:
                    theirs = self.timed(peer.name, lambda: peer.run(our_runs[-1]))
                    answers[peer.name] = peer.check(our_runs[-1], theirs)
                    their_runs[peer.name].append(theirs)
                except NotInstalled as error:
                    notes[peer.name] = f"did not install ({error})"
                except TookTooLong as error:
                    notes[peer.name] = f"stopped after {error.seconds} s: more than " + (
                        f"{error.seconds / median_of(our_runs, 'seconds'):.0f}x"
                    )
                except RunError as error:
                    notes[peer.name] = f"error: {error}"
                    self.errors.append(f"{peer.name}: {error}")
                    say(f"   error: {peer.name}: {error}")
        row = Row(name, [run["seconds"] for run in our_runs], median_of(our_runs, "peak_mib"))
        rows = [row]
        for peer in peers:
            if peer.name in notes:
                rows.append(Row(peer.name, note=notes[peer.name], target=peer.target, is_peer=True))
                continue
            runs = their_runs[peer.name]
            theirs = Row(peer.name, [run["seconds"] for run in runs], median_of(runs, "peak_mib"))
            theirs.measured = theirs.median / row.median
            theirs.measured_fastest = theirs.fastest / row.fastest
            theirs.target = peer.target
            theirs.is_peer = True
            theirs.answer = answers[peer.name]
            rows.append(theirs)
        return rows, our_runs

    @staticmethod
    def timed(name, run):
        result = run()
        say(f"   {name}: {result['seconds']:.3f} s")
        return result
