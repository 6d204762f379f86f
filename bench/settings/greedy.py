"""Settings 1 to 3: greedy choice among second-order features of the generated table."""

import re

from harness import Peer, Row, at_least, at_most, median_of
from process import RunError

MSE_TOLERANCE = 1e-6
# Of the mean squared errors of two learners that choose by different rules.
OTHER_RULE_TOLERANCE = 0.01


# The rule of orthogonal matching pursuit, and nothing done to the inputs but standardisation.
PURSUIT = ("--select", "gradient", "--shortlist", "1", "--scale", "standard")


class Problem:
    def __init__(self, quick):
        self.rows, self.inputs, self.terms = (5000, 30, 60) if quick else (46371, 90, 400)
        self.big_step = 10 if quick else 20
        self.many_rows = 10 * self.rows if quick else 463715

    def options(self, per_step):
        """No ridge: orthogonal matching pursuit has none."""
        return [
            *("--target", "-1", "--features", "gaussian(order=2)", "--ridge", "0", *PURSUIT),
            *("--terms", self.terms, "--per-step", per_step),
        ]


def parse_atom(text):
    """The inputs in a formula: `x1 * x7 * G(9.5)` -> (1, 7), `x3^2 * G(9.5)` -> (3, 3)."""
    inputs = []
    for factor in text.split(" * "):
        match = re.fullmatch(r"x(\d+)(?:\^(\d+))?", factor)
        if match:
            inputs += [int(match[1])] * int(match[2] or 1)
        elif not re.fullmatch(r"G\(.*\)", factor):
            raise RunError(f"cannot read the formula {text!r}")
    return tuple(sorted(inputs))


def same_answer(ours, theirs):
    our_atoms = {parse_atom(text) for step in ours["path"] for text in step["added"]}
    their_atoms = {tuple(atom) for atom in theirs["atoms"]}
    if our_atoms != their_atoms:
        raise RunError(
            f"different features were chosen; only mfga: {sorted(our_atoms - their_atoms)}, "
            f"only the peer: {sorted(their_atoms - our_atoms)}"
        )
    mse = ours["train"]["mse"]
    difference = abs(mse - theirs["mse"]) / theirs["mse"]
    if not difference <= MSE_TOLERANCE:
        raise RunError(f"training MSE: mfga {mse!r}, the peer {theirs['mse']!r}")
    return f"same {len(our_atoms)} features, MSE to {difference:.0e}"


def same_size(ours, theirs):
    """For a peer that chooses by another rule: as many terms, and our error not above its by more than a tolerance."""
    if len(theirs["atoms"]) != ours["terms"]:
        raise RunError(f"the peer chose {len(theirs['atoms'])} features, mfga {ours['terms']}")
    excess = ours["train"]["mse"] / theirs["mse"] - 1
    if excess > OTHER_RULE_TOLERANCE:
        raise RunError(f"training MSE: mfga {ours['train']['mse']!r}, the peer {theirs['mse']!r}")
    return f"other rule, as many terms; our MSE {excess:+.2%}"


def gradient_rows(bench, runs, rows, target=None):
    """What the gradient passes reach of the machine's best matrix product and of its memory bandwidth."""
    run = runs[0]
    if run["engine"] != "lazy":
        return []  # no passes over the rows
    seconds = median_of([{"gradient": each["parts"]["gradient"]} for each in runs], "gradient")
    passes = run["gradient_passes"]
    operations = 2 * rows * run["candidates"] * passes / seconds
    # Every pass reads the table, which is in double precision.
    traffic = 8 * rows * run["inputs"] * passes / seconds
    peak = bench.peaks["gemm_single"]  # the precision of the search, unless --precision says otherwise
    return [
        Row(
            "gradient pass, of the single GEMM peak",
            measured=100 * operations / peak,
            unit="%",
            target=target,
            answer=f"{operations / 1e9:.0f} of {peak / 1e9:.0f} GF/s, {passes} passes",
        ),
        Row(
            "gradient pass, of the memory bandwidth",
            measured=100 * traffic / bench.peaks["bandwidth"],
            unit="%",
            answer=f"{traffic / 1e9:.1f} of {bench.peaks['bandwidth'] / 1e9:.1f} GB/s",
        ),
    ]


def pursuit_peers(bench, file, problem, per_step, check, target):
    def run(module, function):
        # The kernel's width costs the peers nothing: they have no rule for it.
        return lambda ours: bench.child(
            f"peers.{module}",
            function,
            limit=600,
            file=str(file),
            sigma=ours["sigma"],
            terms=problem.terms,
            per_step=per_step,
        )

    peers = [
        Peer("scikit-learn orthogonal_mp", run("sklearn_omp", "run"), check, target, repeats=2),
        Peer("scikit-learn orthogonal_mp_gram", run("sklearn_omp", "run_gram"), check, target, repeats=2),
        Peer("SPAMS omp", run("spams_omp", "run"), same_size, repeats=1),
        Peer("abess LinearRegression", run("abess_linear", "run"), same_size, repeats=1),
    ]
    if per_step > 1:
        peers.insert(0, Peer("NumPy generalised OMP", run("numpy_greedy", "run"), same_answer, at_least(10)))
    return peers


def run_many_per_step(bench):
    problem = Problem(bench.quick)
    file = bench.table(problem.rows, problem.inputs)
    # The peers but NumPy's version add one feature per step, as they can only do.
    peers = pursuit_peers(bench, file, problem, problem.big_step, same_size, at_least(45))
    rows, runs = bench.compare(lambda: bench.train(file, *problem.options(problem.big_step)), peers)
    return rows + gradient_rows(bench, runs, problem.rows, at_least(50, "%"))


def run_one_per_step(bench):
    problem = Problem(bench.quick)
    file = bench.table(problem.rows, problem.inputs)
    peers = pursuit_peers(bench, file, problem, 1, same_answer, at_least(12))
    rows, runs = bench.compare(lambda: bench.train(file, *problem.options(1)), peers)
    return rows + gradient_rows(bench, runs, problem.rows)


def run_many_rows(bench):
    """Ours on ten times the rows."""
    problem = Problem(bench.quick)
    few, many = (bench.table(rows, problem.inputs) for rows in (problem.rows, problem.many_rows))
    options = problem.options(problem.big_step)
    few_runs, many_runs = [], []
    for _ in range(bench.repeats):
        few_runs.append(bench.timed(f"mfga, {problem.rows:,} rows", lambda: bench.train(few, *options)))
        many_runs.append(bench.timed(f"mfga, {problem.many_rows:,} rows", lambda: bench.train(many, *options)))
    ours, base = (
        Row(f"mfga, {rows:,} rows", [run["seconds"] for run in runs], median_of(runs, "peak_mib"))
        for rows, runs in ((problem.many_rows, many_runs), (problem.rows, few_runs))
    )
    times = problem.many_rows / problem.rows
    ours.measured = ours.median / (times * base.median)
    ours.measured_fastest = ours.fastest / (times * base.fastest)
    ours.target = at_most(1.15)
    ours.answer = f"against {times:.4g} times the smaller table's"
    table_mib = 8 * problem.many_rows * (problem.inputs + 1) / 2**20
    memory = Row("peak memory, of the loaded table", measured=ours.peak_mib / table_mib, target=at_most(1.3))
    memory.answer = f"table {table_mib:.0f} MiB"
    return [base, ours, memory] + gradient_rows(bench, many_runs, problem.many_rows)
