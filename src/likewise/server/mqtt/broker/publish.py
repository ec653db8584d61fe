"""Messages become events, and are acknowledged when those are on disk; many share one commit.

What a client is told is in `acknowledgements`. A tenant's rate holds up what nobody could be told about.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

import structlog

from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS
from likewise.broker.log.mqtt.messages import Kept
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.quotas import check_retained
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import BLOCK_SECONDS
from likewise.errors import LikewiseError, RateExceeded, Unavailable
from likewise.model import Event
from likewise.server.media_types import Unreadable
from likewise.server.mqtt.broker.acknowledgements import Acknowledge, Answers
from likewise.server.mqtt.broker.announcements import announced_in, start_announcing
from likewise.server.mqtt.broker.connection import Connection
from likewise.server.mqtt.broker.delivery.context import Home
from likewise.server.mqtt.broker.delivery.topic_filters import OWN, SUBSCRIPTIONS
from likewise.server.mqtt.broker.message_batches import PlainMessage, PlainMessages
from likewise.server.mqtt.broker.message_events import kept, message_bytes, read_message
from likewise.server.mqtt.codec import MQTT_5, Publish, Pubrec, Reason

_log = structlog.get_logger("likewise.mqtt")
BLOCKED_SECONDS: Final = 0.05  # before a full queue that blocks is looked at again
Read = tuple[Publish, list[Event]]
Take = Callable[[Connection, Publish], None]  # what a message is handed to that is a command


class Publishing:
    """Publishes for connections; `subscribed` takes the messages that make subscriptions, and acknowledges them."""

    def __init__(self, home: Home, subscribed: Callable[[Connection, Publish, Acknowledge], None]) -> None:
        self._home = home
        self._subscribed = subscribed
        self._answers = Answers(home)
        self._plain = PlainMessages(home, self._answers, self._take_apart)

    def take(self, connection: Connection, packets: list[Publish]) -> None:
        """Messages of a client, one after the other."""
        session, access, tenant = connection.session, connection.access, connection.tenant
        assert session is not None
        assert access is not None
        assert tenant is not None
        most = self._home.config.receive_maximum
        read: list[Read] = []
        counters = self._home.counters(tenant)
        free = access.free("publish") and not tenant.blocking
        for place, packet in enumerate(packets):
            counters.received += 1
            if packet.qos:
                if packet.qos == 2 and packet.packet_id in session.received:
                    if session.received[packet.packet_id]:
                        connection.say(Pubrec(packet.packet_id))
                    continue
                connection.taken += 1
                if connection.taken > most:
                    connection.end(Reason.RECEIVE_MAXIMUM_EXCEEDED, f"at most {most:,} messages are taken at once")
                    return
            own = self._own(packet.topic)
            if packet.retain and packet.payload and own is None:
                try:
                    check_retained(tenant, packet.topic, message_bytes(packet), self._home.broker.config.limits)
                except LikewiseError as refused:
                    self._answers.refuse(connection, packet, refused)
                    continue
            # What came before it in one read and is not stored yet has to stay before it.
            if free and not read and self._plain.take(connection, tenant, packet):
                continue
            if own is not None:
                self._store(connection, read)
                if connection.busy:
                    connection.taken -= bool(packet.qos)
                    connection.wait_with(packets[place:])
                    return
                own(connection, packet)
                if len(packets) > place + 1:
                    connection.wait_with(packets[place + 1 :])
                return
            try:
                read.append((packet, read_message(self._home, tenant, access, session.client, packet)))
            except Unreadable as refused:
                self._answers.refuse(connection, packet, refused.error)
            except LikewiseError as refused:
                self._answers.refuse(connection, packet, refused)
            else:
                if packet.qos == 2:
                    session.received[packet.packet_id] = False
        self._store(connection, read)

    def _own(self, topic: str) -> Take | None:
        """What takes the messages of a topic that is a command to the broker; None of any other."""
        if topic.startswith(OWN + SUBSCRIPTIONS):
            return lambda connection, packet: self._subscribed(connection, packet, self._answers.acknowledge)
        return self._announce if topic.startswith(ANNOUNCEMENTS) else None

    def _announce(self, connection: Connection, packet: Publish) -> None:
        """Hold what a device announces; what comes after it waits."""
        tenant, access, home = connection.tenant, connection.access, self._home
        assert tenant is not None
        assert access is not None
        connection.wait()
        if packet.qos == 2 and connection.session is not None:
            connection.session.received[packet.packet_id] = False

        def over(result: object) -> None:
            if isinstance(result, BaseException):
                self._answers.refuse(connection, packet, result)
            elif packet.qos:
                self._answers.acknowledge(connection, packet)
            connection.go_on()

        try:
            home.door.take(tenant, 1)
            source, said = announced_in(access, packet.topic, packet.payload)
            start_announcing(home, tenant, source, said, lambda result: home.bridge.call(over, result))
        except LikewiseError as refused:  # said in the next turn, when what came after it waits
            asyncio.get_running_loop().call_soon(over, refused)

    def _take_apart(self, waiting: list[PlainMessage]) -> None:
        """Read messages the other way, and store those of each connection together."""
        read: dict[Connection, list[Read]] = {}
        for connection, packet, *_ in waiting:
            session, access, tenant = connection.session, connection.access, connection.tenant
            if connection.closed or session is None or access is None or tenant is None:
                continue
            try:
                events = read_message(self._home, tenant, access, session.client, packet)
            except Unreadable as refused:
                self._answers.refuse(connection, packet, refused.error)
            except LikewiseError as refused:
                self._answers.refuse(connection, packet, refused)
            else:
                read.setdefault(connection, []).append((packet, events))
        for connection, own in read.items():
            self._store(connection, own)

    def _store(self, connection: Connection, read: list[Read]) -> None:
        """Hand messages over to be stored together; who cannot be told about a rate is held up by it."""
        if not read or connection.closed:
            return
        tenant, door = connection.tenant, self._home.door
        assert tenant is not None
        if tenant.blocking and tenant.blocked:
            self._hold_up(connection, read, BLOCKED_SECONDS, time.monotonic() + BLOCK_SECONDS)
            return
        try:
            door.take(tenant, sum(len(events) for _, events in read))
        except RateExceeded as wait:
            told = [packet for packet, _ in read if packet.qos and connection.version == MQTT_5]
            for packet in told:
                self._answers.refuse(connection, packet, wait)
            if rest := [each for each in read if each[0] not in told]:
                self._hold_up(connection, rest, min(1.0, max(0.01, wait.retry_after)))
            return
        self._hand_in(connection, tenant, read)

    def _hold_up(self, connection: Connection, read: list[Read], seconds: float, until: float | None = None) -> None:
        """Try again after a while; nothing else comes from this connection meanwhile."""
        connection.wait()
        connection.hold(True)
        asyncio.get_running_loop().call_later(seconds, self._try_again, connection, read, until)

    def _try_again(self, connection: Connection, read: list[Read], until: float | None) -> None:
        if connection.closed:
            return
        tenant = connection.tenant
        assert tenant is not None
        if until is not None and tenant.blocked:
            if time.monotonic() > until or self._home.door.stopping.is_set():
                connection.end(Reason.SERVER_BUSY, "a subscriber's queue is full and blocks publishers; publish later")
            else:
                self._hold_up(connection, read, BLOCKED_SECONDS, until)
            return
        connection.busy = False
        self._store(connection, read)
        if not connection.busy:
            connection.go_on()

    def _hand_in(self, connection: Connection, tenant: Tenant, read: list[Read]) -> None:
        """Append the events of messages in one request, each with what it came in."""
        self._plain.store(tenant)  # what came before them
        session = connection.session
        assert session is not None
        begun, home = time.perf_counter(), self._home

        def done(result: object) -> None:
            home.bridge.call(self._stored, connection, tenant, read, begun, result)

        try:
            request = home.door.request(tenant, [event for _, events in read for event in events], done)
        except LikewiseError as error:
            self._stored(connection, tenant, read, begun, error)
            return
        entries, place, now = request[0], 0, home.broker.clock()
        for packet, events in read:
            message = kept(packet, session.client, now)
            entry = entries[place]
            entry.message = message
            if packet.qos == 2 and session.number:
                entry.received = (session.number, packet.packet_id)
            for part in range(1, len(events)):
                entries[place + part].message = Kept(message.topic, b"", message.qos, part=part)
            place += len(events)
        home.door.hand_in(request)

    def _stored(self, connection: Connection, tenant: Tenant, read: list[Read], begun: float, result: object) -> None:
        """They are on disk: acknowledge them. If one of them cannot be, each is tried alone."""
        if isinstance(result, BaseException):
            if len(read) > 1 and not isinstance(result, Unavailable):
                for each in read:
                    self._hand_in(connection, tenant, [each])
            else:
                for packet, _ in read:
                    self._answers.refuse(connection, packet, result)
            return
        home = self._home
        home.broker.metrics.published(tenant.name, time.perf_counter() - begun)
        home.counters(tenant).stored += sum(len(events) for _, events in read)
        for packet, _ in read:
            if packet.qos:
                self._answers.acknowledge(connection, packet)

    def publish_for(self, tenant: Tenant, access: Access, client: str, message: Kept) -> None:
        """Publish a message on a client's behalf: its will."""
        home = self._home
        packet = Publish(message.topic, message.payload, message.qos, message.retain)

        def done(result: object) -> None:
            if isinstance(result, BaseException):
                _log.warning("a will could not be published", client=client[:200], error=str(result))

        try:
            if message.topic.startswith(ANNOUNCEMENTS):
                source, said = announced_in(access, message.topic, message.payload)
                start_announcing(home, tenant, source, said, done)
                return
            if message.retain and message.payload:
                check_retained(tenant, message.topic, message_bytes(packet), home.broker.config.limits)
            events = read_message(self._home, tenant, access, client, packet)
            request = home.door.request(tenant, events, done)
        except Unreadable as refused:
            self._answers.set_aside(tenant, packet, refused.error, lambda: None)
            return
        except LikewiseError as error:
            _log.warning("a will is refused", client=client[:200], error=str(error))
            return
        for part, entry in enumerate(request[0]):
            entry.message = message if not part else Kept(message.topic, b"", message.qos, part=part)
        home.door.hand_in(request)


__all__ = ["Publishing"]
