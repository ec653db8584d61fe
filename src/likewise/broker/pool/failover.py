"""Failover: restart a worker that died or hangs, replay its shards, and repeat its unanswered requests.

What cannot be started now, for want of memory, files or room, is tried again after a pause, and said meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final, Protocol

import structlog

from likewise.backoff import backoff_s
from likewise.broker.pool.listener import NoWorkerConnected
from likewise.broker.pool.process import PendingRequest, ShardHost, Worker, count_death
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
    """The worker pool as failover uses it."""

    shares: dict[int, Shard]

    def employ(self, number: int) -> Worker:
        """Return a new worker with a number, in place of the one that had it."""
        ...

    def has_idle(self) -> bool:
        """Return whether a worker of another machine has nothing to do."""
        ...

    def transfer(self, share: Shard, host: ShardHost, unanswered: Iterable[int] | None = None) -> PendingRequest:
        """Tell a host everything about a share."""
        ...

    def least_busy(self, share: Shard) -> ShardHost:
        """Return the host of a shard with the fewest waiting requests."""
        ...


class Failover:
    """Restarts workers that died; `troubles` says which cannot be started now."""

    def __init__(self, pool: FailoverPool) -> None:
        self.deaths = 0
        self.troubles: dict[int, str] = {}
        self._pool = pool
        self._again: dict[int, tuple[float, int]] = {}  # when to try again, and how often it has failed

    def check(self, worker: Worker) -> None:
        """Kill a worker that hangs, and start it again if it is dead."""
        now = time.monotonic()
        if worker.alive and worker.waiting and worker.hangs(now):
            last_activity = max(worker.last_reply_at, worker.started)
            _log.error("worker_hangs", worker=worker.number, seconds=round(now - last_activity, 1))
            worker.kill()
        if not worker.alive and (now >= self._again.get(worker.number, (0.0, 0))[0] or self._pool.has_idle()):
            self._restart(worker, now)

    def _restart(self, dead: Worker, now: float) -> None:
        try:
            new = self._start(dead)
        except OSError as error:
            failures = self._again.get(dead.number, (0.0, 0))[1] + 1
            pause = backoff_s(failures, FIRST_RESTART_DELAY_S, MAX_RESTART_DELAY_S)
            self._again[dead.number] = (now + pause, failures)
            if dead.number not in self.troubles:
                if isinstance(error, NoWorkerConnected):  # one of another machine connects when it can
                    _log.warning("worker_not_connected", worker=dead.number, error=str(error))
                else:
                    _log.error("worker_start_failed", exc_info=error)
            self.troubles[dead.number] = f"worker {dead.number} cannot be started: {error}"
            self._reassign_pending(dead)
            return
        self._again.pop(dead.number, None)
        self.troubles.pop(dead.number, None)
        self._take_over(dead, new)

    def _reassign_pending(self, dead: Worker) -> None:
        """Let others answer meanwhile what they can."""
        for ticket in dead.pending():
            share = self._pool.shares.get(ticket.share)
            if share is None or share.stateful or not isinstance(ticket.operation, READ_ONLY):
                continue
            host = self._pool.least_busy(share)
            if host.alive:
                dead.withdraw(ticket)
                host.submit(ticket)

    def _start(self, dead: Worker) -> Worker:
        if dead.number not in self._again and dead.pid:  # one without a process has yet to come
            self.deaths += 1
            dead.kill()
            _log.warning(
                "worker_died",
                worker=dead.number,
                host=dead.host,
                reason=dead.end_reason,
                unanswered=dead.waiting,
            )
            dead.end()
        new = self._pool.employ(dead.number)
        new.busy, new.matched = dead.busy, dead.matched
        return new

    def _take_over(self, dead: Worker, new: Worker) -> None:
        """Tell a worker what a dead one held, and ask it what that one had not answered."""
        pool, pending = self._pool, dead.pending()
        unanswered = {ticket.id for ticket in pending}
        if pending and dead.killed_by_request and count_death(pending[0]):  # the one it had at hand
            unanswered = (unanswered | self._split_killing_request(pending[0])) - {pending[0].id}
        journaled: set[int] = set()
        for share in list(pool.shares.values()):
            if dead in share.joining:
                share.joining[share.joining.index(dead)] = new
                pool.transfer(share, new)
            if dead in share.hosts:
                share.hosts[share.hosts.index(dead)] = new
                pool.transfer(share, new, unanswered)
                journaled |= {ticket.id for ticket in share.journal}
        for ticket in pending:
            if ticket.id not in unanswered or ticket.id in journaled:
                continue
            of = pool.shares.get(ticket.share)
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
