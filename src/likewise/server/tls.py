"""The TLS handshake of a connection.

asyncio's own server tells nobody of a socket before its handshake is complete, so nobody could count it or close it for
another. Here the handshake begins once the socket is counted.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, cast


class HandshakeLimits(Protocol):
    """Counts the handshakes that are under way (`connection_limits`)."""

    def start_handshake(self, connection: TlsHandshake) -> bool:
        """Return whether another handshake may begin."""

    def end_handshake(self, connection: TlsHandshake) -> None:
        """Count a handshake no longer."""


class TlsHandshake(asyncio.Protocol):
    """A socket whose TLS handshake is under way; when that is complete, another protocol takes it over.

    Args:
        make: Makes that protocol.
        context: The broker's certificate.
        limits: Counts the socket, and may close it to make room.
        seconds: How long the handshake may take.
    """

    def __init__(
        self, make: Callable[[], asyncio.Protocol], context: ssl.SSLContext, limits: HandshakeLimits, seconds: float
    ) -> None:
        self.address = ""
        self._make, self._context, self._limits, self._seconds = make, context, limits, seconds
        self._socket: socket.socket
        self._task: asyncio.Task[None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake, unless there are too many connections."""
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if isinstance(peer, tuple) else ""
        # The transport may have begun to read, so `start_tls` would miss bytes: uvloop reads before a task can run.
        self._socket = socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno()))
        cast("asyncio.Transport", transport).abort()
        if not self._limits.start_handshake(self):
            self._socket.close()
            return
        self._task = asyncio.ensure_future(self._shake_hands())

    async def _shake_hands(self) -> None:
        try:
            self._socket.setblocking(False)
            await asyncio.get_running_loop().connect_accepted_socket(
                self._begin, self._socket, ssl=self._context, ssl_handshake_timeout=self._seconds
            )
        except OSError:  # it speaks no TLS, refuses the certificate, has left, or took too long
            self._socket.close()
        finally:
            self._end()

    def _begin(self) -> asyncio.Protocol:
        return _Secured(self._make, self._end)

    def _end(self) -> None:
        self._limits.end_handshake(self)

    def abort(self) -> None:
        """Close to make room for another connection."""
        with suppress(OSError):  # the other side has closed it
            self._socket.shutdown(socket.SHUT_RDWR)


class _Secured(asyncio.Protocol):
    """Gives a connection whose handshake is complete to the protocol that serves it."""

    def __init__(self, make: Callable[[], asyncio.Protocol], end: Callable[[], None]) -> None:
        self._make, self._end = make, end

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection as what it has become."""
        self._end()
        protocol = self._make()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
