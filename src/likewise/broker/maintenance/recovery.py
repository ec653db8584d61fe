"""Recover tenants, subscribers, subscriptions, windows and queues from the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import structlog

from likewise.broker.dispatch.commit_batch import MATCHING
from likewise.broker.log.catalogue.records import (
    PinnedSource,
    SourceRoute,
    StoredAnnouncement,
    read_aliases,
    read_records,
)
from likewise.broker.log.checksums import refuse
from likewise.broker.log.deliveries import alarm_was_sent, read_between, recipients_after
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.log_entries import newest_event, ranges_after, withdrawn_events
from likewise.broker.log.mqtt.messages import read_retained
from likewise.broker.log.mqtt.topic_subscriptions import read_topics
from likewise.broker.log.positions import read_positions
from likewise.broker.log.registry_tables import read_judgements, read_subscribers, read_subscriptions, read_tenants
from likewise.broker.log.rows import check_owners
from likewise.broker.log.sink_rows import read_targets
from likewise.broker.log.tables import StoreTables
from likewise.broker.maintenance.window_snapshots import (
    MakeMatcher,
    bring_up_to_date,
    load_windows,
    rejudge,
    remembering,
)
from likewise.broker.pool.migration import load_shards
from likewise.broker.tenants.numbered_matcher import NumberedMatch
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.model import Event, Kind
from likewise.semantics.enrichment.corrections import Correction

FEED_PAGE: Final = 1_000  # deliveries read at once
_log = structlog.get_logger("likewise.recovery")


def recover(
    log: EventLog, data: Path | None, make: MakeMatcher, elsewhere: frozenset[Kind] = frozenset()
) -> dict[int, Tenant]:
    """Return the tenants as of the positions up to which their entries are matched.

    Subscriptions of the kinds `elsewhere` are decided by a broker above.
    """
    tenants: dict[int, Tenant] = {}
    with log.reading() as tables:
        rows, positions = read_tenants(tables), read_positions(tables, MATCHING)
        check_owners(tables, len(rows))
        if positions.keys() != {row.number for row in rows}:
            raise refuse("how far matching has come")
        appended = ranges_after(tables, positions)
        for number, name, windows_from, last in rows:
            windows = load_windows(data, number, windows_from, make)
            tenants[number] = tenant = Tenant(number, name, windows.matcher, windows_from, windows.alerts)
            tenant.upstream_kinds = elsewhere
            if windows.shares[0]:
                tenant.windows = load_shards(tenant.windows.matcher, number, windows.shares[0])
            if windows.shares[1]:
                tenant.alerts = load_shards(tenant.alerts.matcher, number, windows.shares[1])
            tenant.newest_arrival = windows.newest_arrival
            tenant.matched = positions[number]
            tenant.appended = appended.get(number, tenant.matched)
            tenant.stored_number, tenant.next_number = last, last + 1
            _read_known(tables, tenant)
            _read_subscribers(tables, tenant)
            _take_up(log, tables, tenant, windows.complete)
            _read_queues(tables, tenant)
            _read_feeds(tables, tenant)
            _read_topics(tables, tenant)
    return tenants


def _read_known(tables: StoreTables, tenant: Tenant) -> None:
    """Restore what is known about sources: corrections first, since they change what events mean."""
    for name, alias in read_aliases(tables, tenant.number):
        tenant.sources.identities.restore(name, alias)
    for number, correction in read_records(tables, tenant.number, Correction):
        tenant.sources.correct(number, correction)
    for _, stored in read_records(tables, tenant.number, StoredAnnouncement):
        tenant.sources.announce(stored)
    for _, brought in read_records(tables, tenant.number, SourceRoute):
        tenant.sources.routes.update(dict.fromkeys(brought.sources, brought.bringer))
    tenant.sources.pinned.update(pinned.source for _, pinned in read_records(tables, tenant.number, PinnedSource))


def _read_subscribers(tables: StoreTables, tenant: Tenant) -> None:
    for row in read_subscribers(tables, tenant.number):
        queue = SubscriberQueue(*row)
        tenant.subscribers[queue.id] = tenant.by_number[queue.number] = queue
        if queue.policy == "block":
            tenant.blocking.add(queue)


def _take_up(log: EventLog, tables: StoreTables, tenant: Tenant, saved: bool) -> None:
    """Fill both matchers: feedback and windows in the order of the log, the rest as it stands."""
    subscriptions = {row.number: StoredSubscription(*row) for row in read_subscriptions(tables, tenant.number)}
    start = tenant.matched + 1 if tenant.windows_from is None else tenant.windows_from
    judged = read_judgements(tables, tenant.number)
    feedback = tenant.stateless.interpretation.feedback
    for feedback_item in list(feedback):  # as saved with windows; some of it may have been forgotten since
        feedback.undo(feedback_item.number)
    for position, judgement in judged:
        if position < start:
            rejudge(tenant, judgement, position, subscriptions)
    tenant.withdrawn = withdrawn_events(tables, tenant.number)
    if tenant.windows_from is not None:
        if not saved and (reaching := remembering(subscriptions.values(), start)):
            start = min(stored.number for stored in reaching)
            tenant.rebuilt = tenant.unsaved = True
            # What was over or withdrawn before cannot be in them, so a promotion that needs it may be missing.
            _log.error("windows_rebuilt_from_log", tenant=tenant.name, subscriptions=len(reaching), after=start)
        entries = log.entries(start - 1, tenant.matched, tenant=tenant.number)
        standing = bring_up_to_date(tenant, entries, subscriptions, start, {position for position, _ in judged})
        _defer_unsent(tables, tenant, standing)
    stateless = []
    for stored in subscriptions.values():
        tenant.index_subscription(stored)
        if stored.ended is None:
            tenant.by_number[stored.subscriber].subscriptions[stored.id] = stored.number
            if not stored.subscription.remembers and tenant.decides(stored.subscription):
                stateless.append((stored.number, stored.subscription, stored.added))
    tenant.stateless.add_many(stateless)
    newest = newest_event(tables, tenant.number, tenant.matched)
    if newest is not None:
        tenant.events, tenant.last_arrival = 1, newest.arrival
        tenant.follows_arrival = isinstance(newest.value, Event) and newest.value.time is None


def _defer_unsent(tables: StoreTables, tenant: Tenant, standing: Iterable[NumberedMatch]) -> None:
    """Let alarms that stand, and of which there is no delivery, be sent: an earlier release did not send them."""
    for each in standing:
        if each.event is None or each.notification is None or each.number not in tenant.alerts:
            continue
        if not alarm_was_sent(tables, tenant.number, each.event, each.number, each.cause):
            tenant.alerts.unsend(each.number, each.notification.key, each.event)
            _log.warning(
                "unsent_alarm_deferred",
                tenant=tenant.name,
                subscription=each.number,
                key=each.notification.key,
            )


def _read_queues(tables: StoreTables, tenant: Tenant) -> None:
    """Fill the queues with what was stored for their subscribers and not acknowledged."""
    waiting = tenant.by_number
    first = min((queue.acknowledged for queue in waiting.values()), default=tenant.stored_number)
    pending: dict[int, list[int]] = {number: [] for number in waiting}
    for number, recipients in recipients_after(tables, tenant.number, first):
        for subscriber in recipients:
            numbers_pending = pending.get(subscriber)
            if numbers_pending is not None:
                numbers_pending.append(number)
    for number, numbers in pending.items():
        queue = waiting[number]
        queue.pending.update(numbers)
        if queue.acknowledged:
            queue.pending.remove_range(0, queue.acknowledged + 1)


def _read_topics(tables: StoreTables, tenant: Tenant) -> None:
    """Restore topic subscriptions and retained messages."""
    for subscription in read_topics(tables, tenant.number):
        tenant.topics.put(subscription)
    for row in read_retained(tables, tenant.number):
        tenant.retained.put(row)


def _read_feeds(tables: StoreTables, tenant: Tenant) -> None:
    """Fill what waits for targets with what met their subscriptions after each one's last accepted delivery."""
    rows = read_targets(tables, tenant.number)
    if not rows:
        return
    numbers: dict[tuple[int, str], list[int]] = {}
    for stored in tenant.subscriptions.values():
        numbers.setdefault((stored.subscriber, stored.id), []).append(stored.number)
    for row in rows:
        tenant.sinks.add(SinkQueue(row), numbers.get((row.subscriber, row.subscription), ()))
    after = min(row.acknowledged for row in rows)
    while page := read_between(tables, tenant.number, after, tenant.stored_number, FEED_PAGE):
        tenant.sinks.offer(page)
        after = page[-1].number
