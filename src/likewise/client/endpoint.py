"""Where a broker is and how it is reached; shared by both kinds of client."""

from __future__ import annotations

import ssl
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import httpx
from websockets.exceptions import WebSocketException

from likewise.client.messages import BrokerRefused, headers_of, stream_address
from likewise.defaults import HOST, PORT
from likewise.errors import ArtefactMissing, InputError, Unavailable

ADDRESS: Final = f"http://{HOST}:{PORT}"
REFUSED: Final = (1008, 4000, 4400)  # close codes after which connecting again would not help
SECONDS: Final = 60  # a request may take


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
        self.address = address.rstrip("/")
        self.headers = headers_of(token)
        self._ca = ca
        self.retrying: dict[str, Any] = {"attempts": None, "timeout": patience, "wait_max": 5.0}
        if ca is not None and not self.address.startswith("https:"):
            raise InputError(f"a certificate to believe was named, but {self.address} is not https; say https://...")

    @cached_property
    def trust(self) -> ssl.SSLContext | None:
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

    def stream_options(self, subscriber: str, cursor: int) -> dict[str, Any]:
        """What both kinds of stream are opened with."""
        found: dict[str, Any] = {
            "uri": stream_address(self.address, subscriber, cursor),
            "additional_headers": self.headers,
            "max_size": None,
        }
        return found if self.trust is None else found | {"ssl": self.trust}

    def said(self, error: BaseException) -> BaseException:
        """An error of the connection, as one of the tree that says what to do."""
        if _untrusted(error):
            return Unavailable(
                f"the certificate of {self.address} is not believed: {error}; name the certificate of who signed "
                "it (`ca`)"
            )
        return Unavailable(f"the broker at {self.address} does not answer: {error or type(error).__name__}")


def _untrusted(error: BaseException) -> bool:
    """Whether the other side's certificate was refused: trying again would not help."""
    return isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error)


def may_request_again(error: Exception) -> bool:
    """Whether trying again may help: the connection broke, or the broker said to come again later."""
    if isinstance(error, BrokerRefused):
        return error.status in (429, 503)
    return isinstance(error, httpx.TransportError) and not _untrusted(error)


def may_connect_again(error: Exception) -> bool:
    """The same for a stream, which may break while it is being opened."""
    return isinstance(error, OSError | WebSocketException) and not _untrusted(error)
