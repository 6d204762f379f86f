"""How processes that learn one model together talk: each with each, over sockets that know one another by a secret.

    meeting = Meeting(host, key)                   # in each process; the addresses are then told to all
    with meeting.join(rank, addresses) as others:  # returns when all are there
        others.all_gather(b"...")

Nobody without the key gets further than the greeting, and what arrives is bytes, which nobody unpickles.
"""

import concurrent.futures
import contextlib
import os
import queue
import socket
import struct
import threading
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge, wait

_PATIENCE = 300  # seconds until all must be there
_GREETING = 20  # seconds that a greeting may take
_TO_TELL = 20  # seconds until the others must have taken what is sent to them before the end
_TO_HEAR = 5  # seconds until they must have heard of it, and end as well
_BETWEEN_LOOKS = 10  # seconds between looks whether machines answer
_UNANSWERED = 8  # times that the system asks a machine again, in some 50 seconds, before it counts as gone
_RANK = struct.Struct("!I")
_DATA, _FAILED = b"=", b"!"
# Whatever fits into the buffers of a socket is sent at once: nobody is more than one message ahead.
_SMALL = 16384


class RankError(ConnectionError):
    """Another rank has failed, or has gone."""


class Meeting:
    """Where the others find a process before they know one another.

    Parameters
    ----------
    host : str
        Name or address of this machine, as the others reach it.
    key : bytes
        The secret.
    """

    def __init__(self, host, key):
        self._key = key
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._door = socket.create_server((host, 0), family=family)
        self.address = self._door.getsockname()[:2]

    def __reduce__(self):
        raise TypeError("a meeting is of the process where it was made")

    def join(self, rank, addresses):
        """Connect with all others, and give the communicator.

        Parameters
        ----------
        rank : int
            Of this process.
        addresses : list
            Of the meetings of all, by rank.
        """
        deadline = time.monotonic() + _PATIENCE
        # Those who come are let in while others are called on, so that nobody waits in a circle.
        arrived = queue.SimpleQueue()
        peers = {}
        threading.Thread(target=self._let_in, args=(arrived,), daemon=True).start()
        try:
            for other in range(rank):
                peers[other] = _call(addresses[other], self._key, deadline)
                peers[other].send_bytes(_RANK.pack(rank))
            while len(peers) < len(addresses) - 1:
                try:
                    other, connection = arrived.get(timeout=max(0, deadline - time.monotonic()))
                except queue.Empty:
                    missing = sorted(set(range(len(addresses))) - set(peers) - {rank})
                    raise RankError(f"rank {missing[0]} has not come within {_PATIENCE} seconds") from None
                if not rank < other < len(addresses) or other in peers:
                    raise RankError(f"two processes are rank {other} of {len(addresses)}")
                peers[other] = connection
        except BaseException:
            for connection in peers.values():
                connection.close()
            raise
        finally:
            self.close()
        return Communicator(rank, peers)

    def _let_in(self, arrived):
        with contextlib.suppress(OSError):  # the door is closed when all are there
            while True:
                stranger = self._door.accept()[0]
                # In a thread each: one that says nothing keeps nobody else waiting.
                threading.Thread(target=self._greet, args=(stranger, arrived), daemon=True).start()

    def _greet(self, stranger, arrived):
        connection = _connection(stranger, _GREETING)
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            (rank,) = _RANK.unpack(connection.recv_bytes(_RANK.size))
            _be_patient(connection)
            arrived.put((rank, connection))
        except (AuthenticationError, EOFError, OSError, struct.error):
            connection.close()

    def close(self):
        """Let nobody in any more."""
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)  # wakes who is waiting at the door
        self._door.close()


def _call(address, key, deadline):
    """Connect with another who waits at an address."""
    where = f"{address[0]}:{address[1]}"
    try:
        connection = _connection(socket.create_connection(address, timeout=_GREETING), deadline - time.monotonic())
    except OSError as error:
        raise RankError(f"cannot connect with the rank at {where}: {error}") from error
    try:
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
    except (AuthenticationError, EOFError, OSError) as error:
        connection.close()
        raise RankError(f"the rank at {where} does not answer as it should: {error!r}") from error
    _be_patient(connection)
    return connection


def _connection(stream, seconds):
    """A connection that waits so many seconds for an answer."""
    stream.settimeout(None)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A machine that is gone without a word is noticed within a minute; where it owes an answer, by `_is_silent`.
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            stream.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", max(1, int(seconds)), 0))
    return Connection(stream.detach())


@contextlib.contextmanager
def _socket_of(connection):
    stream = socket.socket(fileno=connection.fileno())
    try:
        yield stream
    finally:
        stream.detach()


