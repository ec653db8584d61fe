"""Messages become events, and are acknowledged when those are on disk; many share one commit.

What a client is told is in `acknowledgements`. A tenant's rate holds up what nobody could be told about.

Messages that are a JSON object and say nothing else: read into columns together, stored with one request.

Most devices send nothing but such messages. Those of all connections in one turn of the loop share the work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
import structlog

from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.backpressure import is_blocked
from likewise.broker.tenants.quotas import check_retained
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import BLOCK_SECONDS, OFF_LOOP_BYTES
from likewise.errors import LikewiseError, RateExceeded, Unavailable
from likewise.formats.json.batches import batch_of_documents, has_unique_keys
from likewise.formats.json.envelope_bytes import EnvelopeFields
from likewise.model import Event
from likewise.server.media_types import UnreadableInput
from likewise.server.mqtt.broker.acknowledgements import Acknowledge, PublishAcknowledgements
from likewise.server.mqtt.broker.announcements import apply_announcement, parse_announcement
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.topic_filters import SEMANTIC_PREFIX, SUBSCRIPTIONS
from likewise.server.mqtt.broker.message_events import decode_events, message_bytes, stored_message
from likewise.server.mqtt.codec import MQTT_5, NO_PROPERTIES, Publish, Pubrec, Reason

_OBJECT: Final = (None, "", "application/json")
_ANYTHING: Final = msgspec.json.Decoder(dict[str, Any])


class JsonMessage(NamedTuple):
    """A message that is a JSON object and nothing else, on its way."""

    connection: MqttConnection
    packet: Publish
    message: StoredMessage
    payload: dict[str, Any]
    envelope: bytes
    source: str


class JsonMessageBatches:
    """Gathers and stores them; `apart` takes those that cannot be stored so, each by itself."""

    def __init__(
        self, home: ListenerContext, answers: PublishAcknowledgements, fallback: Callable[[list[JsonMessage]], None]
    ) -> None:
        self._home = home
        self._answers = answers
        self._fallback = fallback
        self._waiting: dict[Tenant, list[JsonMessage]] = {}  # of this turn of the loop

    def add(self, connection: MqttConnection, tenant: Tenant, packet: Publish) -> bool:
        """Gather a message that is a JSON object and says nothing else; whether it is one.

        Those of all connections in one turn of the loop are read into columns together and stored with one request.
        """
        payload, properties = packet.payload, packet.properties
        if payload[:1] != b"{" or payload[-1:] != b"}" or len(payload) > OFF_LOOP_BYTES or packet.topic[0] == "$":
            return False
        if properties is not NO_PROPERTIES and (properties.content_type not in _OBJECT or properties.user):
            return False
        plain = self._home.reader(tenant).envelope_template(packet.topic)
        if plain is None:
            return False
        try:
            document = _ANYTHING.decode(payload)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return False
        if not document or not plain.reserved.isdisjoint(document) or not has_unique_keys(payload, document):
            return False
        session = connection.session
        assert session is not None
        now = 0 if properties.message_expiry is None else self._home.broker.clock()
        message = stored_message(packet, session.client, now)
        envelope = plain.envelope(payload, session.client_json, message.expires)
        document.update(plain.names)
        document["client"] = session.client
        if packet.qos == 2:
            session.received[packet.packet_id] = False
        waiting = self._waiting.get(tenant)
        if waiting is None:
            waiting = self._waiting[tenant] = []
            asyncio.get_running_loop().call_soon(self.store, tenant)
        waiting.append(JsonMessage(connection, packet, message, document, envelope, plain.source))
        return True

    def store(self, tenant: Tenant) -> None:
        """Store what was gathered; what cannot be read so, or stored now, goes the other way, each by itself."""
        waiting = self._waiting.pop(tenant, None)
        if not waiting:
            return
        home = self._home
        try:
            home.gateway.check_rate(tenant, len(waiting))
            batch = batch_of_documents(
                [each.payload for each in waiting],
                [each.envelope for each in waiting],
                [EnvelopeFields(False, None, each.source, None, each.message.expires) for each in waiting],
            )
        except LikewiseError:  # of one of them, or too much at once: those who can be are told which
            self._fallback(waiting)
            return
        begun = time.perf_counter()

        def done(result: object) -> None:
            home.bridge.call(self._stored, tenant, waiting, begun, result)

        try:
            request = home.gateway.request(tenant, batch, done)
        except LikewiseError as error:
            self._stored(tenant, waiting, begun, error)
            return
        for entry, each in zip(request[0], waiting, strict=True):
            entry.message = each.message
            session = each.connection.session
            if each.packet.qos == 2 and session is not None and session.number:
                entry.received = (session.number, each.packet.packet_id)
        home.gateway.submit(request)

    def _stored(self, tenant: Tenant, waiting: list[JsonMessage], begun: float, result: object) -> None:
        """They are on disk: acknowledge them, those of a connection in one write."""
        if isinstance(result, BaseException):
            for each in waiting:
                self._answers.refuse(each.connection, each.packet, result)
            return
        self._home.broker.metrics.published(tenant.name, time.perf_counter() - begun)
        self._home.counters(tenant).stored += len(waiting)
        answers: dict[MqttConnection, list[bytes]] = {}
        for connection, packet, *_ in waiting:
            if packet.qos == 1:
                connection.received_qos2 -= 1
                answers.setdefault(connection, []).append(b"\x40\x02" + packet.packet_id.to_bytes(2))
            elif packet.qos == 2:
                self._answers.received(connection, packet)
        for connection, packets in answers.items():
            connection.send(b"".join(packets))


_log = structlog.get_logger("likewise.mqtt")
BLOCKED_SECONDS: Final = 0.05  # before a full queue that blocks is looked at again
Read = tuple[Publish, list[Event]]
Take = Callable[[MqttConnection, Publish], None]  # what a message is handed to that is a command


class MessagePublisher:
    """Publishes for connections; `subscribed` takes the messages that make subscriptions, and acknowledges them."""

    def __init__(
        self, home: ListenerContext, subscribed: Callable[[MqttConnection, Publish, Acknowledge], None]
    ) -> None:
        self._home = home
        self._subscribed = subscribed
        self._answers = PublishAcknowledgements(home)
        self._plain = JsonMessageBatches(home, self._answers, self._publish_individually)

    def take(self, connection: MqttConnection, packets: list[Publish]) -> None:
        """Publish messages of a client in their order."""
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
                        connection.send_packet(Pubrec(packet.packet_id))
                    continue
                connection.received_qos2 += 1
                if connection.received_qos2 > most:
                    connection.end(Reason.RECEIVE_MAXIMUM_EXCEEDED, f"at most {most:,} messages are taken at once")
                    return
            command = self._command_for(packet.topic)
            if packet.retain and packet.payload and command is None:
                try:
                    check_retained(tenant, packet.topic, message_bytes(packet), self._home.broker.config.limits)
                except LikewiseError as refused:
                    self._answers.refuse(connection, packet, refused)
                    continue
            # What came before it in one read and is not stored yet has to stay before it.
            if free and not read and self._plain.add(connection, tenant, packet):
                continue
            if command is not None:
                self._store(connection, read)
                if connection.busy:
                    connection.received_qos2 -= bool(packet.qos)
                    connection.suspend_with(packets[place:])
                    return
                command(connection, packet)
                if len(packets) > place + 1:
                    connection.suspend_with(packets[place + 1 :])
                return
            if (events := self._decode(connection, packet)) is not None:
                read.append((packet, events))
                if packet.qos == 2:
                    session.received[packet.packet_id] = False
        self._store(connection, read)

    def _decode(self, connection: MqttConnection, packet: Publish) -> list[Event] | None:
        """Return the events of a message; None if it is refused, which its client is told."""
        session, access, tenant = connection.session, connection.access, connection.tenant
        assert session is not None
        assert access is not None
        assert tenant is not None
        try:
            return decode_events(self._home, tenant, access, session.client, packet)
        except UnreadableInput as refused:
            self._answers.refuse(connection, packet, refused.error)
        except LikewiseError as refused:
            self._answers.refuse(connection, packet, refused)
        return None

    def _command_for(self, topic: str) -> Take | None:
        """Return what processes a topic that is a command to the broker; None for any other."""
        if topic.startswith(SEMANTIC_PREFIX + SUBSCRIPTIONS):
            return lambda connection, packet: self._subscribed(connection, packet, self._answers.acknowledge)
        return self._announce if topic.startswith(ANNOUNCEMENTS) else None

    def _announce(self, connection: MqttConnection, packet: Publish) -> None:
        """Hold what a device announces; what comes after it waits."""
        tenant, access, home = connection.tenant, connection.access, self._home
        assert tenant is not None
        assert access is not None
        connection.suspend()
        if packet.qos == 2 and connection.session is not None:
            connection.session.received[packet.packet_id] = False

        def over(result: object) -> None:
            if isinstance(result, BaseException):
                self._answers.refuse(connection, packet, result)
            elif packet.qos:
                self._answers.acknowledge(connection, packet)
            connection.continue_packets()

        try:
            home.gateway.check_rate(tenant, 1)
            source, announcement = parse_announcement(access, packet.topic, packet.payload)
            apply_announcement(home.broker, tenant, source, announcement, lambda result: home.bridge.call(over, result))
        except LikewiseError as refused:  # said in the next turn, when what came after it waits
            asyncio.get_running_loop().call_soon(over, refused)

    def _publish_individually(self, waiting: list[JsonMessage]) -> None:
        """Read messages the other way, and store those of each connection together."""
        read: dict[MqttConnection, list[Read]] = {}
        for connection, packet, *_ in waiting:
            if not connection.closed and (events := self._decode(connection, packet)) is not None:
                read.setdefault(connection, []).append((packet, events))
        for connection, messages in read.items():
            self._store(connection, messages)

    def _store(self, connection: MqttConnection, read: list[Read]) -> None:
        """Hand messages over to be stored together; who cannot be told about a rate is held up by it."""
        if not read or connection.closed:
            return
        tenant, gateway = connection.tenant, self._home.gateway
        assert tenant is not None
        if is_blocked(tenant):
            self._delay(connection, read, BLOCKED_SECONDS, time.monotonic() + BLOCK_SECONDS)
            return
        try:
            gateway.check_rate(tenant, sum(len(events) for _, events in read))
        except RateExceeded as wait:
            answerable = [packet for packet, _ in read if packet.qos and connection.version == MQTT_5]
            for packet in answerable:
                self._answers.refuse(connection, packet, wait)
            if rest := [each for each in read if each[0] not in answerable]:
                self._delay(connection, rest, min(1.0, max(0.01, wait.retry_after)))
            return
        self._submit(connection, tenant, read)

    def _delay(self, connection: MqttConnection, read: list[Read], seconds: float, until: float | None = None) -> None:
        """Try again after a while; nothing else comes from this connection meanwhile."""
        connection.suspend()
        connection.set_reading_paused(True)
        asyncio.get_running_loop().call_later(seconds, self._retry, connection, read, until)

    def _retry(self, connection: MqttConnection, read: list[Read], until: float | None) -> None:
        if connection.closed:
            return
        tenant = connection.tenant
        assert tenant is not None
        if until is not None and is_blocked(tenant):
            if time.monotonic() > until or self._home.gateway.stopping.is_set():
                connection.end(Reason.SERVER_BUSY, "a subscriber's queue is full and blocks publishers; publish later")
            else:
                self._delay(connection, read, BLOCKED_SECONDS, until)
            return
        connection.busy = False
        self._store(connection, read)
        if not connection.busy:
            connection.continue_packets()

    def _submit(self, connection: MqttConnection, tenant: Tenant, read: list[Read]) -> None:
        """Append the events of messages in one request, each with what it came in."""
        self._plain.store(tenant)  # what came before them
        session = connection.session
        assert session is not None
        begun, home = time.perf_counter(), self._home

        def done(result: object) -> None:
            home.bridge.call(self._stored, connection, tenant, read, begun, result)

        try:
            request = home.gateway.request(tenant, [event for _, events in read for event in events], done)
        except LikewiseError as error:
            self._stored(connection, tenant, read, begun, error)
            return
        entries, place, now = request[0], 0, home.broker.clock()
        for packet, events in read:
            message = stored_message(packet, session.client, now)
            entry = entries[place]
            entry.message = message
            if packet.qos == 2 and session.number:
                entry.received = (session.number, packet.packet_id)
            for part in range(1, len(events)):
                entries[place + part].message = StoredMessage(message.topic, b"", message.qos, part=part)
            place += len(events)
        home.gateway.submit(request)

    def _stored(
        self, connection: MqttConnection, tenant: Tenant, read: list[Read], begun: float, result: object
    ) -> None:
        """They are on disk: acknowledge them. If one of them cannot be, each is tried alone."""
        if isinstance(result, BaseException):
            if len(read) > 1 and not isinstance(result, Unavailable):
                for each in read:
                    self._submit(connection, tenant, [each])
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

    def publish_for(self, tenant: Tenant, access: Access, client: str, message: StoredMessage) -> None:
        """Publish a message on a client's behalf: its will."""
        home = self._home
        packet = Publish(message.topic, message.payload, message.qos, message.retain)

        def done(result: object) -> None:
            if isinstance(result, BaseException):
                _log.warning("mqtt_will_failed", client=client[:200], error=str(result))

        try:
            if message.topic.startswith(ANNOUNCEMENTS):
                source, announcement = parse_announcement(access, message.topic, message.payload)
                apply_announcement(home.broker, tenant, source, announcement, done)
                return
            if message.retain and message.payload:
                check_retained(tenant, message.topic, message_bytes(packet), home.broker.config.limits)
            events = decode_events(self._home, tenant, access, client, packet)
            request = home.gateway.request(tenant, events, done)
        except UnreadableInput as refused:
            self._answers.dead_letter(tenant, packet, refused.error, lambda: None)
            return
        except LikewiseError as error:
            _log.warning("mqtt_will_refused", client=client[:200], error=str(error))
            return
        for part, entry in enumerate(request[0]):
            entry.message = message if not part else StoredMessage(message.topic, b"", message.qos, part=part)
        home.gateway.submit(request)
