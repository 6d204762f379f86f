"""pandas' C reader, told all that makes it faster: the type of the columns, and that nothing is missing."""

import numpy as np
import pandas

from peers.csv_read import timed


def run(job):
    def read():
        return pandas.read_csv(job["file"], engine="c", dtype=np.float64, na_filter=False, memory_map=True)

    return timed(read, lambda table: table.mean())
