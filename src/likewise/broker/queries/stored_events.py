"""Query stored events by filter, the newest first; and one reading of a source over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from likewise.api.history import SeriesMark, SeriesPoint, StoredEvent, StoredEvents, TimeSeries
from likewise.api.live_views import MatchedSubscription
from likewise.broker.log.deliveries import CAUSES, Delivery
from likewise.broker.log.entries import Entry, shown_event
from likewise.broker.log.event_history import deliveries_of, events_back
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.packed_sets import unpack_scores
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.tenant import Tenant
from likewise.model import Event
from likewise.model.values import Quantity, read_magnitude
from likewise.units import any_unit

MAX_EXAMINED: Final = 200_000  # entries of the log that one question looks through
PAGE: Final = 500  # events read at once
FOREVER: Final = 2**62
MARKS: Final = 500  # marks of a series at most


def stored_events(
    log: EventLog,
    tenant: Tenant,
    *,
    before: int,
    limit: int,
    source: str | None = None,
    containing: str = "",
    subscription: tuple[str, str] | None = None,
    since: int = 0,
    until: int = FOREVER,
) -> StoredEvents:
    """Return the newest events before a position that contain every word, and matched a subscription if one is given.

    One question looks at `LOOKED_AT` entries at most; `before` says where to go on.
    """
    words = containing.casefold().split()
    events: list[StoredEvent] = []
    lowest = max(0, before - MAX_EXAMINED)
    with log.reading() as tables:
        for entry in _back(tables, tenant, before, lowest, source, since, until):
            if words and not _holds(entry, words):
                continue
            matched = tuple(_matched_subscriptions(tenant, deliveries_of(tables, tenant.number, entry.position)))
            if subscription is not None and all((m.subscriber, m.subscription) != subscription for m in matched):
                continue
            events.append(StoredEvent(entry.position, entry.arrival, shown_event(entry), matched))
            if len(events) == limit:
                return StoredEvents(tuple(events), entry.position)
    return StoredEvents(tuple(events), lowest + 1 if lowest else None)


def _back(
    tables: StoreTables, tenant: Tenant, before: int, lowest: int, source: str | None, since: int, until: int
) -> Iterator[Entry]:
    names = None if source is None else tenant.sources.identities.history_of(source)
    while True:
        page = events_back(tables, tenant.number, before, lowest, PAGE, names, since, until)
        yield from page
        if len(page) < PAGE:
            return
        before = page[-1].position


def _holds(entry: Entry, words: list[str]) -> bool:
    event = entry.value
    assert isinstance(event, Event)
    text = " ".join(
        [entry.source, entry.id, *(f"{t.attribute} {t.value} {t.unit}" for t in event.tuples), *event.themes]
    )
    text = text.casefold()
    return all(word in text for word in words)


def _matched_subscriptions(tenant: Tenant, deliveries: list[Delivery]) -> Iterator[MatchedSubscription]:
    yielded = set()
    for delivery in deliveries:
        numbers = delivery.matched.tolist()
        for number, score in zip(numbers, unpack_scores(delivery.scores, len(numbers)), strict=True):
            stored = tenant.subscriptions.get(number)
            queue = tenant.by_number.get(stored.subscriber) if stored is not None else None
            if stored is not None and queue is not None and number not in yielded:
                yielded.add(number)
                yield MatchedSubscription(queue.id, stored.id, round(score, 6))


def series(
    log: EventLog, tenant: Tenant, source: str, attribute: str, *, since: int, until: int, points: int
) -> TimeSeries:
    """Return a source's readings of one attribute within a time, at most about `points`, and their matches.

    They are in the unit of the newest; without an attribute the first that is a number is taken.
    """
    newest = tenant.appended
    lowest = max(0, newest - MAX_EXAMINED)
    names: dict[str, None] = {}
    read: list[tuple[Entry, float, str]] = []
    left_out, earliest = 0, since
    with log.reading() as tables:
        for entry in _back(tables, tenant, newest + 1, lowest, source, since, until):
            numbers = _numbers(entry)
            names |= dict.fromkeys(numbers)
            if not attribute and numbers:
                attribute = next(iter(numbers))
            if attribute in numbers:
                read.append((entry, *numbers[attribute]))
            elif any(item.attribute == attribute for item in entry.value.tuples):  # type: ignore[union-attr]
                left_out += 1
        read.reverse()
        unit = read[-1][2] if read else ""
        shown: list[tuple[Entry, float]] = []
        for entry, value, stated in read:
            number = _brought(value, stated, unit)
            if number is None:
                left_out += 1
            else:
                shown.append((entry, number))
        marks: list[SeriesMark] = []
        for entry, _ in reversed(shown):
            marks += _marks(tenant, entry, deliveries_of(tables, tenant.number, entry.position))
            if len(marks) >= MARKS:
                break
        if lowest and (first := events_back(tables, tenant.number, lowest + 1, 0, 1, None, 0, FOREVER)):
            earliest = first[0].arrival
    step = max(1, -(-len(shown) // points))
    some = shown[::step]
    return TimeSeries(
        source,
        attribute,
        unit,
        tuple(SeriesPoint(e.arrival, value, e.id) for e, value in some),
        tuple(marks[::-1]),
        earliest <= since or not lowest,
        left_out,
        tuple(names),
    )


def _numbers(entry: Entry) -> dict[str, tuple[float, str]]:
    """Return an event's numeric readings by attribute, each with its unit; the first of each name."""
    event: Any = entry.value
    readings: dict[str, tuple[float, str]] = {}
    for item in event.tuples:
        value = read_magnitude(item.value) if isinstance(item.value, str) else item.value
        if isinstance(value, Quantity):
            readings.setdefault(item.attribute, (float(value.value), value.unit))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            readings.setdefault(item.attribute, (float(value), item.unit))
    return readings


def _brought(value: float, stated: str, target: str) -> float | None:
    """Convert a number to a unit; None if that is not possible."""
    if stated == target:
        return value
    one, other = any_unit(stated) if stated else None, any_unit(target) if target else None
    return one.to(other, value) if one is not None and other is not None and one.dimension == other.dimension else None


def _marks(tenant: Tenant, entry: Entry, deliveries: list[Delivery]) -> Iterator[SeriesMark]:
    for delivery in deliveries:
        numbers = delivery.matched.tolist()
        for number, score in zip(numbers, unpack_scores(delivery.scores, len(numbers)), strict=True):
            stored = tenant.subscriptions.get(number)
            queue = tenant.by_number.get(stored.subscriber) if stored is not None else None
            if stored is not None and queue is not None:
                yield SeriesMark(entry.arrival, queue.id, stored.id, CAUSES[delivery.cause], round(score, 6), entry.id)
