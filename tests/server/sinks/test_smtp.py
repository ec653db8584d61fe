"""SMTP as servers speak it: TLS, passwords, replies of many lines, and what is not SMTP at all."""

from __future__ import annotations

import asyncio
import base64
import hmac
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from email import message_from_bytes
from email.message import EmailMessage, Message
from pathlib import Path
from typing import Any

import pytest

from likewise.server.sinks import networks
from likewise.server.sinks.email import MailRefused, MailServer, SmtpFault, submit, wire_form
from tests.server.test_tls import make_certificate

USER, PASSWORD = "ann", "pass wörd"


class Server:
    """A mail server that is scripted by what it offers; it notes every command, and whether it came over TLS."""

    def __init__(self, certificate: tuple[Path, Path] | None = None, **options: Any) -> None:
        self.context: ssl.SSLContext | None = None
        if certificate is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.implicit: bool = options.pop("implicit", False)
        self.auth: str = options.pop("auth", "")
        self.injected: bytes = options.pop("injected", b"")
        self.answers: dict[bytes, bytes] = options.pop("answers", {})
        assert not options
        self.commands: list[tuple[bool, bytes]] = []
        self.taken: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            line, _ = self._listening.accept()
            line.settimeout(60)
            with ExitStack() as open_files:
                self._talk(open_files.enter_context(line), open_files)

    def _encrypted(self, line: socket.socket, open_files: ExitStack) -> socket.socket:
        assert self.context is not None
        return open_files.enter_context(self.context.wrap_socket(line, server_side=True))

    def _talk(self, line: socket.socket, open_files: ExitStack) -> None:
        tls = self.implicit
        if tls:
            line = self._encrypted(line, open_files)
        talk = open_files.enter_context(line.makefile("rb"))
        line.sendall(self.answers.get(b"", b"220-welcome\r\n220 here\r\n"))
        while said := talk.readline().strip():
            self.commands.append((tls, said))
            verb = said.split(b" ")[0].upper()
            if verb in self.answers:
                line.sendall(self.answers[verb])
            elif verb == b"EHLO":
                offers = [b"250-here", b"250-SIZE 1000000"]
                offers += [b"250-STARTTLS"] if self.context is not None and not tls else []
                offers += [b"250-AUTH " + self.auth.encode()] if self.auth and tls else []
                line.sendall(b"\r\n".join([*offers, b"250 HELP"]) + b"\r\n")
            elif verb == b"STARTTLS":
                line.sendall(b"220 go on\r\n" + self.injected)
                line = self._encrypted(line, open_files)
                talk, tls = open_files.enter_context(line.makefile("rb")), True
            elif verb == b"AUTH":
                line.sendall(self._log_in(said, talk, line))
            elif verb == b"DATA":
                line.sendall(b"354 go on\r\n")
                self.taken.append(b"".join(iter(talk.readline, b".\r\n")))
                line.sendall(self.answers.get(b".", b"250 taken\r\n"))
            else:
                line.sendall(b"250 ok\r\n")
            if verb == b"QUIT":
                return

    def _log_in(self, said: bytes, talk: Any, line: socket.socket) -> bytes:
        def ask(challenge: bytes) -> bytes:
            line.sendall(b"334 " + base64.b64encode(challenge) + b"\r\n")
            return base64.b64decode(talk.readline())

        mechanism, key = said.split()[1], PASSWORD.encode()
        if mechanism == b"PLAIN":
            good = base64.b64decode(said.split()[2]) == b"\0" + USER.encode() + b"\0" + key
        elif mechanism == b"LOGIN":
            good = (ask(b"Username:"), ask(b"Password:")) == (USER.encode(), key)
        else:
            good = ask(b"<1@here>") == USER.encode() + b" " + hmac.new(key, b"<1@here>", "md5").hexdigest().encode()
        return b"235 welcome\r\n" if good else b"535 no\r\n"

    def close(self) -> None:
        self._listening.close()
        self._thread.join(60)


@contextmanager
def serving(certificate: tuple[Path, Path] | None = None, **options: Any) -> Iterator[Server]:
    server = Server(certificate, **options)
    try:
        yield server
    finally:
        server.close()


LOOP: dict[str, Any] = {}


