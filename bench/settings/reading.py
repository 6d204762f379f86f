"""Setting 7: reading a large text table."""

import json

from harness import Peer, at_least
from process import RunError
from settings.greedy import Problem

TOLERANCE = 1e-9  # of the columns' means, relative to their deviations


def run(bench):
    problem = Problem(bench.quick)
    file = bench.folder / "table.csv"
    made = bench.child(
        "inputs",
        "csv_file",
        table=str(bench.table(problem.rows, problem.inputs)),
        distinct_rows=20_000,
        bytes=50e6 if bench.quick else 1e9,
        file=str(file),
    )

    def ours():
        # The cheapest fit there is; only the reading is timed.
        report = bench.train(file, "--features", "linear", "--terms", "1")
        report["seconds"] = report["parts"]["load"]
        report["inputs_read"] = json.loads((bench.folder / "model.json").read_text())["inputs"]
        return report

    def peer(module):
        return lambda _: bench.child(f"peers.{module}", "run", limit=600, file=str(file))

    peers = [
        Peer("pandas read_csv, C engine", peer("pandas_csv"), same_table, at_least(3)),
        Peer("polars read_csv", peer("polars_csv"), same_table),
        Peer("Arrow read_csv", peer("pyarrow_csv"), same_table),
        Peer("NumPy loadtxt", peer("numpy_csv"), same_table, repeats=1),
    ]
    rows, _ = bench.compare(ours, peers)
    size = made["bytes"] / 1e6
    rows[0].answer = f"{size:.0f} MB, {made['rows']:,} rows: {size / rows[0].median:.0f} MB/s"
    file.unlink()
    return rows


def same_table(ours, theirs):
    if ours["n_train"] != theirs["rows"]:
        raise RunError(f"mfga read {ours['n_train']} rows, the peer {theirs['rows']}")
    difference = max(
        abs(each["mean"] - mean) / each["deviation"]
        for each, mean in zip(ours["inputs_read"], theirs["means"])
    )
    if not difference <= TOLERANCE:
        raise RunError(f"the columns' means differ by {difference:.1e} of a deviation")
    return f"same rows, means to {difference:.0e}"
