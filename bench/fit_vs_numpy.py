#!/usr/bin/env python3
"""Times training with `mfga` against the same computation in NumPy on the materialised dictionary.

Both learn, from the same file, the same model: the squared loss, an unpenalised intercept, a ridge, and
`terms` of all Gaussian-Taylor features up to order 2 with squares,

    phi_a(x) = exp(-|x|^2 / 2 s^2) x^a / (s^|a| sqrt(a!)),

chosen greedily, `per-step` at a time, by their correlation with the residual. If they do not choose the
same features or reach the same training error, the comparison fails.

What is timed: for mfga its `fit` stage; for NumPy making the features and learning. Reading the file and
standardising the inputs are left out on both sides. Each run is a process of its own, the two alternate.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# NumPy is imported only in the functions that run in child processes. The measuring process stays small,
# because on Linux a child's peak memory, as the kernel reports it, begins with that of its parent.

FULL = {"rows": 46371, "inputs": 90, "terms": 400, "per_step": 20, "repeats": 3}
QUICK = {"rows": 5000, "inputs": 30, "terms": 60, "per_step": 10, "repeats": 1}
MSE_TOLERANCE = 1e-6
# Of the machine's processor time, taken by other processes while measuring. Above it the ratio means little:
# BLAS threads wait for one another, and with too few free cores NumPy's matrix products were seen to take ten
# times as long.
BUSY_TOLERANCE = 0.05
TILE_ROWS = 2048  # the fastest of 256 to all rows; also faster than features stored row by row


def generate(job):
    """Inputs with different means and scales, and a target made of a few features and noise; target last."""
    import numpy as np

    rows, inputs = job["rows"], job["inputs"]
    random = np.random.default_rng(job["seed"])
    z = random.standard_normal((rows, inputs))
    signal = np.zeros(rows)
    for strength in np.linspace(1, 0.2, 12):
        i, j, k = random.integers(inputs, size=3)
        signal += strength * (z[:, i] * z[:, j] + z[:, k])
    table = np.empty((rows, inputs + 1))
    table[:, :-1] = random.uniform(-5, 5, inputs) + random.uniform(0.5, 20, inputs) * z
    table[:, -1] = 100 + signal + 0.5 * signal.std() * random.standard_normal(rows)
    np.save(job["file"], table)


def feature_tuples(inputs):
    """The inputs that each feature multiplies, in the order of the materialised array."""
    yield ()
    for i in range(inputs):
        yield (i,)
    for i in range(inputs):
        for j in range(i, inputs):
            yield (i, j)


def materialise(x, sigma):
    """All features, one per row of the result, so that a chosen feature is contiguous. [features x rows]

    Written in tiles of rows, so that the inputs of a tile stay in the cache while they are multiplied with
    one another, and the tiles are spread over threads: NumPy's own element-wise operations use only one.
    """
    import numpy as np
    from concurrent.futures import ThreadPoolExecutor

    rows, inputs = x.shape
    features = np.empty((1 + inputs + inputs * (inputs + 1) // 2, rows))

    def make_tile(first):
        tile = np.ascontiguousarray(x[first : first + TILE_ROWS].T)  # [inputs x tile]
        out = features[:, first : first + TILE_ROWS]
        envelope = out[0]
        np.exp(np.einsum("jn,jn->n", tile, tile) / (-2 * sigma**2), out=envelope)
        np.multiply(tile, envelope / sigma, out=out[1 : 1 + inputs])
        row = 1 + inputs
        for i in range(inputs):
            left = tile[i] * envelope / sigma**2
            np.multiply(tile[i] / np.sqrt(2), left, out=out[row])  # a! = 2 for a square
            np.multiply(tile[i + 1 :], left, out=out[row + 1 : row + inputs - i])
            row += inputs - i

    with ThreadPoolExecutor(available_cores()) as pool:
        list(pool.map(make_tile, range(0, rows, TILE_ROWS)))
    return features

def learn(features, y, terms, per_step, ridge):
    """Generalised orthogonal matching pursuit; returns the chosen features and the mean squared error."""
    import numpy as np

    rows = len(y)
    y = y - y.mean()
    # Row 0 is the intercept; the Gram matrix of these rows grows by a block per step.
    active = np.empty((1 + terms, rows))
    active[0] = 1
    gram = np.zeros((1 + terms, 1 + terms))
    gram[0, 0] = rows
    products = np.zeros(1 + terms)
    penalty = np.full(1 + terms, float(ridge))
    penalty[0] = 0
    chosen = []
    residual = y
    while len(chosen) < terms:
        size = 1 + len(chosen)
        count = min(per_step, terms - len(chosen))
        correlation = np.abs(features @ residual)
        correlation[chosen] = -1
        best = np.argpartition(correlation, -count)[-count:]
        best = best[np.argsort(-correlation[best])]
        chosen.extend(best.tolist())

        new = slice(size, size + count)
        active[new] = features[best]
        gram[new, : size + count] = active[new] @ active[: size + count].T
        gram[:size, new] = gram[new, :size].T
        products[new] = active[new] @ y
        size += count
        solution = cholesky_solve(gram[:size, :size] + np.diag(penalty[:size]), products[:size])
        residual = y - solution @ active[:size]
    return chosen, float(residual @ residual) / rows


def cholesky_solve(matrix, right):
    """NumPy has no triangular solve; its general one costs nothing that matters at these sizes."""
    import numpy as np

    lower = np.linalg.cholesky(matrix)
    return np.linalg.solve(lower.T, np.linalg.solve(lower, right))


def run_numpy(job):
    import numpy as np

    table = np.load(job["file"])
    x, y = table[:, :-1], table[:, -1]
    clock = [time.perf_counter()]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    clock.append(time.perf_counter())
    features = materialise(x, job["sigma"])
    clock.append(time.perf_counter())
    chosen, mse = learn(features, y, job["terms"], job["per_step"], job["ridge"])
    clock.append(time.perf_counter())

    tuples = list(feature_tuples(x.shape[1]))
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "prepare": clock[1] - clock[0],
        "materialise": clock[2] - clock[1],
        "learn": clock[3] - clock[2],
        "fit": clock[3] - clock[1],
        "mse": mse,
        "atoms": [tuples[j] for j in chosen],
        "candidates": len(tuples),
        "dictionary_mib": features.nbytes / 2**20,
        "peak_mib": peak_memory_mib(),
        "numpy": np.__version__,
        "blas": f"{blas['name']} {blas['version']}",
    }


def peak_memory_mib():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status).group(1)) / 1024


def run_child(task, job):
    """Runs generate or run_numpy in a fresh process."""
    command = [sys.executable, __file__, "--child", task]
    done = subprocess.run(command, input=json.dumps(job), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail(f"the {task} process ended with exit code {done.returncode}")
    return json.loads(done.stdout)


def run_mfga(tool, job):
    command = [str(tool), "train", "--train", job["file"], "--target", "-1"]
    command += ["--features", f"gaussian(order=2, sigma={job['sigma']:g})", "--engine", "lazy"]
    command += ["--terms", str(job["terms"]), "--per-step", str(job["per_step"])]
    command += ["--ridge", f"{job['ridge']:g}", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(command)} ended with exit code {done.returncode}")
    report = json.loads(done.stdout)
    return {
        "prepare": report["seconds"]["prepare"],
        "fit": report["seconds"]["fit"],
        "mse": report["train"]["mse"],
        "atoms": [parse_atom(text) for step in report["path"] for text in step["added"]],
        "candidates": report["candidates"],
        "peak_mib": report["peak_rss_mib"],
    }


def parse_atom(text):
    """The inputs in a formula: `x1 * x7 * G(9.5)` -> (1, 7), `x3^2 * G(9.5)` -> (3, 3)."""
    inputs = []
    for factor in text.split(" * "):
        match = re.fullmatch(r"x(\d+)(?:\^(\d+))?", factor)
        if match:
            inputs += [int(match[1])] * int(match[2] or 1)
        elif not re.fullmatch(r"G\(.*\)", factor):
            fail(f"cannot read the formula {text!r}")
    return tuple(sorted(inputs))


def check_same_answer(ours, theirs):
    ours_atoms, their_atoms = set(ours["atoms"]), {tuple(atom) for atom in theirs["atoms"]}
    if ours["candidates"] != theirs["candidates"]:
        fail(f"mfga has {ours['candidates']} candidates, NumPy {theirs['candidates']}")
    if ours_atoms != their_atoms:
        fail(
            "different features were chosen; only mfga: "
            f"{sorted(ours_atoms - their_atoms)}, only NumPy: {sorted(their_atoms - ours_atoms)}"
        )
    difference = abs(ours["mse"] - theirs["mse"]) / theirs["mse"]
    if not difference <= MSE_TOLERANCE:
        fail(f"training MSE: mfga {ours['mse']!r}, NumPy {theirs['mse']!r}, {difference:.1e} relative")
    return difference


def available_cores():
    return len(os.sched_getaffinity(0))


class OtherLoad:
    """The share of the machine's processor time that goes to other processes than our children."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        # Jiffies of user, nice, system, idle, iowait, irq, softirq, steal.
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        tick = os.sysconf("SC_CLK_TCK")
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(fields) / tick, (fields[3] + fields[4]) / tick, children.ru_utime + children.ru_stime

    def share(self):
        total, idle, children = (now - then for now, then in zip(self.now(), self.start))
        return max(0.0, (total - idle - children) / total)


