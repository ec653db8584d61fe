"""What waits for a subscriber, as it is sent: read where it is not in memory, and let go of where it is over."""

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
    """The next deliveries of a queue after a sequence number, as JSON; what has expired or was withdrawn leaves it.

    `times` gives the time by which the event at a position is over.
    """
    found = pending_deliveries(log, queues, tenant, queue, after, limit, times, most_bytes)
    return [(each.number, render(each, tenant.recipient_subscriptions(each, queue.number))) for each in found]


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
    """The same as they are kept; none follows the one with which they have `most_bytes`."""
    while True:
        with queues:
            numbers = queue.following(after, limit)
            found = {n: d for n in numbers if (d := tenant.recent.get(n)) is not None}
        numbers = _read_missing(log, tenant, numbers, found, most_bytes)
        good = [n for n in numbers if n in found and _valid(found[n], tenant, times)]
        if len(good) < len(numbers):
            with queues:
                queue.pending.difference_update(BitMap64(numbers) - BitMap64(good))
        if good or not numbers:
            return [found[number] for number in good]
        after = numbers[-1]


def _read_missing(
    log: EventLog, tenant: Tenant, numbers: list[int], found: dict[int, Delivery], most_bytes: int | None
) -> list[int]:
    """Read the deliveries that are not in memory until the page is full; return the numbers of the page."""
    with ExitStack() as stack:
        tables, size = None, 0
        for place, number in enumerate(numbers):
            if number not in found:
                tables = tables or stack.enter_context(log.reading())
                found.update((each.number, each) for each in read(tables, tenant.number, (number,)))
            if most_bytes is not None and number in found:
                size += found[number].size
                if size >= most_bytes:
                    return numbers[: place + 1]
    return numbers


def _valid(delivery: Delivery, tenant: Tenant, times: TimeOf) -> bool:
    return not delivery.over(times(delivery.event)) and delivery.event not in tenant.withdrawn
