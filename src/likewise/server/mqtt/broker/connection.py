"""A connection: bytes come in, packets go out, whatever carries them.

What carries it (`transport`, a WebSocket) calls `received` with what came, `lost` when it ended, `pause` and `resume`
when the other side does not take what it is sent. Bytes are counted before they are written: while the other side does
not read, senders see `is_congested` and render nothing more for it. Packets are dealt with in their order: while one of
them waits for the disk, those after it wait, except that messages published one after the other are taken together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MQTT_ALIASES, MQTT_BUFFER_BYTES, MQTT_FLUSH_BYTES, MQTT_WAITING_BYTES
from likewise.errors import PacketError
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.send_buffers import SendBuffers
from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Acknowledgement,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    Packet,
    Pingreq,
    Pingresp,
    Properties,
    Publish,
    Reason,
    Subscribe,
    Unsubscribe,
    encode,
    truncate_text,
)
from likewise.server.mqtt.codec.packet_types import PacketType
from likewise.server.mqtt.codec.reasons import REASONS

_PONG: Final = encode(Pingresp())
MAX_REASON_BYTES: Final = 512  # bytes of a reason in words


class Carrier(Protocol):
    """The transport of a connection's bytes: a socket or a WebSocket.

    `fixed_bytes` are those that it takes beside what it buffers.
    """

    fixed_bytes: int

    def write(self, data: bytes) -> None:
        """Send some bytes."""

    def close(self) -> None:
        """End it when everything is sent, or after a while."""

    def abort(self) -> None:
        """End it at once, whatever is unsent."""

    def set_reading_paused(self, paused: bool) -> None:
        """Stop reading for now, or resume."""

    def unsent(self) -> int:
        """Return how many bytes the other side has not taken yet."""

    def unread(self) -> int:
        """Return how many bytes the other side has not received, those in the kernel included."""

    def authenticated(self) -> None:
        """Take messages of every allowed size from now on."""


class ConnectionListener(Protocol):
    """The receiver of a connection's packets."""

    buffers: SendBuffers

    def begin(self, connection: MqttConnection) -> None:
        """Add a connection."""

    def buffered(self, connection: MqttConnection, size: int) -> None:
        """Count the bytes of an incomplete packet of a connection."""

    def connect(self, connection: MqttConnection, packet: Connect) -> None:
        """Take a CONNECT."""

    def publish(self, connection: MqttConnection, packets: list[Publish]) -> None:
        """Take PUBLISH packets."""

    def acknowledge(self, connection: MqttConnection, packet: Acknowledgement) -> None:
        """Take an acknowledgement of a client."""

    def subscribe(self, connection: MqttConnection, packet: Subscribe) -> None:
        """Take a SUBSCRIBE."""

    def unsubscribe(self, connection: MqttConnection, packet: Unsubscribe) -> None:
        """Take an UNSUBSCRIBE."""

    def send_soon(self, connection: MqttConnection) -> None:
        """Schedule the write of a connection's bytes."""

    def end(self, connection: MqttConnection) -> None:
        """Remove a connection."""


