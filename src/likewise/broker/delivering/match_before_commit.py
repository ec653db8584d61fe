"""Matching before the commit: events and their deliveries reach the disk together, with one sync instead of three.

The writer asks here, inside its transaction, what its new events lead to. That is done only where it is quick and
where nothing has to be taken back if the commit fails: the worker has stored everything before these events, and
the tenants hold exact subscriptions without windows and without an end of their own. Whatever else comes is
matched by the worker after the commit, as ever. Either way a delivery is stored before it is sent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import structlog

from likewise.broker.delivering.match_events import match_events
from likewise.broker.delivering.outcome import Outcome
from likewise.broker.store.entries import EVENT, Entry
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MATCH_ENTRIES

if TYPE_CHECKING:
    from likewise.broker.delivering.worker import MatchingWorker

_log = structlog.get_logger("likewise.matching")
PATIENCE: Final = 0.002  # seconds the writer waits for a question to the matchers to be answered


class Prepared:
    """What a group of events leads to, on its way to disk with them; the matchers are held until that is known."""

    def __init__(self, outcome: Outcome, dealt: dict[Tenant, int], worker: MatchingWorker) -> None:
        self._outcome = outcome
        self._dealt = dealt  # the next number of each tenant as it was before
        self._worker = worker
        self._filled: list[SubscriberQueue] = []

    def store(self, connection: sqlite3.Connection) -> None:
        """Write everything, in the transaction that writes the events."""
        self._outcome.store(connection)

    def fill(self) -> None:
        """The commit is on disk: fill the queues. Publishers are told after this, streams after them (`wake`)."""
        try:
            self._filled = self._worker.fill(self._outcome)
        except Exception as error:  # said by readiness, and to everyone who comes
            self._worker.fail(error)

    def wake(self) -> None:
        """Wake the streams, and let the matchers go."""
        try:
            self._worker.wake(self._filled, self._outcome)
        except Exception as error:
            self._worker.fail(error)
        finally:
            self._worker.owning.release()

    def undone(self) -> None:
        """The commit failed: nothing of it was."""
        for tenant, number in self._dealt.items():
            tenant.next_number = number
        self._worker.owning.release()


class EarlyMatching:
    """What the writer asks before it commits."""

    def __init__(self, worker: MatchingWorker, tenants: dict[int, Tenant], clock: Callable[[], int]) -> None:
        self._worker = worker
        self._tenants = tenants
        self._clock = clock

    def serves(self, entries: Sequence[Entry]) -> bool:
        """Whether these could be matched before they are committed, were all before them stored."""
        if len(entries) > MATCH_ENTRIES or {entry.kind for entry in entries} != {EVENT}:
            return False
        tenants = [self._tenants.get(number) for number in {entry.tenant for entry in entries}]
        return all(tenant is not None and _simple(tenant) for tenant in tenants)

    def prepare(self, entries: list[Entry]) -> Prepared | None:
        """What new entries of the log lead to; None if the worker has to follow them after the commit."""
        worker = self._worker
        if worker.position != entries[0].position - 1 or worker.failure is not None or not self.serves(entries):
            return None
        if not worker.owning.acquire(timeout=PATIENCE):
            return None
        dealt = {tenant: tenant.next_number for tenant in {self._tenants[entry.tenant] for entry in entries}}
        outcome = Outcome()
        try:
            for start, stop in _runs(entries):
                match_events(self._tenants[entries[start].tenant], entries[start:stop], outcome, lambda position: None)
            outcome.arrival, outcome.position = entries[0].arrival, entries[-1].position
            outcome.apply_policies(self._clock())
        except Exception:
            _log.exception("events could not be matched before their commit; they are after it")
            Prepared(outcome, dealt, worker).undone()
            return None
        return Prepared(outcome, dealt, worker)


def _simple(tenant: Tenant) -> bool:
    """Whether matching an event changes nothing that would have to be changed back, and takes no time to speak of."""
    return not len(tenant.windows) and not tenant.ending and tenant.stateless.kinds <= {"exact"}


def _runs(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """Where neighbours of one tenant begin and end."""
    edges = [0, *(n for n in range(1, len(entries)) if entries[n].tenant != entries[n - 1].tenant), len(entries)]
    return list(pairwise(edges))
