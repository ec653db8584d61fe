"""Mail by SMTP: each match a message in plain words, accepted when the mail server has taken it.

Its Message-ID follows from the match's id, so that who gets it twice can tell. A server's 4xx is tried again, its 5xx
is a dead letter. A password goes over TLS only.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import io
import re
import ssl
from collections.abc import Callable, Sequence
from email.generator import BytesGenerator
from email.message import EmailMessage
from email.utils import formatdate
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from likewise.api.sinks import EmailSettings
from likewise.errors import InputError
from likewise.server.sinks.bounded_tls import connect
from likewise.server.sinks.messages import match_message
from likewise.server.sinks.networks import Network, close_transport, default_tls_context, reachable
from likewise.server.sinks.resolver import Resolve, resolve_untenanted
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure

PORTS: Final = {"smtp": 587, "smtps": 465}
_PERMANENT: Final = range(500, 600)
_LONGEST_SUBJECT: Final = 200


LONGEST_LINE: Final = 8_192  # bytes of a reply's line; RFC 5321 has 512, extensions more
LONGEST_REPLY: Final = 65_536
Stage = Literal["message", "recipient", "password"]
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class MailServer(NamedTuple):
    """Address of a mail server."""

    scheme: str
    host: str
    port: int


class MailRefused(Exception):
    """The server answered with a code that says no.

    Args:
        stage: What it does not take.
        code: The reply's code.
    """

    def __init__(self, stage: Stage, code: int) -> None:
        super().__init__(f"{stage}: {code}")
        self.stage, self.code = stage, code


class SmtpFault(Exception):
    """The server does not speak SMTP, or lacks a needed extension. The message quotes nothing of it."""


class SmtpReply(NamedTuple):
    """A code, and the text of each line."""

    code: int
    lines: tuple[str, ...]


class _SmtpConnection:
    """Commands and replies over one transport, which may become TLS's."""

    def __init__(self, transport: asyncio.Transport, reader: asyncio.StreamReader, *, encrypted: bool) -> None:
        self.transport, self._reader, self.encrypted = transport, reader, encrypted

    @classmethod
    async def open(cls, address: str, server: MailServer, trust: ssl.SSLContext) -> _SmtpConnection:
        loop, tls = asyncio.get_running_loop(), server.scheme == "smtps"
        reader, protocol = _reading()
        transport, _ = await loop.create_connection(
            lambda: protocol,
            sock=await connect(address, server.port),
            ssl=trust if tls else None,
            server_hostname=server.host if tls else None,
        )
        return cls(transport, reader, encrypted=tls)

    async def start_tls(self, trust: ssl.SSLContext, host: str) -> None:
        # A new reader: what came in plain text after the reply may be anybody's, and must not count as said over TLS.
        reader, protocol = _reading()
        transport = await asyncio.get_running_loop().start_tls(self.transport, protocol, trust, server_hostname=host)
        if transport is None:
            raise ConnectionResetError("the connection ended while TLS began")
        protocol.connection_made(transport)
        self.transport, self._reader, self.encrypted = transport, reader, True

    async def reply(self) -> SmtpReply:
        lines: list[str] = []
        size = 0
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                raise SmtpFault("a line of its reply is too long") from None
            size += len(line)
            if not line.endswith(b"\n"):
                raise ConnectionResetError("the connection was closed before a reply")
            if size > LONGEST_REPLY:
                raise SmtpFault("its reply is too long")
            code, more = line[:3], line[3:4]
            if not (code.isdigit() and more in (b"-", b" ", b"\r", b"\n")):
                raise SmtpFault("its reply is not SMTP")
            lines.append(line[4:].strip().decode("latin-1"))
            if more != b"-":
                return SmtpReply(int(code), tuple(lines))

    async def command(self, *words: str) -> SmtpReply:
        self.transport.write(" ".join(words).encode("ascii") + b"\r\n")
        return await self.reply()

    async def expect(self, stage: Stage, *words: str, codes: range = range(200, 300)) -> SmtpReply:
        reply = await self.command(*words)
        if reply.code not in codes:
            raise MailRefused(stage, reply.code)
        return reply

    async def hello(self) -> dict[str, str]:
        """Greet, and return the extensions that the server offers, by their names."""
        name = self._literal()
        reply = await self.command("EHLO", name)
        if not 200 <= reply.code < 300:
            await self.expect("message", "HELO", name)
            return {}
        offered = (line.replace("=", " ", 1).partition(" ") for line in reply.lines[1:])  # some write AUTH=PLAIN
        return {keyword.upper(): parameters for keyword, _, parameters in offered}

    def _literal(self) -> str:
        """Return our address as SMTP writes it. A name would have to be looked up, and none is needed."""
        address = str(self.transport.get_extra_info("sockname")[0]).partition("%")[0]
        return f"[IPv6:{address}]" if ":" in address else f"[{address}]"


