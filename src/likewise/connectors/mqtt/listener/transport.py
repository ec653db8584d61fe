"""TCP and TLS: bytes between a socket and a connection, on the loop that serves HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from likewise.connectors.mqtt.listener.connection import Connection
from likewise.defaults import MQTT_BUFFER_BYTES

Made = Callable[[Callable[[bytes], None], Callable[[], None], Callable[[bool], None], str], Connection | None]


class MqttProtocol(asyncio.Protocol):
    """One socket; `made` makes its connection, or None if there are too many."""

    __slots__ = ("_connection", "_made", "_transport")

    def __init__(self, made: Made) -> None:
        self._made = made
        self._connection: Connection | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody comes."""
        self._transport = found = cast("asyncio.Transport", transport)
        found.set_write_buffer_limits(high=MQTT_BUFFER_BYTES)
        peer = found.get_extra_info("peername")
        shown = f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else ""
        self._connection = self._made(found.write, found.close, self._hold, shown)
        if self._connection is None:
            found.abort()

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        if self._connection is not None:
            self._connection.received(data)

    def connection_lost(self, error: Exception | None) -> None:
        """It is over."""
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

    def _hold(self, held: bool) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if held:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()
