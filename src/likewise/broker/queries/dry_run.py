"""Dry runs: which subscriptions an event would match, and why.

Any thread may ask. What needs a tenant's matchers as they are (a window's state, or every subscription at once) lets
them rest while it is answered, so that the answer comes from the code that delivers; the rest has a matcher of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from likewise.api.live_views import BoardEntry, MatchedSubscription, StatedValue
from likewise.broker.log.entries import Entry
from likewise.broker.log.event_log import EventLog
from likewise.broker.tenants.match_guarded import effective_time
from likewise.broker.tenants.numbered_matcher import RankedEvent
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.errors import LikewiseError, StateError
from likewise.matching.reference.scoring import reading_of, scored_attributes
from likewise.model import Event, Explanation, Mapping, Subscription

_log = structlog.get_logger("likewise.questions")


def would_match(tenant: Tenant, event: Event, now: int) -> list[MatchedSubscription]:
    """Return the subscriptions of a tenant that an event would match if it came now."""
    at = _moment(event, now)
    try:
        with tenant.matchers:
            matches = tenant.stateless.would_match(event, at) + tenant.windows.would_match(event, at)
            matches += tenant.alerts.would_match(event, now)
    except LikewiseError:
        raise
    except Exception as error:
        _log.error("dry_run_event_failed", tenant=tenant.name, exc_info=error)
        raise StateError(
            f"the event cannot be matched: {type(error).__name__}: {error}; look at the broker's log"
        ) from error
    match = [
        (tenant.subscriptions[each.number], each.score) for each in sorted(matches, key=lambda match: match.number)
    ]
    return [MatchedSubscription(tenant.by_number[h.subscriber].id, h.id, round(score, 6)) for h, score in match]


def explain_live(tenant: Tenant, stored: StoredSubscription, entry: Entry | Event, now: int) -> Explanation:
    """Explain why an event matches a subscription, or why not."""
    position = entry.position if isinstance(entry, Entry) else None
    event = entry.value if isinstance(entry, Entry) else entry
    assert isinstance(event, Event)
    at = effective_time(entry) if isinstance(entry, Entry) else _moment(event, now)
    if stored.subscription.remembers:
        at = now if stored.subscription.alert is not None else at  # where its key stands now
        with tenant.matchers:
            explanation = tenant.matcher_of(stored).explain(event, stored.number, at, position)
    else:
        alone = tenant.stateless.alike()
        alone.add(stored.number, stored.subscription, at=stored.added)
        explanation = alone.explain(event, stored.number, at, position)
    return msgspec.structs.replace(explanation, subscription_id=stored.id, event_id=entry.id)


def explain_text(tenant: Tenant, subscription: Subscription, event: Event, now: int) -> Explanation:
    """Explain an event against a subscription that is not stored."""
    matcher = tenant.stateless.matcher.alike()
    return matcher.explain(event, matcher.add(subscription, at=now), _moment(event, now))


def mappings(tenant: Tenant, subscription: Subscription, event: Event, k: int) -> tuple[Mapping, ...]:
    """Return the k best mappings of a subscription's predicates to an event's tuples."""
    matcher = tenant.stateless.matcher.alike()
    return tuple(matcher.mappings(event, matcher.add(subscription), k))


def board(tenant: Tenant, stored: StoredSubscription) -> list[RankedEvent]:
    """Return the top k of a window, each event by its position."""
    if stored.subscription.top is None:
        raise StateError(f"{stored.id!r} is no top-k subscription, so it has no board")
    with tenant.matchers:
        return tenant.windows.board(stored.number)


def places(log: EventLog, stored: StoredSubscription, ranked: Sequence[RankedEvent]) -> list[BoardEntry]:
    """Return the places of a top k with their events' names and stated values."""
    assert stored.subscription.top is not None
    attributes = scored_attributes(stored.subscription.top.by)
    rows = []
    for rank, position, value, time in ranked:
        entry = next(log.entries(position - 1, position), None)
        if entry is None or not isinstance(entry.value, Event):
            rows.append(BoardEntry(rank, "", "", value, (), time))
            continue
        stated = [item for name in attributes if (item := reading_of(entry.value, name)) is not None]
        values = tuple(StatedValue(item.attribute, item.value, item.unit) for item in stated)
        rows.append(BoardEntry(rank, entry.id, entry.source, value, values, time))
    return rows


def _moment(event: Event, now: int) -> int:
    """Return the time at which an event would count if it came now."""
    return now if event.time is None else min(event.time, now)
