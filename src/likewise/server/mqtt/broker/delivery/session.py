"""A session: what a client asked for and what is on its way to it. It may outlive its connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from likewise.broker.dispatch.topic_deliveries import session_subscriber
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.log.mqtt.sessions import FilterOptions, InFlightRow, SessionState
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant

SETTLED, AWAITS_ACK, AWAITS_RECEIVED, AWAITS_COMPLETE = range(4)  # what a packet awaits
PACKET_IDS: Final = 65_535


class PacketSink(Protocol):
    """A connection as those see it who send."""

    ready: bool  # it was let in, and is not closed
    version: int
    receive_maximum: int  # packets that may be in flight
    max_packet_bytes: int  # bytes of a packet

    @property
    def is_congested(self) -> bool:
        """Return whether the other side does not take what it was sent."""

    def send(self, data: bytes) -> None:
        """Send a packet, with what else is sent in this turn of the loop."""

    def reserve(self, data: bytes) -> Callable[[], None]:
        """Count a packet that is sent later, when something is on disk; return what sends it."""


class QueueSender(Protocol):
    """A sender of a queue's deliveries (`outbox`)."""

    tenant: Tenant
    queue: SubscriberQueue
    shared: str

    def pump(self) -> None:
        """Send what waits."""

    def acknowledge(self) -> None:
        """Acknowledge the queue up to the last complete delivery."""

    def complete_flight(self, flight: InFlight) -> None:
        """Complete a packet that was in flight."""

    def requeue(self, session: Session) -> None:
        """Requeue the packets of a member that disconnected."""

    def discard_member(self, session: Session) -> None:
        """Discard the packets of a member whose session ended."""

    def close(self) -> None:
        """Serve the queue no longer."""


class InFlight:
    """A packet that awaits an acknowledgement."""

    __slots__ = ("outbox", "packet", "part", "sequence", "session", "state", "written")

    def __init__(
        self, outbox: QueueSender, sequence: int, part: int, session: Session, packet: int, state: int
    ) -> None:
        self.outbox = outbox
        self.sequence = sequence
        self.part = part  # the subscription by meaning that it is of; 0 for topics
        self.session = session
        self.packet = packet
        self.state = state
        self.written = False  # whether it has a row

    @property
    def key(self) -> tuple[int, int, int]:
        """Return the key of its row."""
        return self.outbox.queue.number, self.sequence, self.part

    def row(self) -> InFlightRow:
        """Return its row."""
        return InFlightRow(*self.key, self.outbox.tenant.number, self.session.number, self.packet, self.state)


class Session:
    """One client's, of one tenant. `number` is that of its row; 0 if it ends with its connection."""

    __slots__ = (
        "_packet",
        "client",
        "client_json",
        "connection",
        "expiry",
        "flights",
        "groups",
        "identified",
        "number",
        "options",
        "outbox",
        "owner",
        "received",
        "tenant",
        "version",
        "will",
        "will_delay",
        "will_timer",
    )

    def __init__(self, tenant: Tenant, client: str, owner: str) -> None:
        self.tenant = tenant
        self.client = client
        self.client_json = msgspec.json.encode(client)
        self.owner = owner
        self.number = 0
        self.expiry = 0  # seconds after its connection
        self.version = 0
        self.connection: PacketSink | None = None
        self.options: dict[str, FilterOptions] = {}  # by filter, as it was asked for
        self.outbox: QueueSender | None = None  # its queue, once it needs one
        self.groups: dict[str, QueueSender] = {}  # queues it shares, by filter
        self.identified = False  # whether something it asked for without an acknowledgement has an identifier
        self.flights: dict[int, InFlight] = {}  # by packet id
        # Packet ids of QoS 2 that are not released: whether that is on disk; None if it was released before it was.
        self.received: dict[int, bool | None] = {}
        self.will: StoredMessage | None = None
        self.will_delay = 0
        self.will_timer: asyncio.TimerHandle | None = None
        self._packet = 0

    @property
    def subscriber(self) -> str:
        """Return the id of the subscriber that owns its queue."""
        return session_subscriber(self.client)

    @property
    def lasting(self) -> SessionState:
        """Return the state that is stored."""
        return SessionState(self.expiry, dict(self.options), self.owner, self.will, self.will_delay)

    @property
    def senders(self) -> list[QueueSender]:
        """Return what sends to it: of its own queue, if it has one, and of those it shares."""
        return [*([] if self.outbox is None else [self.outbox]), *self.groups.values()]

    def pump(self) -> None:
        """Send what waits for it."""
        for sender in self.senders:
            sender.pump()

    def refresh_options(self) -> None:
        """Recompute what depends on the options."""
        self.identified = any(option.identifiers and not option.qos for option in self.options.values())

    def packet_id(self) -> int:
        """Return a free packet id; fewer are in flight than there are ids."""
        while True:
            self._packet = self._packet % PACKET_IDS + 1
            if self._packet not in self.flights:
                return self._packet
