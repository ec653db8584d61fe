"""Match a batch of events and deliver the matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import structlog

from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.dispatch.topic_deliveries import deliver_topics
from likewise.broker.log import dead_letters
from likewise.broker.log.deliveries import ARRIVAL, NOTIFICATION_CAUSES, PROMOTED, Delivery
from likewise.broker.log.entries import Entry
from likewise.broker.log.packed_sets import Numbers, pack_scores
from likewise.broker.tenants.match_guarded import event_time, match_guarded
from likewise.broker.tenants.matched_events import BatchMatchIndex
from likewise.broker.tenants.numbered_matcher import NumberedMatch, digest_positions
from likewise.broker.tenants.tenant import Tenant
from likewise.model import Event

_log = structlog.get_logger("likewise.matching")
FindEntry = Callable[[int], Entry | None]  # an earlier event by its position; None if it is gone


def match_events(tenant: Tenant, entries: Sequence[Entry], outcome: CommitBatch, find: FindEntry) -> None:
    """Match events of one tenant, in order, and send what comes of it.

    Each subscriber gets an event that matches on arrival once, whatever number of its subscriptions match;
    a promotion is a further delivery, after the arrival that caused it.
    """
    done = 0
    while done < len(entries):
        part = same_batch_prefix(entries[done : done + tenant.batch_size()])
        _match_part(tenant, part, outcome, find)
        if tenant.topics:
            deliver_topics(tenant, part, outcome)
        done += len(part)
    tenant.last_arrival = entries[-1].arrival
    tenant.follows_arrival = event_time(entries[-1]) is None
    tenant.events += len(entries)


def _match_part(tenant: Tenant, entries: Sequence[Entry], outcome: CommitBatch, find: FindEntry) -> None:
    """Match as many events as what they meet has room in memory for."""
    plain = None
    if len(tenant.stateless):
        plain = match_guarded(
            tenant.stateless, entries, lambda entry, error: add_dead_letter(tenant, entry, error, outcome)
        )
        tenant.record_matches(len(entries), len(plain.index))
    if not len(tenant.windows):
        if plain is not None:
            outcome.deliver_all(tenant, entries, plain)
        if len(tenant.alerts):
            for entry in entries:
                _match_alerts(tenant, entry, outcome, find)
        return
    for index, entry in enumerate(entries):
        arrived, promoted = _match_window_event(
            tenant, entry, outcome, None if plain is None or index not in plain else plain, index
        )
        if arrived is not None and (entry.ends is None or entry.ends > entry.arrival):
            outcome.deliver(tenant, entry.position, ARRIVAL, *arrived, entry)
        if promoted:
            send_promotions(tenant, promoted, outcome, find)
        if len(tenant.alerts):
            _match_alerts(tenant, entry, outcome, find)


def _match_alerts(tenant: Tenant, entry: Entry, outcome: CommitBatch, find: FindEntry) -> None:
    """Let an event move the alerts, and send what they say."""
    try:
        notifications = match_alerts(tenant, entry)
    except Exception as error:
        add_dead_letter(tenant, entry, error, outcome)
        return
    if notifications:
        send_notifications(tenant, notifications, outcome, find)


def match_alerts(tenant: Tenant, entry: Entry) -> list[NumberedMatch]:
    """Return the notifications of alerts that an event's arrival causes."""
    event, at = received_event(entry), tenant.window_time(entry.arrival)
    if event.expires is not None and entry.arrival < event.expires <= at:  # it is valid: it is the alerts that wait
        event = msgspec.structs.replace(event, expires=None)
    return tenant.alerts.match(entry.position, event, at)


def received_event(entry: Entry) -> Event:
    """Return an entry's event, with the time at which the first broker received it."""
    event = entry.value
    assert isinstance(event, Event)
    if entry.first_received is not None:
        event = msgspec.structs.replace(event, received=entry.first_received)
    return event


