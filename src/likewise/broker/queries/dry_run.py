"""Questions that change nothing: what an event would meet, and why.

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
from likewise.model import Event, Explanation, Subscription

_log = structlog.get_logger("likewise.questions")


def would_match(tenant: Tenant, event: Event, now: int) -> list[MatchedSubscription]:
    """The subscriptions of a tenant that an event would meet if it came now."""
    at = _moment(event, now)
    try:
        with tenant.matchers:
            matches = tenant.stateless.would_match(event, at) + tenant.windows.would_match(event, at)
            matches += tenant.alerts.would_match(event, now)
    except LikewiseError:
        raise
    except Exception as error:
        _log.error("an event cannot be matched", tenant=tenant.name, exc_info=error)
        raise StateError(
            f"the event cannot be matched: {type(error).__name__}: {error}; look at the broker's log"
        ) from error
    found = [
        (tenant.subscriptions[each.number], each.score) for each in sorted(matches, key=lambda found: found.number)
    ]
    return [MatchedSubscription(tenant.by_number[h.subscriber].id, h.id, round(score, 6)) for h, score in found]


def explain_live(tenant: Tenant, held: StoredSubscription, entry: Entry | Event, now: int) -> Explanation:
    """Why an event meets a subscription, or why not."""
    position = entry.position if isinstance(entry, Entry) else None
    event = entry.value if isinstance(entry, Entry) else entry
    assert isinstance(event, Event)
    at = effective_time(entry) if isinstance(entry, Entry) else _moment(event, now)
    if held.subscription.remembers:
        at = now if held.subscription.alert is not None else at  # where its key stands now
        with tenant.matchers:
            found = tenant.matcher_of(held).explain(event, held.number, at, position)
    else:
        alone = tenant.stateless.alike()
        alone.add(held.number, held.subscription, at=held.added)
        found = alone.explain(event, held.number, at, position)
    return msgspec.structs.replace(found, subscription_id=held.id, event_id=entry.id)


def explain_text(tenant: Tenant, subscription: Subscription, event: Event, now: int) -> Explanation:
    """The same for a subscription that nobody holds."""
    matcher = tenant.stateless.matcher.alike()
    return matcher.explain(event, matcher.add(subscription, at=now), _moment(event, now))


def board(tenant: Tenant, held: StoredSubscription) -> list[RankedEvent]:
    """The k best of a window now, each event by its position."""
    if held.subscription.top is None:
        raise StateError(f"{held.id!r} is no top-k subscription, so it has no board")
    with tenant.matchers:
        return tenant.windows.board(held.number)


def places(log: EventLog, held: StoredSubscription, ranked: Sequence[RankedEvent]) -> list[BoardEntry]:
    """The places of a board with their events' names and what the events say themselves."""
    assert held.subscription.top is not None
    wanted = scored_attributes(held.subscription.top.by)
    found = []
    for rank, position, value, time in ranked:
        entry = next(log.entries(position - 1, position), None)
        if entry is None or not isinstance(entry.value, Event):
            found.append(BoardEntry(rank, "", "", value, (), time))
            continue
        stated = [item for name in wanted if (item := reading_of(entry.value, name)) is not None]
        said = tuple(StatedValue(item.attribute, item.value, item.unit) for item in stated)
        found.append(BoardEntry(rank, entry.id, entry.source, value, said, time))
    return found


def _moment(event: Event, now: int) -> int:
    """When an event would count if it came now."""
    return now if event.time is None else min(event.time, now)
