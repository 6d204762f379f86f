#!/usr/bin/env python3
"""The picture of docs/tuning.md: six landmark terms on one input, chosen only, and tuned as well.

    repro/tuning_picture.py [--out docs/tuning.svg] [--tables 10]

Makes a table of its own (a wave that gets faster and higher, with noise), trains `build/mfga` on it twice, and draws both
models, with their terms below. With --tables it draws nothing, and prints the errors on so many tables.
"""

import argparse
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "build" / "mfga"
NOISE = 0.15
LOWEST, HIGHEST = 0.0, 10.0
GRID = [LOWEST + (HIGHEST - LOWEST) * i / 250 for i in range(251)]
TERMS = 6
TRAIN = ["--target", "y", "--features", "landmark(count=100)", "--terms", str(TERMS)]
PANELS = [("chosen only", ["--tune", "no"]), ("chosen and tuned", ["--tune", "auto"])]
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9"]  # told apart by the colour-blind too

WIDTH, HEIGHT = 910, 455
PANEL_WIDTH, GAP, LEFT = 400, 50, 45
TOP, CURVES, SPACE, BUMPS = 40, 215, 30, 105  # the heights of the curves and of the terms, and what is above and between
FONT = 'font-family="sans-serif"'


def truth(x):
    return (1 + 0.1 * x) * math.sin(0.15 * x * x)


def write_table(path, rows, seed):
    draw = random.Random(seed)
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["x", "y"])
        for _ in range(rows):
            x = draw.uniform(LOWEST, HIGHEST)
            table.writerow([f"{x:.6g}", f"{truth(x) + draw.gauss(0, NOISE):.6g}"])


def read_table(path):
    with open(path, newline="") as file:
        return [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]