def send_notifications(
    tenant: Tenant, notifications: list[NumberedMatch], outcome: CommitBatch, find: FindEntry
) -> None:
    """Send what alerts say, each for itself, in the order in which they say it."""
    for each in notifications:
        entry = None if each.event is None else find(each.event)
        if entry is None or each.notification is None:
            _log.error("notification_event_missing", tenant=tenant.name, subscription=each.number)
            continue
        spoken = each.notification
        if spoken.items:
            ids = {id: find(position) for id, position in digest_positions(spoken).items()}
            named = [
                msgspec.structs.replace(item, event_id=known.id if (known := ids.get(item.event_id or "")) else None)
                for item in spoken.items
            ]
            spoken = msgspec.structs.replace(spoken, items=tuple(named))
        to = np.array([tenant.subscriptions[each.number].subscriber], np.int64)
        matched, score = np.array([each.number], np.int64), np.array([each.score], "<f4").tobytes()
        facts = msgspec.json.encode(spoken)
        outcome.send(
            tenant,
            Delivery(
                0,
                entry.position,
                NOTIFICATION_CAUSES[each.cause],
                to,
                matched,
                score,
                entry.body,
                entry.ends,
                notification=facts,
            ),
        )


def same_batch_prefix(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the first entries, up to one of another batch."""
    batch = entries[0].batch
    if batch is not None and entries[-1].batch is batch:  # what was read together stands together in the log
        return entries
    return entries[: next((n for n, entry in enumerate(entries) if entry.batch is not batch), len(entries))]


def _match_window_event(
    tenant: Tenant, entry: Entry, outcome: CommitBatch, plain: BatchMatchIndex | None, index: int
) -> tuple[tuple[Numbers, bytes] | None, list[NumberedMatch]]:
    """Return the numbers and scores of arrival matches, windows included, and the promotions."""
    arrived_matches = None if plain is None else (plain.numbers(index), plain.packed_scores(index))
    try:
        matches = match_windows(tenant, entry)
    except Exception as error:
        add_dead_letter(tenant, entry, error, outcome)
        return arrived_matches, []
    arrived = [each for each in matches if not each.promoted]
    promoted = [each for each in matches if each.promoted]
    if arrived:
        pairs = [(each.number, each.score) for each in arrived]
        pairs += zip(*plain.listed(index), strict=True) if plain is not None else ()
        pairs.sort()
        scores = np.array([score for _, score in pairs], np.float32)
        arrived_matches = np.array([number for number, _ in pairs], np.int64), pack_scores(scores)
    return arrived_matches, promoted


def match_windows(tenant: Tenant, entry: Entry) -> list[NumberedMatch]:
    """Return an event's matches in a tenant's windows, and its promotions there."""
    event = entry.value
    assert isinstance(event, Event)
    if (stated := event_time(entry)) is not None:
        return tenant.windows.match(entry.position, event, stated)
    at = tenant.window_time(entry.arrival)
    if event.expires is not None and entry.arrival < event.expires <= at:  # it is valid: it is the windows that wait
        event = msgspec.structs.replace(event, expires=None)
    return tenant.windows.match(entry.position, event, at)


def add_dead_letter(tenant: Tenant, entry: Entry, error: Exception, outcome: CommitBatch) -> None:
    """Keep an event that cannot be matched as a dead letter, and say so."""
    _log.error("event_match_failed", event_id=entry.id, position=entry.position, tenant=tenant.name, exc_info=error)
    outcome.dead_letters.append(
        dead_letters.NewLetter(
            tenant.number, entry.arrival, "unmatched", f"{type(error).__name__}: {error}", None, entry.position
        )
    )


def send_promotions(tenant: Tenant, promoted: list[NumberedMatch], outcome: CommitBatch, find: FindEntry) -> None:
    """Send promotions: those of one event together, in the order in which they came."""
    grouped: dict[int, dict[int, float]] = {}
    for each in promoted:
        assert each.event is not None
        grouped.setdefault(each.event, {})[each.number] = each.score
    for position, scores_by_number in grouped.items():
        entry = find(position)
        if entry is not None:
            numbers = sorted(scores_by_number)
            scores = pack_scores(np.array([scores_by_number[n] for n in numbers], np.float32))
            # A promotion is delivered whatever its validity (sources.md C).
            outcome.deliver(tenant, position, PROMOTED, np.array(numbers, np.int64), scores, entry)
