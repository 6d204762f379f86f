"""The generated tables. Functions for child processes, called with a job that names the file to write."""

import io

import numpy as np


def regression_table(job):
    """Inputs with different means and scales, and a target made of a few features and noise; target last."""
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
    return {}


def prediction_table(job):
    """The inputs of regression_table only, more rows; made in pieces, so that memory does not matter."""
    rows, inputs = job["rows"], job["inputs"]
    random = np.random.default_rng(job["seed"])
    table = np.lib.format.open_memmap(job["file"], mode="w+", dtype=np.float64, shape=(rows, inputs))
    for first in range(0, rows, 2**16):
        piece = table[first : first + 2**16]
        piece[:] = 5 + 10 * random.standard_normal(piece.shape)
    table.flush()
    return {}


def csv_file(job):
    """A text table of about so many bytes: rows of a regression table, written again and again."""
    source = np.load(job["table"])[: job["distinct_rows"]]
    text = io.StringIO()
    np.savetxt(text, source, fmt="%.6g", delimiter=",")
    text = text.getvalue().encode()
    repeats = max(1, round(job["bytes"] / len(text)))
    names = [f"x{j}" for j in range(source.shape[1] - 1)] + ["y"]
    with open(job["file"], "wb") as file:
        file.write(",".join(names).encode() + b"\n")
        for _ in range(repeats):
            file.write(text)
        return {"rows": repeats * len(source), "bytes": file.tell()}


def centred_target(job):
    """A table whose target, in the column job["target"], becomes the last column and has mean zero."""
    source = job["table"]
    table = np.load(source) if source.endswith(".npy") else np.loadtxt(source, delimiter=",")
    table = table[: job["rows"]]
    target = table[:, job["target"]]
    np.save(job["file"], np.column_stack([np.delete(table, job["target"], axis=1), target - target.mean()]))
    return {"rows": len(table), "inputs": table.shape[1] - 1}


def libsvm_table(job):
    """Rows first to last of a LIBSVM file as a dense table, label last."""
    with open(job["libsvm"]) as lines:
        rows = [line.split() for line in lines][job["first"] : job["last"]]
    table = np.zeros((len(rows), job["inputs"] + 1))
    for row, (label, *fields) in zip(table, rows):
        row[-1] = float(label)
        for pair in fields:
            index, value = pair.split(":")
            row[int(index) - 1] = float(value)
    np.save(job["file"], table)
    return {}


def binary_table(job):
    """Rows first to last of sparse zeros and ones, and a label -1 or +1 that depends on some of them; label last."""
    rows, inputs = job["last"], job["inputs"]
    random = np.random.default_rng(job["seed"])
    table = np.empty((rows, inputs + 1))
    table[:, :-1] = random.random((rows, inputs)) < random.uniform(0.02, 0.5, inputs)
    weights = random.standard_normal(inputs) * (random.random(inputs) < 0.5)
    score = table[:, :-1] @ weights
    score += table[:, 0] * table[:, 1] - score.mean() - 1
    table[:, -1] = np.where(random.random(rows) < 1 / (1 + np.exp(-score)), 1, -1)
    np.save(job["file"], table[job["first"] :])
    return {}


def largest_difference(job):
    """Of two files of predictions, relative to the spread of the second."""
    first, second = (
        np.load(file) if file.endswith(".npy") else np.loadtxt(file, skiprows=1)
        for file in (job["first"], job["second"])
    )
    return {"relative": float(np.max(np.abs(first.ravel() - second)) / second.std())}