def _be_patient(connection):
    with _socket_of(connection) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))


def _is_silent(connection):
    """Whether a machine does not answer any more, though something was sent to it.

    Keepalive does not ask where data is under way, and the system itself gives up after a quarter of an hour only. Its
    own limit (TCP_USER_TIMEOUT) would also end connections with those who compute for long and read nothing meanwhile.
    """
    if not hasattr(socket, "TCP_INFO"):
        return False
    with _socket_of(connection) as stream:
        # In the kernel's struct tcp_info: how often data was sent again, and room for it was asked for, without answer.
        _, _, retransmits, probes = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 4)
    return max(retransmits, probes) >= _UNANSWERED


class Communicator:
    """The ranks that learn together, as the library's `Communicator`; for one thread.

    Left by an exception, it tells the others, which raise a `RankError` with the same message.

    Parameters
    ----------
    rank : int
        Of this process.
    peers : dict of int to Connection
        The others.

    Attributes
    ----------
    rank : int
    size : int
    """

    def __init__(self, rank, peers):
        self.rank = rank
        self.size = len(peers) + 1
        self._peers = peers
        self._ranks = {connection: other for other, connection in peers.items()}
        self._sender = concurrent.futures.ThreadPoolExecutor(1)
        self._failure = None

    def all_gather(self, own):
        """Give what each rank gives, in the order of the ranks; waits for all.

        Parameters
        ----------
        own : bytes
            What this one gives.
        """
        if self._failure is not None:  # whoever tries again is told the same
            raise self._failure
        sending = None
        if len(own) < _SMALL:
            self._send(_DATA + own)
        else:  # all send at the same time, and nobody could read
            sending = self._sender.submit(self._send, _DATA + own)
        gathered = {self.rank: own}
        waiting = set(self._ranks)
        while waiting:
            ready = wait(waiting, timeout=_BETWEEN_LOOKS)
            for connection in ready:
                gathered[self._ranks[connection]] = self._receive(connection)
                waiting.remove(connection)
            if not ready:
                self._look_for_silent()
        while sending is not None and not concurrent.futures.wait([sending], timeout=_BETWEEN_LOOKS).done:
            self._look_for_silent()
        if sending is not None:
            sending.result()
        return [gathered[rank] for rank in range(self.size)]

    def _look_for_silent(self):
        for connection in self._ranks:
            if _is_silent(connection):
                self._fail_for(connection)

    def _send(self, message):
        for step in range(1, self.size):
            # Each begins with the next one, so that not all send to the same.
            with contextlib.suppress(OSError):  # who has gone is found out when nothing comes
                self._peers[(self.rank + step) % self.size].send_bytes(message)

    def _receive(self, connection):
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            self._fail_for(connection)
        if message[:1] == _FAILED:
            self._failure = RankError(message[1:].decode())
            raise self._failure
        return message[1:]

    def _fail_for(self, connection):
        self._failure = RankError(f"the process of rank {self._ranks[connection]} has gone")
        raise self._failure from None

    def fail(self, message):
        """Tell the others that the fit cannot go on, and wait until they have heard."""
        # After what is still being sent. The others may be sending as well, and read again only when somebody reads
        # what they send; and what is closed with something unread takes along what it has said.
        telling = self._sender.submit(self._send, _FAILED + message.encode())
        is_told = False
        deadline = time.monotonic() + _TO_TELL
        listening = set(self._ranks)
        while listening and time.monotonic() < deadline:
            if not is_told and telling.done():
                is_told = True
                deadline = time.monotonic() + _TO_HEAR
                for connection in self._ranks:
                    with contextlib.suppress(OSError), _socket_of(connection) as stream:
                        stream.shutdown(socket.SHUT_WR)
            for connection in wait(listening, timeout=0.02 if not is_told else deadline - time.monotonic()):
                with contextlib.suppress(OSError):
                    if os.read(connection.fileno(), 1 << 16):
                        continue
                listening.remove(connection)  # it has ended, too

    def close(self):
        """End all connections."""
        for connection in self._ranks:
            with contextlib.suppress(OSError), _socket_of(connection) as stream:
                stream.shutdown(socket.SHUT_RDWR)  # wakes a sender
        # Only then: it must not write to what others open under the same number.
        self._sender.shutdown()
        for connection in self._ranks:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        try:
            if isinstance(error, RankError):  # as it was told
                self.fail(str(error))
            elif kind is not None:
                self.fail(f"rank {self.rank} failed: {kind.__name__}: {error}")
        finally:
            self.close()
