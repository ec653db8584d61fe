"""What matching a stretch of the log led to, stored in one commit together with how far matching has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from likewise.broker.store import dead_letters
from likewise.broker.store.deliveries import Delivery, insert
from likewise.broker.store.entries import Entry
from likewise.broker.store.holdings import number_deliveries, settle_deliveries
from likewise.broker.store.packed_sets import pack
from likewise.broker.store.positions import advance
from likewise.broker.store.tables import Tables
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant

MATCHING: Final = "matching"  # the name of this follower of the log


class _Offer(NamedTuple):
    tenant: Tenant
    queue: SubscriberQueue
    numbers: list[int]


class Outcome:
    """Deliveries, changes and results of a stretch of the log, gathered, then stored, then told.

    Nothing of it shows before `store` has been committed: `take_effect` comes after that.
    """

    def __init__(self) -> None:
        self.positions: dict[Tenant, int] = {}  # up to where entries of each tenant were matched
        self.arrival = 0  # of the first event
        self.deliveries: dict[Tenant, list[Delivery]] = {}
        self.letters: list[dead_letters.NewLetter] = []
        self.changes: list[tuple[Callable[..., None], tuple[object, ...]]] = []
        self.results: list[tuple[Entry, object]] = []
        self.withdrawn: list[tuple[Tenant, int]] = []
        self.unregistered: list[tuple[Tenant, SubscriberQueue]] = []
        self._offers: dict[int, _Offer] = {}
        self._settled: dict[int, tuple[SubscriberQueue, int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self.positions)

    def deliver(self, tenant: Tenant, event: int, cause: int, matched: list[int], scores: bytes, entry: Entry) -> None:
        """One event for the owners of the subscriptions it met."""
        held = tenant.held
        owners = [held[matched[0]].subscriber] if len(matched) == 1 else sorted({held[n].subscriber for n in matched})
        self.send(tenant, Delivery(0, event, cause, owners, matched, scores, entry.body, entry.ends))

    def send(self, tenant: Tenant, delivery: Delivery) -> None:
        """Give a delivery the tenant's next number, and offer it to its recipients' queues."""
        delivery.number = tenant.next_number
        tenant.next_number += 1
        for number in delivery.recipients:
            offer = self._offers.get(number)
            if offer is None:
                offer = self._offers[number] = _Offer(tenant, tenant.by_number[number], [])
            offer.numbers.append(delivery.number)
        self.deliveries.setdefault(tenant, []).append(delivery)

    def change(self, work: Callable[..., None], *arguments: object) -> None:
        """A change to the tables that belongs to this outcome: `work(tables, *arguments)`."""
        self.changes.append((work, arguments))

    def absorb(self, other: Outcome) -> None:
        """Take in another outcome, which came of later entries; no policies were applied to it."""
        self.positions |= other.positions
        self.arrival = self.arrival or other.arrival
        for tenant, deliveries in other.deliveries.items():
            self.deliveries.setdefault(tenant, []).extend(deliveries)
        for own, more in (
            (self.letters, other.letters),
            (self.changes, other.changes),
            (self.results, other.results),
            (self.withdrawn, other.withdrawn),
            (self.unregistered, other.unregistered),
        ):
            own.extend(more)  # type: ignore[arg-type]
        for number, offer in other._offers.items():
            self._offers.setdefault(number, _Offer(offer.tenant, offer.queue, [])).numbers.extend(offer.numbers)

    def apply_policies(self, now: int) -> None:
        """Decide for each full queue: old ones go, or new ones become dead letters. Once, before storing."""
        for tenant, queue, numbers in self._offers.values():
            room = queue.room(numbers)
            if room.dropped:
                self._settled[queue.number] = (queue, room.acknowledged, room.dropped)
            if room.taken < len(numbers):
                refused = set(numbers[room.taken :])
                del numbers[room.taken :]
                for delivery in self.deliveries[tenant]:
                    if delivery.number in refused:
                        delivery.recipients.remove(queue.number)
                        own = [n for n in delivery.matched if tenant.held[n].subscriber == queue.number]
                        self.letters.append(
                            dead_letters.NewLetter(
                                tenant.number,
                                now,
                                "queue_full",
                                f"the queue of {queue.id!r} was full",
                                queue.number,
                                delivery.event,
                                pack(own),
                            )
                        )

    def store(self, tables: Tables) -> None:
        """Write everything, and how far matching has come with it."""
        for work, arguments in self.changes:
            work(tables, *arguments)
        for tenant, deliveries in self.deliveries.items():
            insert(tables, tenant.number, deliveries)
            number_deliveries(tables, tenant.number, deliveries[-1].number)
        settle_deliveries(tables, [(to, count, number) for number, (_, to, count) in self._settled.items()])
        dead_letters.insert(tables, self.letters)
        advance(tables, MATCHING, {tenant.number: position for tenant, position in self.positions.items()})

    def take_effect(self) -> Iterable[SubscriberQueue]:
        """Fill the queues; which ones have something new."""
        for tenant, deliveries in self.deliveries.items():
            tenant.remember(deliveries)
            tenant.stored_number = deliveries[-1].number
        for tenant, position in self.withdrawn:
            tenant.withdrawn.add(position)
        for _, queue, numbers in self._offers.values():
            queue.pending.update(numbers)
        for queue, to, count in self._settled.values():
            queue.dropped += count
            queue.acknowledge(to)
        for tenant, queue in self.unregistered:
            queue.gone = True
            tenant.by_number.pop(queue.number, None)
        for tenant, position in self.positions.items():  # after the queues: whoever waits for it may look at them
            tenant.matched = position
        return [*(offer.queue for offer in self._offers.values()), *(queue for _, queue in self.unregistered)]
