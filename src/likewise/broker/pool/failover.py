"""A worker that died, or hangs, is started again: told what it held, and asked what it had not answered.

What cannot be started now, for want of memory, files or room, is tried again after a pause, and said meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final, Protocol

import structlog

from likewise.broker.pool.process import PendingRequest, ShardHost, WorkerProcess, count_death
from likewise.broker.pool.protocol import (
    Board,
    Completed,
    Expects,
    Explain,
    MatchEvents,
    PlanSplit,
    QueryState,
    SaveShard,
    Standings,
    WouldMatch,
)
from likewise.broker.pool.shard import Shard

_log = structlog.get_logger("likewise.workers")
READ_ONLY: Final = (
    QueryState,
    Board,
    Expects,
    Explain,
    MatchEvents,
    PlanSplit,
    SaveShard,
    Standings,
    WouldMatch,
)  # what changes nothing
FIRST_RESTART_DELAY_S: Final = (
    0.5  # seconds after which one that could not be started is tried again; then twice as many
)
MAX_RESTART_DELAY_S: Final = 10.0


class FailoverPool(Protocol):
    """Who has workers, and knows what stands where."""

    shares: dict[int, Shard]

    def employ(self, number: int) -> WorkerProcess:
        """A worker with a number, in place of one that had it."""
        ...

    def transfer(self, share: Shard, host: ShardHost, asked: Iterable[int] | None = None) -> PendingRequest:
        """Tell a host everything about a share."""
        ...

    def least_busy(self, share: Shard) -> ShardHost:
        """The host of a share with the least to do."""
        ...


class Failover:
    """Looks at workers, and starts those again that are gone; `troubles` says who cannot be started now."""

    def __init__(self, crew: FailoverPool) -> None:
        self.deaths = 0
        self.troubles: dict[int, str] = {}
        self._pool = crew
        self._again: dict[int, tuple[float, float]] = {}  # when to try again, and the pause after that

    def check(self, worker: WorkerProcess) -> None:
        """Kill a worker that hangs, and start it again if it is dead."""
        now = time.monotonic()
        if worker.alive and worker.waiting:
            heard = max(worker.last_reply_at, worker.started)
            if worker.watchdog.hangs(now, heard, asked=worker.connected):
                _log.error(
                    "a worker does not answer, and is killed", worker=worker.number, seconds=round(now - heard, 1)
                )
                worker.kill()
        if not worker.alive and now >= self._again.get(worker.number, (0.0, 0.0))[0]:
            self._restart(worker, now)

    def _restart(self, dead: WorkerProcess, now: float) -> None:
        try:
            new = self._start(dead)
        except OSError as error:
            _, pause = self._again.get(dead.number, (0.0, FIRST_RESTART_DELAY_S))
            self._again[dead.number] = (now + pause, min(2 * pause, MAX_RESTART_DELAY_S))
            if dead.number not in self.troubles:
                _log.error("a worker cannot be started; that is tried again until it can", exc_info=error)
            self.troubles[dead.number] = f"worker {dead.number} cannot be started: {error}"
            self._reassign_pending(dead)
            return
        self._again.pop(dead.number, None)
        self.troubles.pop(dead.number, None)
        self._take_over(dead, new)

    def _reassign_pending(self, dead: WorkerProcess) -> None:
        """Let others answer meanwhile what they can."""
        for ticket in dead.pending():
            share = self._pool.shares.get(ticket.share)
            if share is None or share.stateful or not isinstance(ticket.operation, READ_ONLY):
                continue
            host = self._pool.least_busy(share)
            if host.alive:
                dead.withdraw(ticket)
                host.submit(ticket)

    def _start(self, dead: WorkerProcess) -> WorkerProcess:
        if dead.number not in self._again:
            self.deaths += 1
            dead.kill()
            _log.warning(
                "a worker died and is started again",
                worker=dead.number,
                code=dead.process.returncode,
                unanswered=dead.waiting,
            )
            dead.end()
        new = self._pool.employ(dead.number)
        new.busy, new.matched = dead.busy, dead.matched
        return new

    def _take_over(self, dead: WorkerProcess, new: WorkerProcess) -> None:
        """Tell a worker what a dead one held, and ask it what that one had not answered."""
        crew, pending = self._pool, dead.pending()
        asked = {ticket.id for ticket in pending}
        if pending and dead.connected and count_death(pending[0]):  # the one it had at hand
            asked = (asked | self._split_killing_request(pending[0])) - {pending[0].id}
        journaled: set[int] = set()
        for share in list(crew.shares.values()):
            if dead in share.joining:
                share.joining[share.joining.index(dead)] = new
                crew.transfer(share, new)
            if dead in share.hosts:
                share.hosts[share.hosts.index(dead)] = new
                crew.transfer(share, new, asked)
                journaled |= {ticket.id for ticket in share.journal}
        for ticket in pending:
            if ticket.id not in asked or ticket.id in journaled:
                continue
            of = crew.shares.get(ticket.share)
            if of is None or not isinstance(ticket.operation, READ_ONLY):
                ticket.answer(Completed())  # whoever comes in its place was told what came of it
                continue
            others = [] if of.stateful else [each for each in of.hosts if each is not new and each.alive]
            (others[0] if others else new).submit(ticket)

    def _split_killing_request(self, killing: PendingRequest) -> set[int]:
        """Take a request out of its share's journal, and put in its place what it consists of; the ids of that."""
        share = self._pool.shares.get(killing.share)
        if share is None or killing not in share.journal:
            return set()
        place = share.journal.index(killing)
        parts = [] if killing.answered else killing.split()
        share.journal[place : place + 1] = parts
        return {part.id for part in parts}
