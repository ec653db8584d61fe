"""The newest events and matches of a tenant, read without consuming anything.

Deliveries are a subscriber's own and end with its acknowledgement; this is for somebody who watches.
"""

from __future__ import annotations

from typing import Final

from likewise.api.live_views import Activity, Arrival, EventMatches, MatchedSubscription
from likewise.broker.log.deliveries import CAUSES, Delivery, read_newest
from likewise.broker.log.entries import shown_event
from likewise.broker.log.log_entries import newest_events
from likewise.broker.log.packed_sets import unpack_scores
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.tenant import Tenant

LISTED: Final = 50  # subscriptions shown of one match; `total` says how many there are


def activity(tables: StoreTables, tenant: Tenant, position: int, sequence: int, limit: int) -> Activity:
    """Return the newest events and matches after given positions, each at most `limit`, in order."""
    entries = newest_events(tables, tenant.number, position, limit)
    deliveries = read_newest(tables, tenant.number, sequence, limit)
    return Activity(
        tuple(Arrival(entry.position, entry.arrival, shown_event(entry)) for entry in entries),
        tuple(_match(tenant, delivery) for delivery in deliveries),
        max([position, *(entry.position for entry in entries)]),
        max([sequence, *(delivery.number for delivery in deliveries)]),
    )


def _match(tenant: Tenant, delivery: Delivery) -> EventMatches:
    numbers = delivery.matched.tolist()
    listed: list[MatchedSubscription] = []
    for subscription, score in zip(numbers, unpack_scores(delivery.scores, len(numbers)), strict=True):
        stored = tenant.subscriptions.get(subscription)
        queue = tenant.by_number.get(stored.subscriber) if stored is not None else None
        if stored is not None and queue is not None and len(listed) < LISTED:
            listed.append(MatchedSubscription(queue.id, stored.id, round(score, 6)))
    return EventMatches(delivery.number, delivery.event, CAUSES[delivery.cause], len(numbers), tuple(listed))
