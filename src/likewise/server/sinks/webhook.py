"""A webhook: each match is posted, signed, to an address; 2xx is what accepts it.

4xx besides 408, 425 and 429, and a redirect, which is never followed, are for good; anything else is tried again: 5xx,
silence, a broken connection, and as late as Retry-After says.
"""

from __future__ import annotations

import asyncio
import email.utils
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Final

import h11

from likewise import __version__
from likewise.api.sinks import Webhook
from likewise.defaults import TARGET_RETRY_AFTER_SECONDS
from likewise.server.sinks.http_post import Answer, PostingConnection
from likewise.server.sinks.networks import Network, default_trust
from likewise.server.sinks.resolver import Resolve, resolve_alone
from likewise.server.sinks.signing import signed_headers
from likewise.server.sinks.target import NotNow, Parcel, Refused

_COME_AGAIN: Final = frozenset({408, 425, 429})
_FAULTS: Final = (  # how h11 begins to say what is wrong with an answer; what follows may quote it
    "illegal status line",
    "illegal header line",
    "illegal chunk header",
    "illegal chunk",
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
        wanted: Webhook,
        allowed: Sequence[Network],
        *,
        clock: Callable[[], float] = time.time,
        trust: ssl.SSLContext | None = None,
        resolve: Resolve = resolve_alone,
    ) -> None:
        assert wanted.secret is not None
        self._wanted = wanted
        self._secret = wanted.secret
        self._clock = clock
        self._connection = PostingConnection(wanted.url, allowed, trust or default_trust(), resolve)

    async def send(self, parcel: Parcel) -> None:
        """Post it; returns if it was accepted."""
        try:
            async with asyncio.timeout(self._wanted.timeout):
                answer = await self._post(parcel)
        except TimeoutError:
            raise NotNow(f"no answer within {self._wanted.timeout:g} s") from None
        except (OSError, h11.ProtocolError) as error:
            raise NotNow(f"the connection failed: {_words(error)}") from None
        status = answer.status
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            raise Refused(f"answered {status}, a redirect, which is not followed; set the address that it leads to")
        if 400 <= status < 500 and status not in _COME_AGAIN:
            raise Refused(f"answered {status}")
        raise NotNow(f"answered {status}", retry_after(answer.headers.get("retry-after", ""), self._clock()))

    async def _post(self, parcel: Parcel) -> Answer:
        headers = {
            "content-type": parcel.media_type,
            "user-agent": f"likewise/{__version__}",
            **{name.lower(): value for name, value in (self._wanted.headers or {}).items()},
            **signed_headers(self._secret, parcel.match.id, int(self._clock()), parcel.body),
        }
        sent = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return await self._connection.post(sent, parcel.body)

    async def close(self) -> None:
        """Close the connection."""
        self._connection.drop()


def retry_after(said: str, now: float) -> float | None:
    """In how many seconds to come again, as a header says: seconds, or a date; None if it says nothing sensible.

    >>> retry_after("120", 0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 30.0), retry_after("soon", 0)
    (120.0, 30.0, None)
    >>> retry_after("99999999", 0)
    3600.0
    """
    said = said.strip()
    if said.isascii() and said.isdigit():
        return min(float(said[:12]), TARGET_RETRY_AFTER_SECONDS)
    try:
        moment = email.utils.parsedate_to_datetime(said).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(0.0, moment - now), TARGET_RETRY_AFTER_SECONDS)


def _words(error: BaseException) -> str:
    """What went wrong, without a byte of the request or the answer: a receiver may say in it what it was sent.

    >>> _words(h11.RemoteProtocolError("illegal header line: bytearray(b'hush')"))
    'the answer is not HTTP: illegal header line'
    """
    if isinstance(error, h11.LocalProtocolError):
        return "the request could not be written"
    if isinstance(error, h11.ProtocolError):
        fault = next((each for each in _FAULTS if str(error).startswith(each)), "it breaks the protocol")
        return f"the answer is not HTTP: {fault}"
    return f"{type(error).__name__}: {error}"[:200] if str(error) else type(error).__name__
