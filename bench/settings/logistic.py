"""Setting 4: a greedy logistic fit."""

import json
import re

from harness import Peer, at_least
from process import NotInstalled, RunError, TookTooLong
from settings.data_sets import adult
from settings.greedy import PURSUIT

OBJECTIVE_TOLERANCE = 1e-5


def run(bench):
    rows, terms, per_step = (4000, 40, 10) if bench.quick else (32561, 100, 10)
    file, data = adult(bench, 0, rows)

    def ours(count):
        report = bench.train(
            file,
            *("--target", "-1", "--features", "linear + gaussian(order=1)", "--ridge", "1", *PURSUIT),
            *("--terms", count, "--per-step", per_step),
        )
        model = json.loads((bench.folder / "model.json").read_text())
        square = sum(term["coefficient"] ** 2 for term in model["terms"])
        report["objective"] = report["n_train"] * report["train"]["risk"] + report["ridge"] * square
        return report

    def peer(module):
        return lambda ours: bench.child(
            f"peers.{module}",
            "run",
            limit=300,
            file=str(file),
            sigma=ours["sigma"],
            ridge=ours["ridge"],
            terms=terms,
            per_step=per_step,
        )

    same_steps = Peer("NumPy + scikit-learn, same steps", peer("sklearn_logistic"), same_answer, at_least(5))
    table, _ = bench.compare(lambda: ours(terms), [same_steps], f"mfga, {terms} terms")
    table[0].answer = data
    for name, module, repeats in (
        ("abess LogisticRegression", "abess_logistic", 100),
        ("skscope OMPSolver", "skscope_logistic", 1),
    ):
        table += compare_to_objective(bench, ours, name, peer(module), terms, per_step, repeats)
    return table


def compare_to_objective(bench, ours, name, run_peer, terms, per_step, repeats):
    """Against a peer that chooses by another rule: ours with as many terms as its objective needs, and never fewer."""
    mine = ours(terms)
    first = Outcome(lambda: run_peer(mine))
    count = terms
    while first.result and mine["objective"] > first.result["objective"]:
        count += per_step
        if count > mine["candidates"]:
            raise RunError(f"{name}: its objective {first.result['objective']!r} is out of reach")
        mine = ours(count)
    pending = [first]

    def check(ours, theirs):
        excess = ours["objective"] / theirs["objective"] - 1
        if excess > OBJECTIVE_TOLERANCE:
            raise RunError(f"objective: mfga {ours['objective']!r}, the peer {theirs['objective']!r}")
        return f"{len(theirs['atoms'])} terms; our objective with {count} is {excess:+.2%}"

    def run(ours):
        return pending.pop().get() if pending else run_peer(ours)

    peers = [Peer(name, run, check, at_least(5), repeats)]
    rows, _ = bench.compare(lambda: ours(count), peers, f"mfga, {count} terms")
    return rows


class Outcome:
    """What a call gave, or the error that it raised, for later."""

    def __init__(self, function):
        self.result, self.error = None, None
        try:
            self.result = function()
        except (RunError, NotInstalled, TookTooLong) as error:
            self.error = error

    def get(self):
        if self.error:
            raise self.error
        return self.result


def our_atoms(ours):
    """In the peers' words: `x3`, `G`, `x3 G`."""
    formulas = [formula for step in ours["path"] for formula in step["added"]]
    return {re.sub(r"G\(.*\)", "G", formula).replace(" * ", " ") for formula in formulas}


def same_answer(ours, theirs):
    mine, peers = our_atoms(ours), set(theirs["atoms"])
    if mine != peers:
        raise RunError(
            f"different features were chosen; only mfga: {sorted(mine - peers)}, only the peer: {sorted(peers - mine)}"
        )
    difference = abs(ours["objective"] / theirs["objective"] - 1)
    if not difference <= OBJECTIVE_TOLERANCE:
        raise RunError(f"objective: mfga {ours['objective']!r}, the peer {theirs['objective']!r}")
    return f"same {len(mine)} features, objective to {difference:.0e}"
