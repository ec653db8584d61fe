"""A webhook: each match is posted, signed, to an address; 2xx is what accepts it.

The status decides as soon as it has come, whatever follows it. A little of the answer's body is read, so that the
connection can be used again; a longer or slower one is cut off.

4xx besides 408, 425 and 429, and a redirect, which is never followed, are for good; anything else is tried again: 5xx,
silence, a broken connection, and as late as Retry-After says.

One connection that requests are posted over: to addresses that may be reached, kept while the other side keeps it.

h11 reads and writes HTTP/1.1, asyncio the bytes. With httpcore's pool in between a match took about five times the
CPU, and here the address is looked at without anybody's inner parts.
"""

from __future__ import annotations

import asyncio
import email.utils
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import h11

from likewise import __version__
from likewise.api.sinks import WebhookSettings
from likewise.defaults import TARGET_RETRY_AFTER_SECONDS
from likewise.server.sinks.bounded_tls import allow_exchange, connect
from likewise.server.sinks.networks import Network, close_transport, default_tls_context, reachable
from likewise.server.sinks.resolver import Resolve, resolve_untenanted
from likewise.server.sinks.signing import signed_headers
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure

_PART: Final = 16_384  # bytes read at once
_INFORMATIONAL: Final = 10  # responses such as `100 Continue` before the answer; a receiver could send them for ever
_ANSWER: Final = 1_024  # bytes of an answer's body that are read, so that its connection can be used again
_ANSWER_SECONDS: Final = 1.0  # that this body may take; its status has decided before
Headers = list[tuple[bytes, bytes]]


class PostUrl(NamedTuple):
    """A parsed URL: host, port, path, and the `Host` header."""

    tls: bool
    host: str
    port: int
    path: str
    named: str

    @classmethod
    def parse(cls, url: str) -> PostUrl:
        """Parse a URL.

        >>> PostUrl.parse("https://example.org/hook?k=1"), PostUrl.parse("http://[::1]:81").named
        (PostUrl(tls=True, host='example.org', port=443, path='/hook?k=1', named='example.org'), '[::1]:81')
        """
        parts = urlsplit(url)
        tls = parts.scheme == "https"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        named = parts.netloc.rpartition("@")[2]
        return cls(tls, parts.hostname or "", parts.port or (443 if tls else 80), path, named)


class PostResponse(NamedTuple):
    """An HTTP response: the status, and the headers by name."""

    status: int
    headers: dict[str, str]


