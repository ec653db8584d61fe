"""Read what waits for a subscriber: from memory or the store, without what expired."""

from __future__ import annotations

from contextlib import ExitStack

from pyroaring import BitMap64

from likewise.broker.locks import Lock
from likewise.broker.log.deliveries import Delivery, read, render
from likewise.broker.log.event_log import EventLog
from likewise.broker.retention_clock import TimeOf
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant


def read_pending(
    log: EventLog,
    queues: Lock,
    tenant: Tenant,
    queue: SubscriberQueue,
    after: int,
    limit: int,
    times: TimeOf,
    most_bytes: int | None = None,
) -> list[tuple[int, bytes]]:
    """Return a queue's next deliveries as JSON; expired and withdrawn ones leave the queue.

    `times` gives the time by which the event at a position is over.
    """
    deliveries = pending_deliveries(log, queues, tenant, queue, after, limit, times, most_bytes)
    return [(each.number, render(each, tenant.recipient_subscriptions(each, queue.number))) for each in deliveries]


def pending_deliveries(
    log: EventLog,
    queues: Lock,
    tenant: Tenant,
    queue: SubscriberQueue,
    after: int,
    limit: int,
    times: TimeOf,
    most_bytes: int | None = None,
) -> list[Delivery]:
    """Return the same as `Delivery` values; the page ends with the one that reaches `most_bytes`."""
    while True:
        with queues:
            numbers = queue.following(after, limit)
            deliveries = {n: d for n in numbers if (d := tenant.recent.get(n)) is not None}
        numbers = _read_missing(log, tenant, numbers, deliveries, most_bytes)
        good = [n for n in numbers if n in deliveries and _valid(deliveries[n], tenant, times)]
        if len(good) < len(numbers):
            with queues:
                queue.pending.difference_update(BitMap64(numbers) - BitMap64(good))
        if good or not numbers:
            return [deliveries[number] for number in good]
        after = numbers[-1]


def _read_missing(
    log: EventLog, tenant: Tenant, numbers: list[int], deliveries: dict[int, Delivery], most_bytes: int | None
) -> list[int]:
    """Read the deliveries that are not in memory until the page is full; return the numbers of the page."""
    with ExitStack() as stack:
        tables, size = None, 0
        for place, number in enumerate(numbers):
            if number not in deliveries:
                tables = tables or stack.enter_context(log.reading())
                deliveries.update((each.number, each) for each in read(tables, tenant.number, (number,)))
            if most_bytes is not None and number in deliveries:
                size += deliveries[number].size
                if size >= most_bytes:
                    return numbers[: place + 1]
    return numbers


def _valid(delivery: Delivery, tenant: Tenant, times: TimeOf) -> bool:
    """Return whether a delivery is still sent: what an alert said stays said, though its event was withdrawn."""
    taken_back = delivery.event in tenant.withdrawn and not delivery.notification
    return not delivery.over(times(delivery.event)) and not taken_back
