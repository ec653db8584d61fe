"""Schedule tenants: the backlog of each, whose turn it is, and how many entries its turn is worth.

A backlog keeps the next entries in memory up to a limit; the rest is read from the log when its turn comes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Final

from likewise.broker.dispatch.commit_writer import notify_applied
from likewise.broker.dispatch.deficit_round_robin import DeficitRoundRobin
from likewise.broker.log.entries import COMMAND, Applied, Entry, SubscribeCommand, by_tenant
from likewise.broker.log.event_log import EventLog
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import BACKLOG_ENTRIES, MATCH_ENTRIES, QUANTUM_SECONDS

FETCHED: Final = 200  # entries decoded at once


class TenantBacklog:
    """The entries of a tenant after a position, in order.

    Up to `limit` of them are held in memory. What comes when there are so many is read from the log in its turn; who
    waits for a command among them is remembered.
    """

    def __init__(self, log: EventLog, tenant: int, after: int, until: int, limit: int = BACKLOG_ENTRIES) -> None:
        self._log = log
        self._tenant = tenant
        self._position = after  # the position of the last entry taken
        self._loaded: deque[Entry] = deque()
        self._until = until  # the position of the last entry there is
        self._limit = limit
        self._unread: Iterator[Entry] | None = None
        self._waiting: dict[int, Applied] = {}  # by the position of a command that is not held

    def __bool__(self) -> bool:
        return self._position < self._until

    def push(self, entries: Iterable[Entry]) -> None:
        """Add new entries of the log."""
        for entry in entries:
            whole = (self._loaded[-1].position if self._loaded else self._position) >= self._until
            self._until = entry.position
            if whole and len(self._loaded) < self._limit:
                self._loaded.append(entry)
            elif entry.applied is not None:
                self._waiting[entry.position] = entry.applied

    def take(self, count: int) -> list[Entry]:
        """Remove and return the next entries, at most `count`; neighbouring new subscriptions stay together.

        These share a pass over earlier events, of which a subscriber is given each once, for all of its own that want
        it. In two passes the second would find that the subscriber had it.
        """
        entries: list[Entry] = []
        while self and (len(entries) < count or (_subscribes(entries[-1]) and len(entries) < MATCH_ENTRIES)):
            if not self._loaded:
                self._fetch()
                continue
            if len(entries) >= count and not _subscribes(self._loaded[0]):
                break
            entries.append(self._loaded.popleft())
            self._position = entries[-1].position
        return entries

    def put_back(self, entries: list[Entry]) -> None:
        """Hold entries again that were taken last and are left for a later turn."""
        if entries:
            self._loaded.extendleft(reversed(entries))
            self._position = entries[0].position - 1

    def _fetch(self) -> None:
        """Read the next entries that are not held, some at a time: each has to be decoded."""
        if self._unread is None:
            self._unread = self._log.entries(self._position, self._until, tenant=self._tenant, together=True)
        for entry in islice(self._unread, FETCHED):
            entry.applied = self._waiting.pop(entry.position, None)
            self._loaded.append(entry)
        if self._loaded:
            return
        self._unread = None
        if next(self._log.entries(self._position, self._until, tenant=self._tenant), None) is None:
            self._position = self._until  # swept meanwhile, which only happens to what is matched

    def refuse(self, error: BaseException) -> None:
        """Tell everyone who waits for one of them."""
        for entry in self._loaded:
            notify_applied(entry, error)
        for applied in self._waiting.values():
            applied(error)
        self._waiting.clear()


def _subscribes(entry: Entry) -> bool:
    return entry.kind == COMMAND and isinstance(entry.value, SubscribeCommand)


class TenantQueue:
    """The tenants with something to match, in the order of their turns. For one thread."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._scheduler = DeficitRoundRobin[int](QUANTUM_SECONDS)
        self._backlogs: dict[int, TenantBacklog] = {}
        self._pace: dict[int, float] = {}  # seconds an entry of a tenant took lately

    def __len__(self) -> int:
        return len(self._scheduler)

    def tenants(self) -> set[int]:
        """Return the numbers of the tenants that wait."""
        return self._scheduler.waiting()

    def pace(self, tenant: int) -> float:
        """Return the processor time that an entry of a tenant took lately, in seconds."""
        return self._pace.get(tenant, 0.0)

    def begin(self, tenant: Tenant) -> None:
        """Let a tenant wait with what the log holds of it and is not matched."""
        self._backlogs[tenant.number] = TenantBacklog(self._log, tenant.number, tenant.matched, tenant.appended)
        self._scheduler.enqueue(tenant.number)

    def push(self, entries: Sequence[Entry]) -> None:
        """Add new entries of any tenants."""
        for number, tenant_entries in by_tenant(entries).items():
            backlog = self._backlogs.get(number)
            if backlog is None:
                after = tenant_entries[0].position - 1
                backlog = self._backlogs[number] = TenantBacklog(self._log, number, after, after)
            backlog.push(tenant_entries)
            self._scheduler.enqueue(number)

    @contextmanager
    def turn(self, most: int) -> Iterator[tuple[int, list[Entry], list[Entry]]]:
        """Yield the next tenant with its next entries; the processor time of the block is charged to it.

        Entries that the block puts into the second list, the last ones in their order, wait for its next turn.
        """
        number, owed = self._scheduler.next()
        backlog, pace, begun = self._backlogs[number], self._pace.get(number, QUANTUM_SECONDS / 5), time.thread_time()
        entries = backlog.take(max(1, min(most, int(owed / pace))))
        left: list[Entry] = []
        yield number, entries, left
        used = time.thread_time() - begun
        backlog.put_back(left)
        if len(entries) > len(left):
            self._pace[number] = max(1e-6, 0.5 * pace + 0.5 * used / (len(entries) - len(left)))
        self._scheduler.charge(number, used, more=bool(backlog))
        if not backlog:
            del self._backlogs[number]

    def refuse(self, error: BaseException) -> None:
        """Tell everyone who waits for a command."""
        for backlog in self._backlogs.values():
            backlog.refuse(error)
