"""Setting 8: random features and exact kernels."""

from harness import Peer, at_least
from process import RunError
from settings.data_sets import adult, year

SEEDS = 10  # random features are compared by their mean error over so many
STANDARD_ERRORS = 4  # that the means may differ by
MSE_TOLERANCE = 1e-6  # the same equations
ERROR_TOLERANCE = 2.0  # points of test error between two losses


def run(bench):
    return random_features(bench) + kernel_ridge(bench) + support_vectors(bench)


def child(bench, function, **job):
    return lambda ours: bench.child(
        "peers.sklearn_kernels", function, limit=600, sigma=ours["sigma"], ridge=ours["ridge"], **job
    )


def random_features(bench):
    rows, inputs, terms = (5000, 30, 100) if bench.quick else (46371, 90, 400)
    sample, words = year(bench, 1000 if bench.quick else 5000, inputs)
    result = []
    for file, data in ((bench.table(rows, inputs), f"generated, {rows:,} rows of {inputs}"), (sample, words)):
        result += random_features_on(bench, file, data, terms)
    return result


def random_features_on(bench, file, data, terms):
    options = ["--target", "-1", "--method", "rks", "--terms", terms]
    run_peer = child(bench, "random_features", file=str(file), terms=terms, seed=0)
    errors_of_peer = child(bench, "random_features_r2", file=str(file), terms=terms, seeds=SEEDS)
    agreement = []

    def check(ours, _):
        """Once, and not timed: the two draw other random numbers, so only averages agree."""
        if not agreement:
            mine = bench.train(file, *options, "--repeats", SEEDS)["repeats"]["train"]["r2"]
            theirs = errors_of_peer(ours)
            error = (mine["standard_error"] ** 2 + theirs["standard_error"] ** 2) ** 0.5
            words = f"R2 over {SEEDS} seeds {mine['mean']:.4f} and {theirs['mean']:.4f}"
            if abs(mine["mean"] - theirs["mean"]) > STANDARD_ERRORS * error:
                raise RunError(f"{words}, standard error of the difference {error:.4f}")
            agreement.append(f"{words} (+- {error:.4f})")
        return agreement[0]

    peers = [Peer("scikit-learn RBFSampler + Ridge", run_peer, check, at_least(2))]
    rows, _ = bench.compare(lambda: bench.train(file, *options), peers, f"mfga rks, {terms} terms")
    rows[0].answer = data
    return rows


def kernel_ridge(bench):
    file, data = year(bench, 1000 if bench.quick else 5000, 30 if bench.quick else 90)

    def ours():
        # scikit-learn's has no intercept; the target has mean zero.
        return bench.train(file, "--target", "-1", "--method", "gk", "--intercept", "no", "--task", "regression")

    def check(ours, theirs):
        difference = abs(ours["train"]["mse"] - theirs["mse"]) / theirs["mse"]
        if not difference <= MSE_TOLERANCE:
            raise RunError(f"training MSE: mfga {ours['train']['mse']!r}, the peer {theirs['mse']!r}")
        return f"training MSE to {difference:.0e}"

    peers = [Peer("scikit-learn KernelRidge", child(bench, "kernel_ridge", file=str(file)), check, at_least(1))]
    rows, _ = bench.compare(ours, peers, "mfga gk, regression")
    rows[0].answer = data
    return rows


def support_vectors(bench):
    rows = 1000 if bench.quick else 5000
    train, data = adult(bench, 0, rows)
    test, _ = adult(bench, rows, 2 * rows)

    def ours():
        return bench.train(train, "--test", test, "--target", "-1", "--method", "gk")

    def check(ours, theirs):
        error, peer = ours["test"]["error_percent"], 100 * (1 - theirs["accuracy"])
        if abs(error - peer) > ERROR_TOLERANCE:
            raise RunError(f"test error of mfga {error:.2f} %, of the peer {peer:.2f} %")
        return f"another loss; test error {error:.1f} and {peer:.1f} %"

    run_peer = child(bench, "support_vectors", file=str(train), test=str(test))
    rows_of_table, _ = bench.compare(
        ours, [Peer("scikit-learn SVC", run_peer, check)], "mfga gk, classification"
    )
    rows_of_table[0].answer = data + "; logistic loss"
    return rows_of_table
