"""Who waits to be matched: the backlog of each tenant, whose turn it is, and how many entries its turn is worth."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from likewise.broker.dispatch.backlog import Backlog
from likewise.broker.dispatch.deficit_round_robin import Turns
from likewise.broker.log.entries import Entry, by_tenant
from likewise.broker.log.event_log import EventLog
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import QUANTUM_SECONDS


class Line:
    """The tenants with something to match, in the order of their turns. For one thread."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._turns = Turns[int](QUANTUM_SECONDS)
        self._backlogs: dict[int, Backlog] = {}
        self._pace: dict[int, float] = {}  # seconds an entry of a tenant took lately

    def __len__(self) -> int:
        return len(self._turns)

    def tenants(self) -> set[int]:
        """The numbers of those who wait."""
        return self._turns.everyone()

    def pace(self, tenant: int) -> float:
        """The seconds of the processor that an entry of a tenant took lately."""
        return self._pace.get(tenant, 0.0)

    def begin(self, tenant: Tenant) -> None:
        """Let a tenant wait with what the log holds of it and is not matched."""
        self._backlogs[tenant.number] = Backlog(self._log, tenant.number, tenant.matched, tenant.appended)
        self._turns.join(tenant.number)

    def push(self, entries: Sequence[Entry]) -> None:
        """New entries, of whatever tenants."""
        for number, own in by_tenant(entries).items():
            backlog = self._backlogs.get(number)
            if backlog is None:
                after = own[0].position - 1
                backlog = self._backlogs[number] = Backlog(self._log, number, after, after)
            backlog.push(own)
            self._turns.join(number)

    @contextmanager
    def turn(self, most: int) -> Iterator[tuple[int, list[Entry], list[Entry]]]:
        """Whose turn it is, with its next entries, at most so many; the processor time of the block is what it used.

        Entries that the block puts into the second list, the last ones in their order, wait for its next turn.
        """
        number, owed = self._turns.next()
        backlog, pace, begun = self._backlogs[number], self._pace.get(number, QUANTUM_SECONDS / 5), time.thread_time()
        entries = backlog.take(max(1, min(most, int(owed / pace))))
        left: list[Entry] = []
        yield number, entries, left
        used = time.thread_time() - begun
        backlog.put_back(left)
        if len(entries) > len(left):
            self._pace[number] = max(1e-6, 0.5 * pace + 0.5 * used / (len(entries) - len(left)))
        self._turns.used(number, used, more=bool(backlog))
        if not backlog:
            del self._backlogs[number]

    def refuse(self, error: BaseException) -> None:
        """Tell everyone who waits for a command."""
        for backlog in self._backlogs.values():
            backlog.refuse(error)
