"""Activity counts: events and matches by the minute, and matches of each subscription.

They are made from the store when they are asked for, a stretch at a time, and go on from where they were: nothing is
counted while nobody asks, and nobody who publishes waits for it. What came before the first stretch is not counted, and
`since` says so.
"""

from __future__ import annotations

import threading
from typing import Final

from likewise.api.history import EventCounts, MinuteCount, SubscriptionCount
from likewise.broker.log.deliveries import read_between
from likewise.broker.log.event_history import MINUTE, event_identity, events_by_minute, first_position
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.tenant import Tenant

STRETCH: Final = 200_000  # entries of the log that one question counts
DELIVERIES: Final = 20_000  # deliveries that it counts
DAY: Final = 24 * 60  # minutes that are remembered


class ActivityCounts:
    """The counts of one tenant; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[int, int] = {}
        self._matches: dict[int, int] = {}
        self._by_subscription: dict[
            int, list[int]
        ] = {}  # by a subscription's number: how often, when last, by which event
        self._position = self._number = -1
        self._since: int | None = None

    def count(self, tables: StoreTables, tenant: Tenant, now: int, minutes: int, span: int) -> EventCounts:
        """Go on counting, then say what there is: of the last `minutes`, in steps of `span` minutes."""
        with self._lock:
            if self._position < 0:
                self._begin(tables, tenant)
            self._count_events(tables, tenant)
            self._count_matches(tables, tenant)
            self._forget(now // MINUTE - DAY)
            return self._summary(tables, tenant, now, minutes, span)

    def _begin(self, tables: StoreTables, tenant: Tenant) -> None:
        first = first_position(tables, tenant.number)
        self._position = max((first or 1) - 1, tenant.appended - STRETCH)
        self._number = max(0, tenant.stored_number - DELIVERIES)
        if first is not None:
            known = event_identity(tables, max(first, self._position + 1))
            self._since = None if known is None else known[0]

    def _count_events(self, tables: StoreTables, tenant: Tenant) -> None:
        until = min(tenant.appended, self._position + STRETCH)
        for minute, count in events_by_minute(tables, tenant.number, self._position, until):
            self._events[minute] = self._events.get(minute, 0) + count
            self._since = minute * MINUTE if self._since is None else self._since
        self._position = max(self._position, until)

    def _count_matches(self, tables: StoreTables, tenant: Tenant) -> None:
        known: dict[int, int] = {}
        for delivery in read_between(tables, tenant.number, self._number, tenant.stored_number, DELIVERIES):
            self._number = delivery.number
            if delivery.event not in known:
                identity = event_identity(tables, delivery.event)
                known[delivery.event] = 0 if identity is None else identity[0]
            at = known[delivery.event]
            numbers = delivery.matched.tolist()
            self._matches[at // MINUTE] = self._matches.get(at // MINUTE, 0) + len(numbers)
            for number in numbers:
                count = self._by_subscription.setdefault(number, [0, 0, 0])
                count[0] += 1
                count[1], count[2] = at, delivery.event

    def _forget(self, before: int) -> None:
        for counts in (self._events, self._matches):
            for minute in [minute for minute in counts if minute <= before]:
                del counts[minute]

    def _summary(self, tables: StoreTables, tenant: Tenant, now: int, minutes: int, span: int) -> EventCounts:
        last = now // MINUTE // span
        shown = []
        for step in range(last - minutes // span + 1, last + 1):
            part = range(step * span, (step + 1) * span)
            events, matches = (sum(counts.get(m, 0) for m in part) for counts in (self._events, self._matches))
            shown.append(MinuteCount(step * span * MINUTE, events, matches))
        tallies = tuple(self._tally(tables, tenant, number) for number in self._live(tenant))
        return EventCounts(self._since, self._position, span * MINUTE, tuple(shown), tallies)

    def _live(self, tenant: Tenant) -> list[int]:
        numbers = [each.number for each in tenant.live() if each.subscriber in tenant.by_number]
        self._by_subscription = {
            number: counts for number, counts in self._by_subscription.items() if number in tenant.subscriptions
        }
        return numbers

    def _tally(self, tables: StoreTables, tenant: Tenant, number: int) -> SubscriptionCount:
        stored = tenant.subscriptions[number]
        who = tenant.by_number[stored.subscriber].id
        if number not in self._by_subscription:
            return SubscriptionCount(who, stored.id)
        count, last, position = self._by_subscription[number]
        identity = event_identity(tables, position)
        id, source = ("", "") if identity is None else identity[1:]
        return SubscriptionCount(who, stored.id, count, last or None, id, source)
