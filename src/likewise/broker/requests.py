"""Requests to a broker: subscribers, subscriptions, events and deliveries.

Each request that changes something is an entry of the log. There are two forms of it: one that returns when it is on
disk, and `start_...`, which tells `done` then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import cast

from likewise.api.events import Receipt
from likewise.api.subscribers import QueuePolicy
from likewise.broker.clock import BelievedClock
from likewise.broker.config import Config
from likewise.broker.dispatch.acknowledgements import Acknowledgements
from likewise.broker.dispatch.matching_loop import MatchingLoop
from likewise.broker.dispatch.pending_deliveries import pending_deliveries, read_pending
from likewise.broker.locks import Lock
from likewise.broker.log import dead_letters
from likewise.broker.log.commits import wait_for
from likewise.broker.log.deliveries import Delivery
from likewise.broker.log.entries import (
    Command,
    Entry,
    SubscribeCommand,
    UnregisterCommand,
    UnsubscribeCommand,
    WithdrawCommand,
    command_entry,
    event_entries,
)
from likewise.broker.log.event_log import Done, Request
from likewise.broker.log.log_entries import find_events
from likewise.broker.log.mqtt.messages import read_messages
from likewise.broker.log.writer import Store
from likewise.broker.retention_clock import RetentionClock
from likewise.broker.telemetry.event_trace import EventTrace
from likewise.broker.telemetry.metrics import Metrics
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.quotas import allowed_queue, check_subscriptions
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.defaults import SEND_PAGE
from likewise.errors import LikewiseError, LimitExceeded, StateError, Unavailable, UnknownId
from likewise.model import Event, Subscription

IsVisible = Callable[[int, str], bool]  # by an event's position and source: whether who asks may know of it


def _any_event(position: int, source: str) -> bool:
    return True


class BrokerRequests:
    """The part of `Broker` that handles requests."""

    config: Config
    clock: BelievedClock
    retention: RetentionClock
    lock: Lock
    store: Store
    worker: MatchingLoop
    metrics: Metrics
    trace: EventTrace
    _acknowledgements: Acknowledgements
    _closed: bool

    # -- subscribers ----------------------------------------------------------------------------

    def register(
        self, tenant: Tenant, id: str, policy: QueuePolicy | None = None, limit: int | None = None
    ) -> SubscriberQueue:
        """Register a subscriber, or change its queue; what waits for it stays."""
        return cast("SubscriberQueue", wait_for(lambda done: self.start_register(tenant, id, policy, limit, done)))

    def start_register(
        self,
        tenant: Tenant,
        id: str,
        policy: QueuePolicy | None,
        limit: int | None,
        done: Done,
        also: Sequence[Command] = (),
    ) -> None:
        """Do `register`, and call `done` when it is on disk; other commands may follow it at once."""
        command = allowed_queue(tenant, id, policy, limit, self.config.queues, self.config.limits)

        def applied(results: list[object]) -> None:
            result = _first_error(results)
            done(results[0] if result is results else result)

        self.commands(tenant, [command, *also], applied)

    def unregister(self, tenant: Tenant, id: str) -> None:
        """Forget a subscriber, its subscriptions and what waits for it."""
        wait_for(lambda done: self.start_unregister(tenant, id, done))

    def start_unregister(self, tenant: Tenant, id: str, done: Done) -> None:
        """Do `announce`, and call `done` when it is on disk."""
        tenant.subscriber(id)
        self.commands(tenant, [UnregisterCommand(id)], lambda results: done(_only(results)))

    # -- subscriptions --------------------------------------------------------------------------

    def subscribe(
        self, tenant: Tenant, subscriber: str, subscriptions: Sequence[Subscription], *, replace: bool = False
    ) -> list[StoredSubscription]:
        """Hold subscriptions of a subscriber, all or none; valid earlier events it has not had are delivered first."""
        stored = wait_for(lambda done: self.start_subscribe(tenant, subscriber, subscriptions, replace, done))
        return cast("list[StoredSubscription]", stored)

    def start_subscribe(
        self, tenant: Tenant, subscriber: str, subscriptions: Sequence[Subscription], replace: bool, done: Done
    ) -> None:
        """Do `subscribe`, and call `done` with the stored subscriptions, or the first error."""
        check_subscriptions(tenant, subscriber, subscriptions, replace, self.config.limits)
        commands = [SubscribeCommand(subscriber, each, replace, part) for part, each in enumerate(subscriptions, 1)]
        self.commands(tenant, commands, lambda results: done(_first_error(results)))

    def unsubscribe(self, tenant: Tenant, subscriber: str, id: str) -> None:
        """End a subscription."""
        wait_for(lambda done: self.start_unsubscribe(tenant, subscriber, id, done))

    def start_unsubscribe(self, tenant: Tenant, subscriber: str, id: str, done: Done) -> None:
        """Do `announce`, and call `done` when it is on disk."""
        tenant.subscription(subscriber, id)
        self.commands(tenant, [UnsubscribeCommand(subscriber, id)], lambda results: done(_only(results)))

    def commands(self, tenant: Tenant, commands: Sequence[Command], done: Callable[[list[object]], None]) -> None:
        """Append commands to the log; `done` gets what came of each once that is on disk."""
        results: list[object] = []

        def applied(result: object) -> None:
            results.append(result)
            if len(results) == len(commands):
                done(results)

        def appended(result: object) -> None:
            if isinstance(result, BaseException):
                done([result])

        if not commands:
            done([])
            return
        self._refuse_if_failed()
        self.store.append([command_entry(tenant.number, command, applied) for command in commands], appended)

    def command(self, tenant: Tenant, command: Command, done: Done) -> None:
        """Append one command; `done` gets what came of it."""
        self.commands(tenant, [command], lambda results: done(_only(results)))

    def _refuse_if_failed(self) -> None:
        if self._closed:
            raise Unavailable("the broker is stopping; try again when it runs")
        if self.worker.failure is not None:
            raise Unavailable(f"matching has stopped: {self.worker.failure}; look at the broker's log and restart it")

    # -- events ---------------------------------------------------------------------------------

    def publish(self, tenant: Tenant, events: Sequence[Event]) -> list[Receipt]:
        """Append events, all or none; returns when they are on disk."""
        while tenant.blocked:
            time.sleep(0.005)
        return cast("list[Receipt]", wait_for(lambda done: self.start_publish(tenant, events, done)))

    def start_publish(self, tenant: Tenant, events: Sequence[Event], done: Done) -> None:
        """Do `publish`, and call `done` with the receipts; the caller has waited while `tenant.blocked`."""
        self.store.append(*self.request(tenant, events, self.expires_at(), done))

    def request(self, tenant: Tenant, events: Sequence[Event], expires_at: int | None, done: Done) -> Request:
        """Return the request of `start_publish`, for callers that append several together."""
        return self.received(tenant, self.entries(tenant, events, expires_at), done)

    def entries(self, tenant: Tenant, events: Sequence[Event], expires_at: int | None) -> list[Entry]:
        """Return the entries of events that expire at `kept` at the latest."""
        if len(events) > self.config.limits.batch:
            raise LimitExceeded("events of one request", allowed=self.config.limits.batch, found=len(events))
        self._refuse_if_failed()
        return event_entries(tenant.number, events, expires_at)

    def received(self, tenant: Tenant, entries: list[Entry], done: Done) -> Request:
        """Return the append request for entries of a tenant that arrive now."""
        self.metrics.received(tenant.name, len(entries))
        return entries, self.trace.received(tenant.name, entries, done)

    def expires_at(self) -> int | None:
        """Return the expiry of an event that is published now; None for ever."""
        keep = self.config.store.retention
        return None if keep is None else self.clock.latest() + keep

    def find_event(self, tenant: Tenant, id: str, source: str | None = None, sees: IsVisible = _any_event) -> int:
        """Return the position of an event by its id, and its source where several share the id.

        `sees` says by its position and source whether who asks may know of one; the others are not there for them.
        """
        with self.store.reading() as tables:
            names = None if source is None else tenant.sources.identities.names_of(source)
            known = find_events(tables, tenant.number, id, names)
        known = [each for each in known if each[1] == source] or known  # a name of before is asked for last
        positions = [position for position, by in known if sees(position, by)]
        if not positions:
            raise UnknownId(id)
        if len(positions) > 1:
            raise StateError(f"several sources published the id {id!r}; say which source is meant")
        return positions[0]

    def stored_event(self, tenant: Tenant, id: str, source: str | None = None, sees: IsVisible = _any_event) -> Entry:
        """Return an event of the log, found as by `find_event`."""
        position = self.find_event(tenant, id, source, sees)
        entry = next(self.store.entries(position - 1, position), None)
        if entry is None:
            raise UnknownId(id)
        return entry

    def withdraw(self, tenant: Tenant, id: str, source: str | None = None) -> None:
        """Take an event back: it is given to nobody any more, and leaves the windows."""
        wait_for(lambda done: self.start_withdraw(tenant, id, source, done))

    def start_withdraw(self, tenant: Tenant, id: str, source: str | None, done: Done) -> None:
        """Do `announce`, and call `done` when it is on disk."""
        done = self.trace.withdrawn(tenant.name, id, source, done)
        self.command(tenant, WithdrawCommand(self.find_event(tenant, id, source)), done)

    # -- deliveries -----------------------------------------------------------------------------

    def page(
        self,
        tenant: Tenant,
        queue: SubscriberQueue,
        *,
        after: int,
        limit: int = SEND_PAGE,
        most_bytes: int | None = None,
    ) -> list[tuple[int, bytes]]:
        """Return the next unacknowledged deliveries after a sequence number, as JSON.

        What has expired or was withdrawn leaves the queue here. With `most_bytes` a page ends with the delivery that
        reaches so many: whoever is sent it may not read it.
        """
        return read_pending(self.store, self.lock, tenant, queue, after, limit, self.retention.times(), most_bytes)

    def acknowledge(self, tenant: Tenant, subscriber: str, number: int, done: Done | None = None) -> None:
        """Settle everything up to a sequence number."""
        queue = tenant.subscriber(subscriber)
        if number > tenant.stored_number:
            raise StateError(
                f"sequence number {number} was never delivered; the newest is {tenant.stored_number}: acknowledge that"
            )
        with self.lock:
            changed = queue.acknowledge(number)
        self.trace.acknowledged(tenant.name, queue.id, number)
        if changed or done is not None:
            self._acknowledgements.note(queue.number, queue.acknowledged, done)

    def deliveries(
        self,
        tenant: Tenant,
        queue: SubscriberQueue,
        *,
        after: int,
        limit: int,
        messages: bool = False,
        most_bytes: int | None = None,
    ) -> list[Delivery]:
        """Return the same as `Delivery` values; with `messages` including the messages of devices."""
        deliveries = pending_deliveries(
            self.store, self.lock, tenant, queue, after, limit, self.retention.times(), most_bytes
        )
        if not messages or all(each.message is not None and not each.message.part for each in deliveries):
            return deliveries
        size = 0
        with self.store.reading() as tables:
            for place, each in enumerate(deliveries):
                if each.message is None or each.message.part:
                    each.message = read_messages(tables, (each.event,)).get(each.event)
                size += each.size
                if most_bytes is not None and size >= most_bytes:
                    return deliveries[: place + 1]
        return deliveries

    def acknowledge_each(self, tenant: Tenant, queue: SubscriberQueue, numbers: Collection[int]) -> None:
        """Settle deliveries by their sequence numbers, in whatever order."""
        with self.lock:
            changed = queue.acknowledge_each(numbers)
        if changed:
            self._acknowledgements.note(queue.number, queue.acknowledged)

    def sent(self, tenant: Tenant, queue: SubscriberQueue, page: Sequence[tuple[int, bytes]]) -> None:
        """Record that deliveries went out to a stream."""
        self.metrics.sent(tenant.name, len(page))
        self.trace.sent(tenant.name, queue.id, page)

    def add_dead_letter(
        self, tenant: Tenant, error: LikewiseError, part: bytes, done: Done, media_type: str = ""
    ) -> None:
        """Keep what could not be read as a dead letter, so that it can be looked at and tried again."""
        self.trace.refused(tenant.name, error)
        letter = dead_letters.NewLetter(
            tenant.number, self.clock(), "unreadable", str(error)[:2000], body=part, media_type=media_type
        )
        self.metrics.dead_letters(tenant.name, 1)
        self.store.write(lambda tables: dead_letters.insert(tables, [letter]), done)


def _only(results: list[object]) -> object:
    """Return the result of a single command."""
    return results[0]


def _first_error(results: list[object]) -> object:
    """Return the first error among the results, else all of them."""
    return next((result for result in results if isinstance(result, BaseException)), results)
