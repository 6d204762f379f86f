#!/usr/bin/env python3
"""How long a fit of a billion rows would take on many machines: a small model of its cost, fitted to runs here.

    ./dev python bench/scale_model.py [--rows N] [--terms T] [--cores N] [--memory GIB] [--disk MB_PER_S]
                                      [--network GBIT_PER_S] [--latency MICROSECONDS]

Runs fits of small tables of 100 columns, of rows in memory, of rows on disk, and of several ranks, which are threads
here and whose messages are counted. Processor seconds, bytes and messages are laws in the rows N, the terms T and the
ranks R; their coefficients are those of the least relative error. Other runs, of more rows, show how far the laws can
be trusted. Then it predicts a fit of so many rows and terms on 1, 10, 100 and 1,000 machines of so many cores. The
machines of the prediction are assumed (the options); what one processor does is measured. Processor seconds depend
little on what else runs here; the bandwidths that are measured, for comparison, do.
"""

import argparse
import math
import os
import pathlib
import resource
import subprocess
import tempfile
import threading
import time

import numpy as np
from scipy.optimize import nnls

from mfga import MFGARegressor, Statistics, _core
from mfga._communicator import Meeting

TOOL = pathlib.Path(__file__).resolve().parent.parent / "build" / "mfga"
COLUMNS = 100
BLOCK = 512  # rows
OPTIONS = {"features": "linear + hinge(knots=4)", "ridge": 1, "tune": False, "engine": "lazy", "per_step": 1}
SHARDS = 32  # of a sum
ARRAYS = 72  # bytes that every rank keeps of each row, as the refusal of too small a memory limit has them
LIMIT = 250  # bytes of memory for each row where rows are on disk,
LEAST = 24  # and MiB that the search needs


def table(rows):
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, COLUMNS)).round(4)
    y = x[:, :20] @ random.normal(size=20) + np.maximum(0, x[:, 20:40]) @ random.normal(size=20) + random.normal(size=rows)
    return x, y.round(4)


class Threads:
    """Ranks that are threads of this process; counts what they say."""

    def __init__(self, size):
        self.size, self.said, self.barrier = size, [b""] * size, threading.Barrier(size)
        self.messages = self.bytes = 0

    def rank(self, rank):
        communicator = type("Rank", (), {"rank": rank, "size": self.size})()

        def all_gather(own):
            self.said[rank] = own
            self.barrier.wait()
            said = list(self.said)
            if rank == 0:
                self.messages += 1
                self.bytes += sum(map(len, said))
            self.barrier.wait()
            return said

        communicator.all_gather = all_gather
        return communicator


def fit(x, y, terms, communicator=None, **options):
    MFGARegressor(terms=terms, n_jobs=1, **OPTIONS, **options)._call_library(
        x, y, None, None, None, (), (), communicator=communicator
    )


def seconds_of(action):
    start = time.process_time()
    action()
    return time.process_time() - start


def bytes_read():
    return int(pathlib.Path("/proc/self/io").read_text().split("rchar:")[1].split()[0])


def in_memory(rows, terms):
    x, y = table(rows)
    return {"seconds": seconds_of(lambda: fit(x, y, terms))}


def on_disk(rows, terms):
    x, y = table(rows)
    limit = {"memory_limit": max(LEAST, LIMIT * rows / 2**20)}
    store = _core.StoredTable(COLUMNS, MFGARegressor(n_jobs=1, **limit)._options())
    store.add(x)
    store.finish([None] * COLUMNS, 1)
    assert store.is_on_disk
    del x
    before = bytes_read()
    seconds = seconds_of(lambda: fit(store, y, terms, **limit))
    return {"seconds": seconds, "bytes": bytes_read() - before}


