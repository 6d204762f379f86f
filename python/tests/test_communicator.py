"""Processes that find one another, give one another bytes, and end when one of them does."""

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client

import numpy as np
import pytest

import mfga
from mfga import _communicator
from mfga._communicator import Meeting

# Forks of a server that has the package: they start at once.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["mfga"])
KEY = b"only for this test"
LIMIT = 120  # seconds until a test fails that waits


def rank_process(pipe, rank, work, patience):
    """What each process does: `work` with its communicator; what came of it goes back."""
    _communicator._PATIENCE = patience
    _communicator._TO_TELL = _communicator._TO_HEAR = 2 * LIMIT  # nobody may need so long
    meeting = Meeting("127.0.0.1", KEY)
    pipe.send(meeting.address)
    addresses = pipe.recv()
    try:
        with meeting.join(rank, addresses) as others:
            assert (others.rank, others.size) == (rank, len(addresses))
            result = work(others)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    pipe.send(result)


def received(pipe):
    assert pipe.poll(LIMIT), "a process says nothing"
    return pipe.recv()


class Processes:
    """So many ranks; `results` waits for what came of them."""

    def __init__(self, size, work, patience=60):
        pipes = [PROCESSES.Pipe() for _ in range(size)]
        self.pipes = [here for here, _ in pipes]
        self.processes = [
            PROCESSES.Process(target=rank_process, args=(there, rank, work, patience), daemon=True)
            for rank, (_, there) in enumerate(pipes)
        ]
        for process in self.processes:
            process.start()
        for _, there in pipes:
            there.close()
        self.addresses = [received(pipe) for pipe in self.pipes]

    def begin(self, addresses=None):
        for pipe in self.pipes:
            pipe.send(addresses or self.addresses)

    def results(self):
        results = []
        for pipe in self.pipes:
            try:
                results.append(received(pipe))
            except EOFError:
                results.append("gone")
        for process in self.processes:
            process.join(LIMIT)
        return results


def gather_of_all_sizes(others):
    gathered = []
    for size in (0, 1, 16383, 16384, 3_000_000):
        own = bytes([others.rank]) * (size + others.rank)
        for rank, part in enumerate(others.all_gather(own)):
            assert part == bytes([rank]) * (size + rank)
            gathered.append(len(part))
    for step in range(300):
        assert others.all_gather(b"%d %d" % (others.rank, step)) == [b"%d %d" % (r, step) for r in range(others.size)]
    return gathered


@pytest.mark.parametrize("size", [1, 2, 4])
def test_everybody_gets_what_all_give(size):
    processes = Processes(size, gather_of_all_sizes)
    processes.begin()
    expected = [length + rank for length in (0, 1, 16383, 16384, 3_000_000) for rank in range(size)]
    assert processes.results() == [expected] * size


def fail_at_rank_1(others):
    others.all_gather(b"first")
    if others.rank == 1:
        raise ValueError("the column 'age' holds texts")
    with contextlib.suppress(_communicator.RankError):
        others.all_gather(b"x" * 5_000_000)  # more than fits into the buffers
    others.all_gather(b"")  # the second time says the same
    return "not reached"


def test_all_end_with_the_message_of_the_one_that_fails():
    processes = Processes(3, fail_at_rank_1)
    processes.begin()
    told = "RankError: rank 1 failed: ValueError: the column 'age' holds texts"
    assert processes.results() == [told, "ValueError: the column 'age' holds texts", told]


def fail_while_others_compute(others):
    others.all_gather(b"first")
    if others.rank == 0:
        raise ValueError("there is no more")
    if others.rank == 1:
        time.sleep(1)
    # As much from each to each as nobody takes who does not read.
    return len(others.all_gather(b"x" * 20_000_000))


def test_all_are_told_whatever_is_under_way():
    processes = Processes(4, fail_while_others_compute)
    processes.begin()
    told = "RankError: rank 0 failed: ValueError: there is no more"
    assert processes.results() == ["ValueError: there is no more", told, told, told]


