"""Setting 6: predictions for many rows, from file to file."""

import json
import time

from harness import Peer, Row, at_least, median_of
from process import RunError
from settings.greedy import Problem

TOLERANCE = 1e-9  # of the predictions, relative to their spread


def run(bench):
    problem = Problem(bench.quick)
    rows = 100_000 if bench.quick else 1_000_000
    bench.train(bench.table(problem.rows, problem.inputs), *problem.options(problem.big_step))
    model = bench.folder / "predicting-model.json"
    (bench.folder / "model.json").rename(model)
    data = bench.folder / "predict.npy"
    bench.child("inputs", "prediction_table", file=str(data), rows=rows, inputs=problem.inputs, seed=2)

    suffix = ".npy" if writes_npy(bench, model, data) else ".csv"
    our_output = bench.folder / f"ours{suffix}"
    their_output = bench.folder / "theirs.npy"

    with_report = ["--json"] if "--json" in bench.help_of("predict") else []

    def ours():
        start = time.perf_counter()
        printed = bench.mfga("predict", model, data, "--output", our_output, *with_report)
        seconds = time.perf_counter() - start
        report = json.loads(printed) if with_report else {}
        return {"seconds": seconds, "peak_mib": report.get("peak_rss_mib"), "report": report}

    def peer(module):
        return lambda _: bench.child(
            f"peers.{module}", "run", limit=600, model=str(model), file=str(data), output=str(their_output)
        )

    def check(_, __):
        difference = bench.child(
            "inputs", "largest_difference", first=str(our_output), second=str(their_output)
        )["relative"]
        if not difference <= TOLERANCE:
            raise RunError(f"predictions differ by {difference:.1e} of their spread")
        return f"predictions to {difference:.0e}; ours is the whole process, output {suffix}"

    peers = [
        Peer("scikit-learn pipeline, in chunks", peer("sklearn_predict"), check, at_least(10)),
        Peer("NumPy, a quadratic form by hand", peer("numpy_predict"), check),
    ]
    rows_of_table, runs = bench.compare(ours, peers)
    seconds = [run["report"]["seconds"]["predict"] for run in runs if "seconds" in run["report"]]
    if seconds:
        traffic = 8 * rows * problem.inputs / median_of([{"s": each} for each in seconds], "s")
        rows_of_table.append(
            Row(
                "prediction alone, of the memory bandwidth",
                measured=100 * traffic / bench.peaks["bandwidth"],
                unit="%",
                answer=f"{traffic / 1e9:.1f} of {bench.peaks['bandwidth'] / 1e9:.1f} GB/s, table read once",
            )
        )
    data.unlink()
    return rows_of_table


def writes_npy(bench, model, data):
    """Whether this version of the tool writes NumPy files."""
    output = bench.folder / "probe.npy"
    bench.mfga("predict", model, data, "--output", output)
    with open(output, "rb") as file:
        return file.read(6) == b"\x93NUMPY"