def _reading() -> tuple[asyncio.StreamReader, asyncio.StreamReaderProtocol]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE, loop=loop)
    return reader, asyncio.StreamReaderProtocol(reader, loop=loop)


async def submit(
    server: MailServer,
    address: str,
    message: EmailMessage,
    trust: ssl.SSLContext,
    username: str | None = None,
    password: str | None = None,
) -> None:
    """Submit a message; return when the server has taken it.

    Args:
        server: Whose name its certificate must have.
        address: The address of the server that is connected to.
        message: With one `From` and one `To`.
        trust: Which certificates are believed.
        username: With `password`, what to log in with. That is done over TLS alone.
        password: See `username`.

    Raises:
        MailRefused: The server does not take it, with its code.
        SmtpFault: The server breaks the protocol, or has no TLS for a password.
        OSError: The connection failed.
    """
    connection = await _SmtpConnection.open(address, server, trust)
    try:
        await _converse(connection, server, message, trust, username, password)
    except BaseException:
        connection.transport.abort()
        raise
    connection.transport.write(b"QUIT\r\n")  # its reply says nothing that matters
    close_transport(connection.transport)


async def _converse(
    connection: _SmtpConnection,
    server: MailServer,
    message: EmailMessage,
    trust: ssl.SSLContext,
    username: str | None,
    password: str | None,
) -> None:
    greeting = await connection.reply()
    if greeting.code != 220:
        raise MailRefused("message", greeting.code)
    offered = await connection.hello()
    if not connection.encrypted and "STARTTLS" in offered:
        await connection.expect("message", "STARTTLS", codes=range(220, 221))
        await connection.start_tls(trust, server.host)
        offered = await connection.hello()
    if username is not None and password is not None:
        if not connection.encrypted:
            raise SmtpFault("it offers no TLS, so the password is not sent")
        await _log_in(connection, offered.get("AUTH", ""), username, password)
    body = wire_form(message)
    size = (f"SIZE={len(body)}",) if "SIZE" in offered else ()
    await connection.expect("message", f"MAIL FROM:<{message['From']}>", *size)
    await connection.expect("recipient", f"RCPT TO:<{message['To']}>")
    await connection.expect("message", "DATA", codes=range(354, 355))
    connection.transport.write(body + b".\r\n")
    reply = await connection.reply()
    if reply.code != 250:
        raise MailRefused("message", reply.code)


async def _log_in(connection: _SmtpConnection, offered: str, username: str, password: str) -> None:
    """Log in with the first mechanism of ours that the server offers; TLS keeps what is sent."""
    mechanisms = offered.upper().split()
    user, key = username.encode(), password.encode()
    steps: tuple[str, list[Callable[[bytes], bytes]]]
    if "PLAIN" in mechanisms:
        steps = "PLAIN " + base64.b64encode(b"\0" + user + b"\0" + key).decode(), []
    elif "LOGIN" in mechanisms:
        steps = "LOGIN", [lambda challenge: user, lambda challenge: key]
    elif "CRAM-MD5" in mechanisms:
        steps = "CRAM-MD5", [lambda challenge: user + b" " + hmac.new(key, challenge, "md5").hexdigest().encode()]
    else:
        raise SmtpFault("it offers no way to log in that is known here: PLAIN, LOGIN, CRAM-MD5")
    first, answers = steps
    reply = await connection.command("AUTH", first)
    for make in answers:
        if reply.code != 334:
            break
        try:
            challenge = base64.b64decode(reply.lines[-1])
        except ValueError:
            raise SmtpFault("its challenge is not Base64") from None
        reply = await connection.command(base64.b64encode(make(challenge)).decode())
    if reply.code != 235:
        raise MailRefused("password", reply.code)


def wire_form(message: EmailMessage) -> bytes:
    r"""Return a message as `DATA` has it: lines end with CRLF, and one that begins with a dot has another before it.

    >>> message = EmailMessage()
    >>> message.set_content(".\r\nQUIT")
    >>> wire_form(message).splitlines()[-2:]
    [b'..', b'QUIT']
    """
    made = io.BytesIO()
    BytesGenerator(made).flatten(message, linesep="\r\n")
    lines = _LINE_END.split(made.getvalue())
    if not lines[-1]:
        del lines[-1]
    return b"".join((b"." if line.startswith(b".") else b"") + line + b"\r\n" for line in lines)


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
