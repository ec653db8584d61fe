"""The address of a broker, its credentials and retries, for both kinds of client."""

from __future__ import annotations

import os
import socket
import ssl
from math import inf
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import ClientConnection as AsyncSocket
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection as Socket
from websockets.sync.client import connect

from likewise.client.messages import BrokerRefused, authorization_headers, socket_address, stream_address
from likewise.defaults import HOST, PORT
from likewise.errors import ArtefactMissing, InputError, Unavailable

ADDRESS: Final = f"http://{HOST}:{PORT}"
FINAL_CLOSE_CODES: Final = (1008, 4000, 4400)  # WebSocket close codes after which connecting again would not help
REQUEST_TIMEOUT_S: Final = 60
MAX_RETRY_AFTER_S: Final = 300.0  # a longer `Retry-After` is ignored: the client's own pauses apply
FOREVER: Final = inf  # the patience that never ends


def broker_address(text: str) -> str:
    """Return the URL of a broker; a bare host, or host and port, becomes http at the default port.

    >>> broker_address("http://127.0.0.1:8787/"), broker_address("roof"), broker_address("roof:80")
    ('http://127.0.0.1:8787', 'http://roof:8787', 'http://roof:80')
    >>> broker_address("ftp://roof")
    Traceback (most recent call last):
    likewise.errors.InputError: 'ftp://roof' is no address of a broker; write it like http://127.0.0.1:8787
    """
    bare = "://" not in text
    try:
        parts = urlsplit(f"http://{text}" if bare else text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or any(c.isspace() for c in text):
        raise InputError(f"{text!r} is no address of a broker; write it like {ADDRESS}")
    default = f":{PORT}" if bare and port is None else ""
    return f"{parts.scheme}://{parts.netloc}{default}{parts.path.rstrip('/')}"


class Endpoint:
    """The address of a broker, the token for it, and the certificates that are trusted.

    Args:
        address: the address, as a person writes it.
        token: the bearer token.
        patience: the seconds for which a broken connection is tried again; 0 tries once, `FOREVER` never ends.
        ca: a file with the certificate of the authority that signed the broker's, or that certificate itself;
            without it the machine's own authorities are trusted.

    >>> Endpoint("http://127.0.0.1:8787/").address, Endpoint("http://127.0.0.1:8787").trust
    ('http://127.0.0.1:8787', None)
    """

    def __init__(
        self, address: str, token: str | None = None, patience: float = 30.0, ca: str | Path | None = None
    ) -> None:
        self.address = broker_address(address)
        self.headers = authorization_headers(token)
        self._ca = ca
        self._patience = patience
        if ca is not None and not self.address.startswith("https:"):
            raise InputError(f"a certificate to believe was named, but {self.address} is not https; say https://...")
        self.trust = self._trust()

    def at(self, address: str) -> Endpoint:
        """Return the same endpoint at another address; the token goes with it, so name only the same broker."""
        other = Endpoint(address, patience=self._patience, ca=self._ca)
        other.headers = self.headers
        return other

    def retry_options(self, timeout: float | None = None) -> dict[str, Any]:
        """Return options for stamina: try again for `timeout` seconds (the endpoint's own by default); 0 tries once.

        >>> Endpoint("roof").retry_options(0)["attempts"], Endpoint("roof").retry_options(FOREVER)["timeout"]
        (1, None)
        """
        seconds = self._patience if timeout is None else timeout
        if seconds <= 0:
            return {"attempts": 1}
        return {"attempts": None, "timeout": None if seconds == FOREVER else seconds, "wait_max": 5.0}

    def _trust(self) -> ssl.SSLContext | None:
        """Return the trusted certificates; None where nothing is encrypted."""
        if not self.address.startswith("https:"):
            return None
        try:
            return ssl.create_default_context(cafile=self._ca)
        except FileNotFoundError:
            raise ArtefactMissing(f"there is no certificate file {self._ca}; name another") from None
        except ssl.SSLError as error:
            raise InputError(f"{self._ca} holds no certificate in PEM form: {error}") from None

    def http_options(self) -> dict[str, Any]:
        """Return the options of both kinds of httpx client."""
        options: dict[str, Any] = {"base_url": self.address, "headers": self.headers, "timeout": REQUEST_TIMEOUT_S}
        return options if self.trust is None else options | {"verify": self.trust}

    def stream_options(self, subscriber: str, cursor: int, because: bool = False) -> dict[str, Any]:
        """Return the options of a stream of deliveries."""
        return self._socket_options(stream_address(self.address, subscriber, cursor, because))

    def publish_options(self) -> dict[str, Any]:
        """Return the options of a stream that publishes."""
        return self._socket_options(socket_address(self.address, "/v1/events/stream"))

    def _socket_options(self, address: str) -> dict[str, Any]:
        options: dict[str, Any] = {"uri": address, "additional_headers": self.headers, "max_size": None}
        return options if self.trust is None else options | {"ssl": self.trust}

    def to_unavailable(self, error: BaseException) -> Unavailable:
        """Return an error of the connection as `Unavailable`, which says what to do."""
        if _untrusted(error):
            return Unavailable(
                f"the certificate of {self.address} is not believed: {error}; name the certificate of who signed "
                "it (`ca`)"
            )
        return Unavailable(
            f"the broker at {self.address} does not answer: {plain_reason(error)}; is it running (`likewise serve`), "
            "is that its address?"
        )


def open_socket(options: dict[str, Any]) -> Socket:
    """Open a WebSocket."""
    # Entered, because newer releases of websockets require it; `close` leaves it, perhaps from another method.
    socket: Socket = connect(**options).__enter__()
    return socket


async def open_socket_async(options: dict[str, Any]) -> AsyncSocket:
    """Open a WebSocket for asyncio."""
    return await connect_async(**options)


def plain_reason(error: BaseException) -> str:
    """Return why a connection failed, in a few words.

    >>> plain_reason(ConnectionRefusedError(111, "[Errno 111] Connection refused"))
    'connection refused'
    >>> plain_reason(socket.gaierror(-2, "Name or service not known"))
    'there is no such host'
    """
    for each in _causes(error):
        if isinstance(each, socket.gaierror):
            return "there is no such host"
        if isinstance(each, TimeoutError):
            return "no answer in time"
        if isinstance(each, OSError) and each.errno and each.errno > 0:
            return os.strerror(each.errno).lower()
        if isinstance(each, OSError) and "refused" in str(each).lower() + str(each.args):
            return "connection refused"
    return str(error) or type(error).__name__


def is_unknown_host(error: BaseException) -> bool:
    """Return whether the name of the host does not resolve: a misspelt address, rather than a broker that is down."""
    return any(isinstance(each, socket.gaierror) for each in _causes(error))


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and its causes, deepest first; of an exception group each."""
    inner = error.__cause__ or error.__context__
    several = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    causes = [each for one in (*several, *([inner] if inner is not None else [])) for each in _causes(one)]
    return [*causes, error]


def _untrusted(error: BaseException) -> bool:
    """Return whether the certificate of the broker was refused: trying again would not help."""
    return isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error)


def may_request_again(error: Exception) -> bool | float:
    """Return whether to send a request again, as stamina asks; or in how many seconds, if the broker names them.

    A request is sent again when the connection broke, and when the broker is overloaded (429, 503).

    >>> may_request_again(BrokerRefused(429, {"retry_after": 2.5})), may_request_again(BrokerRefused(404, {}))
    (2.5, False)
    """
    if isinstance(error, BrokerRefused):
        retry_after = error.problem.get("retry_after")
        if error.status in (429, 503) and isinstance(retry_after, int | float) and 0 < retry_after <= MAX_RETRY_AFTER_S:
            return float(retry_after)
        return error.status in (429, 503)
    return isinstance(error, httpx.TransportError) and not _untrusted(error)


def may_connect_again(error: Exception) -> bool:
    """Return whether to open a stream again, which may break while it is being opened."""
    return isinstance(error, OSError | WebSocketException) and not _untrusted(error)
