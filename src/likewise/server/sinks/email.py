"""Mail by SMTP: each match a message in plain words, accepted when the mail server has taken it.

Its Message-ID follows from the match's id, so that who gets it twice can tell. A server's 4xx is tried again, its 5xx
is a dead letter. A password goes over TLS only.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate
from typing import Final
from urllib.parse import urlsplit

from likewise.api.sinks import EmailSettings
from likewise.errors import InputError
from likewise.server.sinks.messages import match_message
from likewise.server.sinks.networks import Network, default_tls_context, reachable
from likewise.server.sinks.resolver import Resolve, resolve_untenanted
from likewise.server.sinks.smtp import MailRefused, MailServer, SmtpFault, submit
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure

PORTS: Final = {"smtp": 587, "smtps": 465}
_PERMANENT: Final = range(500, 600)
_LONGEST_SUBJECT: Final = 200


def parse_mail_url(url: str) -> MailServer:
    """Parse the URL of a mail server.

    >>> parse_mail_url("smtp://mail.example.org")
    MailServer(scheme='smtp', host='mail.example.org', port=587)
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0 and parts.path in ("", "/")
    except ValueError:
        good = False
    if not good or not url.isascii() or len(url) > 2_048:
        raise InputError("the address of a mail server is written like smtp://mail.example.org:587, or smtps://")
    if parts.username is not None or parts.password is not None:
        raise InputError("an address with a password shows it to too many; set `username` and `password` instead")
    return MailServer(parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme])


class EmailTarget:
    """Submits one message a match, each over a connection of its own: alerts are few."""

    def __init__(
        self,
        settings: EmailSettings,
        allowed: Sequence[Network],
        trust: ssl.SSLContext | None = None,
        resolve: Resolve = resolve_untenanted,
    ) -> None:
        self._settings, self._allowed, self._resolve = settings, allowed, resolve
        self._trust = trust or default_tls_context()

    async def send(self, parcel: Parcel) -> None:
        """Submit it; return when the server has taken it.

        `timeout` is for everything: resolving, connecting, TLS, the greeting, every command and the message.
        """
        settings = self._settings
        server, message = parse_mail_url(settings.url), email_message(parcel, settings)
        try:
            async with asyncio.timeout(settings.timeout):
                [address, *_] = await reachable(server.host, server.port, self._allowed, self._resolve)
                await submit(server, address, message, self._trust, settings.username, settings.password)
        except TimeoutError:
            raise TransientFailure(f"the mail server did not answer within {settings.timeout:g} s") from None
        except MailRefused as refused:
            raise _delivery_error(refused) from None
        except SmtpFault as fault:
            raise TransientFailure(f"the mail server cannot be used: {fault}") from None
        except OSError as error:
            raise TransientFailure(f"the connection failed: {type(error).__name__}") from None

    async def close(self) -> None:
        """Do nothing: no connection stays open."""


def email_message(parcel: Parcel, settings: EmailSettings) -> EmailMessage:
    """Return a match as a mail; no text of an event can add a header."""
    words, message = match_message(parcel), EmailMessage()
    subject = " ".join(words.headline.split())
    message["From"], message["To"] = settings.sender, settings.to
    message["Subject"] = "".join(c for c in subject if c.isprintable())[:_LONGEST_SUBJECT]
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = f"<{parcel.match.id}@likewise>"
    message["Auto-Submitted"] = "auto-generated"
    text = parcel.body.decode("utf-8", "replace") if settings.form == "template" else words.text
    message.set_content(text)
    return message


def _delivery_error(refused: MailRefused) -> Exception:
    if refused.stage == "password":
        return TransientFailure(f"the mail server refuses the user name or the password ({refused.code})")
    words = f"the mail server does not take the {refused.stage} ({refused.code})"
    return PermanentFailure(words) if refused.code in _PERMANENT else TransientFailure(words)
