"""Where a broker is and how it is reached; shared by both kinds of client."""

from __future__ import annotations

import os
import socket
import ssl
from math import inf
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from websockets.exceptions import WebSocketException

from likewise.client.messages import BrokerRefused, authorization_headers, socket_address, stream_address
from likewise.defaults import HOST, PORT
from likewise.errors import ArtefactMissing, InputError, Unavailable

ADDRESS: Final = f"http://{HOST}:{PORT}"
FINAL_CLOSE_CODES: Final = (1008, 4000, 4400)  # close codes after which connecting again would not help
SECONDS: Final = 60  # a request may take
MAX_RETRY_AFTER_S: Final = 300.0  # seconds that a broker may tell a client to wait; past it our own pauses count
FOREVER: Final = inf  # a patience that never ends


def broker_address(said: str) -> str:
    """A broker's address as it is used; a bare host, or host and port, is taken as http, at the usual port.

    >>> broker_address("http://127.0.0.1:8787/"), broker_address("roof"), broker_address("roof:80")
    ('http://127.0.0.1:8787', 'http://roof:8787', 'http://roof:80')
    >>> broker_address("ftp://roof")
    Traceback (most recent call last):
    likewise.errors.InputError: 'ftp://roof' is no address of a broker; write it like http://127.0.0.1:8787
    """
    bare = "://" not in said
    try:
        parts = urlsplit(f"http://{said}" if bare else said)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or any(c.isspace() for c in said):
        raise InputError(f"{said!r} is no address of a broker; write it like {ADDRESS}")
    usual = f":{PORT}" if bare and port is None else ""
    return f"{parts.scheme}://{parts.netloc}{usual}{parts.path.rstrip('/')}"


class Endpoint:
    """A broker's address, the token for it, and whose certificates are believed.

    `ca` names a file with the certificate of the authority that signed the broker's, or that certificate itself;
    without it the machine's own authorities count. `patience` is how many seconds a broken connection is tried again.

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
        """The same at another address; the token goes with it, so name only addresses of the same broker."""
        moved = Endpoint(address, patience=self._patience, ca=self._ca)
        moved.headers = self.headers
        return moved

    def retry_options(self, patience: float | None = None) -> dict[str, Any]:
        """How stamina tries again, for `patience` seconds (the endpoint's own by default); 0 tries once.

        >>> Endpoint("roof").retrying(0)["attempts"], Endpoint("roof").retrying(FOREVER)["timeout"]
        (1, None)
        """
        seconds = self._patience if patience is None else patience
        if seconds <= 0:
            return {"attempts": 1}
        return {"attempts": None, "timeout": None if seconds == FOREVER else seconds, "wait_max": 5.0}

    def _trust(self) -> ssl.SSLContext | None:
        """Whose certificates are believed; None where nothing is encrypted."""
        if not self.address.startswith("https:"):
            return None
        try:
            return ssl.create_default_context(cafile=self._ca)
        except FileNotFoundError:
            raise ArtefactMissing(f"there is no certificate file {self._ca}; name another") from None
        except ssl.SSLError as error:
            raise InputError(f"{self._ca} holds no certificate in PEM form: {error}") from None

    def http_options(self) -> dict[str, Any]:
        """What both kinds of httpx client are made with."""
        found: dict[str, Any] = {"base_url": self.address, "headers": self.headers, "timeout": SECONDS}
        return found if self.trust is None else found | {"verify": self.trust}

    def stream_options(self, subscriber: str, cursor: int, because: bool = False) -> dict[str, Any]:
        """What both kinds of stream are opened with."""
        return self._socket_options(stream_address(self.address, subscriber, cursor, because))

    def publish_options(self) -> dict[str, Any]:
        """What both kinds of stream that publishes are opened with."""
        return self._socket_options(socket_address(self.address, "/v1/events/stream"))

    def _socket_options(self, address: str) -> dict[str, Any]:
        found: dict[str, Any] = {"uri": address, "additional_headers": self.headers, "max_size": None}
        return found if self.trust is None else found | {"ssl": self.trust}

    def to_unavailable(self, error: BaseException) -> Unavailable:
        """An error of the connection, as one of the tree that says what to do."""
        if _untrusted(error):
            return Unavailable(
                f"the certificate of {self.address} is not believed: {error}; name the certificate of who signed "
                "it (`ca`)"
            )
        return Unavailable(
            f"the broker at {self.address} does not answer: {plain_reason(error)}; is it running (`likewise serve`), "
            "is that its address?"
        )


def plain_reason(error: BaseException) -> str:
    """Why a connection failed, in a few words.

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
    """Whether the host's name is not known: a misspelt address, rather than a broker that is away."""
    return any(isinstance(each, socket.gaierror) for each in _causes(error))


def _causes(error: BaseException) -> list[BaseException]:
    """An error and what led to it, deepest first; of several at once each."""
    inner = error.__cause__ or error.__context__
    several = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    found = [each for one in (*several, *([inner] if inner is not None else [])) for each in _causes(one)]
    return [*found, error]


def _untrusted(error: BaseException) -> bool:
    """Whether the other side's certificate was refused: trying again would not help."""
    return isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error)


def may_request_again(error: Exception) -> bool | float:
    """Whether trying again may help: the connection broke, or the broker said to come again; then in how many seconds.

    >>> may_request_again(BrokerRefused(429, {"retry_after": 2.5})), may_request_again(BrokerRefused(404, {}))
    (2.5, False)
    """
    if isinstance(error, BrokerRefused):
        told = error.problem.get("retry_after")
        if error.status in (429, 503) and isinstance(told, int | float) and 0 < told <= MAX_RETRY_AFTER_S:
            return float(told)
        return error.status in (429, 503)
    return isinstance(error, httpx.TransportError) and not _untrusted(error)


def may_connect_again(error: Exception) -> bool:
    """The same for a stream, which may break while it is being opened."""
    return isinstance(error, OSError | WebSocketException) and not _untrusted(error)
