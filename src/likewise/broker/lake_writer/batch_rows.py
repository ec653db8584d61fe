"""The rows of a lake batch: matches, events and notifications by day, and new subscriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec
import numpy as np

from likewise.broker.lake_writer.progress import LakeOffsets, LakeProgress
from likewise.broker.log.deliveries import (
    ARRIVAL,
    CAUSES,
    INITIAL,
    REPLAYED,
    RETAINED,
    TOPIC,
    Delivery,
    first_deliveries,
    read_between,
)
from likewise.broker.log.entries import EVENT, Entry
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.log_entries import entries_at
from likewise.broker.log.registry_tables import subscriptions_between
from likewise.broker.tenants.tenant import Tenant
from likewise.formats.arrow.event_batch import EventBatch
from likewise.lake.parts import DAY, EVENTS, MATCHES, SUBSCRIPTIONS, lake_schema, subscription_rows
from likewise.lake.parts import NOTIFICATIONS as SAID_TABLE
from likewise.lake.subscription_snapshot import LoggedSubscription
from likewise.model import Event
from likewise.model.alerts.notification import AlertNotification

if TYPE_CHECKING:
    import pyarrow as pa

NOT_BY_MEANING: Final = (TOPIC, RETAINED, REPLAYED)  # what was asked for by topic, and what is tried again
Rows = Iterator[tuple[str, int | None, "pa.Table"]]  # a table, a day of it or none, and its rows there


def batch_rows(
    log: EventLog,
    tenant: Tenant,
    progress: LakeProgress,
    reach: LakeOffsets,
    tables: Iterable[str],
    keep: str,
    query: str,
) -> Rows:
    """Yield the rows of a batch, table by table and day by day; only of the named tables."""
    requested = set(tables)
    deliveries = _deliveries(log, tenant.number, progress.done.deliveries, reach.deliveries)
    entries = _events_of(log, tenant, [each.event for each in deliveries])
    if MATCHES in requested:
        yield from _matches(deliveries, entries, query, progress.batches)
    if SAID_TABLE in requested:
        yield from _notifications(deliveries, entries, query, progress.batches)
    if EVENTS in requested and keep != "matches":
        if keep == "all":
            stored_entries = _between(log, tenant, progress.done.entries, reach.entries)
        else:
            stored_entries = _new_events(log, tenant, progress, deliveries, entries)
        yield from _events(stored_entries)
    if SUBSCRIPTIONS in requested:
        yield from _new_subscriptions(log, tenant, progress.done.told, reach.told)


def _deliveries(log: EventLog, tenant: int, after: int, until: int) -> list[Delivery]:
    with log.reading() as tables:
        deliveries = read_between(tables, tenant, after, until, until - after) if until > after else []
    return [each for each in deliveries if each.cause not in NOT_BY_MEANING]


def _events_of(log: EventLog, tenant: Tenant, positions: Sequence[int]) -> dict[int, Entry]:
    """Return events by position; withdrawn ones are left out."""
    chosen = sorted(set(positions) - tenant.withdrawn)
    with log.reading() as tables:
        return {entry.position: entry for entry in entries_at(tables, chosen)}


def _between(log: EventLog, tenant: Tenant, after: int, until: int) -> list[Entry]:
    entries = log.entries(after, until, tenant=tenant.number, together=True) if until > after else iter(())
    return [each for each in entries if each.kind == EVENT and each.position not in tenant.withdrawn]


def _new_events(
    log: EventLog, tenant: Tenant, progress: LakeProgress, deliveries: Sequence[Delivery], entries: Mapping[int, Entry]
) -> list[Entry]:
    """Return the events that are delivered for the first time in this batch and not yet in the lake."""
    with log.reading() as tables:
        first = first_deliveries(tables, tenant.number, sorted(entries))
    since = progress.every_event_from
    written = range(since + 1, progress.done.entries + 1) if since >= 0 else range(0)
    numbers = {each.number for each in deliveries}
    return [entries[event] for event, number in sorted(first.items()) if number in numbers and event not in written]


def event_time_of(entry: Entry) -> int:
    """Return an event's own time, else its arrival."""
    return entry.arrival if entry.time is None else entry.time


