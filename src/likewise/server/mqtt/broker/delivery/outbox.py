"""Send a queue's deliveries to its session, or to the members of a shared subscription.

A page of deliveries is read, each becomes a packet or several, and stays open until all of them are acknowledged.
Acknowledgements may come in any order. Flow control: at most `receive_maximum` packets are in flight to a client.
"""

from __future__ import annotations

from typing import NamedTuple

from likewise.broker.log.deliveries import RETAINED, TOPIC, Delivery, render
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import SEND_PAGE, SEND_PAGE_BYTES
from likewise.model.hierarchies.topic_filters import filter_matches
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.rendering import event_message, render_semantic
from likewise.server.mqtt.broker.delivery.session import AWAITS_ACK, AWAITS_RECEIVED, InFlight, PacketSink, Session
from likewise.server.mqtt.broker.delivery.topic_filters import MATCHES, SEMANTIC_PREFIX, session_filter
from likewise.server.mqtt.codec import MQTT_5, SharedPublish


class OutgoingPacket(NamedTuple):
    """One packet of a delivery."""

    part: int
    qos: int
    encoded: SharedPublish
    retain: bool = False
    identifiers: tuple[int, ...] = ()


class DeliveryOutbox:
    """One queue and who it is sent to. `shared` is the filter of a group; a session's own has none."""

    __slots__ = (
        "_done",
        "_reading",
        "_woken",
        "cursor",
        "home",
        "members",
        "open",
        "queue",
        "settled",
        "shared",
        "tenant",
    )

    def __init__(self, home: ListenerContext, tenant: Tenant, queue: SubscriberQueue, shared: str = "") -> None:
        self.home = home
        self.tenant = tenant
        self.queue = queue
        self.shared = shared
        self.members: list[Session] = []
        self.cursor = queue.acknowledged
        self.open: dict[int, int] = {}  # by sequence number: how many of its packets are in flight
        self.settled: dict[int, set[int]] = {}  # parts that were settled while others in front of them were not
        self._done: list[int] = []  # sequence numbers that are settled and not said to be
        self._woken = self._reading = False
        queue.served_by = self
        queue.wake = self._wake

    def close(self) -> None:
        """Serve the queue no longer."""
        if self.queue.served_by is self:
            self.queue.served_by = self.queue.wake = None

    def _wake(self) -> None:
        """On the writer's thread: there is something new."""
        if not self._woken:
            self._woken = True
            self.home.bridge.call(self.pump)

    # -- sending --------------------------------------------------------------------------------

    def _next_member(self) -> tuple[Session, PacketSink] | None:
        """Return the member to send to next: of those with room, the one with the fewest in flight."""
        chosen, fewest = None, 0
        for session in self.members:
            connection = session.connection
            if connection is None or connection.is_congested or not connection.ready:
                continue
            count = len(session.flights)
            if count < connection.receive_maximum and (chosen is None or count < fewest):
                chosen, fewest = (session, connection), count
        return chosen

    def pump(self) -> None:
        """Send what waits, as far as somebody takes it."""
        self._woken = False
        self.acknowledge()  # first: what is settled and not said to be would be sent again
        while not self._reading and not self.queue.unregistered and self._next_member() is not None:
            broker, tenant = self.home.broker, self.tenant
            with broker.lock:
                numbers = self.queue.following(self.cursor, SEND_PAGE)
                at_hand = all(number in tenant.recent for number in numbers)
            if not numbers:
                break
            if not at_hand:
                self._reading = True
                self.home.spawn(self._read())
                return
            if not self._send_all(self._page()):
                break
        self.acknowledge()

    def _page(self) -> list[Delivery]:
        """Return the next deliveries with their messages; no more than a client may leave unread."""
        return self.home.broker.deliveries(
            self.tenant, self.queue, after=self.cursor, limit=SEND_PAGE, messages=True, most_bytes=SEND_PAGE_BYTES
        )

    async def _read(self) -> None:
        """Read a page that is not in memory, on another thread."""
        try:
            page = await self.home.gateway.executors.reads.run(self.tenant.name, self._page)
        finally:
            self._reading = False
        with self.home.broker.lock:  # some of it may have been acknowledged meanwhile
            pending = [each for each in page if each.number in self.queue.pending]
        left = [each for each in pending if each.number not in self._done]
        if page and (not left or self._send_all(left)):
            self.cursor = max(self.cursor, page[-1].number)
            self.pump()

    def _send_all(self, page: list[Delivery]) -> bool:
        """Send a page; whether to go on."""
        for delivery in page:
            if delivery.number <= self.cursor:
                continue  # it was read before a connection broke
            if delivery.number not in self.open:
                member = self._next_member()
                if member is None:
                    return False
                self._send(delivery, *member)
            self.cursor = delivery.number
        return bool(page)

    def _send(self, delivery: Delivery, session: Session, connection: PacketSink) -> None:
        passed = self.settled.get(delivery.number, ())
        counters = self.home.counters(self.tenant)
        under_way = 0
        for part in self.packets_of(delivery, session, connection):
            if part.part in passed:
                continue
            packet = session.packet_id() if part.qos else 0
            data = part.encoded.encode_for(part.qos, packet, retain=part.retain, identifiers=part.identifiers)
            if len(data) > connection.max_packet_bytes:
                counters.lost += 1
                continue
            counters.sent += 1
            if not part.qos:
                connection.send(data)
                continue
            under_way += 1
            state = AWAITS_ACK if part.qos == 1 else AWAITS_RECEIVED
            flight = session.flights[packet] = InFlight(self, delivery.number, part.part, session, packet, state)
            if not session.number:
                connection.send(data)
            elif part.qos == 1:
                connection.send(data)
                self.home.rows.sent(flight)
            else:
                self.home.rows.write_first(flight, connection.reserve(data))
        if under_way:
            self.open[delivery.number] = under_way
        else:
            self._done.append(delivery.number)

    def packets_of(self, delivery: Delivery, session: Session, connection: PacketSink) -> list[OutgoingPacket]:
        """Return the packets of a delivery: one for topics, or one for each semantic subscription."""
        now = self.home.broker.clock()
        if delivery.cause in (TOPIC, RETAINED):
            return self._topic_packets(delivery, session, connection, now)
        packets = []
        matched = self.tenant.recipient_subscriptions(delivery, self.queue.number)
        for place, id in matched:
            option = session.options.get(self.shared or session_filter(id))
            if option is None:
                continue
            topic = SEMANTIC_PREFIX + id
            qos = granted_qos(session, topic, option.qos) if id.startswith(MATCHES) else option.qos
            if connection.version == MQTT_5:
                because = self.home.match_reason(self, delivery, place, id) if option.explain else b""
                payload, properties = render_semantic(delivery, matched, place, topic, now, because)
                made = SharedPublish(topic, payload, properties, MQTT_5)
            else:
                made = SharedPublish(topic, render(delivery, matched), version=connection.version)
            packets.append(OutgoingPacket(int(delivery.matched[place]), qos, made, identifiers=option.identifiers))
        return packets

    def _topic_packets(
        self, delivery: Delivery, session: Session, connection: PacketSink, now: int
    ) -> list[OutgoingPacket]:
        message = delivery.message or event_message(delivery.body, delivery.event)
        if message.expires is not None and message.expires <= now:
            return []
        subscriptions = self.tenant.topics.by_number
        if delivery.topics is None:
            delivery.topics = {}
            for number in delivery.matched.tolist():
                if (each := subscriptions.get(number)) is not None:
                    delivery.topics.setdefault(each.subscriber, []).append(number)
        options = [
            option
            for number in delivery.topics.get(self.queue.number, ())
            if (each := subscriptions.get(number)) is not None
            and (option := session.options.get(self.shared or each.filter)) is not None
        ]
        if not options:
            return []
        qos = min(message.qos, max(option.qos for option in options))
        retain = delivery.cause == RETAINED or (
            message.retain and any(option.retain_as_published for option in options)
        )
        identifiers = tuple(each for option in options for each in option.identifiers)
        if session.identified:  # those of filters that ask for QoS 0 are not in the queue
            identified = (
                (text, option) for text, option in session.options.items() if option.identifiers and not option.qos
            )
            identifiers += tuple(o.identifiers[0] for text, o in identified if filter_matches(text, message.topic))
        key = (self.tenant.number, delivery.number)
        made = self.home.renderer.many(message, connection.version, now, key)
        return [OutgoingPacket(0, qos, made, retain, identifiers)]

    # -- acknowledging --------------------------------------------------------------------------

    def complete_flight(self, flight: InFlight) -> None:
        """Complete a packet that was in flight."""
        flight.session.flights.pop(flight.packet, None)
        left = self.open.get(flight.sequence, 1) - 1
        if left:
            self.open[flight.sequence] = left
        else:
            self.open.pop(flight.sequence, None)
            self._done.append(flight.sequence)
        lasting = bool(flight.session.number or self.shared)
        with_others = bool(left) or self._first_in_flight() < flight.sequence
        if lasting and with_others:
            self.settled.setdefault(flight.sequence, set()).add(flight.part)
        self.home.rows.settled(flight, lasting and with_others)
        self.home.schedule_pump(self)

    def _first_in_flight(self) -> int:
        """Return the first sequence number in flight."""
        return min(self.open, default=2**63)

    def acknowledge(self) -> None:
        """Acknowledge the queue up to the last complete delivery, and delete the rows below it."""
        if not self._done:
            return
        done, self._done = self._done, []
        self.home.broker.acknowledge_each(self.tenant, self.queue, done)
        if self.settled:
            over = [number for number in self.settled if number <= self.queue.acknowledged]
            keys = [(self.queue.number, number, part) for number in over for part in self.settled.pop(number)]
            if keys:
                self.home.rows.forget(keys)

    def requeue(self, session: Session) -> None:
        """Requeue a disconnected member's packets: of QoS 1 for another member, of QoS 2 never."""
        for flight in [each for each in session.flights.values() if each.outbox is self and each.state == AWAITS_ACK]:
            del session.flights[flight.packet]
            left = self.open.get(flight.sequence, 1) - 1
            if left:
                self.open[flight.sequence] = left
            else:
                self.open.pop(flight.sequence, None)
            self.cursor = min(self.cursor, flight.sequence - 1)
            self.home.rows.settled(flight, False)
        self.pump()

    def discard_member(self, session: Session) -> None:
        """Discard the packets of QoS 2 of a member whose session ended: nobody else gets them."""
        self.requeue(session)
        for flight in [each for each in session.flights.values() if each.outbox is self]:
            self.complete_flight(flight)
        if session in self.members:
            self.members.remove(session)
        self.acknowledge()


def granted_qos(session: Session, topic: str, otherwise: int) -> int:
    """Return the QoS of a session's filter for its matches; else that of the subscription's message."""
    filters = ((text, option.qos) for text, option in session.options.items() if text.startswith(SEMANTIC_PREFIX))
    return max((qos for text, qos in filters if filter_matches(text, topic)), default=otherwise)
