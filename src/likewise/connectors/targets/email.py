"""Mail by SMTP: each match a message in plain words, accepted when the mail server has taken it.

Its Message-ID follows from the match's id, so that who gets it twice can tell. A server's 4xx is tried again, its 5xx
is a dead letter. A password goes over TLS only.
"""

from __future__ import annotations

import asyncio
import smtplib
import socket
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from likewise.connectors.targets.networks import Network, reachable
from likewise.connectors.targets.target import NotNow, Parcel, Refused
from likewise.connectors.targets.wording import words_of
from likewise.errors import InputError
from likewise.formats.wire.targets import Email

PORTS: Final = {"smtp": 587, "smtps": 465}
_PERMANENT: Final = range(500, 600)
_LONGEST_SUBJECT: Final = 200


class MailServer(NamedTuple):
    """Where mail is handed in."""

    scheme: str
    host: str
    port: int


def server_of(url: str) -> MailServer:
    """The server an address names.

    >>> server_of("smtp://mail.example.org")
    MailServer(scheme='smtp', host='mail.example.org', port=587)
    """
    try:
        said = urlsplit(url)
        good = said.scheme in PORTS and bool(said.hostname) and said.port != 0 and said.path in ("", "/")
    except ValueError:
        good = False
    if not good or not url.isascii() or len(url) > 2_048:
        raise InputError("the address of a mail server is written like smtp://mail.example.org:587, or smtps://")
    if said.username is not None or said.password is not None:
        raise InputError("an address with a password shows it to too many; set `username` and `password` instead")
    return MailServer(said.scheme, said.hostname or "", said.port or PORTS[said.scheme])


class EmailTarget:
    """Hands in one message a match, each over a connection of its own: alerts are few."""

    def __init__(self, wanted: Email, allowed: Sequence[Network], trust: ssl.SSLContext | None = None) -> None:
        self._wanted, self._allowed, self._trust = wanted, allowed, trust

    async def send(self, parcel: Parcel) -> None:
        """Hand it in; returns when the server has taken it."""
        server = server_of(self._wanted.url)
        message = message_of(parcel, self._wanted)
        try:
            async with asyncio.timeout(self._wanted.timeout):
                [address, *_] = await reachable(server.host, server.port, self._allowed)
                await asyncio.to_thread(self._hand_in, server, address, message)
        except TimeoutError:
            raise NotNow(f"the mail server did not answer within {self._wanted.timeout:g} s") from None
        except smtplib.SMTPRecipientsRefused as refused:
            codes = [code for code, _ in refused.recipients.values()]
            raise _not_taken("the recipient", max(codes)) from None
        except smtplib.SMTPAuthenticationError as refused:
            raise NotNow(f"the mail server refuses the user name or the password ({refused.smtp_code})") from None
        except smtplib.SMTPResponseException as refused:
            raise _not_taken("the message", refused.smtp_code) from None
        except (OSError, smtplib.SMTPException) as error:
            raise NotNow(f"the connection failed: {type(error).__name__}") from None

    def _hand_in(self, server: MailServer, address: str, message: EmailMessage) -> None:
        wanted, trust = self._wanted, self._trust or ssl.create_default_context()
        line: smtplib.SMTP
        if server.scheme == "smtps":
            line = _TlsLine(address, server, wanted.timeout, trust)
        else:
            line = _Line(address, server, wanted.timeout)
        with line:
            line.ehlo()
            if server.scheme == "smtp" and line.has_extn("starttls"):
                line.starttls(context=trust)
                line.ehlo()
            if wanted.username is not None and wanted.password is not None:
                if not isinstance(line.sock, ssl.SSLSocket):
                    raise smtplib.SMTPNotSupportedError("no TLS, so the password is not sent")
                line.login(wanted.username, wanted.password)
            line.send_message(message)

    async def close(self) -> None:
        """Nothing stays open."""


class _Line(smtplib.SMTP):
    """A connection to the address that was looked at, by the server's name."""

    def __init__(self, address: str, server: MailServer, timeout: float) -> None:
        self._address = address
        super().__init__(server.host, server.port, timeout=timeout)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return socket.create_connection((self._address, port), timeout)


class _TlsLine(smtplib.SMTP_SSL):
    """The same over TLS from the first byte."""

    def __init__(self, address: str, server: MailServer, timeout: float, trust: ssl.SSLContext) -> None:
        self._address, self._trusted, self._name = address, trust, server.host
        super().__init__(server.host, server.port, timeout=timeout, context=trust)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        bare = socket.create_connection((self._address, port), timeout)
        return self._trusted.wrap_socket(bare, server_hostname=self._name)


def message_of(parcel: Parcel, wanted: Email) -> EmailMessage:
    """A match as a message; nothing an event says can add a header."""
    words, message = words_of(parcel), EmailMessage()
    subject = " ".join(words.headline.split())
    message["From"], message["To"] = wanted.sender, wanted.to
    message["Subject"] = "".join(c for c in subject if c.isprintable())[:_LONGEST_SUBJECT]
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = f"<{parcel.match.id}@likewise>"
    message["Auto-Submitted"] = "auto-generated"
    text = parcel.body.decode("utf-8", "replace") if wanted.form == "template" else words.text
    message.set_content(text)
    return message


def _not_taken(what: str, code: int) -> Exception:
    words = f"the mail server does not take {what} ({code})"
    return Refused(words) if code in _PERMANENT else NotNow(words)
