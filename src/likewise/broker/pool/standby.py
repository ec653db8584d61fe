"""A process that holds nothing yet and has loaded everything: it takes the place of a worker that died, or a new one's.

A process needs seconds until it can match: an interpreter, its libraries, the kernels. Who splits, and who waits for
what a dead worker held, would wait for that. So one process more than there are workers is kept ready.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import structlog

from likewise.broker.pool.messages import Drop, EventSent, Hold, Operation, Rehearse, Told
from likewise.broker.pool.processes.folders import Folders
from likewise.broker.pool.processes.process import Ticket, WorkerProcess
from likewise.broker.pool.shard import Share

_log = structlog.get_logger("likewise.workers")
QUIET: Final = 5.0  # seconds after the last start of a worker, so that it does not compete with it
AGAIN: Final = 60.0  # ... after one that could not be started, or died
REHEARSED: Final = 600  # subscriptions of a share it tries: enough for every form an index has


class Spare:
    """The process that is kept ready, if there is one."""

    def __init__(self, folders: Folders, told: Told) -> None:
        self.process: WorkerProcess | None = None
        self._folders = folders
        self._told = told
        self._due = float("inf")

    def take(self, number: int) -> WorkerProcess | None:
        """The process, as the worker with a number from here on; None if there is none, and one is due soon."""
        self._due = time.monotonic() + QUIET
        ready, self.process = self.process, None
        if ready is None or not ready.alive:
            if ready is not None:
                ready.end(0.0)
            return None
        ready.begin_as(number)
        return ready

    def due(self) -> bool:
        """Whether there is none, and one is started at the next look."""
        return self.process is None and time.monotonic() >= self._due

    def put_off(self) -> None:
        """Start none now."""
        self._due = time.monotonic() + QUIET

    def look_after(self, shares: Iterable[Share], samples: Mapping[int, Sequence[EventSent]]) -> None:
        """Start one if it is due; it tries what the shares hold."""
        now = time.monotonic()
        if self.process is not None and not self.process.alive:
            _log.warning("the process kept ready died", code=self.process.process.poll())
            self.process.end(0.0)
            self.process, self._due = None, now + AGAIN
        if not self.due():
            return
        try:
            self.process = WorkerProcess(0, self._folders.for_socket())
        except OSError as error:  # a worker is started when it is needed, then
            _log.warning("no process can be kept ready; that is tried again", error=str(error))
            self._due = now + AGAIN
            return
        self._say(0, self._told)
        for share in shares:
            numbers = list(share.held)
            if share.remembers or not numbers:
                continue
            tried = [share.held[number] for number in numbers[:: -(-len(numbers) // REHEARSED)]]
            self._say(share.tenant, share.known)
            self._say(share.tenant, Hold(tried))
            self._say(share.tenant, Rehearse(list(samples.get(share.tenant, ()))))
            self._say(share.tenant, Drop())

    def _say(self, tenant: int, wanted: Operation) -> None:
        assert self.process is not None
        self.process.submit(Ticket(tenant, 0, wanted))
