"""One connection that requests are posted over: to addresses that may be reached, kept while the other side keeps it.

h11 reads and writes HTTP/1.1, asyncio the bytes. With httpcore's pool in between a match took about five times the
CPU, and here the address is looked at without anybody's inner parts.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import h11

from likewise.server.sinks.networks import Network, hang_up, reachable
from likewise.server.sinks.resolver import Resolve, resolve_alone

_PART: Final = 16_384  # bytes read at once
_INFORMATIONAL: Final = 10  # responses such as `100 Continue` before the answer; a receiver could send them for ever
_ANSWER: Final = 1_024  # bytes of an answer's body that are read, so that its connection can be used again
Headers = list[tuple[bytes, bytes]]


class Place(NamedTuple):
    """Where a request goes: the host, the port, the rest of the address, and how the host is named to it."""

    tls: bool
    host: str
    port: int
    path: str
    named: str

    @classmethod
    def of(cls, url: str) -> Place:
        """The parts of an address.

        >>> Place.of("https://example.org/hook?k=1"), Place.of("http://[::1]:81").named
        (Place(tls=True, host='example.org', port=443, path='/hook?k=1', named='example.org'), '[::1]:81')
        """
        said = urlsplit(url)
        tls = said.scheme == "https"
        path = (said.path or "/") + (f"?{said.query}" if said.query else "")
        named = said.netloc.rpartition("@")[2]
        return cls(tls, said.hostname or "", said.port or (443 if tls else 80), path, named)


class Answer(NamedTuple):
    """What came back: the status, and the headers by their names."""

    status: int
    headers: dict[str, str]


class PostingConnection:
    """Posts one request after the other. What ends in an error or is cancelled ends the connection."""

    def __init__(
        self, url: str, allowed: Sequence[Network], trust: ssl.SSLContext, resolve: Resolve = resolve_alone
    ) -> None:
        self._place = Place.of(url)
        self._allowed, self._trust, self._resolve = allowed, trust, resolve
        self._protocol: h11.Connection | None = None
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, headers: Headers, body: bytes) -> Answer:
        """Post a body; what comes back. `OSError` or `h11.RemoteProtocolError` if nothing sensible does."""
        try:
            if self._writer is None or self._reader.at_eof():  # the other side may have let go of it meanwhile
                await self._connect()
            return await self._exchange(headers, body)
        except BaseException:  # its deadline too: the socket is closed whatever the other side does
            if self._writer is not None:
                self._writer.transport.abort()
            self.drop()
            raise

    async def _connect(self) -> None:
        self.drop()
        place, error = self._place, OSError("no address")
        named = place.host if place.tls else None
        for address in await reachable(place.host, place.port, self._allowed, self._resolve):
            try:
                self._reader, self._writer = await asyncio.open_connection(
                    address, place.port, ssl=self._trust if place.tls else None, server_hostname=named
                )
            except OSError as failed:
                error = failed
            else:
                self._protocol = h11.Connection(h11.CLIENT)
                return
        raise error

    async def _exchange(self, headers: Headers, body: bytes) -> Answer:
        protocol, writer = self._protocol, self._writer
        assert protocol is not None
        assert writer is not None
        sized = [(b"host", self._place.named.encode()), (b"content-length", b"%d" % len(body)), *headers]
        parts = [
            protocol.send(h11.Request(method=b"POST", target=self._place.path.encode(), headers=sized)),
            protocol.send(h11.Data(data=body)),
            protocol.send(h11.EndOfMessage()),
        ]
        writer.write(b"".join(part for part in parts if part))
        await writer.drain()
        answer: Answer | None = None
        size = informational = 0
        while True:
            event = protocol.next_event()
            if event is h11.NEED_DATA:
                protocol.receive_data(await self._reader.read(_PART))
            elif isinstance(event, h11.Response):
                said = {bytes(name).decode("latin-1"): bytes(value).decode("latin-1") for name, value in event.headers}
                answer = Answer(event.status_code, said)
            elif isinstance(event, h11.Data):
                size += len(event.data)
                if size > _ANSWER and answer is not None:
                    self.drop()
                    return answer
            elif isinstance(event, h11.EndOfMessage) and answer is not None:
                if protocol.our_state is h11.DONE and protocol.their_state is h11.DONE:
                    protocol.start_next_cycle()
                else:
                    self.drop()
                return answer
            elif not isinstance(event, h11.InformationalResponse):
                raise ConnectionResetError("the connection was closed before an answer")
            elif (informational := informational + 1) > _INFORMATIONAL:
                raise ConnectionResetError(f"more than {_INFORMATIONAL} informational responses came before an answer")

    def drop(self) -> None:
        """Let go of the connection."""
        writer, self._writer, self._protocol = self._writer, None, None
        if writer is not None and not writer.is_closing():
            hang_up(writer.transport)