def cpu_model():
    match = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else "unknown processor"


def fail(message):
    sys.exit(f"error: {message}")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--tool", type=Path, default=root / "build" / "mfga", help="the program mfga")
    for name, value in FULL.items():
        option = "--" + name.replace("_", "-")
        parser.add_argument(option, type=int, help=f"{value} (with --quick {QUICK[name]})")
    parser.add_argument("--ridge", type=float, default=1.0, help="1")
    parser.add_argument("--sigma", type=float, default=9.5, help="kernel width, 9.5")
    parser.add_argument("--seed", type=int, default=1, help="of the generated data, 1")
    parser.add_argument("--quick", action="store_true", help="a small problem, to see that all works")
    parser.add_argument("--output", type=Path, help="write the results to this JSON file")
    arguments = parser.parse_args()
    for name, value in (QUICK if arguments.quick else FULL).items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
        elif getattr(arguments, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    return arguments


def compare(arguments, folder):
    names = ("rows", "inputs", "terms", "per_step", "ridge", "sigma", "seed")
    problem = {name: getattr(arguments, name) for name in names}
    job = problem | {"file": str(Path(folder) / "table.npy")}
    run_child("generate", job)

    other_load = OtherLoad()
    ours, theirs, difference = [], [], 0
    for _ in range(arguments.repeats):
        ours.append(run_mfga(arguments.tool, job))
        theirs.append(run_child("numpy", job))
        difference = max(difference, check_same_answer(ours[-1], theirs[-1]))

    other_share = other_load.share()

    def median(runs, key):
        return statistics.median(run[key] for run in runs)

    return {
        "machine": {
            "cpu": cpu_model(),
            "cores": available_cores(),
            "numpy": theirs[0]["numpy"],
            "blas": theirs[0]["blas"],
            "busy_with_other_work": other_share,
        },
        "problem": problem
        | {
            "candidates": theirs[0]["candidates"],
            "table_mib": 8 * arguments.rows * (arguments.inputs + 1) / 2**20,
            "dictionary_mib": theirs[0]["dictionary_mib"],
        },
        "repeats": arguments.repeats,
        "mfga": {key: median(ours, key) for key in ("prepare", "fit", "peak_mib")},
        "numpy": {
            key: median(theirs, key) for key in ("prepare", "materialise", "learn", "fit", "peak_mib")
        },
        "ratio": median(theirs, "fit") / median(ours, "fit"),
        "ratio_of_fastest": min(run["fit"] for run in theirs) / min(run["fit"] for run in ours),
        "same_answer": {"mse": theirs[0]["mse"], "relative_difference": difference},
        "runs": {
            "mfga": [{key: run[key] for key in run if key != "atoms"} for run in ours],
            "numpy": [{key: run[key] for key in run if key != "atoms"} for run in theirs],
        },
    }


def print_table(result):
    machine, problem = result["machine"], result["problem"]
    ours, theirs = result["mfga"], result["numpy"]
    print(f"{machine['cpu']}, {machine['cores']} cores; NumPy {machine['numpy']} with {machine['blas']}")
    print(
        f"{problem['rows']} rows, {problem['inputs']} inputs, {problem['candidates']} candidates, "
        f"{problem['terms']} terms, {problem['per_step']} per step; table {problem['table_mib']:.0f} MiB, "
        f"materialised dictionary {problem['dictionary_mib']:.0f} MiB\n"
    )
    print(f"{'median of ' + str(result['repeats']):<24}{'mfga':>10}{'NumPy':>10}")
    print(f"{'materialise, s':<24}{'-':>10}{theirs['materialise']:>10.3f}")
    print(f"{'learn, s':<24}{ours['fit']:>10.3f}{theirs['learn']:>10.3f}")
    print(f"{'fit = both, s':<24}{ours['fit']:>10.3f}{theirs['fit']:>10.3f}")
    print(f"{'(standardise, s)':<24}{ours['prepare']:>10.3f}{theirs['prepare']:>10.3f}")
    print(f"{'peak memory, MiB':<24}{ours['peak_mib']:>10.0f}{theirs['peak_mib']:>10.0f}")
    above = [side["peak_mib"] - problem["table_mib"] for side in (ours, theirs)]
    print(f"{'  beyond the table':<24}{above[0]:>10.0f}{above[1]:>10.0f}\n")
    print(
        f"mfga is {result['ratio']:.1f} times as fast ({result['ratio_of_fastest']:.1f} by the fastest runs). "
        f"Same {problem['terms']} features, same training MSE {result['same_answer']['mse']:.6g} "
        f"(to {result['same_answer']['relative_difference']:.0e})."
    )
    if machine["busy_with_other_work"] > BUSY_TOLERANCE:
        print(
            f"warning: other processes took {machine['busy_with_other_work']:.0%} of the machine meanwhile, "
            "so these times and their ratio are not to be relied on"
        )


def main():
    if sys.argv[1:2] == ["--child"]:
        tasks = {"generate": generate, "numpy": run_numpy}
        json.dump(tasks[sys.argv[2]](json.load(sys.stdin)), sys.stdout)
        return
    arguments = parse_arguments()
    if not arguments.tool.is_file():
        fail(f"there is no program {arguments.tool}; ./dev build makes it")
    with tempfile.TemporaryDirectory(prefix="mfga-bench-") as folder:
        result = compare(arguments, folder)
    print_table(result)
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
