"""The coordinator's end of one worker: a process, a socket, and two threads that never wait for each other.

One thread sends what is handed over, one takes what is answered. Whoever asks hands over a `Ticket` and goes on, or
waits for it: so nobody blocks on a full pipe, and a worker whose answers are always taken goes on reading.
"""

from __future__ import annotations

import itertools
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import structlog

from likewise.broker.pool.messages import (
    ANSWERS,
    Failed,
    Hold,
    Match,
    MatchEach,
    Moved,
    Operation,
    Request,
    Said,
    Used,
    frame,
    receive,
)
from likewise.broker.pool.processes.watchdog import Pulse
from likewise.broker.pool.shard_server import Portion

_log = structlog.get_logger("likewise.workers")
_IDS: Final = itertools.count(1)
STARTING_SECONDS: Final = 600.0  # a machine may be busy, and a first start loads much; who is killed begins anew
TRIES: Final = 4  # deaths with a request under way after which it is taken for their cause
TIMES: Final = 256  # of stretches that are kept for the policies


class Ticket:
    """What a share was asked, and what it said once it has."""

    __slots__ = ("_done", "id", "parts", "said", "seconds", "share", "tenant", "tries", "wanted")

    def __init__(self, tenant: int, share: int, wanted: Operation) -> None:
        self.id = next(_IDS)
        self.tenant = tenant
        self.share = share
        self.wanted = wanted
        self.said: Said | None = None
        self.seconds = 0.0
        self.tries = 0
        self.parts: list[Ticket] = []  # one for each event, in its place, where all together kill workers
        self._done = threading.Event()

    @property
    def answered(self) -> bool:
        """Whether it was answered."""
        if self.parts and not self._done.is_set() and all(part.answered for part in self.parts):
            self.answer(_together([part.said for part in self.parts]))
        return self._done.is_set()

    def split(self) -> list[Ticket]:
        """The same, event by event: so it is seen which of them workers die of."""
        assert isinstance(self.wanted, MatchEach)
        self.parts = [Ticket(self.tenant, self.share, MatchEach([each])) for each in self.wanted.events]
        return self.parts

    def answer(self, said: Said, seconds: float = 0.0) -> None:
        """What it led to; the first answer counts."""
        if not self._done.is_set():
            self.said, self.seconds = said, seconds
            self._done.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the answer; whether it came."""
        waiting = next((part for part in self.parts if not part.answered), self)
        return waiting._done.wait(seconds) and self.answered


class Host(Protocol):
    """Where shares stand: a process, or right here."""

    number: int

    @property
    def alive(self) -> bool:
        """Whether it answers."""
        ...

    @property
    def waiting(self) -> int:
        """How many requests are not answered."""
        ...

    @property
    def matched(self) -> int:
        """How many requests to match it answered."""
        ...

    def submit(self, ticket: Ticket) -> None:
        """Hand over a request; never waits for anything."""
        ...


class LocalHost:
    """Shares in this very process; `make` makes an empty one."""

    number = -1
    alive = True
    waiting = 0
    matched = 0

    def __init__(self, make: Callable[[], Portion]) -> None:
        self._make = make
        self.portions: dict[tuple[int, int], Portion] = {}

    def submit(self, ticket: Ticket) -> None:
        """Answer a request."""
        portion = self.portions.get((ticket.tenant, ticket.share))
        if portion is None:
            portion = self.portions[ticket.tenant, ticket.share] = self._make()
        ticket.answer(portion.perform(ticket.wanted))


class WorkerProcess:
    """A process of `likewise worker`. It is connected some time after it was started; what is sent waits so long."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number = number
        self.started = time.monotonic()
        self.heard = self.started  # when it last answered anything
        self.busy = 0.0  # seconds of its processor that its answers took
        self.matched = 0  # requests to match that it answered
        self.times: deque[tuple[float, int]] = deque(maxlen=TIMES)  # seconds and events of the last of those
        self.used = Used(0.0, 0, 0)
        self._pending: dict[int, Ticket] = {}
        self._guard = threading.Lock()
        self._outbox: queue.SimpleQueue[Ticket | None] = queue.SimpleQueue()
        self._alive = True
        self._stream: socket.socket | None = None  # once it is connected
        self._path = folder / f"worker-{number}-{next(_IDS)}.sock"
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._door.bind(str(self._path))
        self._door.listen(1)
        self._door.settimeout(0.1)  # here: it may be closed before its thread has begun
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "likewise", "worker", "--socket", str(self._path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env=_environment(),
            )
        except OSError:
            self._door.close()
            self._path.unlink(missing_ok=True)
            raise
        self.pulse = Pulse(self.process.pid)
        threading.Thread(target=self._run, name=f"likewise-worker-{number}", daemon=True).start()

    def begin_as(self, number: int) -> None:
        """Be the worker with a number from here on, after it was kept ready."""
        self.number = number
        self.started = self.heard = time.monotonic()
        self.busy, self.matched = 0.0, 0
        self.times.clear()

    @property
    def alive(self) -> bool:
        """Whether it is there, or still to come."""
        return self._alive

    @property
    def waiting(self) -> int:
        """How many requests are not answered."""
        return len(self._pending)

    def submit(self, ticket: Ticket) -> None:
        """Hand over a request; what a dead one is handed stays pending."""
        with self._guard:
            self._pending[ticket.id] = ticket
        self._outbox.put(ticket)

    @property
    def connected(self) -> bool:
        """Whether it ever was."""
        return self._stream is not None

    def pending(self) -> list[Ticket]:
        """What was not answered, in the order in which it was handed over."""
        with self._guard:
            return list(self._pending.values())

    def disown(self, ticket: Ticket) -> None:
        """Somebody else is asked."""
        with self._guard:
            self._pending.pop(ticket.id, None)

    def hang_up(self) -> None:
        """Let it end; `end` sees to it that it does."""
        self._outbox.put(None)
        self._alive = False
        for each in (self._stream, self._door):
            if each is not None:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def end(self, seconds: float = 2.0) -> None:
        """Let it end, kill it if it does not."""
        self.hang_up()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        self._path.unlink(missing_ok=True)

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(30.0)

    def _run(self) -> None:
        """Wait for the connection, then take answers until it breaks."""
        try:
            stream = self._connected()
            if stream is not None:
                self._stream = stream
                threading.Thread(
                    target=self._send, args=(stream,), name=f"likewise-worker-{self.number}-out", daemon=True
                ).start()
                self._read(stream)
        finally:
            self._alive = False
            self._outbox.put(None)

    def _connected(self) -> socket.socket | None:
        end = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                stream, _ = self._door.accept()
            except TimeoutError:
                continue
            except OSError:
                return None
            stream.settimeout(None)
            return stream
        return None

    def _send(self, stream: socket.socket) -> None:
        while (ticket := self._outbox.get()) is not None:
            try:
                stream.sendall(frame(Request(ticket.id, ticket.tenant, ticket.share, ticket.wanted)))
            except OSError:
                return

    def _read(self, stream: socket.socket) -> None:
        while (raw := receive(stream)) is not None:
            answer = ANSWERS.decode(raw)
            with self._guard:
                ticket = self._pending.pop(answer.id, None)
            self.heard = time.monotonic()
            if isinstance(answer.said, Used):
                self.used = answer.said
            if ticket is None:
                continue
            self.busy += answer.seconds
            events = getattr(ticket.wanted, "events", None)
            if events:
                self.matched += 1
                self.times.append((answer.seconds, len(events)))
            ticket.answer(answer.said, answer.seconds)


def died(ticket: Ticket) -> bool:
    """Count a death with a request at hand; whether it was one too many, so that it is not asked as it is again."""
    if not isinstance(ticket.wanted, Hold | Match | MatchEach):
        return False
    ticket.tries += 1
    if ticket.tries < TRIES:
        return False
    _log.error("workers die of a request", request=type(ticket.wanted).__name__, tries=ticket.tries)
    if not (isinstance(ticket.wanted, MatchEach) and len(ticket.wanted.events) > 1):
        ticket.answer(Failed(f"{ticket.tries} workers died of it", "WorkerDied"))
    return True


def _together(said: Sequence[Said | None]) -> Moved:
    """What events led to one by one, as if it had been together."""
    found = [each.found[0] if isinstance(each, Moved) else [] for each in said]
    failed = [(place, f"{each.kind}: {each.error}") for place, each in enumerate(said) if isinstance(each, Failed)]
    failed += [(place, why) for place, each in enumerate(said) if isinstance(each, Moved) for _, why in each.failed]
    return Moved(found, failed)


def _environment() -> dict[str, str]:
    """Each worker is one thread: what libraries would start beside it only takes cores from the others."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return os.environ | one
