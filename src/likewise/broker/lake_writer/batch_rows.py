"""What a batch writes: the matches and events of a tenant's deliveries, by day, and what new numbers stand for."""

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
    """The rows of a batch, table by table and day by day; only those of the tables that are named."""
    wanted = set(tables)
    deliveries = _deliveries(log, tenant.number, progress.done.deliveries, reach.deliveries)
    entries = _events_of(log, tenant, [each.event for each in deliveries])
    if MATCHES in wanted:
        yield from _matches(deliveries, entries, query, progress.batches)
    if SAID_TABLE in wanted:
        yield from _notifications(deliveries, entries, query, progress.batches)
    if EVENTS in wanted and keep != "matches":
        if keep == "all":
            kept = _between(log, tenant, progress.done.entries, reach.entries)
        else:
            kept = _new_events(log, tenant, progress, deliveries, entries)
        yield from _events(kept)
    if SUBSCRIPTIONS in wanted:
        yield from _new_subscriptions(log, tenant, progress.done.told, reach.told)


def _deliveries(log: EventLog, tenant: int, after: int, until: int) -> list[Delivery]:
    with log.reading() as tables:
        found = read_between(tables, tenant, after, until, until - after) if until > after else []
    return [each for each in found if each.cause not in NOT_BY_MEANING]


def _events_of(log: EventLog, tenant: Tenant, positions: Sequence[int]) -> dict[int, Entry]:
    """Events by their positions; those that were withdrawn are left out."""
    chosen = sorted(set(positions) - tenant.withdrawn)
    with log.reading() as tables:
        return {entry.position: entry for entry in entries_at(tables, chosen)}


def _between(log: EventLog, tenant: Tenant, after: int, until: int) -> list[Entry]:
    entries = log.entries(after, until, tenant=tenant.number, together=True) if until > after else iter(())
    return [each for each in entries if each.kind == EVENT and each.position not in tenant.withdrawn]


def _new_events(
    log: EventLog, tenant: Tenant, progress: LakeProgress, deliveries: Sequence[Delivery], entries: Mapping[int, Entry]
) -> list[Entry]:
    """The events that are delivered for the first time in this batch; one that was kept with all others is there."""
    with log.reading() as tables:
        first = first_deliveries(tables, tenant.number, sorted(entries))
    since = progress.every_event_from
    kept = range(since + 1, progress.done.entries + 1) if since >= 0 else range(0)
    numbers = {each.number for each in deliveries}
    return [entries[event] for event, number in sorted(first.items()) if number in numbers and event not in kept]


def event_time_of(entry: Entry) -> int:
    """When it was: an event's own time, else its arrival."""
    return entry.arrival if entry.time is None else entry.time


def _matches(deliveries: Sequence[Delivery], entries: Mapping[int, Entry], query: str, batch: int) -> Rows:
    """One row for each event that met something, on arrival or as an earlier one."""
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
    """What alerts said, and what rankings promoted, a row each; `place` is the delivery's number."""
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


def _events(kept: Sequence[Entry]) -> Rows:
    import pyarrow as pa

    by_day: dict[int, list[Event]] = {}
    for entry in kept:
        event = entry.value
        assert isinstance(event, Event)
        by_day.setdefault(event_time_of(entry) // DAY, []).append(event)
    for day, events in sorted(by_day.items()):
        batch = EventBatch.from_events(events).to_arrow(dictionary=False).replace_schema_metadata(None)
        yield EVENTS, day, pa.Table.from_batches([batch], lake_schema(EVENTS))


def _new_subscriptions(log: EventLog, tenant: Tenant, after: int, until: int) -> Rows:
    """What the numbers of new subscriptions stand for: whose, and what."""
    with log.reading() as tables:
        rows = subscriptions_between(tables, tenant.number, after, until)
    if rows:
        owners = {number: queue.id for number, queue in list(tenant.by_number.items())}
        told = [
            LoggedSubscription(row.number, _named(row.subscription, owners.get(row.subscriber, "")), row.added)
            for row in rows
        ]
        yield SUBSCRIPTIONS, None, subscription_rows(told, until)


def _named(subscription: Any, owner: str) -> Any:
    return msgspec.structs.replace(subscription, id=subscription_name(owner, subscription.id))


def subscription_name(subscriber: str, id: str) -> str:
    """What a subscriber's subscription is called outside the broker: no two have the same name.

    >>> subscription_name("ann", "warm"), subscription_name("a/b", "c"), subscription_name("a", "b/c")
    ('ann/warm', 'a%2Fb/c', 'a/b/c')
    """
    return f"{quote(subscriber, safe=' :@.')}/{id}"
