"""NumPy's own reader of text."""

import numpy as np

from peers.csv_read import timed


def run(job):
    return timed(
        lambda: np.loadtxt(job["file"], delimiter=",", skiprows=1, comments=None, dtype=np.float64),
        lambda table: table.mean(axis=0),
    )
