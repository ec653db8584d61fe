"""The MQTT client of this project: one connection to a broker, over which messages are published and received.

The bridge, MQTT targets, the relay of sensing commands and the command line all use `MqttClient`. It speaks MQTT 5 with
`likewise.server.mqtt.codec`, and MQTT 3.1.1 to a broker that knows no more. It does not reconnect or keep messages:
its owner knows whether and when a lost connection is worth another attempt, and what must be sent again.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, NamedTuple, TypeVar, cast

import structlog

from likewise.errors import PacketError
from likewise.server.mqtt.codec import (
    FAILED,
    LARGEST_PACKET,
    MQTT_3_1_1,
    MQTT_5,
    NO_PROPERTIES,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    FilterRequest,
    Packet,
    Pingreq,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Reason,
    Suback,
    Subscribe,
    encode,
)
from likewise.server.mqtt.messages import MqttPublication

KEEP_ALIVE_S: Final = 30  # without a packet from the broker, half of it until a ping, half as long again until the end
CLOSE_TIMEOUT_S: Final = 1.0  # that a broker has to close the socket after DISCONNECT
PACKET_IDS: Final = 65_535
_RECEIVE_MAXIMUM: Final = 65_535  # what MQTT 5 means where a broker states none
_log = structlog.get_logger("likewise.mqtt")

T = TypeVar("T")
OnMessage = Callable[[Publish], "asyncio.Future[None]"]


class BrokerAddress(NamedTuple):
    """Where a broker listens, and the credentials for it.

    `server_name` is the name that its certificate must have, where `host` is one of its addresses.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    username: str | None = None
    password: str | None = None
    server_name: str | None = None


class ClientSession(NamedTuple):
    """A session at a broker: its fixed client id, how many seconds it is remembered, and its subscriptions."""

    client_id: str
    expiry: int
    topics: tuple[str, ...]
    qos: int = 1


class MqttRefused(ConnectionError):
    """The broker answered CONNECT with a reason code that says no.

    Its text names the code alone: `reason_string` is the broker's own and may quote what it was sent.
    """

    def __init__(self, connack: Connack) -> None:
        self.reason = connack.reason
        self.reason_string = connack.properties.reason_string or ""
        super().__init__(f"reason code {self.reason:#04x} ({reason_name(self.reason)})")


class MessageTooLarge(ValueError):
    """A packet is larger than the broker takes: it would end the connection each time."""

    def __init__(self, size: int, allowed: int) -> None:
        self.size, self.allowed = size, allowed
        super().__init__(f"as an MQTT packet it has {size} bytes, and that broker takes at most {allowed}")


