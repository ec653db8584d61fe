"""A connection: bytes come in, packets go out, whatever carries them.

What carries it (`transport`, a WebSocket) calls `received` with what came, `lost` when it ended, `pause` and `resume`
when the other side does not take what it is sent. Packets are dealt with in their order: while one of them waits for
the disk, those after it wait, except that messages published one after the other are taken together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.connectors.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    Packet,
    Pingreq,
    Pingresp,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Reason,
    Subscribe,
    Unsubscribe,
    encode,
    fitting,
)
from likewise.connectors.mqtt.codec.kinds import CONNACK
from likewise.connectors.mqtt.codec.reasons import REASONS
from likewise.connectors.mqtt.listener.sending.session import Session
from likewise.defaults import MQTT_ALIASES, MQTT_WAITING_BYTES
from likewise.errors import PacketError

_PONG: Final = encode(Pingresp())
WORDS: Final = 512  # bytes of a reason in words


class Server(Protocol):
    """Who deals with what a connection says."""

    def begin(self, connection: Connection) -> None:
        """A connection is there."""
        ...

    def connect(self, connection: Connection, packet: Connect) -> None:
        """A client wants to be let in."""
        ...

    def publish(self, connection: Connection, packets: list[Publish]) -> None:
        """A client publishes messages."""
        ...

    def acknowledge(self, connection: Connection, packet: Puback | Pubrec | Pubrel | Pubcomp) -> None:
        """A client acknowledges something."""
        ...

    def subscribe(self, connection: Connection, packet: Subscribe) -> None:
        """A client asks for something."""
        ...

    def unsubscribe(self, connection: Connection, packet: Unsubscribe) -> None:
        """A client asks for something no longer."""
        ...

    def send_soon(self, connection: Connection) -> None:
        """Bytes wait to be written."""
        ...

    def end(self, connection: Connection) -> None:
        """A connection is over."""
        ...


class Connection:
    """One connection. `write` and `close` are what carries it; `hold` tells that to bring nothing for now, or go on."""

    __slots__ = (
        "_close", "_decoder", "_held", "_hold", "_out", "_packets", "_waiting_bytes", "_write", "access", "busy",
        "closed", "ended_well", "heard", "held_up", "keep_alive", "largest", "longest", "peer", "ready",
        "received_count", "sent_count", "server", "session", "taken", "tenant", "token", "tokens_seen", "version",
        "window", "words",
    )  # fmt: skip

    def __init__(
        self,
        server: Server,
        write: Callable[[bytes], None],
        close: Callable[[], None],
        hold: Callable[[bool], None] = lambda held: None,
        *,
        packet_bytes: int,
        peer: str = "",
    ) -> None:
        self.server = server
        self.peer = peer
        self._write = write
        self._close = close
        self._hold = hold
        self._decoder = Decoder(largest=packet_bytes, topic_aliases=MQTT_ALIASES)
        self._packets: deque[Packet] | None = None  # that wait for the one that is dealt with
        self._waiting_bytes = 0
        self._held = False
        self._out: list[bytes] = []
        self.session: Session | None = None
        self.tenant: Tenant | None = None
        self.access: Access | None = None
        self.token: str | None = None
        self.tokens_seen = 0  # the tokens as they were when its own was last looked at
        self.version = MQTT_3_1_1
        self.keep_alive = 0.0  # seconds of silence after which it is over; 0 for any
        self.heard = asyncio.get_running_loop().time()
        self.window = 0
        self.largest = packet_bytes
        self.longest = 0  # seconds that its session may outlive it
        self.words = True  # whether reasons are said in words
        self.taken = 0  # messages whose acknowledgement is not complete yet: of QoS 2, until PUBCOMP
        self.received_count = self.sent_count = 0
        self.busy = self.ready = self.closed = self.held_up = False
        self.ended_well = False  # the client said goodbye: there is no will
        server.begin(self)

    # -- coming in ------------------------------------------------------------------------------

    def received(self, data: bytes) -> None:
        """Some bytes came."""
        if self.closed:
            return
        self.heard = asyncio.get_running_loop().time()
        if self.busy:
            self._waiting_bytes += len(data)
            if self._waiting_bytes > MQTT_WAITING_BYTES:
                self.hold(True)
        try:
            self._take(self._decoder.feed(data))
        except PacketError as error:
            self.refuse(error)

    def _take(self, packets: Iterable[Packet]) -> None:
        """Deal with packets in their order; messages next to each other together."""
        messages: list[Publish] = []
        try:
            for packet in packets:
                if self.closed:
                    return
                if not messages and self._waits(packet):
                    continue
                if type(packet) is Publish:
                    messages.append(packet)
                else:
                    if messages:
                        messages = self._publish(messages)
                    if not self._waits(packet):
                        self._deal(packet)
        finally:  # those before something malformed, too
            if messages and not self.closed:
                self._publish(messages)

    def _waits(self, packet: Packet) -> bool:
        """Whether a packet has to wait for another one to be dealt with; then it does."""
        if self.busy:
            if self._packets is None:
                self._packets = deque()
            self._packets.append(packet)
        return self.busy

    def _publish(self, messages: list[Publish]) -> list[Publish]:
        self.received_count += len(messages)
        self.server.publish(self, messages)
        return []

    def _deal(self, packet: Packet) -> None:
        match packet:
            case Puback() | Pubrec() | Pubrel() | Pubcomp():
                self.server.acknowledge(self, packet)
            case Pingreq():
                self.send(_PONG)
            case Connect():
                self.version = packet.version
                self.words = packet.properties.request_problem_information != 0
                self.server.connect(self, packet)
            case Subscribe():
                self.server.subscribe(self, packet)
            case Unsubscribe():
                self.server.unsubscribe(self, packet)
            case Disconnect():
                self._goodbye(packet)
            case _:
                self.end(Reason.PROTOCOL_ERROR, "nothing else was begun that this could go on with")

    def _goodbye(self, packet: Disconnect) -> None:
        expiry = packet.properties.session_expiry
        if self.session is not None and expiry is not None:
            if not self.session.expiry and expiry:
                self.end(Reason.PROTOCOL_ERROR, "a session that ends with its connection cannot be kept in the end")
                return
            self.session.expiry = min(expiry, self.longest)
        self.ended_well = packet.reason != Reason.DISCONNECT_WITH_WILL
        self._finish()

    def wait(self) -> None:
        """Let what comes wait until `go_on`."""
        self.busy = True
        self._waiting_bytes = 0

    def wait_with(self, packets: list[Publish]) -> None:
        """Let messages, and what comes after them, wait until `go_on`."""
        self.wait()
        self._packets = deque((*packets, *(self._packets or ())))
        self.hold(True)

    def go_on(self) -> None:
        """Deal with what waited."""
        self.busy = False
        if self.closed:
            return
        waiting, self._packets = self._packets, None
        if waiting:
            try:
                self._take(waiting)
            except PacketError as error:
                self.refuse(error)
        if not self.busy:
            self.hold(False)

    def hold(self, held: bool) -> None:
        """Let nothing come for now, or go on."""
        if held != self._held and not self.closed:
            self._held = held
            self._hold(held)

    # -- going out ------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Send a packet, with what else is sent in this turn of the loop."""
        if self.closed:
            return
        self.sent_count += 1
        if not self._out:
            self.server.send_soon(self)
        self._out.append(data)

    def say(self, packet: Packet) -> None:
        """Send a packet."""
        self.send(encode(packet, self.version))

    def flush(self) -> None:
        """Write what was sent."""
        if self._out:
            out, self._out = self._out, []
            if not self.closed:
                self._write(out[0] if len(out) == 1 else b"".join(out))

    def told(self, words: str) -> Properties:
        """A reason in words, for those who want it."""
        return Properties(reason_string=fitting(words, WORDS)) if self.words and words else Properties()

    def pause(self) -> None:
        """The other side does not take what it was sent."""
        self.held_up = True

    def resume(self) -> None:
        """It takes more."""
        self.held_up = False
        if self.session is not None:
            for sender in (self.session.outbox, *self.session.groups.values()):
                if sender is not None:
                    sender.pump()

    # -- ending ---------------------------------------------------------------------------------

    def refuse(self, error: PacketError) -> None:
        """What came is no packet, or not one that may come now."""
        self.end(error.reason, str(error))

    def end(self, reason: int, words: str = "") -> None:
        """Say why, where that can be said, and close."""
        if self.closed:
            return
        if self.session is None:
            if reason == Reason.UNSUPPORTED_PROTOCOL_VERSION:
                self.version = MQTT_3_1_1
            if self.version == MQTT_5 or reason in _SAID:
                code = reason if reason in REASONS[CONNACK] else Reason.PROTOCOL_ERROR
                self.say(Connack(reason=code, properties=self.told(words)))
        elif self.version == MQTT_5:
            self.say(Disconnect(reason, self.told(words)))
        self._finish()

    def _finish(self) -> None:
        self.flush()
        self._over()
        self._close()

    def lost(self) -> None:
        """What carried it ended."""
        if not self.closed:
            self._over()

    def _over(self) -> None:
        self.closed, self.ready = True, False
        self._packets = None
        self._out = []
        self.server.end(self)


_SAID: Final = frozenset((
    Reason.UNSUPPORTED_PROTOCOL_VERSION, Reason.CLIENT_IDENTIFIER_NOT_VALID, Reason.BAD_USER_NAME_OR_PASSWORD,
    Reason.NOT_AUTHORIZED, Reason.SERVER_UNAVAILABLE, Reason.SERVER_BUSY, Reason.QUOTA_EXCEEDED,
    Reason.BAD_AUTHENTICATION_METHOD, Reason.TOPIC_NAME_INVALID,
))  # fmt: skip
