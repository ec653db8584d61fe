"""The results of matching a batch of the log, stored in one commit with the new position of matching."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from likewise.broker.log import dead_letters
from likewise.broker.log.deliveries import ARRIVAL, Delivery, OwnerIndex, insert
from likewise.broker.log.entries import Entry
from likewise.broker.log.packed_sets import Numbers, pack, pack_parts
from likewise.broker.log.positions import advance
from likewise.broker.log.registry_tables import number_deliveries, settle_deliveries
from likewise.broker.log.sink_rows import remove_targets_of
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.matched_events import BatchMatchIndex, EventRecipients
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import Tenant

MATCHING: Final = "matching"  # the name of this follower of the log
FEW: Final = 32  # matches that are dealt out one by one: for arrays it takes more


class _Offer(NamedTuple):
    tenant: Tenant
    queue: SubscriberQueue
    numbers: array[int]


class CommitBatch:
    """Deliveries, changes and results of a batch of entries: gathered, stored, then notified.

    Nothing of it shows before `store` has been committed: `take_effect` comes after that.
    """

    def __init__(self) -> None:
        self.positions: dict[Tenant, int] = {}  # up to where entries of each tenant were matched
        self.arrival = 0  # of the first event
        self.deliveries: dict[Tenant, list[Delivery]] = {}
        self.dead_letters: list[dead_letters.NewLetter] = []
        self.changes: list[tuple[Callable[..., None], tuple[object, ...]]] = []
        self.results: list[tuple[Entry, object]] = []
        self.withdrawn: list[tuple[Tenant, int]] = []
        self.unregistered: list[tuple[Tenant, SubscriberQueue]] = []
        self.released_targets: list[
            tuple[Tenant, int, str | None]
        ] = []  # subscriptions (or subscribers) whose targets go
        self.decided: dict[tuple[int, int], set[int]] = {}  # by tenant and event, what it met by a command
        self.updated_sinks: list[SinkQueue] = []  # targets that have something new
        self._offers: dict[int, _Offer] = {}
        self._settled: dict[int, tuple[SubscriberQueue, int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self.positions)

    def deliver(self, tenant: Tenant, event: int, cause: int, matched: Numbers, scores: bytes, entry: Entry) -> None:
        """Deliver an event to the owners of the subscriptions it matched."""
        subscriptions = tenant.subscriptions
        owners = np.array(sorted({subscriptions[number].subscriber for number in matched.tolist()}), np.int64)
        self.send(
            tenant, Delivery(0, event, cause, owners, matched, scores, entry.body, entry.ends, message=entry.message)
        )

    def deliver_all(self, tenant: Tenant, entries: Sequence[Entry], matches: BatchMatchIndex) -> None:
        """Deliver events to the owners of the subscriptions they matched on arrival, unless they expired before.

        What each owner gets is found for all events at once, so that a match costs no step of its own here.
        """
        chosen = [entry.ends is None or entry.ends > entry.arrival for entry in entries]
        if len(matches.index) <= FEW:
            for event in matches:
                if chosen[event]:
                    entry = entries[event]
                    numbers, scores = matches.numbers(event), matches.packed_scores(event)
                    self.deliver(tenant, entry.position, ARRIVAL, numbers, scores, entry)
            return
        owned = tenant.owners_of(matches.named)
        delivered = np.array(chosen) & (np.diff(matches.starts) > 0)
        shares = EventRecipients.of(matches, owned, delivered)
        sent = np.cumsum(delivered) + (tenant.next_number - 1)  # the number of each event's delivery
        matched, place = matches.named[matches.index], owned.place[matches.index]
        starts, first = matches.starts.tolist(), shares.starts.tolist()
        packed = list(zip(pack_parts(shares.recipients, first), pack_parts(matched, starts), strict=True))
        deliveries, number = self.deliveries.setdefault(tenant, []), tenant.next_number
        for event in np.flatnonzero(delivered).tolist():
            entry, a, b = entries[event], starts[event], starts[event + 1]
            deliveries.append(
                Delivery(
                    number,
                    entry.position,
                    ARRIVAL,
                    shares.recipients[first[event] : first[event + 1]],
                    matched[a:b],
                    b"" if matches.scores is None else matches.packed_scores(event),
                    entry.body,
                    entry.ends,
                    OwnerIndex(owned.owners, place[a:b]),
                    message=entry.message,
                    packed=packed[event],
                )
            )
            number += 1
        tenant.next_number = number
        numbers = sent[shares.events].astype(np.uint64)
        for owner, a, b in zip(shares.owners, shares.cuts, shares.cuts[1:], strict=False):
            self._offer(tenant, owner).frombytes(numbers[a:b].tobytes())

    def send(self, tenant: Tenant, delivery: Delivery) -> None:
        """Give a delivery the tenant's next number, and offer it to its recipients' queues."""
        delivery.number = tenant.next_number
        tenant.next_number += 1
        for number in delivery.recipients.tolist():
            self._offer(tenant, number).append(delivery.number)
        self.deliveries.setdefault(tenant, []).append(delivery)

    def add_numbered(self, tenant: Tenant, deliveries: list[Delivery], offers: dict[int, array[int]]) -> None:
        """Add deliveries that have their numbers, and which of them each subscriber is offered."""
        self.deliveries.setdefault(tenant, []).extend(deliveries)
        for owner, numbers in offers.items():
            self._offer(tenant, owner).extend(numbers)

    def _offer(self, tenant: Tenant, subscriber: int) -> array[int]:
        """Return the numbers that a subscriber's queue is offered."""
        offer = self._offers.get(subscriber)
        if offer is None:
            offer = self._offers[subscriber] = _Offer(tenant, tenant.by_number[subscriber], array("Q"))
        return offer.numbers

    def release(self, tenant: Tenant, subscriber: int, subscription: str | None = None) -> None:
        """Remove the targets of a subscription, or of a whole subscriber."""
        self.released_targets.append((tenant, subscriber, subscription))
        self.change(remove_targets_of, tenant.number, subscriber, subscription)

    def change(self, work: Callable[..., None], *arguments: object) -> None:
        """Add a change to the tables that belongs to this batch: `work(tables, *arguments)`."""
        self.changes.append((work, arguments))

    def absorb(self, other: CommitBatch) -> None:
        """Take in another outcome, which came of later entries; no policies were applied to it."""
        self.positions |= other.positions
        self.arrival = self.arrival or other.arrival
        for tenant, deliveries in other.deliveries.items():
            self.deliveries.setdefault(tenant, []).extend(deliveries)
        for items, more in (
            (self.dead_letters, other.dead_letters),
            (self.changes, other.changes),
            (self.results, other.results),
            (self.withdrawn, other.withdrawn),
            (self.unregistered, other.unregistered),
            (self.released_targets, other.released_targets),
        ):
            items.extend(more)  # type: ignore[arg-type]
        for number, offer in other._offers.items():
            self._offers.setdefault(number, _Offer(offer.tenant, offer.queue, array("Q"))).numbers.extend(offer.numbers)

    def apply_policies(self, now: int) -> None:
        """Decide for each full queue: old ones go, or new ones become dead letters. Once, before storing."""
        for tenant, queue, numbers in self._offers.values():
            room = queue.admit(numbers)
            if room.dropped:
                self._settled[queue.number] = (queue, room.acknowledged, room.dropped)
            if room.accepted < len(numbers):
                refused = set(numbers[room.accepted :])
                del numbers[room.accepted :]
                for delivery in self.deliveries[tenant]:
                    if delivery.number in refused:
                        delivery.recipients = delivery.recipients[delivery.recipients != queue.number]
                        delivery.packed = None
                        refused_matches = delivery.matched[
                            [place for place, _ in tenant.recipient_subscriptions(delivery, queue.number)]
                        ]
                        self.dead_letters.append(
                            dead_letters.NewLetter(
                                tenant.number,
                                now,
                                "queue_full",
                                f"the queue of {queue.id!r} was full",
                                queue.number,
                                delivery.event,
                                pack(refused_matches),
                            )
                        )

    def store(self, tables: StoreTables) -> None:
        """Write everything, and how far matching has come with it."""
        for work, arguments in self.changes:
            work(tables, *arguments)
        for tenant, deliveries in self.deliveries.items():
            insert(tables, tenant.number, deliveries)
            number_deliveries(tables, tenant.number, deliveries[-1].number)
        settle_deliveries(tables, [(to, count, number) for number, (_, to, count) in self._settled.items()])
        dead_letters.insert(tables, self.dead_letters)
        advance(tables, MATCHING, {tenant.number: position for tenant, position in self.positions.items()})

    def take_effect(self) -> Iterable[SubscriberQueue]:
        """Fill the queues; which ones have something new."""
        for tenant, deliveries in self.deliveries.items():
            tenant.cache_deliveries(deliveries)
            tenant.stored_number = deliveries[-1].number
            self.updated_sinks += tenant.sinks.offer(deliveries)
        for tenant, subscriber, subscription in self.released_targets:
            for feed in tenant.sinks:
                if feed.subscriber == subscriber and subscription in (None, feed.subscription):
                    tenant.sinks.remove(feed)
        for tenant, position in self.withdrawn:
            tenant.withdrawn.add(position)
        for _, queue, numbers in self._offers.values():
            queue.put(numbers)
        for queue, to, count in self._settled.values():
            queue.dropped += count
            queue.acknowledge(to)
        for tenant, queue in self.unregistered:
            queue.unregistered = True
            tenant.by_number.pop(queue.number, None)
        for tenant, position in self.positions.items():  # after the queues: whoever waits for it may look at them
            tenant.matched = position
        return [*(offer.queue for offer in self._offers.values()), *(queue for _, queue in self.unregistered)]