class MqttConnection:
    """One connection, over a carrier; its packets are dealt with by a server.

    Args:
        server: who deals with the packets.
        carrier: what carries the bytes.
        connect_bytes: how large the first packet, the CONNECT, may be.
        peer: the other side's address and port, for people.
        address: the other side's address alone.
    """

    __slots__ = (
        "_carrier",
        "_decoder",
        "_drained",
        "_message_bytes",
        "_out",
        "_out_bytes",
        "_packets",
        "_partial",
        "_paused",
        "_reading_paused",
        "_reserved",
        "_waiting_bytes",
        "access",
        "address",
        "authenticated",
        "busy",
        "clean_disconnect",
        "closed",
        "keep_alive",
        "last_activity",
        "max_packet_bytes",
        "max_session_expiry",
        "opened_at",
        "peer",
        "ready",
        "reason_strings",
        "receive_maximum",
        "received_count",
        "received_qos2",
        "retained",
        "sent_count",
        "server",
        "session",
        "tenant",
        "token",
        "tokens_version",
        "version",
    )

    def __init__(
        self, server: ConnectionListener, carrier: Carrier, *, connect_bytes: int, peer: str = "", address: str = ""
    ) -> None:
        self.server = server
        self.peer = peer
        self.address = address
        self._carrier = carrier
        self._decoder = Decoder(largest=connect_bytes, topic_aliases=MQTT_ALIASES)
        self._packets: deque[Packet] | None = None  # that wait for the one that is dealt with
        self._waiting_bytes = 0
        self._partial = False  # a part of a packet is buffered
        self._message_bytes = 0  # of a message that its carrier has not received as a whole
        self._reading_paused = False
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._reserved = 0  # bytes of packets that are sent once something is on disk
        self._paused = False  # the carrier's buffer is full
        self._drained: asyncio.Future[None] | None = None  # set while somebody waits for the other side to read
        self.session: Session | None = None
        self.tenant: Tenant | None = None
        self.access: Access | None = None
        self.token: str | None = None
        self.tokens_version = 0  # the tokens as they were when its own was last looked at
        self.version = MQTT_3_1_1
        self.keep_alive = 0.0  # seconds of silence after which it is over; 0 for any
        self.opened_at = self.last_activity = asyncio.get_running_loop().time()
        self.receive_maximum = 0
        self.max_packet_bytes = connect_bytes
        self.max_session_expiry = 0  # seconds that its session may outlive it
        self.reason_strings = True  # whether reasons are said in words
        self.received_qos2 = 0  # messages whose acknowledgement is not complete yet: of QoS 2, until PUBCOMP
        self.received_count = self.sent_count = 0
        self.authenticated = self.busy = self.ready = self.closed = False
        self.retained: dict[str, None] | None = None  # filters whose retained messages are being sent
        self.clean_disconnect = False  # the client said goodbye: there is no will
        server.begin(self)

    # -- coming in ------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        """Take received bytes."""
        if self.closed:
            return
        self.last_activity = asyncio.get_running_loop().time()
        if self.busy:
            self._waiting_bytes += len(data)
            if self._waiting_bytes > MQTT_WAITING_BYTES:
                self.set_reading_paused(True)
        try:
            self._process(self._decoder.feed(data))
        except PacketError as error:
            self.refuse(error)
        else:
            self._note_buffered()

    def note_message(self, size: int) -> None:
        """Note how many bytes its carrier buffers of a message that is not complete."""
        self._message_bytes = size
        if not self.closed:
            self._note_buffered()

    def _note_buffered(self) -> None:
        size = self._decoder.buffered + self._message_bytes
        if size or self._partial:
            self._partial = size > 0
            self.server.buffered(self, size)

    def log_in(self, packet_bytes: int) -> None:
        """Let packets of every allowed size come: it is known who sends them."""
        self.authenticated = True
        self._message_bytes = 0  # the carrier counts them from now on
        self._decoder.largest = packet_bytes
        self._carrier.authenticated()

    def _process(self, packets: Iterable[Packet]) -> None:
        """Process packets in their order; consecutive messages together."""
        messages: list[Publish] = []
        try:
            for packet in packets:
                if self.closed:
                    return
                if not messages and self._is_deferred(packet):
                    continue
                if type(packet) is Publish:
                    messages.append(packet)
                else:
                    if messages:
                        messages = self._publish(messages)
                    if not self._is_deferred(packet):
                        self._dispatch(packet)
        finally:  # those before something malformed, too
            if messages and not self.closed:
                self._publish(messages)

    def _is_deferred(self, packet: Packet) -> bool:
        """Defer a packet while another one is processed; return whether it was deferred."""
        if self.busy:
            if self._packets is None:
                self._packets = deque()
            self._packets.append(packet)
        return self.busy

    def _publish(self, messages: list[Publish]) -> list[Publish]:
        self.received_count += len(messages)
        self.server.publish(self, messages)
        return []

    def _dispatch(self, packet: Packet) -> None:
        match packet:
            case Acknowledgement():
                self.server.acknowledge(self, packet)
            case Pingreq():
                self.send(_PONG)
            case Connect():
                self.version = packet.version
                self.reason_strings = packet.properties.request_problem_information != 0
                self.server.connect(self, packet)
            case Subscribe():
                self.server.subscribe(self, packet)
            case Unsubscribe():
                self.server.unsubscribe(self, packet)
            case Disconnect():
                self._on_disconnect(packet)
            case _:
                self.end(Reason.PROTOCOL_ERROR, "nothing else was begun that this could go on with")

    def _on_disconnect(self, packet: Disconnect) -> None:
        expiry = packet.properties.session_expiry
        if self.session is not None and expiry is not None:
            if not self.session.expiry and expiry:
                self.end(Reason.PROTOCOL_ERROR, "a session that ends with its connection cannot be kept in the end")
                return
            self.session.expiry = min(expiry, self.max_session_expiry)
        self.clean_disconnect = packet.reason != Reason.DISCONNECT_WITH_WILL
        self._finish()

    def suspend(self) -> None:
        """Defer further packets until `continue_packets`."""
        self.busy = True
        self._waiting_bytes = 0

    def suspend_with(self, packets: list[Publish]) -> None:
        """Defer messages, and packets after them, until `continue_packets`."""
        self.suspend()
        self._packets = deque((*packets, *(self._packets or ())))
        self.set_reading_paused(True)

    def continue_packets(self) -> None:
        """Process the deferred packets."""
        self.busy = False
        if self.closed:
            return
        waiting, self._packets = self._packets, None
        if waiting:
            try:
                self._process(waiting)
            except PacketError as error:
                self.refuse(error)
        if not self.busy:
            self.set_reading_paused(False)

    def set_reading_paused(self, paused: bool) -> None:
        """Stop reading for now, or resume."""
        if paused != self._reading_paused and not self.closed:
            self._reading_paused = paused
            self._carrier.set_reading_paused(paused)

    # -- going out ------------------------------------------------------------------------------

    @property
    def is_congested(self) -> bool:
        """Return whether it gets no further messages for now, because the other side does not read.

        While all connections together have too many unread bytes, only one that has none of its own gets more.
        """
        if self._paused or self._reserved >= MQTT_BUFFER_BYTES:
            return True
        return self.server.buffers.full and (self._out_bytes > 0 or self._carrier.unsent() > 0)

    @property
    def unsent(self) -> int:
        """Return how many bytes it has been given that the other side has not taken."""
        return self._out_bytes + self._reserved + (0 if self.closed else self._carrier.unsent())

    @property
    def unread(self) -> int:
        """Return how many bytes the other side has not received: they shrink while it reads."""
        return self._out_bytes + self._reserved + (0 if self.closed else self._carrier.unread())

    def send(self, data: bytes) -> None:
        """Send a packet, with what else is sent in this turn of the loop."""
        if self.closed:
            return
        self.sent_count += 1
        if not self._out:
            self.server.send_soon(self)
        self._out.append(data)
        self._out_bytes += len(data)
        if self._out_bytes >= MQTT_FLUSH_BYTES:  # now, so that the carrier says at once when it is full
            self.flush()

    def reserve(self, data: bytes) -> Callable[[], None]:
        """Count a packet that is sent later, when something is on disk; return what sends it."""
        size = len(data)
        self._reserved += size
        self.server.buffers.note(self)

        def send() -> None:
            if self.closed:
                return
            was_full = self._reserved >= MQTT_BUFFER_BYTES
            self._reserved -= size
            self.send(data)
            if was_full and self._reserved < MQTT_BUFFER_BYTES:  # nothing that drains says so
                asyncio.get_running_loop().call_soon(self.resume_sending)

        return send

    def send_packet(self, packet: Packet) -> None:
        """Send a packet."""
        self.send(encode(packet, self.version))

    def flush(self) -> None:
        """Write what was sent."""
        if self._out:
            out, self._out, self._out_bytes = self._out, [], 0
            if not self.closed:
                self._carrier.write(out[0] if len(out) == 1 else b"".join(out))
                self.server.buffers.note(self)

    def reason_properties(self, words: str) -> Properties:
        """Return a reason string, for clients that want one."""
        if not self.reason_strings or not words:
            return Properties()
        return Properties(reason_string=truncate_text(words, MAX_REASON_BYTES))

    def pause(self) -> None:
        """Note that the transport's buffer is full."""
        self._paused = True

    def resume(self) -> None:
        """Note that the transport's buffer has drained."""
        self._paused = False
        self.server.buffers.note(self)
        self.resume_sending()

    def resume_sending(self) -> None:
        """Send what waited for the other side to read."""
        if self.is_congested:
            return
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        if self.session is not None:
            self.session.pump()

    async def drained(self) -> bool:
        """Wait until it may be sent more; return whether it is still open."""
        while not self.closed and self.is_congested:
            if self._drained is None or self._drained.done():
                self._drained = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._drained)
        return not self.closed

    # -- ending ---------------------------------------------------------------------------------

    def refuse(self, error: PacketError) -> None:
        """End the connection after a malformed or misplaced packet."""
        self.end(error.reason, str(error))

    def end(self, reason: int, words: str = "") -> None:
        """Send the reason, where the protocol has a packet for it, and close."""
        if self.closed:
            return
        if self.session is None:
            if self._decoder.version is not None:
                self.version = self._decoder.version
            if reason == Reason.UNSUPPORTED_PROTOCOL_VERSION:
                self.version = MQTT_3_1_1
            if self.version == MQTT_5 or reason in _CONNACK_REASONS_3_1_1:
                code = reason if reason in REASONS[PacketType.CONNACK] else Reason.PROTOCOL_ERROR
                self.send_packet(Connack(reason=code, properties=self.reason_properties(words)))
        elif self.version == MQTT_5:
            self.send_packet(Disconnect(reason, self.reason_properties(words)))
        self._finish()

    @property
    def fixed_bytes(self) -> int:
        """Return how many bytes its carrier takes beside what is buffered."""
        return self._carrier.fixed_bytes

    @property
    def tenant_name(self) -> str | None:
        """Return whose token it logged in with; None before that."""
        return None if self.access is None else self.access.tenant

    def evict(self) -> None:
        """End it, because others need the bytes that its incomplete packet takes."""
        self.end(Reason.QUOTA_EXCEEDED, "too many bytes of incomplete packets; connect again and send it once more")

    def abort(self) -> None:
        """Close without a packet: nobody is known to be there who would read it."""
        if not self.closed:
            self._closed()
            self._carrier.abort()  # `close` would wait for the other side's part of TLS

    def _finish(self) -> None:
        self.flush()
        self._closed()
        self._carrier.close()

    def lost(self) -> None:
        """Note that the transport is closed."""
        if not self.closed:
            self._closed()

    def _closed(self) -> None:
        self.closed, self.ready = True, False
        self._packets = None
        self._decoder.drop()
        self._out, self._out_bytes, self._reserved = [], 0, 0
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self.server.end(self)


_CONNACK_REASONS_3_1_1: Final = frozenset(
    (
        Reason.UNSUPPORTED_PROTOCOL_VERSION,
        Reason.CLIENT_IDENTIFIER_NOT_VALID,
        Reason.BAD_USER_NAME_OR_PASSWORD,
        Reason.NOT_AUTHORIZED,
        Reason.SERVER_UNAVAILABLE,
        Reason.SERVER_BUSY,
        Reason.QUOTA_EXCEEDED,
        Reason.BAD_AUTHENTICATION_METHOD,
        Reason.TOPIC_NAME_INVALID,
    )
)
