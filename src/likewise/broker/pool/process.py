"""The coordinator's end of a worker, its process on this machine, socket, watchdog and folders.

One thread sends requests, one receives replies. A caller submits a `PendingRequest` and goes on, or waits for it: so
nobody blocks on a full pipe, and a worker whose replies are always read goes on reading.

The watchdog detects a worker that will never answer. A dead one is noticed by its socket. One that was stopped, or
sleeps over its work, shows it in `/proc`. One that is ready to run, and gets no processor on a busy machine, is well;
one that runs and runs without any reply is not.

Saved shards are in the broker's own folder where it has one, since a system may remove old temporary files. A socket's
path has to be short, so sockets are among the temporary files; a lock in each folder tells which are in use, and the
next start removes those of killed brokers.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

import structlog

from likewise.broker.pool.protocol import (
    ANSWERS,
    AddSubscriptions,
    MatchEvents,
    MatchStateful,
    Operation,
    OperationFailed,
    Reply,
    ResourceUsage,
    StateChanges,
    WorkerRequest,
    WorkerResponse,
    frame,
    receive,
)
from likewise.broker.pool.shard_server import ShardServer

PREFIX: Final = "likewise-workers-"
LOCK: Final = "in-use"
SHARES: Final = "workers"  # in the broker's folder


class WorkerFolders:
    """The folders of a worker pool; `data` is the broker's own, if it has one."""

    def __init__(self, data: Path | None = None) -> None:
        self._data = data
        self._numbers = itertools.count(1)
        self._lock: int | None = None

    @cached_property
    def _temporary(self) -> Path:
        remove_stale_folders(Path(tempfile.gettempdir()))
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(made / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return made

    @cached_property
    def _persistent(self) -> Path:
        if self._data is None:
            return self._temporary
        made = self._data / SHARES
        remove_folder(made)  # of a broker that was killed; this one has the folder to itself
        made.mkdir(mode=0o700)
        return made

    def for_socket(self) -> Path:
        """Return a folder for sockets, made again if somebody removed it."""
        self._temporary.mkdir(mode=0o700, exist_ok=True)
        return self._temporary

    def new(self, name: str) -> Path:
        """Return a new path for a saved shard."""
        return self._persistent / f"{name}-{next(self._numbers)}"

    def remove(self) -> None:
        """Remove all of them."""
        for name in ("_temporary", "_persistent"):
            if name in self.__dict__:
                remove_folder(self.__dict__.pop(name))
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_stale_folders(folder: Path) -> int:
    """Remove what brokers that were killed left in a folder; how many there were."""
    swept = 0
    for each in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone by now
            lock = os.open(each / LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_folder(each)
                swept += 1
            finally:
                os.close(lock)
    return swept


def remove_folder(folder: Path) -> None:
    """Remove a folder, if it is there."""
    with suppress(OSError):
        shutil.rmtree(folder)


STOPPED_S: Final = 2.0  # seconds for which a process may be stopped, as a debugger or `kill -STOP` does
ASLEEP_S: Final = 20.0  # ... and may sleep without having used the processor, though it was asked something
REPLY_TIMEOUT_S: Final = (
    300.0  # seconds of the processor that an answer may take; of the clock, where those are not seen
)
CHECK_INTERVAL_S: Final = 0.5  # seconds between two looks
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Watchdog:
    """The last observed state of a process."""

    def __init__(self, pid: int) -> None:
        self._stat = Path(f"/proc/{pid}/stat")
        self._checked_at = float("-inf")
        self._since = float("-inf")  # when it was first seen as it is now
        self._last_state = ("", 0)
        self._last_reply_at, self._ran = float("-inf"), 0  # when it last answered, and how long it had run by then

    def hangs(self, now: float, last_activity: float, *, requested: bool) -> bool:
        """Return whether the process hangs. Call it now and then while it owes an answer.

        `heard` is when it last answered anything, or was started; `asked`, if it could know that it owes something.
        """
        if now - self._checked_at < CHECK_INTERVAL_S:
            return False
        rested = now - self._checked_at > 4 * CHECK_INTERVAL_S  # nobody looked, since it owed nothing
        self._checked_at = now
        state = _process_state(self._stat)
        if state is None:
            return now - last_activity > REPLY_TIMEOUT_S
        if rested or last_activity != self._last_reply_at:
            self._last_reply_at, self._ran = last_activity, state[1]
        if state[1] - self._ran > REPLY_TIMEOUT_S * TICKS:
            return True
        if rested or state != self._last_state or state[0] == "R":
            self._since, self._last_state = now, state
            return False
        unchanged = now - self._since
        return unchanged > STOPPED_S if state[0] in "Tt" else requested and unchanged > ASLEEP_S


def _process_state(stat: Path) -> tuple[str, int] | None:
    """Return the state of a process and its processor time; None where that is not visible."""
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[11]) + int(fields[12])


_log = structlog.get_logger("likewise.workers")
_IDS: Final = itertools.count(1)
STARTING_SECONDS: Final = 600.0  # a machine may be busy, and a first start loads much; who is killed begins anew
MAX_DEATHS: Final = 4  # deaths with a request under way after which it is taken for their cause
TIMED_BATCHES: Final = 256  # of stretches that are kept for the policies


class PendingRequest:
    """A request to a shard, and its reply once there is one."""

    __slots__ = ("_done", "id", "operation", "parts", "reply", "seconds", "share", "tenant", "tries")

    def __init__(self, tenant: int, share: int, operation: Operation) -> None:
        self.id = next(_IDS)
        self.tenant = tenant
        self.share = share
        self.operation = operation
        self.reply: Reply | None = None
        self.seconds = 0.0
        self.tries = 0
        self.parts: list[PendingRequest] = []  # one for each event, in its place, where all together kill workers
        self._done = threading.Event()

    @property
    def answered(self) -> bool:
        """Return whether there is a reply."""
        if self.parts and not self._done.is_set() and all(part.answered for part in self.parts):
            self.answer(_together([part.reply for part in self.parts]))
        return self._done.is_set()

    def split(self) -> list[PendingRequest]:
        """Split the request into one for each event, to find the one that kills workers."""
        assert isinstance(self.operation, MatchStateful)
        self.parts = [PendingRequest(self.tenant, self.share, MatchStateful([each])) for each in self.operation.events]
        return self.parts

    def answer(self, reply: Reply, seconds: float = 0.0) -> None:
        """Set the reply; the first one counts."""
        if not self._done.is_set():
            self.reply, self.seconds = reply, seconds
            self._done.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the answer; whether it came."""
        waiting = next((part for part in self.parts if not part.answered), self)
        return waiting._done.wait(seconds) and self.answered


class ShardHost(Protocol):
    """Where shards are: a worker process, or this process."""

    number: int

    @property
    def alive(self) -> bool:
        """Return whether it runs."""
        ...

    @property
    def waiting(self) -> int:
        """Count the requests without a reply."""
        ...

    @property
    def matched(self) -> int:
        """Count the matching requests it has answered."""
        ...

    def submit(self, ticket: PendingRequest) -> None:
        """Hand over a request; never waits for anything."""
        ...


class LocalHost:
    """Shards in this very process; `make` makes an empty one."""

    number = -1
    alive = True
    waiting = 0
    matched = 0

    def __init__(self, make: Callable[[], ShardServer]) -> None:
        self._make = make
        self.servers: dict[tuple[int, int], ShardServer] = {}

    def submit(self, ticket: PendingRequest) -> None:
        """Answer a request."""
        server = self.servers.get((ticket.tenant, ticket.share))
        if server is None:
            server = self.servers[ticket.tenant, ticket.share] = self._make()
        ticket.answer(server.perform(ticket.operation))


class Worker:
    """The coordinator's end of a worker, wherever that runs; each subclass has a way of reaching it.

    `connected` says whether requests are with the worker, and not only queued for it; `killed_by_request`, whether its
    end may be the fault of the request that it had at hand.
    """

    def __init__(self, number: int, pid: int = 0, host: str = "") -> None:
        self.number = number
        self.pid = pid
        self.host = host  # the machine, if it is another one
        self.started = time.monotonic()
        self.last_reply_at = self.started  # when it last answered anything
        self.busy = 0.0  # seconds of its processor that its answers took
        self.matched = 0  # requests to match that it answered
        self.times: deque[tuple[float, int]] = deque(maxlen=TIMED_BATCHES)  # seconds and events of the last of those
        self.used = ResourceUsage(0.0, 0, 0)
        self.connected = False
        self.killed_by_request = False
        self._alive = True
        self._pending: dict[int, PendingRequest] = {}
        self._guard = threading.Lock()

    def assign_number(self, number: int) -> None:
        """Turn a standby worker into the worker with a number."""
        self.number = number
        self.started = self.last_reply_at = time.monotonic()
        self.busy, self.matched = 0.0, 0
        self.times.clear()

    @property
    def alive(self) -> bool:
        """Return whether it runs, or is still starting."""
        return self._alive

    @property
    def waiting(self) -> int:
        """Count the requests without a reply."""
        return len(self._pending)

    def submit(self, ticket: PendingRequest) -> None:
        """Hand over a request; what a dead one is handed stays pending."""
        with self._guard:
            self._pending[ticket.id] = ticket
        self._send(ticket)

    def pending(self) -> list[PendingRequest]:
        """Return the requests without a reply, in the order they were submitted."""
        with self._guard:
            return list(self._pending.values())

    def withdraw(self, ticket: PendingRequest) -> None:
        """Withdraw a request: another worker answers it."""
        with self._guard:
            self._pending.pop(ticket.id, None)

    def hangs(self, now: float) -> bool:
        """Return whether it will never answer. Call it now and then while it owes an answer."""
        return now - max(self.last_reply_at, self.started) > REPLY_TIMEOUT_S

    @property
    def end_reason(self) -> str:
        """Return why it ended, once it has."""
        raise NotImplementedError

    def hang_up(self) -> None:
        """Let it end; `end` sees to it that it does."""
        raise NotImplementedError

    def end(self, seconds: float = 2.0) -> None:
        """Let it end, kill it if it does not."""
        raise NotImplementedError

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        raise NotImplementedError

    def _send(self, ticket: PendingRequest) -> None:
        raise NotImplementedError

    def _peek(self, id: int) -> PendingRequest | None:
        """Return a request without a reply by its id."""
        with self._guard:
            return self._pending.get(id)

    def _receive(self, answer: WorkerResponse) -> None:
        """Give a request its reply."""
        with self._guard:
            ticket = self._pending.pop(answer.id, None)
        self.last_reply_at = time.monotonic()
        if isinstance(answer.said, ResourceUsage):
            self.used = answer.said
        if ticket is None:
            return
        self.busy += answer.seconds
        events = getattr(ticket.operation, "events", None)
        if events:
            self.matched += 1
            self.times.append((answer.seconds, len(events)))
        ticket.answer(answer.said, answer.seconds)


class WorkerProcess(Worker):
    """A process of `likewise worker` on this machine. Requests are queued until it has connected."""

    def __init__(self, number: int, folder: Path) -> None:
        super().__init__(number)
        self._outbox: queue.SimpleQueue[PendingRequest | None] = queue.SimpleQueue()
        self._stream: socket.socket | None = None  # once it is connected
        self._path = folder / f"worker-{number}-{next(_IDS)}.sock"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self._path))
        self._listener.listen(1)
        self._listener.settimeout(0.1)  # here: it may be closed before its thread has begun
        try:
            self.process = subprocess.Popen(
                worker_command(self._path),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env=worker_environment(),
            )
        except OSError:
            self._listener.close()
            self._path.unlink(missing_ok=True)
            raise
        self.pid = self.process.pid
        self.watchdog = Watchdog(self.pid)
        threading.Thread(target=self._run, name=f"likewise-worker-{number}", daemon=True).start()

    def hangs(self, now: float) -> bool:
        """Return whether it will never answer, as the watchdog sees it."""
        return self.watchdog.hangs(now, max(self.last_reply_at, self.started), requested=self.connected)

    @property
    def end_reason(self) -> str:
        """Return why it ended, once it has."""
        return f"exit code {self.process.returncode}"

    def hang_up(self) -> None:
        """Let it end; `end` sees to it that it does."""
        self._outbox.put(None)
        self._alive = False
        for each in (self._stream, self._listener):
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

    def _send(self, ticket: PendingRequest) -> None:
        self._outbox.put(ticket)

    def _run(self) -> None:
        """Wait for the connection, then take answers until it breaks."""
        try:
            stream = self._accept()
            if stream is not None:
                self._stream = stream
                self.connected = self.killed_by_request = True
                threading.Thread(
                    target=self._write, args=(stream,), name=f"likewise-worker-{self.number}-out", daemon=True
                ).start()
                while (raw := receive(stream)) is not None:
                    self._receive(ANSWERS.decode(raw))
        finally:
            self._alive = False
            self._outbox.put(None)

    def _accept(self) -> socket.socket | None:
        end = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                stream, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return None
            stream.settimeout(None)
            return stream
        return None

    def _write(self, stream: socket.socket) -> None:
        while (ticket := self._outbox.get()) is not None:
            try:
                stream.sendall(frame(WorkerRequest(ticket.id, ticket.tenant, ticket.share, ticket.operation)))
            except OSError:
                return


def count_death(ticket: PendingRequest) -> bool:
    """Count a death with a request at hand; whether it was one too many, so that it is not asked as it is again."""
    if not isinstance(ticket.operation, AddSubscriptions | MatchEvents | MatchStateful):
        return False
    ticket.tries += 1
    if ticket.tries < MAX_DEATHS:
        return False
    _log.error("request_kills_workers", request=type(ticket.operation).__name__, tries=ticket.tries)
    if not (isinstance(ticket.operation, MatchStateful) and len(ticket.operation.events) > 1):
        ticket.answer(OperationFailed(f"{ticket.tries} workers died of it", "WorkerDied"))
    return True


def _together(replies: Sequence[Reply | None]) -> StateChanges:
    """Merge the replies to events that were sent one by one."""
    changes = [each.found[0] if isinstance(each, StateChanges) else [] for each in replies]
    failed = [
        (place, f"{each.kind}: {each.error}") for place, each in enumerate(replies) if isinstance(each, OperationFailed)
    ]
    failed += [
        (place, why) for place, each in enumerate(replies) if isinstance(each, StateChanges) for _, why in each.failed
    ]
    return StateChanges(changes, failed)


def worker_command(path: Path) -> list[str]:
    """Return the command of a process that serves shards over a Unix socket."""
    return [sys.executable, "-m", "likewise", "worker", "--socket", str(path)]


def worker_environment() -> dict[str, str]:
    """Return the environment: one thread each, since further ones only take cores from other workers."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return os.environ | one
