"""Mail over real sockets: messages in plain words, what each answer of a server means, and whom it never reaches."""

from __future__ import annotations

import asyncio
import email
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.header import decode_header, make_header
from email.message import Message
from typing import Any

import pytest

from likewise.api.deliveries import MatchedPart, MatchReason
from likewise.api.sinks import EmailSettings, WebhookSettings
from likewise.broker.sinks.retry_queue import SinkDelivery
from likewise.errors import InputError
from likewise.server.sinks.email import EmailTarget
from likewise.server.sinks.networks import parse_networks
from likewise.server.sinks.sender import make_parcel
from likewise.server.sinks.settings import check_target, redact_address
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure

LOOPBACK = parse_networks(["127.0.0.0/8"])
EVENT = b'{"v":1,"tuples":[{"attribute":"tempC","value":27.3}],"id":"e1","source":"Kitchen"}'
WHY = (MatchReason("warm", 0.9, (MatchedPart("temperature~ > 25 degC", 0.9, "tempC", "27.3", "27.3 degC"),)),)


class MailServer:
    """Takes mail and answers as it is told, one answer for each `DATA`."""

    def __init__(self, answers: list[bytes], recipient: bytes = b"250 ok") -> None:
        self.answers, self.recipient = answers, recipient
        self.taken: list[Message] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"smtp://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            with line, line.makefile("rwb") as talk:
                self._talk(talk)

    def _talk(self, talk: Any) -> None:
        def say(text: bytes) -> None:
            talk.write(text + b"\r\n")
            talk.flush()

        say(b"220 here")
        for heard in talk:
            verb = heard[:4].upper()
            if verb == b"RCPT":
                say(self.recipient)
            elif verb == b"DATA":
                say(b"354 go on")
                body = b"".join(iter(talk.readline, b".\r\n"))
                answer = self.answers.pop(0) if self.answers else b"250 ok"
                if answer.startswith(b"250"):
                    self.taken.append(email.message_from_bytes(body))
                say(answer)
            elif verb == b"QUIT":
                say(b"221 bye")
                return
            else:
                say(b"250 ok")

    def close(self) -> None:
        self._listening.close()


@contextmanager
def serving(*answers: bytes, recipient: bytes = b"250 ok") -> Iterator[MailServer]:
    server = MailServer(list(answers), recipient)
    try:
        yield server
    finally:
        server.close()


def parcel(wanted: EmailSettings | WebhookSettings, cause: str = "arrival", facts: bytes = b"") -> Parcel:
    frame = b'{"v":1,"sequence":7,"event":' + EVENT + (b',"alert":' + facts if facts else b"") + b"}"
    match = SinkDelivery("msg_1", 7, cause, "warm", 3, 0.9, 1, EVENT, frame)  # type: ignore[arg-type]
    return make_parcel(match, wanted, WHY, "default", "ann")


def wanted(server: MailServer, **more: Any) -> EmailSettings:
    return EmailSettings(server.url, "ann@example.org", "likewise@example.org", timeout=60, **more)


def send(
    server: MailServer, cause: str = "arrival", facts: bytes = b"", *, allowed: Any = LOOPBACK, **more: Any
) -> None:
    asked = wanted(server, **more)
    asyncio.run(EmailTarget(asked, allowed).send(parcel(asked, cause, facts)))


def test_a_message_says_who_what_and_why_in_plain_words() -> None:
    with serving() as server:
        send(server, "held", b'{"key":["Kitchen"],"moment":300000000,"since":0,"suppressed":2}')
    [got] = server.taken
    words = str(make_header(decode_header(got["Subject"]))).replace("\n", "")
    sentence = "Kitchen: 27.3 °C for 5 min, since 00:00 UTC, because `tempC` is its temperature"
    assert words == f"{sentence} (2 more since the last message)"
    assert (got["To"], got["From"], got["Message-ID"]) == (
        "ann@example.org",
        "likewise@example.org",
        "<msg_1@likewise>",
    )
    assert got["Auto-Submitted"] == "auto-generated"
    text = got.get_payload(decode=True)
    assert isinstance(text, bytes)
    assert "- `tempC` says 27.3, which is 27.3 °C: temperature~ > 25 degC" in text.decode()


@pytest.mark.parametrize(
    ("cause", "facts", "words"),
    [
        ("cleared", b'{"key":["Kitchen"],"moment":1}', "Kitchen: over, 27.3"),
        ("absent", b'{"key":["Kitchen"],"moment":3600000000,"since":0}', "Kitchen: nothing was heard for 1 h"),
        ("returned", b'{"key":["Kitchen"],"moment":1,"since":0}', "Kitchen: is heard again"),
        ("digest", b'{"key":[],"moment":1,"total":3,"counts":[[["a"],2],[["b"],1]]}', "warm: 3 matches, a 2, b 1"),
        ("arrival", b"", "Kitchen: 27.3"),
    ],
)
def test_every_cause_has_its_words_also_for_webhooks(cause: str, facts: bytes, words: str) -> None:
    sent = parcel(WebhookSettings("http://x", form="text", because=True), cause, facts)
    assert sent.body.decode().startswith(words)
    assert sent.media_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize(("answer", "error"), [(b"451 later", TransientFailure), (b"552 too much", PermanentFailure)])
def test_what_a_server_answers_is_tried_again_or_set_aside(answer: bytes, error: type[Exception]) -> None:
    with serving(answer) as server, pytest.raises(error, match="does not take the message"):
        send(server)
    with serving(recipient=answer) as server, pytest.raises(error, match="does not take the recipient"):
        send(server)


def test_a_password_is_not_sent_without_tls() -> None:
    with serving() as server, pytest.raises(TransientFailure):
        send(server, username="ann", password="hush")
    assert server.taken == []


def test_private_addresses_are_reached_only_if_allowed() -> None:
    with serving() as server, pytest.raises(TransientFailure, match="no public address"):
        send(server, allowed=())


def test_a_server_that_is_not_there_is_tried_again() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # and never listens
        asked = EmailSettings(f"smtp://127.0.0.1:{bound.getsockname()[1]}", "a@b", "c@d", timeout=60)
    with pytest.raises(TransientFailure, match="connection failed"):
        asyncio.run(EmailTarget(asked, LOOPBACK).send(parcel(asked)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"to": "ann"}, "one mailbox"),
        ({"to": "ann@example.org\r\nBcc: eve@example.org"}, "one mailbox"),
        ({"url": "http://mail"}, "written like smtp://"),
        ({"url": "smtp://ann:hush@mail"}, "shows it to too many"),
        ({"form": "json"}, "mail is text"),
        ({"username": "ann"}, "give both"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_set(change: dict[str, str], words: str) -> None:
    said = {"url": "smtp://127.0.0.1", "to": "ann@example.org", "sender": "l@example.org", **change}
    with pytest.raises(InputError, match=words):
        check_target(EmailSettings(**said), LOOPBACK)  # type: ignore[arg-type]


def test_an_address_is_shown_without_what_is_secret() -> None:
    assert (
        redact_address(EmailSettings("smtp://127.0.0.1", "a@b", "c@d", username="u", password="p"))
        == "smtp://127.0.0.1:587"
    )
