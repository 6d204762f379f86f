"""The outcome of a bench as one page: a chart and the table. Nothing is loaded from elsewhere."""

import html
import math

import report

STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 78rem; padding: 1.2rem; color: #1d2733; background: #fff;
       font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 1.8rem 0 .4rem; }
p { margin: .3rem 0; }
.quiet { color: #5a6775; font-size: .9rem; }
.warning { background: #fff4d6; border-left: 4px solid #d99a00; padding: .3rem .7rem; }
.error { background: #fde7e7; border-left: 4px solid #c03030; padding: .3rem .7rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td:last-child, th:last-child { text-align: left; }
td:last-child { white-space: normal; min-width: 12rem; }
thead th { border-bottom: 2px solid #8a97a6; }
tr.setting th { text-align: left; white-space: normal; padding-top: 1rem; }
tr.setting div { position: sticky; left: 0; max-width: min(72rem, calc(100vw - 4rem)); }
tr.setting span { font-weight: normal; color: #5a6775; }
tbody tr:not(.setting) td { border-top: 1px solid #e4e9ee; }
.met { color: #17693a; } .missed { color: #b02020; font-weight: 600; }
svg { width: 100%; display: block; overflow: visible; }
svg text { font: 13px system-ui, sans-serif; fill: #1d2733; }
svg .head { font-weight: 600; }
svg .tick { fill: #5a6775; font-size: 12px; }
"""

ROW_HEIGHT = 38
HEAD_HEIGHT = 34


def as_html(outcome):
    notes = "".join(
        f'<p class="{"error" if line.startswith("error") else "warning"}">{html.escape(line)}</p>'
        for line in report.warnings(outcome)
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mfga: speed</title><style>{STYLE}</style></head><body>
<h1>mfga beside its peers</h1>
<p class="quiet">{html.escape(report.machine_line(outcome))}. {outcome["date"]}; repeats:
{outcome["repeats"]}, fewer of the slow peers; each run in a process of its own, alternating.</p>
{notes}
<h2>How many times as long the peers take</h2>
<p class="quiet">Medians; logarithmic scale; dark line: the target.</p>
{chart(outcome)}
<h2>The table</h2>
<div class="scroll">{table(outcome)}</div>
</body></html>
"""


def chart(outcome):
    """Bars with positions in per cent and heights in pixels, so that text keeps its size at any width."""
    groups = [
        (result, [row for row in result["rows"] if row.is_peer and row.measured]) for result in outcome["settings"]
    ]
    groups = [(result, rows) for result, rows in groups if rows]
    if not groups:
        return ""
    ratios = [row.measured for _, rows in groups for row in rows]
    limits = [row.target.limit for _, rows in groups for row in rows if row.target]
    low = math.log10(min(0.9, *ratios))
    high = math.log10(max(10, *ratios, *limits) * 1.05)

    def place(ratio):
        return 100 * (math.log10(ratio) - low) / (high - low)

    parts = []
    y = 0
    for result, rows in groups:
        y += HEAD_HEIGHT
        parts.append(
            f'<text class="head" x="0" y="{y - 8}">{html.escape(str(result["number"]))}. '
            f"{html.escape(result['short'])}</text>"
        )
        for row in rows:
            left, right = sorted((place(1), place(row.measured)))
            colour = "#2f6fb0" if row.measured >= 1 else "#c9772b"
            words = f"{row.who}: {report.measured_text(row)}"
            parts.append(f'<text x="0" y="{y + 13}">{html.escape(words)}</text>')
            parts.append(
                f'<rect x="{left:.2f}%" y="{y + 18}" width="{max(right - left, 0.2):.2f}%" height="13" fill="{colour}"/>'
            )
            if row.target:
                x = place(row.target.limit)
                parts.append(
                    f'<line x1="{x:.2f}%" x2="{x:.2f}%" y1="{y + 15}" y2="{y + 34}" stroke="#1d2733" stroke-width="2"/>'
                )
            y += ROW_HEIGHT
    grid = []
    for power in range(math.ceil(low), math.floor(high) + 1):
        x = place(10.0**power)
        grid.append(f'<line x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="{y + 4}" stroke="#dde3e9"/>')
        grid.append(
            f'<text class="tick" x="{x:.2f}%" y="{y + 20}" text-anchor="middle">{10.0**power:g}x</text>'
        )
    return (
        f'<svg height="{y + 26}" role="img" aria-label="ratios of times">' + "".join(grid) + "".join(parts) + "</svg>"
    )


def table(outcome):
    head = "".join(f"<th>{name}</th>" for name in ("", *report.COLUMNS, "same answer"))
    lines = []
    for result in outcome["settings"]:
        title = f"{result['number']}. {html.escape(result['title'])}"
        timed = html.escape(result["timed"])
        lines.append(
            f'<tr class="setting"><th colspan="9"><div>{title}<br><span>Timed: {timed}.</span></div></th></tr>'
        )
        for row in result["rows"]:
            if row.note:
                lines.append(f'<tr><td>{html.escape(row.who)}</td><td colspan="8">{html.escape(row.note)}</td></tr>')
                continue
            cells = report.cells(row, outcome["quick"])
            verdict = f'<td class="{cells[-1]}">{cells[-1]}</td>'
            numbers = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells[:-1])
            lines.append(
                f"<tr><td>{html.escape(row.who)}</td>{numbers}{verdict}<td>{html.escape(row.answer)}</td></tr>"
            )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