class MqttClient(asyncio.Protocol):
    """One connection to an MQTT broker. It is connected once and not used again after `closed`.

    Args:
        client_id: the session's name; "" lets the broker choose one.
        session_expiry: seconds that the broker keeps the session after the connection; 0 begins a clean one.
        receive_maximum: messages of QoS 1 and 2 that the broker may send before the first is acknowledged.
        on_message: takes each message and returns a future; the message is acknowledged once that is done. None where
            nothing is subscribed to: then a broker that publishes here breaks the protocol, and the connection ends.
        max_packet_bytes: the largest packet that the broker may send.
        max_unanswered_bytes: how many bytes may come between two acknowledgements of what was published. It bounds a
            broker that sends without end to a client that only publishes; None for no bound.
    """

    def __init__(
        self,
        client_id: str = "",
        *,
        session_expiry: int = 0,
        receive_maximum: int | None = None,
        on_message: OnMessage | None = None,
        max_packet_bytes: int = LARGEST_PACKET,
        max_unanswered_bytes: int | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.disconnect_packet: Disconnect | None = None  # the broker's last word, if it had one
        self.version = MQTT_5
        self._loop = loop
        self._client_id = client_id
        self._session_expiry = session_expiry
        self._receive_maximum = receive_maximum
        self._on_message = on_message
        self._max_packet_bytes = max_packet_bytes
        self._max_unanswered_bytes = max_unanswered_bytes
        self._unanswered_bytes = 0
        self._decoder = Decoder(MQTT_5, largest=max_packet_bytes, of_server=True)
        self._transport: asyncio.Transport | None = None
        self._connack: asyncio.Future[Connack] = loop.create_future()
        self._limits = Properties()  # the broker's, of its CONNACK
        self._closing = False
        self.reading_paused = False
        self._packet_id = 0
        self._suback: Suback | None = None
        self._acknowledgements: dict[int, asyncio.Future[int]] = {}  # of PUBLISH and SUBSCRIBE, by packet id
        self._received_qos2: set[int] = set()  # packet ids that are stored and not released
        self._out: list[bytes] = []
        self._keep_alive = float(KEEP_ALIVE_S)
        self._last_sent = self._last_received = loop.time()
        self._timer: asyncio.TimerHandle | None = None

    # -- connecting -----------------------------------------------------------------------------

    async def connect(self, address: BrokerAddress) -> bool:
        """Connect, with MQTT 5 first and with 3.1.1 to a broker that knows no more.

        Returns:
            Whether the broker had kept the session.

        Raises:
            MqttRefused: the broker does not accept this client.
            OSError: it cannot be reached, or ended the connection before it answered.
        """
        try:
            connack = await self._log_in(address, MQTT_5)
            if connack.reason == Reason.UNSUPPORTED_PROTOCOL_VERSION:
                await self._drop_connection()
                connack = await self._log_in(address, MQTT_3_1_1)
        except BaseException:
            self.abort()
            raise
        if connack.reason >= FAILED:
            self.abort()
            raise MqttRefused(connack)
        self._limits = connack.properties
        if self._limits.server_keep_alive is not None:
            self._keep_alive = float(self._limits.server_keep_alive)
        self._check_idle()
        return connack.session_present

    async def _log_in(self, address: BrokerAddress, version: int) -> Connack:
        self.version = version
        self._decoder = Decoder(version, largest=self._max_packet_bytes, of_server=True)
        server_name = (address.server_name or address.host) if address.tls is not None else None
        await self._loop.create_connection(
            lambda: self, address.host, address.port, ssl=address.tls, server_hostname=server_name
        )
        properties = Properties(session_expiry=self._session_expiry or None, receive_maximum=self._receive_maximum)
        self._send(
            Connect(
                self._client_id,
                version,
                clean_start=not self._session_expiry,
                keep_alive=KEEP_ALIVE_S,
                username=address.username,
                password=None if address.password is None else address.password.encode(),
                properties=properties,
            )
        )
        either: set[asyncio.Future[Any]] = {self._connack, self.closed}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._connack.done():
            raise ConnectionResetError("the connection was lost before it was accepted")
        return self._connack.result()

    async def _drop_connection(self) -> None:
        """Close the first connection and wait for its end, so that it is not taken for that of the second."""
        if self._transport is not None:
            self._transport.abort()
        await self.closed
        self._connack = self._loop.create_future()
        self.closed = self._loop.create_future()

    # -- publishing and subscribing -------------------------------------------------------------

    @property
    def transport(self) -> asyncio.BaseTransport:
        """Return what carries the connection, once it is made."""
        assert self._transport is not None
        return self._transport

    @property
    def max_packet_bytes(self) -> int:
        """The largest packet that the broker takes."""
        return self._limits.maximum_packet_size or LARGEST_PACKET

    @property
    def receive_maximum(self) -> int:
        """Return how many messages the broker takes before it has acknowledged the first of them."""
        return self._limits.receive_maximum or _RECEIVE_MAXIMUM

    def publish(self, message: MqttPublication) -> asyncio.Future[int]:
        """Publish a message with QoS 1.

        Returns:
            The reason code of its acknowledgement, to come; never if the connection ends first.

        Raises:
            OverflowError: the broker takes no more before it has acknowledged some.
            MessageTooLarge: the broker does not take a packet of this size.
        """
        if len(self._acknowledgements) >= self.receive_maximum:
            raise OverflowError(f"{self.receive_maximum} messages are not acknowledged")
        packet_id, acknowledgement = self._expect_acknowledgement()
        packet = encode(publish_packet(message, packet_id), self.version)
        if len(packet) > self.max_packet_bytes:
            del self._acknowledgements[packet_id]
            raise MessageTooLarge(len(packet), self.max_packet_bytes)
        self._write(packet)
        return acknowledgement

    async def subscribe(self, requests: Sequence[FilterRequest], properties: Properties = NO_PROPERTIES) -> Suback:
        """Subscribe to some filters and return the broker's answer.

        Raises:
            ConnectionResetError: the connection ended before the answer.
        """
        packet_id, acknowledgement = self._expect_acknowledgement()
        self._send(Subscribe(packet_id, tuple(requests), properties))
        either: set[asyncio.Future[Any]] = {acknowledgement, self.closed}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not acknowledgement.done() or self._suback is None:
            raise ConnectionResetError("the connection was lost before the subscription was acknowledged")
        return self._suback

    def _expect_acknowledgement(self) -> tuple[int, asyncio.Future[int]]:
        while True:
            self._packet_id = self._packet_id % PACKET_IDS + 1
            if self._packet_id not in self._acknowledgements:
                break
        acknowledgement: asyncio.Future[int] = self._loop.create_future()
        self._acknowledgements[self._packet_id] = acknowledgement
        return self._packet_id, acknowledgement

    # -- packets --------------------------------------------------------------------------------

    def _dispatch(self, packet: Packet) -> None:
        match packet:
            case Publish():
                self._receive(packet)
            case Puback(packet_id=packet_id, reason=reason):
                self._acknowledged(packet_id, reason)
            case Pubrel(packet_id=packet_id):
                self._received_qos2.discard(packet_id)
                self._send_soon(Pubcomp(packet_id))
            case Suback(packet_id=packet_id):
                self._suback = packet
                self._acknowledged(packet_id, 0)
            case Connack():
                if not self._connack.done():
                    self._connack.set_result(packet)
            case Disconnect():
                self.disconnect_packet = packet
                self.abort()
            case _:
                pass  # an answer to a ping

    def _acknowledged(self, packet_id: int, reason: int) -> None:
        self._unanswered_bytes = 0
        acknowledgement = self._acknowledgements.pop(packet_id, None)
        if acknowledgement is not None and not acknowledgement.done():
            acknowledgement.set_result(reason)

    def _receive(self, packet: Publish) -> None:
        if self._on_message is None:
            self.abort()
        elif packet.qos == 2 and packet.packet_id in self._received_qos2:
            self._send_soon(Pubrec(packet.packet_id))  # it came again before it was released: stored already
        else:
            stored = self._on_message(packet)
            if packet.qos:
                stored.add_done_callback(lambda _: self._acknowledge(packet))

    def _acknowledge(self, packet: Publish) -> None:
        if packet.qos == 2:
            self._received_qos2.add(packet.packet_id)
            self._send_soon(Pubrec(packet.packet_id))
        else:
            self._send_soon(Puback(packet.packet_id))

    def _send(self, packet: Packet) -> None:
        """Write a packet, and what waits before it."""
        self._write(encode(packet, self.version))

    def _write(self, data: bytes) -> None:
        self._out.append(data)
        self._flush()

    def _send_soon(self, packet: Packet) -> None:
        """Write a packet with the others of this turn of the loop: one system call for many acknowledgements."""
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(encode(packet, self.version))

    def _flush(self) -> None:
        out, self._out = self._out, []
        if out and not self._closing and self._transport is not None and not self._transport.is_closing():
            self._last_sent = self._loop.time()
            self._transport.write(b"".join(out))

    # -- the transport --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket that was opened."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Decode packets and dispatch them."""
        if self._closing:
            return
        self._last_received = self._loop.time()
        self._unanswered_bytes += len(data)
        if self._max_unanswered_bytes is not None and self._unanswered_bytes > self._max_unanswered_bytes:
            self.abort()
            return
        if self.version == MQTT_5 and not self._connack.done() and _is_version_refusal(data):
            self._connack.set_result(Connack(reason=Reason.UNSUPPORTED_PROTOCOL_VERSION))
            return
        try:
            for packet in self._decoder.feed(data):
                self._dispatch(packet)
        except PacketError as error:
            _log.warning("mqtt_broker_sent_invalid_packet", error=str(error))
            self.abort()

    def set_reading_paused(self, paused: bool) -> None:
        """Stop reading from the socket for now, or resume: so that the broker waits for a slow consumer."""
        self.reading_paused = paused
        if self._transport is not None and not self._transport.is_closing():
            if paused:
                self._transport.pause_reading()
            else:
                self._last_received = self._loop.time()
                self._transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        """Note the end, unless this is the connection of an attempt before."""
        if self._transport is not None and not self.closed.done():
            self.closed.set_result(None)
        if self._timer is not None:
            self._timer.cancel()

    def _check_idle(self) -> None:
        """Ping a broker that was sent nothing for a while; end the connection when it does not answer."""
        if self._transport is None or self._transport.is_closing() or not self._keep_alive:
            return
        now = self._loop.time()
        if now - self._last_received > 1.5 * self._keep_alive and not self.reading_paused:
            self.abort()
            return
        if now - min(self._last_sent, self._last_received) >= self._keep_alive / 2:
            self._send(Pingreq())
        self._timer = self._loop.call_later(self._keep_alive / 4, self._check_idle)

    # -- ending ---------------------------------------------------------------------------------

    def disconnect(self) -> None:
        """Send DISCONNECT and close without waiting; what is not acknowledged by now never is."""
        if self._begin_close() and self._transport is not None:
            self._transport.close()
            self._loop.call_later(CLOSE_TIMEOUT_S, self._transport.abort)

    async def close(self) -> None:
        """Send DISCONNECT and wait until the broker closes the socket, for a while.

        Closed by us with bytes unread, our last acknowledgements might be lost.
        """
        if self._begin_close():
            await asyncio.wait([self.closed], timeout=CLOSE_TIMEOUT_S)
        self.abort()
        if self._transport is not None:
            await asyncio.wait([self.closed])

    def _begin_close(self) -> bool:
        """Send DISCONNECT; return whether there was a connection to send it over."""
        if self._transport is None or self._closing:
            return False
        self._send(Disconnect())
        self._closing = True
        return True

    def abort(self) -> None:
        """Close the socket at once, whatever is unsent or unanswered."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()


def reason_name(reason: int) -> str:
    """Return the name of a reason code in words."""
    return Reason(reason).name.replace("_", " ").lower()


def _is_version_refusal(data: bytes) -> bool:
    """Return whether a broker of MQTT 3.1.1 answers that it does not know version 5: its CONNACK has no properties."""
    return data[:2] == b"\x20\x02" and data[3:4] == b"\x01"


def publish_packet(message: MqttPublication, packet_id: int) -> Publish:
    """Return a message as a PUBLISH of QoS 1."""
    properties = Properties(
        content_type=message.content_type or None, user=message.properties, message_expiry=message.expiry
    )
    return Publish(message.topic, message.payload, 1, message.retain, packet_id=packet_id, properties=properties)


def publication(packet: Publish) -> MqttPublication:
    """Return a PUBLISH as a message."""
    properties = packet.properties
    return MqttPublication(
        packet.topic,
        packet.payload,
        properties.content_type or "",
        properties.user,
        properties.message_expiry,
        packet.qos,
        packet.retain,
    )


class LoopThread:
    """An event loop on a thread of its own, for callers that block."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Return the result of a coroutine; Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function on the loop soon."""
        self._loop.call_soon_threadsafe(function, *arguments)

    def stop(self) -> None:
        """Stop the loop and wait for its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
