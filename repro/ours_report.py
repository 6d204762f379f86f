"""The tables that ours.py prints, from its results. Needs nothing but Python."""

import math
import re
import statistics

from tool_runs import ROOT

OURS = "ours"
TREES = "trees"
TUNED_TREES = "tuned trees"
KERNEL = "exact kernel"
PEERS = (TREES, TUNED_TREES, KERNEL)


def our_key(terms):
    return f"{OURS} {terms}"


def paper_best(name):
    """The smallest error that the paper reports for a data set, and the method that has it."""
    text = (ROOT / "repro" / "paper_figures.cpp").read_text()
    entries = re.findall(rf'{{"{name}", "(\w+)", {{[^}}]*}}, {{([\d.]+),', text)
    return min((float(error), method) for method, error in entries)


def verdict(error, at_most):
    if at_most is None or error is None:
        return ""
    return "met" if error <= at_most else "missed"


def ratio(ours, theirs):
    """Of two errors; of two that are 0: 1."""
    if theirs == 0:
        return 1.0 if ours == 0 else math.inf
    return ours / theirs


def number(value):
    return "" if value is None else f"{value:.4g}"


def byte_count(value):
    return "" if value is None else f"{value:,.0f}"


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def of(results, case, method, *names):
    """An entry of a result, None where there is none."""
    value = results.get(case.name, {}).get(method)
    for name in names:
        value = None if value is None else value.get(name)
    return value


def terms_cell(results, case, terms):
    """The number that was asked for; where the models have fewer, theirs too (the mean over the splits)."""
    used = of(results, case, our_key(terms), "terms")
    return str(terms) if used in (None, terms) else f"{number(used)} of {terms}"


def kernel_cell(results, case):
    error = of(results, case, KERNEL, "error")
    return "" if error is None else f"{number(error)} ({of(results, case, KERNEL, 'method')})"


def paper_table(results, cases):
    rows = []
    for case in cases:
        for terms, at_most in case.at_most.items():
            ours = of(results, case, our_key(terms), "error")
            best = paper_best(case.name_in_paper) if case.name_in_paper else None
            rows.append(
                [
                    *(case.name, terms_cell(results, case, terms), case.measure.title, number(ours)),
                    *(number(at_most), verdict(ours, at_most)),
                    *(number(of(results, case, method, "error")) for method in (TREES, TUNED_TREES)),
                    *(kernel_cell(results, case), f"{number(best[0])} ({best[1]})" if best else ""),
                ]
            )
    header = ["data", "terms", "measure", OURS, "at most", "verdict", *PEERS, "the paper's best"]
    return markdown(header, rows)


def ratios(results, cases, *names):
    """Ours over tuned trees, of the cases that have both."""
    found = []
    for case in cases:
        for terms in case.at_most:
            pair = [of(results, case, method, *names) for method in (our_key(terms), TUNED_TREES)]
            if None not in pair:
                found.append(ratio(*pair))
    return found


def other_table(results, cases):
    rows = []
    for case in cases:
        for terms in case.at_most:
            ours = of(results, case, our_key(terms), "error")
            wrong = [of(results, case, method, "metrics", "error_percent") for method in (our_key(terms), TUNED_TREES)]
            rows.append(
                [
                    *(case.name, terms_cell(results, case, terms), case.measure.title, number(ours)),
                    *(number(of(results, case, method, "error")) for method in (TREES, TUNED_TREES)),
                    kernel_cell(results, case),
                    *(number(value) for value in ratios(results, [case], "error") or [None]),
                    "" if None in wrong else " / ".join(map(number, wrong)),
                ]
            )
    header = ["data", "terms", "measure", OURS, *PEERS, "ours / tuned trees", "wrong labels, %: ours / tuned trees"]
    return markdown(header, rows)


def medians(results, cases):
    by_measure = ratios(results, cases, "error")
    if not by_measure:
        return ""
    # RMSE where there are no labels.
    regressions = [case for case in cases if case.measure.metric == "rmse"]
    by_labels = ratios(results, regressions, "error") + ratios(results, cases, "metrics", "error_percent")
    first, second = (number(statistics.median(values)) for values in (by_measure, by_labels))
    return (
        f"Median of ours / tuned trees over {len(by_measure)} tables: {first} (RMSE, and log-loss for classes); "
        f"{second} with wrong labels instead of log-loss."
    )


def cost_table(results, cases):
    shown = {
        "bytes": ("bytes", byte_count),
        "fit_seconds": ("fit, s", number),
        "fit_cpu_seconds": ("fit, CPU s", number),
        "microseconds_per_row": ("per row, us", number),
    }
    rows = []
    for case in cases:
        for method in (*map(our_key, case.at_most), *PEERS):
            if of(results, case, method) is not None:
                cells = [show(of(results, case, method, name)) for name, (_, show) in shown.items()]
                rows.append([case.name, method, *cells])
    return markdown(["data", "method and terms", *(title for title, _ in shown.values())], rows)


def as_markdown(results, paper_cases, other_cases):
    parts = []
    if paper_cases:
        parts += ["**The paper's tables**", paper_table(results, paper_cases)]
    if other_cases:
        parts += ["**Other tables**", other_table(results, other_cases), medians(results, other_cases)]
    parts += ["**What it costs**", cost_table(results, [*paper_cases, *other_cases])]
    return "\n\n".join(part for part in parts if part)
