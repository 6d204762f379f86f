"""What the readers of text tables have in common: the time of reading, and the means of the columns as a check."""

import time

from machine import peak_memory_mib


def timed(read, means):
    start = time.perf_counter()
    table = read()
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "peak_mib": peak_memory_mib(),
        "rows": len(table),
        "means": [float(mean) for mean in means(table)],
    }
