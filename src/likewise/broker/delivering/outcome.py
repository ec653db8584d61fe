"""What matching a stretch of the log led to, stored in one commit together with how far matching has come."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from likewise.broker.store import dead_letters
from likewise.broker.store.checksums import GUARD
from likewise.broker.store.deliveries import Delivery, insert
from likewise.broker.store.entries import Entry
from likewise.broker.store.packed_sets import pack
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant


class _Offer(NamedTuple):
    tenant: Tenant
    queue: SubscriberQueue
    numbers: list[int]


class Outcome:
    """Deliveries, changes and results of a stretch of the log, gathered, then stored, then told.

    Nothing of it shows before `store` has been committed: `take_effect` comes after that.
    """

    def __init__(self) -> None:
        self.position = 0
        self.arrival = 0  # of the first event
        self.deliveries: dict[Tenant, list[Delivery]] = {}
        self.letters: list[dead_letters.NewLetter] = []
        self.statements: list[tuple[str, tuple[object, ...]]] = []
        self.results: list[tuple[Entry, object]] = []
        self.withdrawn: list[tuple[Tenant, int]] = []
        self.unregistered: list[SubscriberQueue] = []
        self._offers: dict[int, _Offer] = {}
        self._settled: dict[int, tuple[SubscriberQueue, int, int]] = {}

    def __bool__(self) -> bool:
        return self.position > 0

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

    def execute(self, statement: str, *values: object) -> None:
        """A change to the tables that belongs to this outcome."""
        self.statements.append((statement, values))

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

    def store(self, connection: sqlite3.Connection) -> None:
        """Write everything."""
        for statement, values in self.statements:
            connection.execute(statement, values)
        for tenant, deliveries in self.deliveries.items():
            insert(connection, tenant.number, deliveries)
            connection.execute(
                "UPDATE tenants SET last_delivery = ?1, guard = ~?1 WHERE number = ?2",
                (deliveries[-1].number, tenant.number),
            )
        connection.executemany(
            f"UPDATE subscribers SET acknowledged = max(acknowledged, ?1), guard = {GUARD}, dropped = dropped + ?2 "
            "WHERE number = ?3",
            [(to, count, number) for number, (_, to, count) in self._settled.items()],
        )
        dead_letters.insert(connection, self.letters)
        connection.execute("UPDATE state SET value = ?1, guard = ~?1 WHERE name = 'matched'", (self.position,))

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
        for queue in self.unregistered:
            queue.gone = True
        return [*(offer.queue for offer in self._offers.values()), *self.unregistered]