def test_a_machine_that_answers_is_not_silent(monkeypatch):
    here, there = (Meeting("127.0.0.1", KEY) for _ in range(2))
    ranks = {}
    joins = [
        threading.Thread(target=lambda r, m: ranks.update({r: m.join(r, [here.address, there.address])}), args=pair)
        for pair in enumerate((here, there))
    ]
    for join in joins:
        join.start()
    for join in joins:
        join.join(LIMIT)
    monkeypatch.setattr(_communicator, "_BETWEEN_LOOKS", 0.01)  # the first waits for the second, and looks
    answer = []
    first = threading.Thread(target=lambda: answer.extend(ranks[0].all_gather(b"x" * 20_000_000)))
    first.start()
    time.sleep(1)
    assert ranks[1].all_gather(b"y")[1] == b"y"
    first.join(LIMIT)
    assert [len(part) for part in answer] == [20_000_000, 1]
    # As if nothing had come back for a minute.
    monkeypatch.setattr(_communicator, "_UNANSWERED", 0)
    with pytest.raises(_communicator.RankError, match="the process of rank 1 has gone"):
        ranks[0].all_gather(b"")
    for rank in ranks.values():
        rank.close()


def end_at_rank_2(others):
    others.all_gather(b"")
    if others.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    others.all_gather(b"")
    return "not reached"


def test_all_end_when_a_process_is_killed():
    processes = Processes(3, end_at_rank_2)
    processes.begin()
    assert processes.results() == ["RankError: the process of rank 2 has gone"] * 2 + ["gone"]


def test_nobody_waits_for_ever():
    processes = Processes(2, gather_of_all_sizes, patience=1)
    silent = Meeting("127.0.0.1", KEY)
    processes.begin([*processes.addresses, silent.address])
    assert processes.results() == ["RankError: rank 2 has not come within 1 seconds"] * 2
    silent.close()
    processes = Processes(2, gather_of_all_sizes, patience=1)
    processes.begin([silent.address, *processes.addresses])  # where nobody listens any more
    assert all(found.startswith("RankError: ") for found in processes.results())


def test_strangers_get_nowhere_and_keep_nobody_waiting():
    processes = Processes(2, gather_of_all_sizes)
    address = processes.addresses[0]
    silent = socket.create_connection(address)
    rude = socket.create_connection(address)
    rude.sendall(b"\xff" * 100)
    processes.pipes[0].send(processes.addresses)
    with pytest.raises(AuthenticationError):
        Client(address, authkey=b"a guess")
    processes.pipes[1].send(processes.addresses)
    assert [len(found) for found in processes.results()] == [10, 10]
    for stranger in (silent, rude):
        stranger.close()


def test_a_meeting_stays_where_it_is():
    import pickle

    meeting = Meeting("127.0.0.1", KEY)
    with pytest.raises(TypeError, match="of the process"):
        pickle.dumps(meeting)
    meeting.close()


class Alone:
    """What the library is told of ranks, without others."""

    rank, size = 0, 1

    def __init__(self):
        self.calls = 0

    def all_gather(self, own):
        self.calls += 1
        return [own]


def core_fit(x, y, communicator):
    return mfga._core.fit(
        x, y, options={"terms": "4", "tune": "no", "features": "linear + hinge", "task": "regression"}, columns=[],
        target_name="y", target_names=[], labels=[], text_columns=[], weights=None, groups=None, start=None,
        callback=None, communicator=communicator,
    )  # fmt: skip


def test_pieces_of_rows_and_a_single_rank_make_no_difference(table):
    x, y = table
    alone = core_fit(x, y, None)[0].to_json()
    assert core_fit([x[:100], x[100:101], np.asfortranarray(x[101:])], y, Alone())[0].to_json() == alone


@pytest.mark.parametrize(("rank", "size"), [(2, 2), (-1, 2), (0, 0)])
def test_ranks_that_cannot_be(table, rank, size):
    wrong = Alone()
    wrong.rank, wrong.size = rank, size
    with pytest.raises(ValueError, match="is not one of"):
        core_fit(*table, wrong)