@pytest.fixture(autouse=True, params=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything on each event loop that a broker may have: they begin and end TLS in their own ways."""
    if request.param == "uvloop":
        monkeypatch.setitem(LOOP, "factory", pytest.importorskip("uvloop").new_event_loop)
    monkeypatch.setattr(networks, "CLOSING_SECONDS", 0.05)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("mail"), "mail")


def letter(text: str = "Wärme\n.\n..two\nend") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "l@example.org", "ann@example.org", "hot"
    message.set_content(text)
    return message


def send(
    server: Server,
    certificate: tuple[Path, Path] | None = None,
    *,
    scheme: str = "smtp",
    host: str = "127.0.0.1",
    login: tuple[str, str] | tuple[None, None] = (None, None),
    message: EmailMessage | None = None,
) -> None:
    trust = ssl.create_default_context(cafile=None if certificate is None else str(certificate[0]))
    where = MailServer(scheme, host, server.port)

    async def play() -> None:
        try:
            async with asyncio.timeout(60):
                await submit(where, "127.0.0.1", message or letter(), trust, *login)
        finally:
            await asyncio.sleep(2 * networks.CLOSING_SECONDS)  # the loop ends here, and TLS takes its leave on it

    with asyncio.Runner(loop_factory=LOOP.get("factory")) as runner:
        runner.run(play())


def read(taken: bytes) -> Message:
    return message_from_bytes(taken.replace(b"\r\n..", b"\r\n."))


def test_a_message_arrives_as_it_was_written() -> None:
    """Lines that begin with a dot, too; the sender and the recipient are in the envelope."""
    with serving() as server:
        send(server)
    [taken] = server.taken
    text = read(taken).get_payload(decode=True)
    assert isinstance(text, bytes)
    assert text.decode().splitlines() == ["Wärme", ".", "..two", "end"]
    commands = [said for _, said in server.commands]
    assert commands[0] == b"EHLO [127.0.0.1]"
    assert commands[1] == b"MAIL FROM:<l@example.org> SIZE=%d" % len(taken)
    assert commands[2:4] == [b"RCPT TO:<ann@example.org>", b"DATA"]


@pytest.mark.parametrize("text", ["a\r.\rb", "a\n.\nQUIT\n", ".\r\n.", "\x0b.\x0c.\x85.\u2028."])
def test_nothing_in_a_message_ends_it(text: str) -> None:
    """Whatever is a line's end to somebody: only ours ends the message."""
    body = wire_form(letter(text))
    assert b"\r\n.\r\n" not in body
    assert b"\r" not in body.replace(b"\r\n", b"")
    assert b"\n" not in body.replace(b"\r\n", b"")


def test_tls_is_used_where_it_is_offered_and_from_the_first_byte_where_it_is_asked_for(
    certificate: tuple[Path, Path],
) -> None:
    """Everything after STARTTLS goes over TLS, EHLO again among it."""
    with serving(certificate) as server:
        send(server, certificate)
    assert [said.split(b" ")[0] for tls, said in server.commands if not tls] == [b"EHLO", b"STARTTLS"]
    assert next(said for tls, said in server.commands if tls).startswith(b"EHLO")
    assert len(server.taken) == 1
    with serving(certificate, implicit=True) as server:
        send(server, certificate, scheme="smtps")
    assert all(tls for tls, _ in server.commands)
    assert len(server.taken) == 1


def test_a_certificate_that_is_not_believed_or_has_another_name_gets_nothing(certificate: tuple[Path, Path]) -> None:
    """Neither with STARTTLS nor from the first byte."""
    for trusted, host in ((None, "127.0.0.1"), (certificate, "mail.example.org")):
        with serving(certificate) as server, pytest.raises(ssl.SSLError):
            send(server, trusted, host=host)
        assert server.taken == []
        with serving(certificate, implicit=True) as server, pytest.raises(ssl.SSLError):
            send(server, trusted, host=host, scheme="smtps")
        assert server.taken == []


def test_what_comes_in_plain_text_after_starttls_does_not_count(certificate: tuple[Path, Path]) -> None:
    """Somebody between may add replies before TLS begins; believed, they would answer commands said over TLS."""
    injected = b"250-evil\r\n250 AUTH PLAIN\r\n235 ok\r\n"
    with serving(certificate, injected=injected) as server, pytest.raises((SmtpFault, OSError)):
        send(server, certificate, login=(USER, PASSWORD))
    assert not any(b"AUTH" in said for _, said in server.commands)


@pytest.mark.parametrize("offered", ["PLAIN", "LOGIN", "CRAM-MD5", "XOAUTH2 LOGIN PLAIN"])
def test_a_password_is_sent_as_the_server_takes_it(offered: str, certificate: tuple[Path, Path]) -> None:
    """Over TLS; a wrong one is told as such."""
    with serving(certificate, auth=offered) as server:
        send(server, certificate, login=(USER, PASSWORD))
    assert len(server.taken) == 1
    assert all(tls for tls, said in server.commands if said.startswith(b"AUTH"))
    with serving(certificate, auth=offered) as server, pytest.raises(MailRefused) as refused:
        send(server, certificate, login=(USER, "wrong"))
    assert (refused.value.stage, refused.value.code, server.taken) == ("password", 535, [])


def test_a_password_goes_nowhere_without_tls_or_a_known_way_to_log_in(certificate: tuple[Path, Path]) -> None:
    """The message is not sent then, either."""
    with serving() as server, pytest.raises(SmtpFault, match="no TLS"):
        send(server, login=(USER, PASSWORD))
    assert server.taken == []
    with serving(certificate, auth="XOAUTH2") as server, pytest.raises(SmtpFault, match="no way to log in"):
        send(server, certificate, login=(USER, PASSWORD))
    assert server.taken == []


@pytest.mark.parametrize(
    ("verb", "stage"),
    [(b"", "message"), (b"MAIL", "message"), (b"RCPT", "recipient"), (b"DATA", "message"), (b".", "message")],
)
def test_a_code_that_says_no_is_told_with_what_it_is_about(verb: bytes, stage: str) -> None:
    """At every step, in one line or several."""
    with serving(answers={verb: b"451-not\r\n451 now\r\n"}) as server, pytest.raises(MailRefused) as refused:
        send(server)
    assert (refused.value.stage, refused.value.code) == (stage, 451)


def test_a_server_without_extensions_is_greeted_the_old_way() -> None:
    with serving(answers={b"EHLO": b"502 what\r\n"}) as server:
        send(server)
    assert [said.split(b" ")[0] for _, said in server.commands[:2]] == [b"EHLO", b"HELO"]
    assert len(server.taken) == 1


@pytest.mark.parametrize(
    "answer",
    [b"hello\r\n", b"22\r\n", b"220x\r\n", b"220 " + b"x" * 10_000 + b"\r\n", b"220-more\r\n" * 20_000],
    ids=["no code", "half a code", "no space", "a long line", "many lines"],
)
def test_what_is_not_smtp_is_refused_and_not_repeated(answer: bytes) -> None:
    """However long it is: little of it is read."""
    with serving(answers={b"": answer}) as server, pytest.raises(SmtpFault) as fault:
        send(server)
    assert "x" * 10 not in str(fault.value)
    assert len(str(fault.value)) < 100
