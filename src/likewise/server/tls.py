"""TLS: the certificate a broker shows and its key, checked before anything listens, and the handshake of a connection.

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
from pathlib import Path
from typing import Protocol, cast

from likewise.broker.config import ServerSettings
from likewise.errors import ArtefactMissing, InputError


def check_certificate(server: ServerSettings) -> None:
    """Refuse a certificate without its key, files that are not there, and a key that does not fit.

    >>> check_certificate(ServerSettings(tls_certificate="cert.pem"))
    Traceback (most recent call last):
    likewise.errors.InputError: TLS needs both a certificate and its key; give both or neither
    """
    certificate, key = server.tls_certificate, server.tls_key
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        raise InputError("TLS needs both a certificate and its key; give both or neither")
    for path in (certificate, key):
        if not Path(path).is_file():
            raise ArtefactMissing(f"there is no file {path}; TLS needs it")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise InputError(f"{certificate} and {key} are no certificate and its key in PEM form: {error}") from None


def server_context(server: ServerSettings) -> ssl.SSLContext | None:
    """Return the TLS context of the listeners; None without a certificate.

    The files are read once. There is no TLS reload: a renewed certificate is shown after a restart.
    """
    if server.tls_certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.tls_certificate, server.tls_key)
    return context


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
