"""Messages become events, and are acknowledged when those are on disk; many share one commit.

What is refused is said: with a reason to who speaks MQTT 5; who speaks 3.1.1 can only be told that it was taken, so it
is kept as a dead letter. What cannot be stored now is not acknowledged: the connection ends, and the client repeats it.
A tenant's rate holds up what nobody could be told about.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import structlog

from likewise.broker.catalogue.telling import ANNOUNCEMENTS, SENSE
from likewise.broker.store.mqtt.messages import Kept
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.connectors.ingress import sourced
from likewise.connectors.media_types import Unreadable
from likewise.connectors.mqtt.codec import MQTT_5, NO_PROPERTIES, Puback, Publish, Pubrec, Pubrel, Reason, encode
from likewise.connectors.mqtt.listener.announcing import announced_in, start_announcing
from likewise.connectors.mqtt.listener.connection import Connection
from likewise.connectors.mqtt.listener.sending.home import Home
from likewise.connectors.mqtt.listener.sending.names import OWN, SHARED, SUBSCRIPTIONS
from likewise.connectors.mqtt.listener.sending.rendering import kept_properties
from likewise.connectors.mqtt.messages import Message
from likewise.defaults import BLOCK_SECONDS, MAX_DEAD_LETTER_BYTES, OFF_LOOP_BYTES
from likewise.errors import (
    AccessError,
    FormatError,
    InvalidEvent,
    LikewiseError,
    LimitExceeded,
    NotAllowed,
    RateExceeded,
    Unavailable,
)
from likewise.formats.json.batches import Around, first_end, keys_once, read_decoded
from likewise.model import Event
from likewise.model.time import SECOND

_log = structlog.get_logger("likewise.mqtt")
BLOCKED_SECONDS: Final = 0.05  # before a full queue that blocks is looked at again
_RESERVED: Final = (OWN, SHARED, "$SYS/", SENSE)
_OBJECT: Final = (None, "", "application/json")
_ANYTHING: Final = msgspec.json.Decoder(dict[str, Any])
Read = tuple[Publish, list[Event]]
Acknowledge = Callable[[Connection, Publish], None]


class _PlainMessage(NamedTuple):
    """A message that is a JSON object and nothing else, on its way."""

    connection: Connection
    packet: Publish
    message: Kept
    payload: dict[str, Any]
    envelope: bytes
    source: str


class Publishing:
    """Publishes for connections; `subscribed` takes the messages that make subscriptions, and acknowledges them."""

    def __init__(self, home: Home, subscribed: Callable[[Connection, Publish, Acknowledge], None]) -> None:
        self._home = home
        self._subscribed = subscribed
        self._plain: dict[Tenant, list[_PlainMessage]] = {}  # of this turn of the loop

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
            if free and self._take_plainly(connection, tenant, packet):
                continue
            if packet.topic.startswith(OWN + SUBSCRIPTIONS):
                self._store(connection, read)
                if connection.busy:
                    connection.taken -= bool(packet.qos)
                    connection.wait_with(packets[place:])
                    return
                self._subscribed(connection, packet, self.acknowledge)
                if len(packets) > place + 1:
                    connection.wait_with(packets[place + 1 :])
                return
            if packet.topic.startswith(ANNOUNCEMENTS):
                self._store(connection, read)
                if connection.busy:
                    connection.taken -= bool(packet.qos)
                    connection.wait_with(packets[place:])
                    return
                self._announce(connection, packet)
                if len(packets) > place + 1:
                    connection.wait_with(packets[place + 1 :])
                return
            try:
                read.append((packet, self.read(tenant, access, session.client, packet)))
            except Unreadable as refused:
                self._refuse(connection, packet, refused.error)
            except LikewiseError as refused:
                self._refuse(connection, packet, refused)
            else:
                if packet.qos == 2:
                    session.received[packet.packet_id] = False
        self._store(connection, read)

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
                self._refuse(connection, packet, result)
            elif packet.qos:
                self.acknowledge(connection, packet)
            connection.go_on()

        try:
            home.door.take(tenant, 1)
            source, said = announced_in(access, packet.topic, packet.payload)
            start_announcing(home, tenant, source, said, lambda result: home.bridge.call(over, result))
        except LikewiseError as refused:  # said in the next turn, when what came after it waits
            asyncio.get_running_loop().call_soon(over, refused)

    # -- plainly --------------------------------------------------------------------------------

    def _take_plainly(self, connection: Connection, tenant: Tenant, packet: Publish) -> bool:
        """Gather a message that is a JSON object and says nothing else; whether it is one.

        Those of all connections in one turn of the loop are read into columns together and stored with one request.
        """
        payload, properties = packet.payload, packet.properties
        if payload[:1] != b"{" or payload[-1:] != b"}" or len(payload) > OFF_LOOP_BYTES or packet.topic[0] == "$":
            return False
        if properties is not NO_PROPERTIES and (properties.content_type not in _OBJECT or properties.user):
            return False
        plain = self._home.reader(tenant).plain(packet.topic)
        if plain is None:
            return False
        try:
            found = _ANYTHING.decode(payload)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return False
        if not found or not plain.taken.isdisjoint(found) or not keys_once(payload, found):
            return False
        session = connection.session
        assert session is not None
        now = 0 if properties.message_expiry is None else self._home.broker.clock()
        message = kept(packet, session.client, now)
        envelope = plain.envelope(payload, session.client_json, message.expires)
        found.update(plain.names)
        found["client"] = session.client
        if packet.qos == 2:
            session.received[packet.packet_id] = False
        waiting = self._plain.get(tenant)
        if waiting is None:
            waiting = self._plain[tenant] = []
            asyncio.get_running_loop().call_soon(self._store_plainly, tenant)
        waiting.append(_PlainMessage(connection, packet, message, found, envelope, plain.source))
        return True

    def _store_plainly(self, tenant: Tenant) -> None:
        """Store what was gathered; what cannot be read so, or stored now, goes the other way, each by itself."""
        waiting = self._plain.pop(tenant, None)
        if not waiting:
            return
        home = self._home
        try:
            home.door.take(tenant, len(waiting))
            batch = read_decoded(
                [each.payload for each in waiting],
                [each.envelope for each in waiting],
                [Around(False, None, each.source, None, each.message.expires) for each in waiting],
            )
        except LikewiseError:  # of one of them, or too much at once: those who can be are told which
            self._take_apart(waiting)
            return
        begun = time.perf_counter()

        def done(result: object) -> None:
            home.bridge.call(self._stored_plainly, tenant, waiting, begun, result)

        try:
            request = home.door.request(tenant, batch, done)
        except LikewiseError as error:
            self._stored_plainly(tenant, waiting, begun, error)
            return
        for entry, each in zip(request[0], waiting, strict=True):
            entry.message = each.message
            session = each.connection.session
            if each.packet.qos == 2 and session is not None and session.number:
                entry.received = (session.number, each.packet.packet_id)
        home.door.hand_in(request)

    def _take_apart(self, waiting: list[_PlainMessage]) -> None:
        """Read messages the other way, and store those of each connection together."""
        read: dict[Connection, list[Read]] = {}
        for connection, packet, *_ in waiting:
            session, access, tenant = connection.session, connection.access, connection.tenant
            if connection.closed or session is None or access is None or tenant is None:
                continue
            try:
                events = self.read(tenant, access, session.client, packet)
            except Unreadable as refused:
                self._refuse(connection, packet, refused.error)
            except LikewiseError as refused:
                self._refuse(connection, packet, refused)
            else:
                read.setdefault(connection, []).append((packet, events))
        for connection, own in read.items():
            self._store(connection, own)

    def _stored_plainly(
        self, tenant: Tenant, waiting: list[_PlainMessage], begun: float, result: object
    ) -> None:  # fmt: skip
        if isinstance(result, BaseException):
            for each in waiting:
                self._refuse(each.connection, each.packet, result)
            return
        self._home.broker.metrics.published(tenant.name, time.perf_counter() - begun)
        self._home.counters(tenant).stored += len(waiting)
        answers: dict[Connection, list[bytes]] = {}
        for connection, packet, *_ in waiting:
            if packet.qos == 1:
                connection.taken -= 1
                answers.setdefault(connection, []).append(b"\x40\x02" + packet.packet_id.to_bytes(2))
            elif packet.qos == 2:
                self._received(connection, packet)
        for connection, said in answers.items():
            connection.send(b"".join(said))

    def acknowledge(self, connection: Connection, packet: Publish) -> None:
        """Tell a client that a message of QoS 1 or 2 was taken."""
        if packet.qos == 2:
            self._received(connection, packet)
        else:
            connection.taken -= 1
            connection.say(Puback(packet.packet_id))

    def _received(self, connection: Connection, packet: Publish) -> None:
        """A message of QoS 2 is on disk."""
        session = connection.session
        assert session is not None
        hasty = session.received.get(packet.packet_id, False) is None
        session.received[packet.packet_id] = True
        line = session.connection or connection  # the client may have come back meanwhile, and waits there
        line.send(encode(Pubrec(packet.packet_id), line.version))
        if hasty:
            connection.server.acknowledge(connection, Pubrel(packet.packet_id))

    # -- each by itself -------------------------------------------------------------------------

    def read(self, tenant: Tenant, access: Access, client: str, packet: Publish) -> list[Event]:
        """The events of a message, at least one; refused if its client may not publish it."""
        topic, properties, reader = packet.topic, packet.properties, self._home.reader(tenant)
        access.require("publish")
        if topic.startswith(ANNOUNCEMENTS):  # a will: checked now, carried out when it is published
            announced_in(access, topic, packet.payload)
            return []
        if topic.startswith(_RESERVED):
            raise AccessError(
                f"{topic[:200]!r} is the broker's own to publish to; choose a topic that begins otherwise"
            )
        if not access.free("publish") and not access.covers(source := reader.source_of(topic)):
            raise NotAllowed(f"publish:{source}")
        message = Message(
            topic, packet.payload, properties.content_type or "", properties.user, properties.message_expiry,
            packet.qos, packet.retain, client,
        )  # fmt: skip
        try:
            events = reader.read(message, self._home.broker.clock())
        except Unreadable:
            if reader.strict(topic):
                raise
            events = []
        except RecursionError:
            raise Unreadable(FormatError("the payload is nested too deeply"), packet.payload) from None
        self._home.counters(tenant).unannounced = reader.unannounced
        if not events and access.free("publish"):
            self._home.broker.announcements.hear(tenant, reader.announcements(message))
        found: Sequence[Event] = events or [reader.noted(message, self._home.broker.clock())]
        found = sourced(access, found)
        if (ends := first_end(found)) is not None and ends < 0:
            raise InvalidEvent(f"`expires` is {ends}, before 1970; give the end of its validity, or leave it out")
        return list(found)

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
                self._refuse(connection, packet, wait)
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
        self._store_plainly(tenant)  # what came before them
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
                    self._refuse(connection, packet, result)
            return
        home = self._home
        home.broker.metrics.published(tenant.name, time.perf_counter() - begun)
        home.counters(tenant).stored += sum(len(events) for _, events in read)
        for packet, _ in read:
            if packet.qos:
                self.acknowledge(connection, packet)

    def _refuse(self, connection: Connection, packet: Publish, error: BaseException) -> None:
        """Say why a message is refused; who cannot be told has it kept as a dead letter."""
        tenant, session = connection.tenant, connection.session
        assert tenant is not None
        assert session is not None
        counters, broker = self._home.counters(tenant), self._home.broker
        counters.refused += 1
        later = connection.version != MQTT_5 and isinstance(error, LikewiseError) and not isinstance(error, Unavailable)
        if packet.qos == 2 and later:  # taken, and to be released, once it is set aside
            session.received.setdefault(packet.packet_id, False)
        elif packet.qos == 2:
            session.received.pop(packet.packet_id, None)
        if not isinstance(error, LikewiseError) or isinstance(error, Unavailable):
            if not isinstance(error, LikewiseError):
                _log.error("a message could not be stored", topic=packet.topic[:200], exc_info=error)
            connection.end(Reason.SERVER_BUSY, f"what was sent is not stored: {error}")
            return
        broker.metrics.refused(tenant.name, error.code)
        if not packet.qos:
            self._set_aside(tenant, packet, error, lambda: None)
        elif connection.version == MQTT_5:
            made = Puback if packet.qos == 1 else Pubrec
            answer = made(packet.packet_id, reason_of(error), connection.told(str(error)))

            def told() -> None:
                connection.taken -= 1
                connection.say(answer)

            if isinstance(error, AccessError):
                told()
            else:
                self._set_aside(tenant, packet, error, told)
        else:
            self._set_aside(tenant, packet, error, lambda: self.acknowledge(connection, packet))

    def _set_aside(self, tenant: Tenant, packet: Publish, error: LikewiseError, then: Callable[[], None]) -> None:
        kind = packet.properties.content_type or "application/octet-stream"
        said = FormatError(f"published to {packet.topic[:200]!r}: {error}")
        self._home.broker.set_aside(
            tenant, said, packet.payload[:MAX_DEAD_LETTER_BYTES], lambda result: self._home.bridge.call(then), kind
        )

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
            events = self.read(tenant, access, client, packet)
            request = home.door.request(tenant, events, done)
        except Unreadable as refused:
            self._set_aside(tenant, packet, refused.error, lambda: None)
            return
        except LikewiseError as error:
            _log.warning("a will is refused", client=client[:200], error=str(error))
            return
        for part, entry in enumerate(request[0]):
            entry.message = message if not part else Kept(message.topic, b"", message.qos, part=part)
        home.door.hand_in(request)


def kept(packet: Publish, client: str, now: int) -> Kept:
    """A message as it is kept."""
    properties = packet.properties
    expiry = properties.message_expiry
    return Kept(
        packet.topic, packet.payload, packet.qos, packet.retain, kept_properties(properties),
        None if expiry is None else now + expiry * SECOND, client,
    )  # fmt: skip


def reason_of(error: LikewiseError) -> Reason:
    """The reason code that an error is said with.

    >>> reason_of(NotAllowed("publish")).name, reason_of(FormatError("no JSON")).name
    ('NOT_AUTHORIZED', 'PAYLOAD_FORMAT_INVALID')
    """
    match error:
        case RateExceeded() | LimitExceeded():
            return Reason.QUOTA_EXCEEDED
        case AccessError():
            return Reason.NOT_AUTHORIZED
        case FormatError() | InvalidEvent():
            return Reason.PAYLOAD_FORMAT_INVALID
        case _:
            return Reason.IMPLEMENTATION_SPECIFIC_ERROR


__all__ = ["Publishing", "kept", "reason_of"]
