"""Setting 9: a gradient pass of each feature family beside NumPy's product with a matrix of as many features."""

import re
from dataclasses import dataclass

from harness import Peer, at_least, median_of
from process import RunError
from report import number
from settings.greedy import PURSUIT, parse_atom

PASSES = 10  # of one run of ours
GRADIENT_TOLERANCE = 1e-6


@dataclass
class Case:
    family: str
    options: dict
    inputs: int
    peer_options: tuple = ()  # what NumPy's version asks for: some of the options, and sigma

    @property
    def expression(self):
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.family}({options})" if options else self.family


def cases(quick):
    inputs, few_inputs, count = (30, 5, 100) if quick else (90, 12, 1000)
    return [
        Case("linear", {}, inputs),
        Case("polynomial", {"degree": 2}, inputs),
        Case("step", {"knots": 16}, inputs, ("knots",)),
        Case("hinge", {"knots": 8, "interactions": 1}, inputs, ("knots", "interactions")),
        Case("hinge", {"knots": 4, "interactions": 2}, few_inputs, ("knots", "interactions")),
        Case("spline", {"knots": 8}, inputs, ("knots",)),
        Case("periodic", {"count": 4}, inputs, ("count",)),
        Case("additive", {"order": 3}, inputs, ("order",)),
        Case("gaussian", {"order": 2}, inputs, ("sigma",)),
        Case("fourier", {"count": count, "draw": "iid"}, inputs, ("count", "sigma")),
        Case("fourier", {"count": count, "draw": "structured"}, inputs, ("count", "sigma")),
        Case("landmark", {"count": count, "kernel": "gaussian"}, inputs, ("count", "kernel", "sigma")),
        Case("landmark", {"count": count // 2, "kernel": "laplace"}, inputs, ("count", "kernel", "sigma")),
        Case("nystrom", {"count": count // 5}, inputs, ("count", "sigma")),
        Case("maclaurin", {"count": count}, inputs, ("count", "sigma")),
    ]


def check_all_covered(options_text, covered):
    """Of the tool's families, which `mfga options` has as headings."""
    missing = set(re.findall(r"^### `(\w+)`", options_text, re.MULTILINE)) - covered
    if missing:
        raise RunError(f"no case for the families {', '.join(sorted(missing))}")


def run(bench):
    rows = 5000 if bench.quick else 46371
    check_all_covered(bench.mfga("options"), {case.family for case in cases(bench.quick)})
    return [row for case in cases(bench.quick) for row in compare(bench, bench.table(rows, case.inputs), case)]


def gradient_pass(bench, file, case):
    """One of ours. What is done once per fit is mostly bounding the errors of single precision."""
    report = bench.train(
        *(file, "--target", "-1", "--features", case.expression, "--engine", "lazy", "--ridge", "1"),
        *(*PURSUIT, "--terms", PASSES),
    )
    parts = report["parts"]
    report["once"] = parts["fit"] - parts["gradient"] - parts["products"] - parts["refit"]
    report["seconds"] = parts["gradient"] / report["gradient_passes"]
    return report


def same_work(case, ours, theirs):
    """As many features; and where they are the same, the same one has the largest correlation, of the same size."""
    if ours["candidates"] != theirs["features"]:
        raise RunError(f"{case.expression}: mfga has {ours['candidates']} features, the peer {theirs['features']}")
    if theirs["best"] is None:
        return "as many features"
    first = ours["path"][0]
    atom = parse_atom(first["added"][0])
    if atom != tuple(theirs["best"]):
        raise RunError(f"{case.expression}: mfga begins with the inputs {atom}, the peer with {theirs['best']}")
    difference = abs(first["largest_gradient"] / theirs["largest"] - 1)
    if not difference <= GRADIENT_TOLERANCE:
        raise RunError(
            f"{case.expression}: the largest gradient of mfga is {first['largest_gradient']!r}, of the peer {theirs['largest']!r}"
        )
    return f"same first feature, gradient to {difference:.0e}"


def compare(bench, file, case):
    """One row: our times, and how many times as long NumPy takes."""
    their_runs = []

    def peer(ours):
        width = (ours["auto_sigma"] or {}).get("value")
        options = {name: width if name == "sigma" else case.options[name] for name in case.peer_options}
        result = bench.child("peers.numpy_families", "run", file=str(file), family=case.family, options=options)
        their_runs.append(result)
        return result

    (row, theirs), runs = bench.compare(
        lambda: gradient_pass(bench, file, case),
        [Peer("NumPy", peer, lambda ours, run: same_work(case, ours, run), at_least(1))],
        case.expression,
    )
    if theirs.note:
        theirs.who = f"{case.expression}: NumPy"
        return [row, theirs]
    row.measured, row.measured_fastest = theirs.measured, theirs.measured_fastest
    row.target, row.is_peer = theirs.target, True
    product = median_of(their_runs, "product")
    row.answer = (
        f"{runs[0]['candidates']:,} features; NumPy {number(theirs.median)} s, the product alone {number(product)} s "
        f"({number(product / row.median)}x); ours once {number(median_of(runs, 'once'))} s; {theirs.answer}"
    )
    return [row]