def _matches(deliveries: Sequence[Delivery], entries: Mapping[int, Entry], query: str, batch: int) -> Rows:
    """Return a row for each match of an event, on arrival or as an earlier event."""
    import pyarrow as pa

    by_day: dict[int, list[dict[str, Any]]] = {}
    for each in deliveries:
        entry = entries.get(each.event)
        if entry is None or each.cause not in (ARRIVAL, INITIAL):
            continue
        scores = np.frombuffer(each.scores, "<f4") if each.scores else np.ones(len(each.matched), np.float32)
        row = {
            "query": query,
            "batch": batch,
            "inlet": "log",
            "partition": 0,
            "offset": each.event,
            "event_id": entry.id,
            "source": entry.source or None,
            "time": entry.time,
            "subscriptions": each.matched,
            "scores": scores,
        }
        by_day.setdefault(event_time_of(entry) // DAY, []).append(row)
    for day, rows in sorted(by_day.items()):
        yield MATCHES, day, pa.Table.from_pylist(rows, schema=lake_schema(MATCHES))


def _notifications(deliveries: Sequence[Delivery], entries: Mapping[int, Entry], query: str, batch: int) -> Rows:
    """Return a row for each notification and each promotion; `place` is the delivery's number."""
    import pyarrow as pa

    by_day: dict[int, list[dict[str, Any]]] = {}
    for each in deliveries:
        entry = entries.get(each.event)
        if entry is None or each.cause in (ARRIVAL, INITIAL):
            continue
        spoken = msgspec.json.decode(each.notification, type=AlertNotification) if each.notification else None
        scores = np.frombuffer(each.scores, "<f4") if each.scores else np.ones(len(each.matched), np.float32)
        moment = event_time_of(entry) if spoken is None else spoken.moment
        digest = None
        if spoken is not None and spoken.total:
            digest = msgspec.json.encode(
                AlertNotification((), 0, None, 0, spoken.items, spoken.total, spoken.counts)
            ).decode()
        for number, score in zip(each.matched.tolist(), scores.tolist(), strict=True):
            row = {
                "query": query,
                "batch": batch,
                "shard": "broker",
                "place": each.number,
                "subscription": number,
                "cause": CAUSES[each.cause],
                "event_id": entry.id,
                "score": score,
                "rank_value": None,
                "key": None if spoken is None else list(spoken.key),
                "moment": moment,
                "since": None if spoken is None else spoken.since,
                "suppressed": 0 if spoken is None else spoken.suppressed,
                "digest": digest,
            }
            by_day.setdefault(moment // DAY, []).append(row)
    for day, rows in sorted(by_day.items()):
        yield SAID_TABLE, day, pa.Table.from_pylist(rows, schema=lake_schema(SAID_TABLE))


def _events(entries: Sequence[Entry]) -> Rows:
    import pyarrow as pa

    by_day: dict[int, list[Event]] = {}
    for entry in entries:
        event = entry.value
        assert isinstance(event, Event)
        by_day.setdefault(event_time_of(entry) // DAY, []).append(event)
    for day, events in sorted(by_day.items()):
        batch = EventBatch.from_events(events).to_arrow(dictionary=False).replace_schema_metadata(None)
        yield EVENTS, day, pa.Table.from_batches([batch], lake_schema(EVENTS))


def _new_subscriptions(log: EventLog, tenant: Tenant, after: int, until: int) -> Rows:
    """Return the rows of new subscriptions: their numbers, owners and texts."""
    with log.reading() as tables:
        rows = subscriptions_between(tables, tenant.number, after, until)
    if rows:
        owners = {number: queue.id for number, queue in list(tenant.by_number.items())}
        new_rows = [
            LoggedSubscription(row.number, _named(row.subscription, owners.get(row.subscriber, "")), row.added)
            for row in rows
        ]
        yield SUBSCRIPTIONS, None, subscription_rows(new_rows, until)


def _named(subscription: Any, owner: str) -> Any:
    return msgspec.structs.replace(subscription, id=subscription_name(owner, subscription.id))


def subscription_name(subscriber: str, id: str) -> str:
    """Return the unique name of a subscriber's subscription outside the broker.

    >>> subscription_name("ann", "warm"), subscription_name("a/b", "c"), subscription_name("a", "b/c")
    ('ann/warm', 'a%2Fb/c', 'a/b/c')
    """
    return f"{quote(subscriber, safe=' :@.')}/{id}"
