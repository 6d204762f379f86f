"""The outcome of a bench as text and as JSON."""

from machine import BUSY_TOLERANCE


def verdict(row, quick):
    if row.target is None or row.measured is None:
        return ""
    if quick:
        return "quick"  # the targets are for the full sizes
    return "met" if row.target.met_by(row.measured) else "missed"


def number(value):
    """Three significant digits, without an exponent."""
    if value is None:
        return ""
    return f"{value:.{max(0, 2 - len(str(int(abs(value)))) + 1)}f}" if abs(value) >= 1 else f"{value:.3g}"


def measured_text(row):
    return "" if row.measured is None else f"{number(row.measured)}{row.unit}"


def machine_line(outcome):
    machine = outcome["machine"]
    return (
        f"{machine['cpu']}, {machine['cores']} cores; NumPy {machine['numpy']} with {machine['blas']}; "
        f"GEMM peak {machine['gemm_double'] / 1e9:.0f} GF/s double, {machine['gemm_single'] / 1e9:.0f} GF/s single; "
        f"memory {machine['bandwidth'] / 1e9:.1f} GB/s"
    )


def warnings(outcome):
    lines = [f"error: {error}" for error in outcome["errors"]]
    busy = [result for result in outcome["settings"] if result["busy"] > BUSY_TOLERANCE]
    if busy:
        names = ", ".join(f"{result['number']} ({result['busy']:.0%})" for result in busy)
        lines.append(
            "warning: other processes took a part of the machine meanwhile, so these times and ratios are not to be relied "
            f"on; setting: {names}"
        )
    if outcome["quick"]:
        lines.append("quick run: small sizes, for which the targets are not meant")
    return lines


COLUMNS = ("median s", "fastest s", "peak MiB", "ratio", "of fastest", "target", "")
WIDTHS = (10, 11, 10, 9, 12, 10, 8)


def cells(row, quick):
    return [
        number(row.median),
        number(row.fastest),
        "" if row.peak_mib is None else f"{row.peak_mib:.0f}",
        measured_text(row),
        "" if row.measured_fastest is None else f"{number(row.measured_fastest)}{row.unit}",
        "" if row.target is None else str(row.target),
        verdict(row, quick),
    ]


def as_text(outcome):
    rows = [row for result in outcome["settings"] for row in result["rows"]]
    names = 2 + max((len(row.who) for row in rows), default=0)
    lines = [machine_line(outcome), ""]
    header = " " * names + "".join(f"{text:>{width}}" for text, width in zip(COLUMNS, WIDTHS))
    lines.append(header + "  same answer")
    for result in outcome["settings"]:
        lines += ["", f"{result['number']}. {result['title']}", f"   timed: {result['timed']}"]
        for row in result["rows"]:
            text = "".join(f"{cell:>{width}}" for cell, width in zip(cells(row, outcome["quick"]), WIDTHS))
            if row.note:
                text = f"  {row.note}"
            lines.append(f"{row.who:<{names}}{text}  {row.answer}".rstrip())
    lines.append("")
    return "\n".join(lines + warnings(outcome))


def as_markdown(outcome):
    """The table of docs/performance.md."""
    names = ("", *COLUMNS, "same answer")
    lines = [machine_line(outcome) + f"; medians of {outcome['repeats']} (slow peers: fewer), {outcome['date']}.", ""]
    for result in outcome["settings"]:
        lines += [f"**{result['number']}. {result['title']}.** Timed: {result['timed']}.", ""]
        lines += ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
        for row in result["rows"]:
            texts = [row.who, *cells(row, outcome["quick"]), row.note or row.answer]
            lines.append("| " + " | ".join(texts) + " |")
        lines.append("")
    return "\n".join(lines + warnings(outcome))


def as_json(outcome):
    def row_json(row):
        return {
            "who": row.who,
            "median_seconds": row.median,
            "fastest_seconds": row.fastest,
            "seconds": row.seconds,
            "peak_mib": row.peak_mib,
            "measured": row.measured,
            "measured_fastest": row.measured_fastest,
            "unit": row.unit,
            "target": str(row.target) if row.target else None,
            "verdict": verdict(row, outcome["quick"]) or None,
            "answer": row.answer,
            "note": row.note,
        }

    settings = [result | {"rows": [row_json(row) for row in result["rows"]]} for result in outcome["settings"]]
    return outcome | {"settings": settings}