class HttpPostConnection:
    """Posts one request after the other. What ends in an error or is cancelled ends the connection."""

    def __init__(
        self, url: str, allowed: Sequence[Network], trust: ssl.SSLContext, resolve: Resolve = resolve_untenanted
    ) -> None:
        self._place = PostUrl.parse(url)
        self._allowed, self._trust, self._resolve = allowed, trust, resolve
        self._protocol: h11.Connection | None = None
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, headers: Headers, body: bytes, seconds: float) -> PostResponse:
        """Post a body; return the status and the headers that come back.

        These are the answer, whatever its own body is. A little of that is read, so that the connection can be used
        again; where it is longer or slower, the connection is closed.

        Args:
            headers: Beside `host` and `content-length`.
            body: What is posted.
            seconds: How long everything may take, connecting included.

        Raises:
            TimeoutError: No answer came within that time.
            OSError: The connection failed.
            h11.ProtocolError: What came is not HTTP.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                if self._writer is None or self._reader.at_eof():  # the other side may have let go of it meanwhile
                    await self._connect()
                answer = await self._exchange(headers, body)
        except BaseException:  # its deadline too
            self._abort()
            raise
        await self._finish(deadline)
        return answer

    async def _connect(self) -> None:
        self.close()
        place, error = self._place, OSError("no address")
        named = place.host if place.tls else None
        for address in await reachable(place.host, place.port, self._allowed, self._resolve):
            try:
                self._reader, self._writer = await asyncio.open_connection(
                    sock=await connect(address, place.port),
                    ssl=self._trust if place.tls else None,
                    server_hostname=named,
                )
            except OSError as failed:
                error = failed
            else:
                self._protocol = h11.Connection(h11.CLIENT)
                return
        raise error

    async def _exchange(self, headers: Headers, body: bytes) -> PostResponse:
        protocol, writer = self._protocol, self._writer
        assert protocol is not None
        assert writer is not None
        allow_exchange(writer.transport)
        sized = [(b"host", self._place.named.encode()), (b"content-length", b"%d" % len(body)), *headers]
        parts = [
            protocol.send(h11.Request(method=b"POST", target=self._place.path.encode(), headers=sized)),
            protocol.send(h11.Data(data=body)),
            protocol.send(h11.EndOfMessage()),
        ]
        writer.write(b"".join(part for part in parts if part))
        await writer.drain()
        informational = 0
        while True:
            event = protocol.next_event()
            if event is h11.NEED_DATA:
                protocol.receive_data(await self._reader.read(_PART))
            elif isinstance(event, h11.Response):
                headers_received = {
                    bytes(name).decode("latin-1"): bytes(value).decode("latin-1") for name, value in event.headers
                }
                return PostResponse(event.status_code, headers_received)
            elif not isinstance(event, h11.InformationalResponse):
                raise ConnectionResetError("the connection was closed before an answer")
            elif (informational := informational + 1) > _INFORMATIONAL:
                raise ConnectionResetError(f"more than {_INFORMATIONAL} informational responses came before an answer")

    async def _finish(self, deadline: float) -> None:
        """Read the body of an answer; close the connection where that is not done soon."""
        try:
            async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + _ANSWER_SECONDS)):
                again = await self._read_body()
        except (OSError, TimeoutError, h11.ProtocolError):
            again = False
        except BaseException:
            self._abort()
            raise
        if not again:
            self._abort()

    async def _read_body(self) -> bool:
        """Return whether the body of an answer was read whole, so that the connection can be used again."""
        protocol, size = self._protocol, 0
        assert protocol is not None
        while size <= _ANSWER:
            event = protocol.next_event()
            if event is h11.NEED_DATA:
                protocol.receive_data(await self._reader.read(_PART))
            elif isinstance(event, h11.Data):
                size += len(event.data)
            elif protocol.our_state is h11.DONE and protocol.their_state is h11.DONE:
                protocol.start_next_cycle()
                return True
            else:
                return False
        return False

    def _abort(self) -> None:
        """Close the socket at once, whatever the other side does."""
        if self._writer is not None:
            self._writer.transport.abort()
        self.close()

    def close(self) -> None:
        """Close the connection."""
        writer, self._writer, self._protocol = self._writer, None, None
        if writer is not None and not writer.is_closing():
            close_transport(writer.transport)


_RETRY_STATUSES: Final = frozenset({408, 425, 429})
_FAULTS: Final = (  # how h11 begins to say what is wrong with an answer; what follows may quote it
    "illegal status line",
    "illegal header line",
    "bad Content-Length",
    "conflicting Content-Length",
    "Receive buffer too long",
    "too much data",
    "peer closed connection",
    "peer unexpectedly closed connection",
)


class WebhookTarget:
    """Posts parcels to one address over one connection."""

    def __init__(
        self,
        settings: WebhookSettings,
        allowed: Sequence[Network],
        *,
        clock: Callable[[], float] = time.time,
        trust: ssl.SSLContext | None = None,
        resolve: Resolve = resolve_untenanted,
    ) -> None:
        assert settings.secret is not None
        self._settings = settings
        self._secret = settings.secret
        self._clock = clock
        self._connection = HttpPostConnection(settings.url, allowed, trust or default_tls_context(), resolve)

    async def send(self, parcel: Parcel) -> None:
        """Post it; returns if it was accepted."""
        try:
            answer = await self._post(parcel)
        except TimeoutError:
            raise TransientFailure(f"no answer within {self._settings.timeout:g} s") from None
        except (OSError, h11.ProtocolError) as error:
            raise TransientFailure(f"the connection failed: {_error_text(error)}") from None
        status = answer.status
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            raise PermanentFailure(
                f"answered {status}, a redirect, which is not followed; set the address that it leads to"
            )
        if 400 <= status < 500 and status not in _RETRY_STATUSES:
            raise PermanentFailure(f"answered {status}")
        raise TransientFailure(f"answered {status}", retry_after(answer.headers.get("retry-after", ""), self._clock()))

    async def _post(self, parcel: Parcel) -> PostResponse:
        headers = {
            "content-type": parcel.media_type,
            "user-agent": f"likewise/{__version__}",
            **{name.lower(): value for name, value in (self._settings.headers or {}).items()},
            **signed_headers(self._secret, parcel.match.id, int(self._clock()), parcel.body),
        }
        sent = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return await self._connection.post(sent, parcel.body, self._settings.timeout)

    async def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def retry_after(header: str, now: float) -> float | None:
    """Parse `Retry-After`, seconds or a date, into seconds; None if it is neither.

    >>> retry_after("120", 0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 30.0), retry_after("soon", 0)
    (120.0, 30.0, None)
    >>> retry_after("99999999", 0)
    3600.0
    """
    header = header.strip()
    if header.isascii() and header.isdigit():
        return min(float(header[:12]), TARGET_RETRY_AFTER_SECONDS)
    try:
        moment = email.utils.parsedate_to_datetime(header).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(0.0, moment - now), TARGET_RETRY_AFTER_SECONDS)


def _error_text(error: BaseException) -> str:
    """Return an error's text without a byte of the request or response: a receiver may echo a secret.

    >>> _error_text(h11.RemoteProtocolError("illegal header line: bytearray(b'hush')"))
    'the answer is not HTTP: illegal header line'
    """
    if isinstance(error, h11.LocalProtocolError):
        return "the request could not be written"
    if isinstance(error, h11.ProtocolError):
        fault = next((each for each in _FAULTS if str(error).startswith(each)), "it breaks the protocol")
        return f"the answer is not HTTP: {fault}"
    return f"{type(error).__name__}: {error}"[:200] if str(error) else type(error).__name__
