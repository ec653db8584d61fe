"""The questions about what was, as the dashboard asks them."""

from __future__ import annotations

from likewise.api.history import EventCounts, StoredEvents, TimeSeries, Trace
from likewise.dashboard.broker_api import BrokerApi


async def tallies(api: BrokerApi, minutes: int = 60, span: int = 1) -> EventCounts:
    """Return counts of the last minutes, and of every subscription."""
    return await api.get(EventCounts, "/v1/tallies", minutes=minutes, span=span)


async def series(api: BrokerApi, source: str, attribute: str, since: int, points: int = 600) -> TimeSeries:
    """Return one reading of a source from a timestamp (µs) on."""
    return await api.get(TimeSeries, "/v1/series", source=source, attribute=attribute, since=since, points=points)


async def stored_events(api: BrokerApi, query: dict[str, object], before: int | None, limit: int) -> StoredEvents:
    """Return the stored events that pass a filter, the newest first."""
    where = {} if before is None else {"before": before}
    return await api.get(StoredEvents, "/v1/events", **query, **where, limit=limit)


async def trace(api: BrokerApi, event: str, source: str, subscriber: str, subscription: str) -> Trace:
    """Return what became of an event for a subscription."""
    about = {"event": event, "source": source, "subscriber": subscriber, "subscription": subscription}
    return await api.get(Trace, "/v1/trace", **about)
