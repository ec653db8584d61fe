"""TLS to receivers, with a bound on what one of them may send.

A receiver may send records without end: with a byte in each, or with none at all (tickets, key updates). The event loop
decrypts all of them, and everybody waits meanwhile. So the bytes are counted as OpenSSL takes them, and past the bound
the connection fails. A small buffer in the kernel bounds what comes between two looks at other connections.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any, Final

TLS_BYTES: Final = 65_536  # that a receiver may send in one exchange: its certificates, and an answer of a few lines
RECEIVE_BUFFER: Final = 16_384  # bytes that the kernel takes ahead of us


class BoundedTls(ssl.SSLObject):
    """One connection. `allow` begins another exchange."""

    incoming: ssl.MemoryBIO | None = None
    left = TLS_BYTES

    def allow(self) -> None:
        """Let `TLS_BYTES` come from now on."""
        self.left = TLS_BYTES

    def read(self, *given: Any) -> Any:
        """Read what a record holds."""
        before = self._pending()
        try:
            return super().read(*given)
        finally:
            self._count(before)

    def do_handshake(self) -> None:
        """Go on with the handshake."""
        before = self._pending()
        try:
            super().do_handshake()
        finally:
            self._count(before)

    def _pending(self) -> int:
        return 0 if self.incoming is None else self.incoming.pending

    def _count(self, before: int) -> None:
        self.left -= before - self._pending()
        if self.left < 0:
            raise ssl.SSLError(ssl.SSL_ERROR_SSL, f"the receiver sent more than {TLS_BYTES} bytes")


class BoundedContext(ssl.SSLContext):
    """Makes such connections for a client; the certificates that are believed are loaded by whoever uses it."""

    sslobject_class = BoundedTls

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """Make one over two buffers."""
        made = super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
        assert isinstance(made, BoundedTls)
        made.incoming = incoming
        return made


def allow_exchange(transport: asyncio.BaseTransport) -> None:
    """Begin another exchange over a connection, if it speaks TLS."""
    found = transport.get_extra_info("ssl_object")
    if isinstance(found, BoundedTls):
        found.allow()


async def connect(address: str, port: int) -> socket.socket:
    """Return a socket that is connected to an address, and for which the kernel buffers little."""
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return made