def run(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def train(folder, options):
    """The model, and the root mean square error on the test rows."""
    path = folder / "model.json"
    tables = ["--train", folder / "train.csv", "--test", folder / "test.csv"]
    report = json.loads(run("train", *tables, *TRAIN, *options, "--model", path, "--json"))
    return json.loads(path.read_text()), report["test"]["rmse"]


def fits_of_table(number):
    """The rows of a table, and for each panel the model and its error."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_table(folder / "train.csv", 300, seed=2 * number + 1)
        write_table(folder / "test.csv", 2000, seed=2 * number + 2)
        return read_table(folder / "train.csv"), [train(folder, options) for _, options in PANELS]


def terms_at(model, x):
    """What each term adds at x."""
    (column,) = model["inputs"]
    z = (x - column["mean"]) / column["deviation"] * column.get("stretch", 1)
    return [
        term["coefficient"] * math.sqrt(term["nu"]) * math.exp(-(((z - term["centre"][0]) / term["sigma"]) ** 2) / 2)
        for term in model["terms"]
    ]


class Frame:
    """A rectangle of the picture with axes of its own."""

    def __init__(self, left, top, height, low, high):
        self.left, self.top, self.height, self.low, self.high = left, top, height, low, high

    def x(self, value):
        return self.left + PANEL_WIDTH * (value - LOWEST) / (HIGHEST - LOWEST)

    def y(self, value):
        return self.top + self.height * (self.high - value) / (self.high - self.low)

    def line(self, points, style):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        return f'<polyline points="{path}" fill="none" {style}/>'

    def border(self, ticks):
        parts = [
            f'<rect x="{self.left}" y="{self.top}" width="{PANEL_WIDTH}" height="{self.height}" fill="none" stroke="#999"/>'
        ]
        for tick in ticks:
            parts.append(
                f'<text x="{self.left - 6}" y="{self.y(tick) + 4:.1f}" text-anchor="end" font-size="11" {FONT} fill="#444">'
                f"{tick:g}</text>"
            )
        return parts


def tick_distance(span):
    power = 10 ** math.floor(math.log10(span / 3))
    return next(step * power for step in (1, 2, 5, 10) if span / (step * power) <= 5)


def largest_term(models):
    return max(abs(value) for model in models for x in GRID for value in terms_at(model, x))


def panel(left, title, model, error, rows, largest):
    terms = [terms_at(model, x) for x in GRID]
    curves = Frame(left, TOP, CURVES, -2.9, 2.9)
    bumps = Frame(left, TOP + CURVES + SPACE, BUMPS, -largest, largest)
    parts = [
        f'<text x="{left + PANEL_WIDTH / 2}" y="{TOP - 12}" text-anchor="middle" font-size="15" {FONT} fill="#111">'
        f"{TERMS} terms, {title}: test RMSE {error:.3f}</text>"
    ]
    parts += [f'<circle cx="{curves.x(x):.1f}" cy="{curves.y(y):.1f}" r="1.8" fill="#b5b5b5"/>' for x, y in rows]
    parts.append(curves.line([(x, truth(x)) for x in GRID], 'stroke="#111" stroke-width="1.3" stroke-dasharray="5 4"'))
    model_points = [(x, model["intercept"] + sum(values)) for x, values in zip(GRID, terms)]
    parts.append(curves.line(model_points, 'stroke="#d1001c" stroke-width="2.2"'))
    parts += curves.border([-2, -1, 0, 1, 2])
    parts.append(bumps.line([(LOWEST, 0), (HIGHEST, 0)], 'stroke="#ccc"'))
    for i, colour in enumerate(COLOURS):
        points = [(x, values[i]) for x, values in zip(GRID, terms) if abs(values[i]) > 0.01 * largest]
        parts.append(bumps.line(points, f'stroke="{colour}" stroke-width="1.6"'))
    step = tick_distance(2 * largest)
    parts += bumps.border([step * i for i in range(-5, 6) if abs(step * i) <= largest])
    bottom = bumps.top + bumps.height
    for tick in range(int(LOWEST), int(HIGHEST) + 1, 2):
        parts.append(
            f'<text x="{bumps.x(tick):.1f}" y="{bottom + 16}" text-anchor="middle" font-size="11" {FONT} fill="#444">'
            f"{tick}</text>"
        )
    parts.append(
        f'<text x="{left + 6}" y="{bumps.top - 6}" font-size="12" {FONT} fill="#444">the terms, each for itself</text>'
    )
    return parts


def legend():
    y = HEIGHT - 14
    entries = [
        (f'<circle cx="20" cy="{y - 4}" r="3" fill="#b5b5b5"/>', "rows learned from"),
        (f'<path d="M5 {y - 4}h30" stroke="#111" stroke-width="1.3" stroke-dasharray="5 4"/>', "the truth"),
        (f'<path d="M5 {y - 4}h30" stroke="#d1001c" stroke-width="2.2"/>', "the model"),
    ]
    parts = []
    for i, (mark, text) in enumerate(entries):
        parts.append(
            f'<g transform="translate({250 + 150 * i} 0)">{mark}'
            f'<text x="40" y="{y}" font-size="12" {FONT} fill="#111">{text}</text></g>'
        )
    return parts


def picture(rows, fits):
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>Six landmark terms, chosen only and tuned</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    largest = 1.1 * largest_term([model for model, _ in fits])
    for i, ((title, _), (model, error)) in enumerate(zip(PANELS, fits)):
        parts += panel(LEFT + i * (PANEL_WIDTH + GAP), title, model, error, rows, largest)
    return "\n".join([*parts, *legend(), "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "tuning.svg")
    parser.add_argument("--tables", type=int, default=0)
    options = parser.parse_args()
    if options.tables == 0:
        options.out.write_text(picture(*fits_of_table(0)))
        return
    errors = [[error for _, error in fits_of_table(number)[1]] for number in range(options.tables)]
    for (title, _), values in zip(PANELS, zip(*errors)):
        print(f"{title}: test RMSE {statistics.mean(values):.3f} ({min(values):.3f} to {max(values):.3f}), noise {NOISE}")


if __name__ == "__main__":
    main()
