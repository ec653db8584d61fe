"""Acknowledge messages of clients when they are on disk, or refuse them; and take clients' acknowledgements.

Who speaks MQTT 5 is told the reason; who speaks 3.1.1 can only be told that it was taken, so what is refused is kept as
a dead letter. What cannot be stored now is not acknowledged: the connection ends, and the client repeats it.

Acknowledgements of clients: of what they were sent, and of what they sent with QoS 2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

import structlog

from likewise.broker.log.deliveries import Delivery, read
from likewise.broker.log.mqtt.messages import read_messages
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_DEAD_LETTER_BYTES, SEND_PAGE, SEND_PAGE_BYTES
from likewise.errors import (
    AccessError,
    FormatError,
    InvalidEvent,
    LikewiseError,
    LimitExceeded,
    RateExceeded,
    Unavailable,
)
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.outbox import DeliveryOutbox
from likewise.server.mqtt.broker.delivery.session import AWAITS_ACK, AWAITS_COMPLETE, InFlight, Session
from likewise.server.mqtt.codec import MQTT_5, Acknowledgement, Puback, Pubcomp, Publish, Pubrec, Pubrel, Reason, encode


class ClientAcknowledgements:
    """Takes acknowledgements, and sends again what was not acknowledged when a connection broke."""

    def __init__(self, home: ListenerContext) -> None:
        self._home = home

    def take(self, connection: MqttConnection, packet: Acknowledgement) -> None:
        """Take an acknowledgement; one that is not awaited changes nothing."""
        session = connection.session
        assert session is not None
        if isinstance(packet, Pubrel):
            self._release(connection, session, packet.packet_id)
            return
        flight = session.flights.get(packet.packet_id)
        match packet:
            case Puback() if flight is not None and flight.state == AWAITS_ACK:
                flight.outbox.complete_flight(flight)
            case Pubcomp() if flight is not None and flight.state == AWAITS_COMPLETE:
                flight.outbox.complete_flight(flight)
            case Pubrec():
                self._received(connection, flight, packet)

    def _received(self, connection: MqttConnection, flight: InFlight | None, packet: Pubrec) -> None:
        """Take a PUBREC. It must be on disk before PUBREL tells the client to forget the message."""
        if flight is None or flight.state == AWAITS_ACK:
            if packet.reason < Reason.UNSPECIFIED_ERROR:
                missing = Reason.PACKET_IDENTIFIER_NOT_FOUND if connection.version == MQTT_5 else Reason.SUCCESS
                connection.send_packet(Pubrel(packet.packet_id, missing))
            return
        if packet.reason >= Reason.UNSPECIFIED_ERROR:
            flight.outbox.complete_flight(flight)
            return
        if flight.state == AWAITS_COMPLETE:
            connection.send_packet(Pubrel(packet.packet_id))
            return
        flight.state = AWAITS_COMPLETE
        answer = partial(connection.send_packet, Pubrel(packet.packet_id))
        if flight.session.number:
            self._home.rows.write_first(flight, answer)
        else:
            answer()

    def _release(self, connection: MqttConnection, session: Session, packet: int) -> None:
        """Take a PUBREL. The packet id is free when that is on disk."""
        if packet not in session.received:
            missing = Reason.PACKET_IDENTIFIER_NOT_FOUND if connection.version == MQTT_5 else Reason.SUCCESS
            connection.send_packet(Pubcomp(packet, missing))
            return
        if not session.received[packet]:  # it is still being stored: a client that does not wait for PUBREC
            session.received[packet] = None
            return

        def answer() -> None:
            session.received.pop(packet, None)
            # The packet may have been sent over an earlier connection.
            connection.received_qos2 = max(0, connection.received_qos2 - 1)
            connection.send_packet(Pubcomp(packet))

        if session.number:
            self._home.rows.released(session.number, packet, answer)
        else:
            answer()

    # -- again ----------------------------------------------------------------------------------

    def resend(self, connection: MqttConnection, session: Session) -> None:
        """Resend what a client that is back has not acknowledged, then what waits."""
        for sender in session.senders:
            if isinstance(sender, DeliveryOutbox) and not sender.shared:
                sender.cursor = sender.queue.acknowledged
        if session.flights:
            self._home.spawn(self._resend(connection, session, list(session.flights.values())))
        else:
            session.pump()

    async def _resend(self, connection: MqttConnection, session: Session, flights: list[InFlight]) -> None:
        connection.ready = False  # what is in flight comes first
        flights.sort(key=lambda flight: flight.sequence)
        rest = deque(flights)
        while rest:
            awaited = [flight.sequence for flight in rest if flight.state != AWAITS_COMPLETE]
            read_now: dict[int, Delivery | None] = {}
            if awaited:
                reads, work = self._home.gateway.executors.reads, partial(self._read, session, awaited[:SEND_PAGE])
                read_now = await reads.run(session.tenant.name, work)
            last = max(read_now, default=0)
            while rest and (rest[0].state == AWAITS_COMPLETE or rest[0].sequence <= last):
                if not await connection.drained():
                    return
                self._resend_packet(connection, session, rest.popleft(), read_now)
        if not connection.closed:
            connection.ready = True
            session.pump()

    def _resend_packet(
        self, connection: MqttConnection, session: Session, flight: InFlight, deliveries: dict[int, Delivery | None]
    ) -> None:
        """Send one packet again, unless it was acknowledged meanwhile."""
        if session.flights.get(flight.packet) is not flight:
            return
        if flight.state == AWAITS_COMPLETE:
            connection.send(encode(Pubrel(flight.packet), connection.version))
            return
        delivery, outbox = deliveries.get(flight.sequence), flight.outbox
        assert isinstance(outbox, DeliveryOutbox)
        over = delivery is None or delivery.over(self._home.broker.clock())
        parts = [] if delivery is None or over else outbox.packets_of(delivery, session, connection)
        part = next((each for each in parts if each.part == flight.part), None)
        if part is None:  # it is over, or was unsubscribed from
            outbox.complete_flight(flight)
            return
        qos = 1 if flight.state == AWAITS_ACK else 2
        connection.send(
            part.encoded.encode_for(qos, flight.packet, retain=part.retain, dup=True, identifiers=part.identifiers)
        )

    def _read(self, session: Session, numbers: list[int]) -> dict[int, Delivery | None]:
        """Read deliveries in their order until they have the bytes of a page; None for one that is gone."""
        deliveries: dict[int, Delivery | None] = {}
        size = 0
        with self._home.broker.store.reading() as tables:
            for number in numbers:
                if number in deliveries:  # another packet of the same delivery
                    continue
                if size >= SEND_PAGE_BYTES:
                    break
                deliveries[number] = delivery = next(iter(read(tables, session.tenant.number, (number,))), None)
                if delivery is not None:
                    delivery.message = read_messages(tables, (delivery.event,)).get(delivery.event)
                    size += delivery.size
        return deliveries


_log = structlog.get_logger("likewise.mqtt")
Acknowledge = Callable[[MqttConnection, Publish], None]


class PublishAcknowledgements:
    """Acknowledges and refuses messages."""

    def __init__(self, home: ListenerContext) -> None:
        self._home = home

    def acknowledge(self, connection: MqttConnection, packet: Publish) -> None:
        """Tell a client that a message of QoS 1 or 2 was taken."""
        if packet.qos == 2:
            self.received(connection, packet)
        else:
            connection.received_qos2 -= 1
            connection.send_packet(Puback(packet.packet_id))

    def received(self, connection: MqttConnection, packet: Publish) -> None:
        """Note that a message of QoS 2 is on disk."""
        session = connection.session
        assert session is not None
        hasty = session.received.get(packet.packet_id, False) is None
        session.received[packet.packet_id] = True
        line = session.connection or connection  # the client may have come back meanwhile, and waits there
        line.send(encode(Pubrec(packet.packet_id), line.version))
        if hasty:
            connection.server.acknowledge(connection, Pubrel(packet.packet_id))

    def refuse(self, connection: MqttConnection, packet: Publish, error: BaseException) -> None:
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
                _log.error("mqtt_message_store_failed", topic=packet.topic[:200], exc_info=error)
            connection.end(Reason.SERVER_BUSY, f"what was sent is not stored: {error}")
            return
        broker.metrics.refused(tenant.name, error.code)
        if not packet.qos:
            self.dead_letter(tenant, packet, error, lambda: None)
        elif connection.version == MQTT_5:
            made = Puback if packet.qos == 1 else Pubrec
            answer = made(packet.packet_id, reason_of(error), connection.reason_properties(str(error)))

            def told() -> None:
                connection.received_qos2 -= 1
                connection.send_packet(answer)

            if isinstance(error, AccessError):
                told()
            else:
                self.dead_letter(tenant, packet, error, told)
        else:
            self.dead_letter(tenant, packet, error, lambda: self.acknowledge(connection, packet))

    def dead_letter(self, tenant: Tenant, packet: Publish, error: LikewiseError, then: Callable[[], None]) -> None:
        """Keep a refused message as a dead letter, then go on."""
        kind = packet.properties.content_type or "application/octet-stream"
        detailed = FormatError(f"published to {packet.topic[:200]!r}: {error}")
        self._home.broker.add_dead_letter(
            tenant, detailed, packet.payload[:MAX_DEAD_LETTER_BYTES], lambda result: self._home.bridge.call(then), kind
        )


def reason_of(error: LikewiseError) -> Reason:
    """Return the MQTT reason code of an error.

    >>> from likewise.errors import NotAllowed
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
