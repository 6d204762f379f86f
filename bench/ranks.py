#!/usr/bin/env python3
"""What it costs to learn with several ranks.

    bench/ranks.py [--rows N] [--inputs N] [--threads N] [--repeats N] [--options OPTIONS]

Makes a CSV table with `mfga generate`. Fits of one process with so many threads, and of two ranks with half of them
each, alternate on the same cores; then one of four ranks with one thread each. All models must be the same file, byte
by byte. Reports the seconds of reading and of fitting, their ratio in each pair of runs, and the peak memory of a rank.
Needs mpirun, and a tool that was built with MPI.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build" / "mfga"


def run(ranks, threads, table, model, options):
    command = [str(TOOL), "train", str(table), "--json", "--threads", str(threads), "--model", str(model), *options]
    if ranks > 1:
        # Else two ranks would have a core each, however many threads they start.
        launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        if os.geteuid() == 0:
            launcher.append("--allow-run-as-root")
        command = launcher + command
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    after = os.times()
    report = json.loads(done.stdout)
    seconds = report["seconds"]
    return {
        "load": seconds["load"],
        "fit": seconds["total"] - seconds["load"] - seconds["predict"] - seconds["save"],
        "processor": after.children_user + after.children_system - before.children_user - before.children_system,
        "memory": report["peak_rss_mib"],
        "model": model.read_bytes(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--inputs", type=int, default=90)
    parser.add_argument("--threads", type=int, default=2, help="of one process; two ranks have half of them each")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--options", default="--terms 30 --ridge 1 --tune=no --engine lazy --features 'linear + hinge(knots=16)'")
    parser.add_argument("--folder", default="/var/tmp", help="for the table")
    arguments = parser.parse_args()
    options = shlex.split(arguments.options)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        table = pathlib.Path(folder) / "table.csv"
        model = pathlib.Path(folder) / "model.json"
        generate = ["generate", "--rows", str(arguments.rows), "--inputs", str(arguments.inputs), "-o", str(table), "--quiet"]
        subprocess.run([str(TOOL), *generate], check=True)
        print(f"table: {arguments.rows} rows, {arguments.inputs} inputs, {table.stat().st_size / 1e6:.0f} MB of CSV; {shlex.join(options)}")
        run(1, arguments.threads, table, model, options)  # so that the file is in memory for all
        ratios = {"load": [], "fit": []}
        for _ in range(arguments.repeats):
            one = run(1, arguments.threads, table, model, options)
            two = run(2, arguments.threads // 2, table, model, options)
            if one["model"] != two["model"]:
                raise SystemExit("2 ranks found ANOTHER MODEL")
            for part in ratios:
                ratios[part].append(one[part] / two[part])
            for ranks, result in ((1, one), (2, two)):
                print(
                    f"{ranks} rank{'s' if ranks > 1 else ''}: reading {result['load']:.2f} s, fit {result['fit']:.2f} s, "
                    f"{result['processor']:.1f} s of processors, peak memory of the first rank {result['memory']:.0f} MiB"
                )
        for part, name in (("load", "reading"), ("fit", "fit")):
            print(f"{name}: 2 ranks have {statistics.median(ratios[part]):.2f} of the speed of 1 ({', '.join(f'{r:.2f}' for r in ratios[part])})")
        four = run(4, 1, table, model, options)
        print(f"4 ranks on {os.cpu_count()} cores: {'the same model' if four['model'] == one['model'] else 'ANOTHER MODEL'}; fit {four['fit']:.2f} s")


if __name__ == "__main__":
    main()
