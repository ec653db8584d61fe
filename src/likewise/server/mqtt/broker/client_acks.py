"""Acknowledgements of clients: of what they were sent, and of what they sent with QoS 2."""

from __future__ import annotations

from collections import deque
from functools import partial

from likewise.broker.log.deliveries import Delivery, read
from likewise.broker.log.mqtt.messages import read_messages
from likewise.defaults import SEND_PAGE, SEND_PAGE_BYTES
from likewise.server.mqtt.broker.connection import Connection
from likewise.server.mqtt.broker.delivery.context import Home
from likewise.server.mqtt.broker.delivery.outbox import Outbox
from likewise.server.mqtt.broker.delivery.session import AWAITS_ACK, AWAITS_COMPLETE, InFlight, Session
from likewise.server.mqtt.codec import MQTT_5, Puback, Pubcomp, Pubrec, Pubrel, Reason, encode


class Receiving:
    """Takes acknowledgements, and sends again what was not acknowledged when a connection broke."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def take(self, connection: Connection, packet: Puback | Pubrec | Pubrel | Pubcomp) -> None:
        """An acknowledgement came; one of nothing that is awaited changes nothing."""
        session = connection.session
        assert session is not None
        if isinstance(packet, Pubrel):
            self._release(connection, session, packet.packet_id)
            return
        flight = session.flights.get(packet.packet_id)
        match packet:
            case Puback() if flight is not None and flight.state == AWAITS_ACK:
                flight.outbox.settle_flight(flight)
            case Pubcomp() if flight is not None and flight.state == AWAITS_COMPLETE:
                flight.outbox.settle_flight(flight)
            case Pubrec():
                self._received(connection, flight, packet)

    def _received(self, connection: Connection, flight: InFlight | None, packet: Pubrec) -> None:
        """The client has a message of QoS 2. That must be on disk before it is told to forget it."""
        if flight is None or flight.state == AWAITS_ACK:
            if packet.reason < Reason.UNSPECIFIED_ERROR:
                missing = Reason.PACKET_IDENTIFIER_NOT_FOUND if connection.version == MQTT_5 else Reason.SUCCESS
                connection.say(Pubrel(packet.packet_id, missing))
            return
        if packet.reason >= Reason.UNSPECIFIED_ERROR:
            flight.outbox.settle_flight(flight)
            return
        if flight.state == AWAITS_COMPLETE:
            connection.say(Pubrel(packet.packet_id))
            return
        flight.state = AWAITS_COMPLETE
        answer = partial(connection.say, Pubrel(packet.packet_id))
        if flight.session.number:
            self._home.rows.first(flight, answer)
        else:
            answer()

    def _release(self, connection: Connection, session: Session, packet: int) -> None:
        """The client forgets a message of QoS 2. Its packet id is free when that is on disk."""
        if packet not in session.received:
            missing = Reason.PACKET_IDENTIFIER_NOT_FOUND if connection.version == MQTT_5 else Reason.SUCCESS
            connection.say(Pubcomp(packet, missing))
            return
        if not session.received[packet]:  # it is still being stored: a client that does not wait for PUBREC
            session.received[packet] = None
            return

        def answer() -> None:
            session.received.pop(packet, None)
            connection.taken = max(0, connection.taken - 1)  # it may have been sent over an earlier connection
            connection.say(Pubcomp(packet))

        if session.number:
            self._home.rows.released(session.number, packet, answer)
        else:
            answer()

    # -- again ----------------------------------------------------------------------------------

    def repeat(self, connection: Connection, session: Session) -> None:
        """A client is back: send again what it has not acknowledged, then what waits."""
        for sender in (session.outbox, *session.groups.values()):
            if isinstance(sender, Outbox) and not sender.shared:
                sender.cursor = sender.queue.acknowledged
        if session.flights:
            self._home.spawn(self._repeat(connection, session, list(session.flights.values())))
        else:
            self._go_on(session)

    async def _repeat(self, connection: Connection, session: Session, flights: list[InFlight]) -> None:
        connection.ready = False  # what is in flight comes first
        flights.sort(key=lambda flight: flight.sequence)
        rest = deque(flights)
        while rest:
            awaited = [flight.sequence for flight in rest if flight.state != AWAITS_COMPLETE]
            read_now: dict[int, Delivery | None] = {}
            if awaited:
                reads, work = self._home.door.executors.reads, partial(self._read, session, awaited[:SEND_PAGE])
                read_now = await reads.run(session.tenant.name, work)
            last = max(read_now, default=0)
            while rest and (rest[0].state == AWAITS_COMPLETE or rest[0].sequence <= last):
                if not await connection.drained():
                    return
                self._send_again(connection, session, rest.popleft(), read_now)
        if not connection.closed:
            connection.ready = True
            self._go_on(session)

    def _send_again(
        self, connection: Connection, session: Session, flight: InFlight, deliveries: dict[int, Delivery | None]
    ) -> None:
        """Send one packet again, unless it was acknowledged meanwhile."""
        if session.flights.get(flight.packet) is not flight:
            return
        if flight.state == AWAITS_COMPLETE:
            connection.send(encode(Pubrel(flight.packet), connection.version))
            return
        delivery, outbox = deliveries.get(flight.sequence), flight.outbox
        assert isinstance(outbox, Outbox)
        over = delivery is None or delivery.over(self._home.broker.clock())
        parts = [] if delivery is None or over else outbox.parts(delivery, session, connection)
        part = next((each for each in parts if each.part == flight.part), None)
        if part is None:  # it is over, or was unsubscribed from
            outbox.settle_flight(flight)
            return
        qos = 1 if flight.state == AWAITS_ACK else 2
        connection.send(part.made.to(qos, flight.packet, retain=part.retain, dup=True, identifiers=part.identifiers))

    def _read(self, session: Session, numbers: list[int]) -> dict[int, Delivery | None]:
        """Read deliveries in their order until they have the bytes of a page; None for one that is gone."""
        found: dict[int, Delivery | None] = {}
        size = 0
        with self._home.broker.store.reading() as tables:
            for number in numbers:
                if number in found:  # another packet of the same delivery
                    continue
                if size >= SEND_PAGE_BYTES:
                    break
                found[number] = delivery = next(iter(read(tables, session.tenant.number, (number,))), None)
                if delivery is not None:
                    delivery.message = read_messages(tables, (delivery.event,)).get(delivery.event)
                    size += delivery.size
        return found

    def _go_on(self, session: Session) -> None:
        for sender in (session.outbox, *session.groups.values()):
            if sender is not None:
                sender.pump()
