"""What waits for a subscriber, as it is sent: read where it is not in memory, and let go of where it is over."""

from __future__ import annotations

from pyroaring import BitMap64

from likewise.broker.locks import Lock
from likewise.broker.store.deliveries import Delivery, read, render
from likewise.broker.store.event_log import EventLog
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant


def read_pending(
    log: EventLog, queues: Lock, tenant: Tenant, queue: SubscriberQueue, after: int, limit: int, now: int
) -> list[tuple[int, bytes]]:
    """The next deliveries of a queue after a sequence number, as JSON; what has expired or was withdrawn leaves it."""
    found = pending_deliveries(log, queues, tenant, queue, after, limit, now)
    return [(each.number, render(each, tenant.own(each, queue.number))) for each in found]


def pending_deliveries(
    log: EventLog, queues: Lock, tenant: Tenant, queue: SubscriberQueue, after: int, limit: int, now: int
) -> list[Delivery]:
    """The same as they are kept."""
    while True:
        with queues:
            numbers = queue.following(after, limit)
            found = {n: d for n in numbers if (d := tenant.recent.get(n)) is not None}
        missing = [number for number in numbers if number not in found]
        if missing:
            with log.reading() as tables:
                found.update((d.number, d) for d in read(tables, tenant.number, missing))
        good = [n for n in numbers if n in found and _valid(found[n], tenant, now)]
        if len(good) < len(numbers):
            with queues:
                queue.pending.difference_update(BitMap64(numbers) - BitMap64(good))
        if good or not numbers:
            return [found[number] for number in good]
        after = numbers[-1]


def _valid(delivery: Delivery, tenant: Tenant, now: int) -> bool:
    return not delivery.over(now) and delivery.event not in tenant.withdrawn
