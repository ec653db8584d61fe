"""One connection that publishes with QoS 1 and tells what each acknowledgement says; gmqtt (extra `mqtt`) behind it.

gmqtt's own keeping and repeating is not used: it never connects again by itself, and what is not acknowledged when the
line is lost is for whoever sent it. It tells a packet's id and an acknowledgement's reason code nowhere, so both are
taken from where it has them.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Final

import structlog

from likewise.connectors.mqtt.client import Address

HANG_UP_SECONDS: Final = 1.0  # that a broker has to take what was written before the socket is closed
FAILED: Final = 0x80  # reason codes from here on say that a message was not taken
_MOST_BYTES: Final = 268_435_460  # of any packet of MQTT
_log = structlog.get_logger("likewise.mqtt")


class SendingLine:
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
        handler = self._client._package_handler
        known = handler._handle_puback_packet

        def acknowledged(command: int, packet: bytes) -> None:
            known(command, packet)
            told = self._waiting.pop(int.from_bytes(packet[:2]), None)
            if told is not None and not told.done():
                told.set_result(packet[2] if len(packet) > 2 else 0)

        handler._handle_puback_packet = acknowledged

    def _on_disconnect(self, *_: object) -> None:
        if not self.lost.done():
            self.lost.set_result(None)

    async def connect(self, address: Address) -> None:
        """Connect; raises an `OSError`, or what gmqtt likes: refused credentials, a broken answer."""
        if address.username is not None:
            self._client.set_auth_credentials(address.username, address.password)
        tls: ssl.SSLContext | bool = address.tls or False
        await self._client.connect(address.host, address.port, ssl=tls, keepalive=30)

    def publish(self, message: Any) -> asyncio.Future[int]:
        """Publish a message of gmqtt's; the reason code of its acknowledgement is to come.

        Raises `OverflowError` while that broker takes no more before it has acknowledged some.
        """
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._client.publish(message)
        self._waiting[self._sent] = answer
        return answer

    def most_bytes(self) -> int:
        """The largest packet that the broker it is connected to takes."""
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
