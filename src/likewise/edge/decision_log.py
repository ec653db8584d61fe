"""What is decided here about relaxed subscriptions, as commands of the log, behind the event that it is about.

A decision is appended before it is noted that the event was looked at: after a crash it is said again, and what was
delivered for a subscription is not delivered for it again. So it makes no difference who said it first, this edge or
the broker above, which may have been sent the event for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import Decided, Entry, command_entry
from likewise.broker.log.event_log import EventLog
from likewise.broker.tenants.tenant import Tenant
from likewise.edge.demand import NotApplied
from likewise.model import Subscription

CAUSES: tuple[Literal["arrival", "initial"], ...] = ("arrival", "initial")


class Decisions:
    """Decisions of one tenant that wait to be appended."""

    def __init__(self, log: EventLog, tenant: Tenant) -> None:
        self._log = log
        self._tenant = tenant
        self._waiting: list[Entry] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def subscription(self, number: int) -> Subscription | None:
        """A subscription here by its number; None if it holds no longer."""
        applied = self._tenant.matched  # before it is looked at
        held = self._tenant.held.get(number)
        if held is None and number > applied:
            raise NotApplied(number)
        return None if held is None or held.ended is not None else held.subscription

    def add(self, entry: Entry, met: Iterable[tuple[int, float]]) -> None:
        """An event meets some subscriptions, with scores."""
        self._waiting += self._said(entry, list(met))

    def _said(self, entry: Entry, met: list[tuple[int, float]]) -> Iterator[Entry]:
        for cause in CAUSES:
            own = tuple(pair for pair in met if (pair[0] < entry.position) == (cause == "arrival"))
            if own:
                yield command_entry(self._tenant.number, Decided(entry.source, entry.id, cause, own))

    def append(self) -> None:
        """Bring them to disk; they stay if that fails."""
        made = self._waiting
        if made:
            wait_for(lambda done: self._log.append(made, done))
            self._waiting = []

    def clear(self) -> None:
        """Forget those that are not on disk: they are made again."""
        self._waiting = []
