"""Setting 5: cross-validation of ridges and sizes beside one fit."""

from harness import Row, at_most, median_of
from settings.greedy import PURSUIT, Problem

RIDGES = [10.0**power for power in range(-5, 6)]
FOLDS = 5


def run(bench):
    problem = Problem(bench.quick)
    file = bench.table(problem.rows, problem.inputs)
    options = ["--target", "-1", "--features", "gaussian(order=2)", "--engine", "gram", "--terms", problem.terms, *PURSUIT]
    ridges = ",".join(f"{ridge:g}" for ridge in RIDGES)

    def one_fit():
        return bench.train(file, *options, "--ridge", "1")

    def validation():
        report = bench.train(file, *options, "--ridge", "cv", "--folds", FOLDS, "--ridges", ridges)
        report["validation"] = report["cross_validation"]["seconds"]
        return report

    runs = {"mfga, one fit": [], "mfga, cross-validation and fit": []}
    for _ in range(bench.repeats):
        for (name, mine), work in zip(runs.items(), (one_fit, validation)):
            mine.append(bench.timed(name, work))
    one, all_of_it = (
        Row(name, [run["seconds"] for run in mine], median_of(mine, "peak_mib")) for name, mine in runs.items()
    )
    all_of_it.measured = all_of_it.median / one.median
    all_of_it.measured_fastest = all_of_it.fastest / one.fastest
    all_of_it.target = at_most(4)
    seconds = median_of(runs["mfga, cross-validation and fit"], "validation")
    all_of_it.answer = f"{FOLDS} folds, {len(RIDGES)} ridges; cross-validation alone {seconds:.3g} s"
    return [one, all_of_it]
