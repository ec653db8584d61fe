"""What of one tenant waits to be matched: the next entries in memory, as many as may be, and the rest in the log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from likewise.broker.dispatch.commit_writer import tell_applied
from likewise.broker.log.entries import COMMAND, Applied, Entry, Subscribe
from likewise.broker.log.event_log import EventLog
from likewise.defaults import BACKLOG_ENTRIES, MATCH_ENTRIES

FETCHED: Final = 200  # entries decoded at once


class Backlog:
    """The entries of a tenant after a position, in order.

    Up to `limit` of them are held in memory. What comes when there are so many is read from the log in its turn; who
    waits for a command among them is remembered.
    """

    def __init__(self, log: EventLog, tenant: int, after: int, until: int, limit: int = BACKLOG_ENTRIES) -> None:
        self._log = log
        self._tenant = tenant
        self._taken = after  # the position of the last entry taken
        self._held: deque[Entry] = deque()
        self._until = until  # the position of the last entry there is
        self._limit = limit
        self._unread: Iterator[Entry] | None = None
        self._waiting: dict[int, Applied] = {}  # by the position of a command that is not held

    def __bool__(self) -> bool:
        return self._taken < self._until

    def push(self, entries: Iterable[Entry]) -> None:
        """New entries are in the log."""
        for entry in entries:
            whole = (self._held[-1].position if self._held else self._taken) >= self._until
            self._until = entry.position
            if whole and len(self._held) < self._limit:
                self._held.append(entry)
            elif entry.applied is not None:
                self._waiting[entry.position] = entry.applied

    def take(self, count: int) -> list[Entry]:
        """The next entries, at most so many; new subscriptions that stand together come together.

        These share a pass over earlier events, of which a subscriber is given each once, for all of its own that want
        it. In two passes the second would find that the subscriber had it.
        """
        found: list[Entry] = []
        while self and (len(found) < count or (_subscribes(found[-1]) and len(found) < MATCH_ENTRIES)):
            if not self._held:
                self._fetch()
                continue
            if len(found) >= count and not _subscribes(self._held[0]):
                break
            found.append(self._held.popleft())
            self._taken = found[-1].position
        return found

    def put_back(self, entries: list[Entry]) -> None:
        """Hold entries again that were taken last and are left for a later turn."""
        if entries:
            self._held.extendleft(reversed(entries))
            self._taken = entries[0].position - 1

    def _fetch(self) -> None:
        """Read the next entries that are not held, some at a time: each has to be decoded."""
        if self._unread is None:
            self._unread = self._log.entries(self._taken, self._until, tenant=self._tenant, together=True)
        for entry in islice(self._unread, FETCHED):
            entry.applied = self._waiting.pop(entry.position, None)
            self._held.append(entry)
        if self._held:
            return
        self._unread = None
        if next(self._log.entries(self._taken, self._until, tenant=self._tenant), None) is None:
            self._taken = self._until  # swept meanwhile, which only happens to what is matched

    def refuse(self, error: BaseException) -> None:
        """Tell everyone who waits for one of them."""
        for entry in self._held:
            tell_applied(entry, error)
        for applied in self._waiting.values():
            applied(error)
        self._waiting.clear()


def _subscribes(entry: Entry) -> bool:
    return entry.kind == COMMAND and isinstance(entry.value, Subscribe)
