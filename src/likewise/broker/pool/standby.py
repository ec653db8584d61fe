"""Keep one warmed-up worker process, and warm up hosts before they serve a shard.

A process needs seconds until it can match: an interpreter, its libraries, the kernels. Failover and scale-out would
wait for that, so one process more than there are workers is kept ready.

A host that serves nothing yet is sent a whole shard at once. One that does is sent a few subscriptions at a time, each
after its last reply, so that events do not wait behind thousands of them. In the end it matches a few recent events
without any effect, so that everything is loaded before the first real request.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import structlog

from likewise.broker.pool.listener import NoWorkerConnected
from likewise.broker.pool.process import PendingRequest, ShardHost, Worker
from likewise.broker.pool.protocol import (
    AddSubscriptions,
    DropShard,
    EventSent,
    InterpretationSettings,
    Operation,
    WarmUpMatching,
)
from likewise.broker.pool.shard import SUBSCRIPTION_BATCH, Shard

WARM_UP_BATCH: Final = 100  # subscriptions that a host which has else to do is told at once
SAMPLE_EVENTS: Final = 64  # of the newest events of a tenant that are kept, to measure and to rehearse by


class WarmUpPool(Protocol):
    """The worker pool as warm-up uses it."""

    shares: dict[int, Shard]
    samples: dict[int, deque[EventSent]]

    def transfer(self, share: Shard, host: ShardHost, unanswered: Iterable[int] | None = None) -> PendingRequest:
        """Tell a host everything about a share at once."""
        ...

    def current(self, host: ShardHost) -> ShardHost | None:
        """Return a host, or the worker that replaced it; None if there is none."""
        ...


class ShardWarmUp:
    """Transfers a shard to a host that does not serve it yet; `done` once it could."""

    def __init__(self, pool: WarmUpPool, share: Shard, host: ShardHost) -> None:
        self._pool = pool
        self._share = share
        self._host = host
        self._matched = host.matched
        serves = any(host in other.hosts for other in pool.shares.values() if other is not share)
        self._rest: Iterator[Operation] = iter(())
        if serves and not share.stateful and share.saved is None:  # with a state, order would be lost
            share.learning.append(host)  # so what comes meanwhile is said in its order, among the others
            self._rest = self._incremental_transfer()
            self._last = self._send(DropShard())
        else:
            pool.transfer(share, host)
            self._last = self._send(self._rehearsal_request())

    def done(self) -> bool:
        """Go on; whether the host knows everything. To be called often."""
        while self._last.answered:
            if self._pool.current(self._host) is not self._host:
                if self._host in self._share.learning:
                    self._share.learning.remove(self._host)
                return True  # it died, and who came in its place was told at once
            operation = next(self._rest, None)
            if operation is None:
                return True
            self._last = self._send(operation)
        return False

    def _send(self, operation: Operation) -> PendingRequest:
        ticket = PendingRequest(self._share.tenant, self._share.number, operation)
        self._host.submit(ticket)
        return ticket

    def _incremental_transfer(self) -> Iterator[Operation]:
        share = self._share
        yield share.known
        last = 0
        while left := sorted(number for number in share.subscriptions if number > last):
            while left:
                idle, self._matched = self._host.matched == self._matched, self._host.matched
                few = SUBSCRIPTION_BATCH if idle else WARM_UP_BATCH
                part, left = left[:few], left[few:]
                yield AddSubscriptions(
                    [share.subscriptions[number] for number in part if number in share.subscriptions]
                )  # unless it went
                last = part[-1]
        share.learning.remove(self._host)
        if share.roots:
            yield share.proxies()
        yield self._rehearsal_request()

    def _rehearsal_request(self) -> WarmUpMatching:
        """Return a rehearsal request; a stateful shard needs none, since it sees every event meanwhile."""
        return WarmUpMatching([] if self._share.stateful else list(self._pool.samples.get(self._share.tenant, ())))


_log = structlog.get_logger("likewise.workers")
START_DELAY_S: Final = 5.0  # seconds after the last start of a worker, so that it does not compete with it
RETRY_DELAY_S: Final = 60.0  # ... after one that could not be started, or died
WARM_UP_SUBSCRIPTIONS: Final = 600  # subscriptions of a share it tries: enough for every form an index has


class StandbyWorker:
    """The standby worker, if there is one."""

    def __init__(self, make: Callable[[], Worker], settings: InterpretationSettings) -> None:
        self.process: Worker | None = None
        self._make = make
        self._settings = settings
        self._due = float("inf")

    def acquire(self, number: int) -> Worker | None:
        """Return the standby as the worker with a number; None if there is none, and one is due soon."""
        self._due = time.monotonic() + START_DELAY_S
        ready, self.process = self.process, None
        if ready is None or not ready.alive:
            if ready is not None:
                ready.end(0.0)
            return None
        ready.assign_number(number)
        return ready

    def is_ready(self) -> bool:
        """Return whether there is a standby that runs."""
        return self.process is not None and self.process.alive

    def is_due(self) -> bool:
        """Return whether there is no standby, and one is started at the next call of `maintain`."""
        return self.process is None and time.monotonic() >= self._due

    def postpone(self) -> None:
        """Start none now."""
        self._due = time.monotonic() + START_DELAY_S

    def maintain(self, shares: Iterable[Shard], samples: Mapping[int, Sequence[EventSent]]) -> None:
        """Start one if it is due; it tries what the shares hold."""
        now = time.monotonic()
        if self.process is not None and not self.process.alive:
            _log.warning("standby_died", reason=self.process.end_reason)
            self.process.end(0.0)
            self.process, self._due = None, now + RETRY_DELAY_S
        if not self.is_due():
            return
        try:
            self.process = self._make()
        except NoWorkerConnected:
            self._due = now + START_DELAY_S
            return
        except OSError as error:  # a worker is started when it is needed, then
            _log.warning("standby_start_failed", error=str(error))
            self._due = now + RETRY_DELAY_S
            return
        self._send(0, self._settings)
        for share in shares:
            numbers = list(share.subscriptions)
            if share.stateful or not numbers:
                continue
            tried = [share.subscriptions[number] for number in numbers[:: -(-len(numbers) // WARM_UP_SUBSCRIPTIONS)]]
            self._send(share.tenant, share.known)
            self._send(share.tenant, AddSubscriptions(tried))
            self._send(share.tenant, WarmUpMatching(list(samples.get(share.tenant, ()))))
            self._send(share.tenant, DropShard())

    def _send(self, tenant: int, operation: Operation) -> None:
        assert self.process is not None
        self.process.submit(PendingRequest(tenant, 0, operation))
