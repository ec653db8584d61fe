"""Submit mail over SMTP on the event loop (RFC 5321, 3207, 4954): one message, one connection, no thread.

`smtplib` blocks a thread, and its timeout is for each read: a server that says `220-wait` every second keeps it for
ever. Here whoever calls sets one deadline for everything, and to be cancelled closes the socket.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import io
import re
import ssl
from collections.abc import Callable
from email.generator import BytesGenerator
from email.message import EmailMessage
from typing import Final, Literal, NamedTuple

from likewise.server.sinks.bounded_tls import connect
from likewise.server.sinks.networks import close_transport

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
