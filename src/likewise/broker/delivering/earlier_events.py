"""The first deliveries of a new subscription: earlier events that are still valid and match it (sources.md C).

Subscriptions that come together are served together, in one pass over the stored events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from likewise.broker.delivering.match_events import match_guarded, set_aside
from likewise.broker.delivering.outcome import Outcome
from likewise.broker.store.dead_letters import about
from likewise.broker.store.deliveries import INITIAL, recipients_of
from likewise.broker.store.entries import EVENT, Entry
from likewise.broker.store.event_log import EventLog
from likewise.broker.store.log_entries import first_of_newest
from likewise.broker.store.packed_sets import pack_scores
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.defaults import INITIAL_EVENTS

PAGE = 1_000


def deliver_earlier(
    log: EventLog, tenant: Tenant, new: Sequence[Held], before: int, now: int, outcome: Outcome
) -> None:
    """Send each new subscription's subscriber the valid events before a position that it has not had, in log order.

    At most the newest `INITIAL_EVENTS` are looked at.
    """
    wanted = [held for held in new if held.subscription.kind != "top" and held.ended is None]
    if not wanted or not tenant.events:
        return
    matcher = tenant.stateless.alike()
    for held in wanted:
        matcher.add(held.number, msgspec.structs.replace(held.subscription, valid_for=None), at=now)
    page: list[Entry] = []
    for entry in valid_events(log, tenant, before, now, INITIAL_EVENTS):
        page.append(entry)
        if len(page) == PAGE:
            _match(log, tenant, matcher, page, outcome)
            page = []
    if page:
        _match(log, tenant, matcher, page, outcome)


def _match(log: EventLog, tenant: Tenant, matcher: NumberedMatcher, page: list[Entry], outcome: Outcome) -> None:
    """Match a page; an event that cannot be matched becomes a dead letter, unless it is one already."""

    def aside(entry: Entry, error: Exception) -> None:
        with log.reading() as tables:
            known = about(tables, tenant.number, entry.position)
        if not known:
            set_aside(tenant, entry, error, outcome)

    for index, met in match_guarded(matcher, page, aside).items():
        entry = page[index]
        with log.reading() as tables:
            had = recipients_of(tables, tenant.number, entry.position)
        pairs = [
            (number, score) for number, score in zip(*met, strict=True) if tenant.held[number].subscriber not in had
        ]
        if pairs:
            numbers = [number for number, _ in pairs]
            scores = pack_scores(np.array([score for _, score in pairs], np.float32))
            outcome.deliver(tenant, entry.position, INITIAL, numbers, scores, entry)


def valid_events(log: EventLog, tenant: Tenant, before: int, now: int, limit: int) -> Iterator[Entry]:
    """The newest events of a tenant before a position that are valid and not withdrawn, in log order."""
    with log.reading() as tables:
        first = first_of_newest(tables, tenant.number, before, limit)
    if first is None:
        return
    for entry in log.entries(first - 1, before - 1, tenant=tenant.number):
        over = entry.ends is not None and entry.ends <= now
        if entry.kind == EVENT and not over and entry.position not in tenant.withdrawn:
            yield entry
