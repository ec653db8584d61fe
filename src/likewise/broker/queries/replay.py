"""Replay a subscriber's earlier deliveries from a sequence number on, acknowledged or not.

A delivery is kept as long as its event: while that is valid and was not withdrawn, whether or not its recipients
have acknowledged it. So a replay gives what can still be given, and nothing else: no event whose validity is
over, none that was withdrawn, none from before the subscriber registered. It changes nothing; acknowledgements
and what is pending stay as they are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from likewise.broker.log.deliveries import read, read_between, render
from likewise.broker.log.event_log import EventLog
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant

PAGE: Final = 1_000
LOOKED_AT: Final = 50_000  # deliveries of the tenant that one request looks through


class ReplayPage(NamedTuple):
    """Deliveries as JSON with their numbers, and the number to continue from."""

    deliveries: list[tuple[int, bytes]]
    next: int


def replay(log: EventLog, tenant: Tenant, queue: SubscriberQueue, after: int, limit: int, now: int) -> ReplayPage:
    """Return a subscriber's stored deliveries after a sequence number, in order, at most `limit`."""
    deliveries: list[tuple[int, bytes]] = []
    newest, examined = tenant.stored_number, 0
    while len(deliveries) < limit and examined < LOOKED_AT:
        with log.reading() as tables:
            page = read_between(tables, tenant.number, after, newest, PAGE)
            numbers = [delivery.number for delivery in page if queue.number in delivery.recipients]
            page_numbers = numbers[: limit - len(deliveries)]
            page_deliveries = read(tables, tenant.number, page_numbers)
        good = [
            each
            for each in page_deliveries
            if not each.over(now) and (each.notification or each.event not in tenant.withdrawn)
        ]
        deliveries += [(each.number, render(each, tenant.recipient_subscriptions(each, queue.number))) for each in good]
        if not page:
            break
        examined += len(page)
        after = page_numbers[-1] if len(page_numbers) < len(numbers) else page[-1].number
    return ReplayPage(deliveries, after)
