"""Fan-out of messages with QoS 0: to connected clients, as soon as they are on disk.

The log tells of new entries on the writer's thread; sending is the loop's. What is published with QoS 1 or 2 for a
subscription that asks for it comes from the subscriber's queue instead (`outbox`). Retained messages change here, too,
before the entries are matched: so a subscription in the log finds what was retained before it.

A message may meet thousands of filters, so tenants take turns, and the loop looks at sockets between two rounds. What
waits is bounded; what does not fit is lost, as for a client that is too slow.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter
from typing import Final

from likewise.broker.dispatch.topic_deliveries import matching_topic
from likewise.broker.log.entries import EVENT, Entry
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.log.mqtt.sessions import FilterOptions
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.outbox import DeliveryOutbox
from likewise.server.mqtt.broker.delivery.rendering import event_message
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.codec import SharedPublish

TURN_SECONDS: Final = 0.001  # that a tenant's messages have before the next tenant's
ROUND_SECONDS: Final = 0.003  # of turns between two looks at the sockets


class FanOut:
    """Follows the log for those who are connected."""

    def __init__(self, home: ListenerContext) -> None:
        self._home = home
        self._waiting: dict[int, deque[StoredMessage]] = {}  # by tenant; whose turn is next comes first
        self._bytes = 0  # of these
        self._scheduled = False

    def take(self, entries: list[Entry]) -> None:
        """New entries are on disk. On the writer's thread."""
        home, messages = self._home, []
        for entry in entries:
            if entry.kind != EVENT:
                continue
            message = entry.message
            if message is not None:
                if message.part:
                    continue
                if message.retain:
                    home.broker.tenants[entry.tenant].retained.take(message, entry.position)
            live = home.live.get(entry.tenant)
            if live is None or not live.count or (entry.ends is not None and entry.ends <= entry.arrival):
                continue
            if message is None:
                topic, _ = matching_topic(entry)
                if not topic:
                    continue
                message = event_message(entry.body, entry.position, topic)
            messages.append((entry.tenant, message))
        if messages:
            home.bridge.call(self._send_all, messages)

    def _send_all(self, messages: list[tuple[int, StoredMessage]]) -> None:
        """Send messages to all who get them without an acknowledgement, tenants in turns."""
        home = self._home
        for tenant, message in messages:
            if self._bytes > home.config.send_bytes:
                home.counters(home.broker.tenants[tenant]).lost += 1
                continue
            self._waiting.setdefault(tenant, deque()).append(message)
            self._bytes += _size(message)
        if not self._scheduled:
            self._run()

    def _run(self) -> None:
        """Go round the tenants that have messages, for a moment; the rest follows in the loop's next turn."""
        self._scheduled = False
        now, end = self._home.broker.clock(), perf_counter() + ROUND_SECONDS
        while self._waiting:
            tenant = next(iter(self._waiting))
            messages, turn_end = self._waiting.pop(tenant), perf_counter() + TURN_SECONDS
            while messages:
                message = messages.popleft()
                self._bytes -= _size(message)
                self._send_to_all(tenant, message, now)
                if perf_counter() >= turn_end:
                    break
            if messages:
                self._waiting[tenant] = messages
            if perf_counter() >= end:
                break
        if self._waiting:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _send_to_all(self, tenant: int, message: StoredMessage, now: int) -> None:
        home = self._home
        made: dict[int, SharedPublish] = {}
        for receiver, options in home.live[tenant].find(message.topic).items():
            if message.qos and any(option.qos for option in options):
                continue  # it comes from the queue
            session = _next_member(receiver) if type(receiver) is DeliveryOutbox else receiver
            assert session is None or isinstance(session, Session)
            connection = None if session is None else session.connection
            if session is None or connection is None or not connection.ready:
                if connection is not None and session is not None:  # what was in flight is sent again first
                    home.counters(session.tenant).lost += 1
                continue
            if session.client == message.client and all(option.no_local for option in options):
                continue
            version = connection.version
            if version not in made:
                made[version] = home.renderer.many(message, version, now)
            self.send(session, made[version], message, options)

    def send(
        self,
        session: Session,
        made: SharedPublish,
        message: StoredMessage,
        options: list[FilterOptions],
        *,
        retained: bool = False,
    ) -> None:
        """Send a message with QoS 0; a client that is too slow for it loses it."""
        connection, counters = session.connection, self._home.counters(session.tenant)
        if connection is None:
            return
        if connection.is_congested:
            counters.lost += 1
            return
        retain = retained or (message.retain and any(option.retain_as_published for option in options))
        identifiers = tuple(each for option in options for each in option.identifiers)
        data = made.encode_for(0, retain=retain, identifiers=identifiers)
        if len(data) > connection.max_packet_bytes:
            counters.lost += 1
            return
        counters.sent += 1
        connection.send(data)


def _size(message: StoredMessage) -> int:
    """Return about how many bytes a message takes while it waits."""
    return 500 + len(message.payload)


def _next_member(group: DeliveryOutbox) -> Session | None:
    """Return the member of a group that gets the next message: round robin."""
    for _ in range(len(group.members)):
        session = group.members.pop(0)
        group.members.append(session)
        connection = session.connection
        if connection is not None and connection.ready and not connection.is_congested:
            return session
    return None