def by_ranks(rows, terms, ranks):
    """What the undivided part of a rank takes: that of all ranks is beyond what one takes alone."""
    x, y = table(rows)
    threads = Threads(ranks)
    edges = [rows * rank // ranks for rank in range(ranks + 1)]

    def work(rank):
        fit(x[edges[rank] : edges[rank + 1]], y[edges[rank] : edges[rank + 1]], terms, threads.rank(rank))

    def all_ranks():
        started = [threading.Thread(target=work, args=(rank,)) for rank in range(ranks)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    alone = seconds_of(lambda: fit(x, y, terms))
    together = seconds_of(all_ranks)
    return {"seconds": max(0, together - alone) / (ranks - 1), "messages": threads.messages, "bytes": threads.bytes}


def summed(rows, _):
    x, y = table(rows)
    statistics = Statistics(x[:5000], y[:5000], features="linear + hinge(knots=4)", n_jobs=1)
    return {"seconds": seconds_of(lambda: statistics.update(x, y))}


def read_by_tool(rows, _):
    """Processor seconds to read a CSV file and keep its rows on disk, with a fit of one straight line; its bytes."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        path = pathlib.Path(folder) / "t.csv"
        subprocess.run([TOOL, "generate", "--rows", str(rows), "--inputs", str(COLUMNS), "-o", path, "--quiet"], check=True)
        command = [TOOL, "train", path, "--cache", folder, "--threads", "1", "--quiet"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, "--terms", "1", "--features", "linear", "--ridge", "1", "--tune", "no"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"seconds": seconds, "bytes": path.stat().st_size}


# Of what a law is made.
PARTS = {
    "1": lambda rows, terms, ranks: 1.0,
    "T": lambda rows, terms, ranks: terms,
    "N": lambda rows, terms, ranks: rows,
    "N T": lambda rows, terms, ranks: rows * terms,
    "N T^2": lambda rows, terms, ranks: rows * terms**2,
}


class Law:
    """A sum of parts with coefficients that are not negative."""

    def __init__(self, name, unit, parts, runs, what):
        self.parts = parts
        rows = np.array([[PARTS[part](*size) for part in parts] for size, _ in runs])
        values = np.array([result[what] for _, result in runs])
        scale = rows.max(axis=0)
        self.coefficients = nnls(rows / scale / values[:, None], np.ones(len(values)))[0] / scale
        law = " + ".join(f"{c:.3g} {part}" for c, part in zip(self.coefficients, parts, strict=True) if c > 0)
        print(f"{name}: {law} {unit}", flush=True)
        self.name, self.what = name, what

    def __call__(self, rows, terms, ranks=1):
        return sum(c * PARTS[part](rows, terms, ranks) for c, part in zip(self.coefficients, self.parts, strict=True))

    def check(self, size, result):
        found, told = result[self.what], self(*size)
        print(f"  {self.name}, N = {size[0]}, T = {size[1]}, R = {size[2]}: {found:.4g}; the law says {told:.4g} ({told / found:.2f})")


def bandwidths():
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        piece = os.urandom(1 << 22)
        for _ in range(128):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = time.monotonic()
        with open(file.name, "rb", buffering=0) as reader:
            while reader.read(1 << 22):
                pass
        disk = 128 * len(piece) / (time.monotonic() - start)
    key = b"bench"
    meetings = [Meeting("127.0.0.1", key) for _ in range(2)]
    addresses = [meeting.address for meeting in meetings]
    found = {}

    def talk(rank):
        with meetings[rank].join(rank, addresses) as others:
            for name, message, times in (("latency", b"", 1000), ("network", bytes(1 << 24), 10)):
                start = time.monotonic()
                for _ in range(times):
                    others.all_gather(message)
                if rank == 0:
                    found[name] = (time.monotonic() - start) / times

    threads = [threading.Thread(target=talk, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(
        f"measured here: the disk gives {disk / 1e6:.0f} MB/s; between two ranks on this machine, in Python, a message takes "
        f"{found['latency'] * 1e6:.0f} microseconds, and large ones {2 * (1 << 24) / found['network'] / 1e6:.0f} MB/s"
    )


def predict(laws, arguments):
    rows, terms, cores = arguments.rows, arguments.terms, arguments.cores
    disk, network = arguments.disk * 1e6, arguments.network * 1e9 / 8
    print(
        f"\n{rows:.0e} rows x {COLUMNS}, {terms} terms; each machine: {cores} cores, {arguments.memory} GiB, disk {arguments.disk} MB/s, "
        f"network {arguments.network} Gbit/s, {arguments.latency} microseconds for a message"
    )
    print("machines | reading | passes: work | disk | talk | undivided | fit | fit, were sums in more parts | sums of 900 candidates")
    for machines in (1, 10, 100, 1000):
        own = rows / machines
        kept = own * COLUMNS * 4  # a number of few decimals takes four bytes
        free = arguments.memory * 2**30 - ARRAYS * rows
        stays_in_memory = 2 * own * COLUMNS * 8 < arguments.memory * 2**30
        whole = laws["memory" if stays_in_memory else "disk"](rows, terms)
        undivided = laws["undivided"](rows, terms, machines) if machines > 1 else 0
        work = max(0, whole - undivided)
        traffic = 0 if stays_in_memory or kept < free else laws["traffic"](own, terms) / disk
        reading = max(laws["reading"](rows, terms) / (machines * cores), laws["file"](rows, terms) / (machines * disk))
        talk = 0
        if machines > 1:
            talk = laws["messages"](rows, terms, machines) * arguments.latency * 1e-6 * math.ceil(math.log2(machines))
            talk += laws["said"](rows, terms, machines) / network
        now = max(work / min(SHARDS, machines * cores), traffic) + talk + undivided
        then = max(work / (machines * cores), traffic) + talk + undivided
        sums = laws["sums"](rows, terms) / (machines * cores)
        print(
            f"{machines} | {reading:.0f} s | {work / min(SHARDS, machines * cores):.0f} s | {traffic:.0f} s | {talk:.0f} s | {undivided:.0f} s | "
            f"{now:.0f} s | {then:.0f} s | {sums:.1f} s",
            flush=True,
        )
    print(f"every rank keeps {ARRAYS * rows / 2**30:.0f} GiB, whatever their number")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**9)
    parser.add_argument("--terms", type=int, default=100)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--memory", type=float, default=256)
    parser.add_argument("--disk", type=float, default=2000)
    parser.add_argument("--network", type=float, default=10)
    parser.add_argument("--latency", type=float, default=50)
    arguments = parser.parse_args()
    # So many rows that not even halves of them are copied, and that the search can keep next to nothing of them.
    small, large = 512 * BLOCK, 1024 * BLOCK
    sizes = [(rows, terms, 1) for rows in (small, large) for terms in (10, 20, 60)]
    memory = [(size, in_memory(*size[:2])) for size in sizes]
    disk = [(size, on_disk(*size[:2])) for size in sizes]
    ranks = [(size, by_ranks(*size)) for size in [(small, 10, 2), (small, 30, 4), (large, 10, 4), (large, 30, 2)]]
    sums = [((rows, 1, 1), summed(rows, 1)) for rows in (small // 4, small // 2)]
    reading = [((rows, 1, 1), read_by_tool(rows, 1)) for rows in (small // 4, small // 2)]
    print("processor seconds, messages, and bytes that each rank gets or reads; N rows, T terms, R ranks")
    every = ["1", "T", "N", "N T", "N T^2"]
    laws = {
        "memory": Law("fit of rows in memory", "s", every, memory, "seconds"),
        "disk": Law("fit of rows on disk", "s", every, disk, "seconds"),
        "traffic": Law("read from disk", "bytes", every, disk, "bytes"),
        "undivided": Law("what each rank does by itself", "s", ["1", "N"], ranks, "seconds"),
        "messages": Law("messages", "", ["1", "T"], ranks, "messages"),
        "said": Law("said by all ranks", "bytes", ["1", "T", "N"], ranks, "bytes"),
        "sums": Law("sums of 900 candidates", "s", ["1", "N"], sums, "seconds"),
        "reading": Law("reading of CSV", "s", ["1", "N"], reading, "seconds"),
        "file": Law("CSV", "bytes", ["1", "N"], reading, "bytes"),
    }
    bandwidths()
    print("runs that the laws were not fitted to:")
    far, between = 2 * large, (small + large) // 2
    on, ranked_run = on_disk(far, 40), by_ranks(between, 20, 3)
    for name, size, result in (
        ("memory", (far, 40, 1), in_memory(far, 40)),
        ("disk", (far, 40, 1), on),
        ("traffic", (far, 40, 1), on),
        ("undivided", (between, 20, 3), ranked_run),
        ("messages", (between, 20, 3), ranked_run),
        ("said", (between, 20, 3), ranked_run),
        ("sums", (large, 1, 1), summed(large, 1)),
        ("reading", (large, 1, 1), read_by_tool(large, 1)),
    ):
        laws[name].check(size, result)
    predict(laws, arguments)


if __name__ == "__main__":
    main()
