"""One connection that publishes with QoS 1 and tells what each acknowledgement says; gmqtt (extra `mqtt`) behind it.

gmqtt's own keeping and repeating is not used: its callback that connects again is taken away, and what is not
acknowledged when the line is lost is for whoever sent it. It tells a packet's id and an acknowledgement's reason code
nowhere, so both are taken from where it has them.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Final

import structlog

from likewise.server.mqtt.client import BrokerAddress

HANG_UP_SECONDS: Final = 1.0  # that a broker has to take what was written before the socket is closed
MOST_RECEIVED: Final = 65_536  # bytes that a broker may send between two acknowledgements: it is asked for nothing else
FAILED: Final = 0x80  # reason codes from here on say that a message was not taken
_MOST_BYTES: Final = 268_435_460  # of any packet of MQTT
_log = structlog.get_logger("likewise.mqtt")


async def _never_reconnect(delay: bool = False) -> None:
    """Do not connect again: whoever sends decides when."""


class PublishConnection:
    """`lost` is done when the connection has ended; it is made by `connect`, once."""

    def __init__(self, client_id: str = "") -> None:
        import gmqtt
        from gmqtt.storage import PersistentStorage

        line = self

        class Noting(PersistentStorage):  # type: ignore[misc]
            """Is told the packet id of what was sent."""

            def push_message(self, mid: int, package: bytes) -> None:
                line._sent = mid
                super().push_message(mid, package)

        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sent = 0  # the packet id of what was sent last
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._client = gmqtt.Client(client_id or None, clean_session=True, persistent_storage=Noting())
        self._client.set_config({"reconnect_delay": 0, "reconnect_retries": 0})
        self._client.on_disconnect = self._on_disconnect
        self._received = 0  # bytes since the last acknowledgement
        connect = self._client._create_connection

        async def bounded(*given: object, **named: object) -> Any:
            connection = await connect(*given, **named)
            self._bound(connection)
            return connection

        self._client._create_connection = bounded
        handler = self._client._package_handler
        handler._reconnect_callback = _never_reconnect  # no retries still means one, at once, each time a line is lost
        known = handler._handle_puback_packet

        def acknowledged(command: int, packet: bytes) -> None:
            known(command, packet)
            self._received = 0
            told = self._waiting.pop(int.from_bytes(packet[:2]), None)
            if told is not None and not told.done():
                told.set_result(packet[2] if len(packet) > 2 else 0)

        handler._handle_puback_packet = acknowledged

    def _bound(self, connection: Any) -> None:
        """Abort a connection over which much comes: gmqtt would gather a packet of any length in memory."""
        protocol, transport = connection._protocol, connection._transport
        take = protocol.data_received

        def data_received(data: bytes) -> None:
            self._received += len(data)
            if self._received > MOST_RECEIVED:
                transport.abort()
            else:
                take(data)

        protocol.data_received = data_received
        transport.set_protocol(protocol)  # a loop may have kept the method that it calls

    def _on_disconnect(self, *_: object) -> None:
        if not self.lost.done():
            self.lost.set_result(None)

    async def connect(self, address: BrokerAddress) -> None:
        """Connect; raises an `OSError`, or what gmqtt likes: refused credentials, a broken answer."""
        if address.username is not None:
            self._client.set_auth_credentials(address.username, address.password)
        tls: ssl.SSLContext | bool = address.tls or False
        connecting = asyncio.ensure_future(self._client.connect(address.host, address.port, ssl=tls, keepalive=30))
        try:  # gmqtt waits for a CONNACK also when the connection is lost
            await asyncio.wait({connecting, self.lost}, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise ConnectionResetError("the connection was lost before it was accepted")
            connecting.result()
        finally:
            connecting.cancel()

    def publish(self, message: Any) -> asyncio.Future[int]:
        """Publish a message of gmqtt's; the reason code of its acknowledgement is to come.

        Raises `OverflowError` while that broker takes no more before it has acknowledged some.
        """
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._client.publish(message)
        self._waiting[self._sent] = answer
        return answer

    def most_bytes(self) -> int:
        """Return the largest packet that the broker it is connected to takes."""
        [most, *_] = self._client._package_handler._connack_properties.get("maximum_packet_size") or [_MOST_BYTES]
        return int(most)

    def hang_up(self) -> None:
        """Tell the broker that the connection ends, and end it without waiting for an answer."""
        connection = self._ended()
        if connection is not None:
            connection.send_disconnect()
            connection._transport.close()
            asyncio.get_running_loop().call_later(HANG_UP_SECONDS, connection._transport.abort)

    def abort(self) -> None:
        """Close the socket at once, whatever is unsent or unanswered."""
        connection = self._ended()
        if connection is not None:
            connection._transport.abort()

    def _ended(self) -> Any:
        """Return gmqtt's connection, if it got one, for the last time: it is not made again."""
        self._client._is_active = False
        return self._client._connection

    async def close(self) -> None:
        """End the connection."""
        try:
            async with asyncio.timeout(5):
                await self._client.disconnect()
        except Exception as error:  # whatever it says: the connection is not used again
            _log.debug("the connection had ended", error=str(error))
