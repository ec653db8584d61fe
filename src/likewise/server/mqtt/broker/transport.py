"""TCP and TLS: bytes between a socket and a connection, on the loop that serves HTTP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import cast

from likewise.defaults import CLOSE_SECONDS, MQTT_BUFFER_BYTES
from likewise.server.connection_limits import ConnectionLimits, unread_bytes
from likewise.server.mqtt.broker.connection import Carrier, Connection

Made = Callable[[Carrier, str, str], Connection | None]


class MqttProtocol(asyncio.Protocol):
    """One socket; `made` makes its connection, or None if there are too many."""

    __slots__ = ("_connection", "_limits", "_made", "_transport")

    def __init__(self, made: Made, limits: ConnectionLimits) -> None:
        self._made = made
        self._limits = limits
        self._connection: Connection | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody comes."""
        self._transport = found = cast("asyncio.Transport", transport)
        found.set_write_buffer_limits(high=MQTT_BUFFER_BYTES)
        if (opened := found.get_extra_info("socket")) is not None:  # the kernel's buffer is memory, too
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MQTT_BUFFER_BYTES)
        peer = found.get_extra_info("peername")
        address, shown = (str(peer[0]), f"{peer[0]}:{peer[1]}") if isinstance(peer, tuple) else ("", "")
        self._limits.mqtt += 1
        if self._limits.open <= self._limits.allowed:
            self._connection = self._made(self, shown, address)
        if self._connection is None:
            self._limits.refused += 1
            found.abort()

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        if self._connection is not None:
            self._connection.received(data)

    def connection_lost(self, error: Exception | None) -> None:
        """It is over."""
        self._limits.mqtt -= 1
        if self._connection is not None:
            self._connection.lost()
            self._connection = None
        self._transport = None

    def pause_writing(self) -> None:
        """The other side does not take what it is sent."""
        if self._connection is not None:
            self._connection.pause()

    def resume_writing(self) -> None:
        """It takes more."""
        if self._connection is not None:
            self._connection.resume()

    # -- as its connection uses it ----------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send some bytes."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """End it when everything is sent; a client that does not read does not keep its buffer for long."""
        if self._transport is not None:
            self._transport.close()
            if self._transport.get_write_buffer_size():
                asyncio.get_running_loop().call_later(CLOSE_SECONDS, self._abort)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def hold(self, held: bool) -> None:
        """Read nothing for now, or go on."""
        if self._transport is None or self._transport.is_closing():
            return
        if held:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def unsent(self) -> int:
        """Return how many bytes wait in the socket's buffer in this process."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def unread(self) -> int:
        """Return how many bytes the other side has not received."""
        return 0 if self._transport is None else unread_bytes(self._transport)

    def authenticated(self) -> None:
        """Nothing changes: the connection's decoder bounds what comes."""
