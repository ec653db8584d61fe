"""Webhooks over real sockets: what each answer of a receiver means, how they are signed, and whom they never reach."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import socket
from typing import Any

import pytest

from likewise.api.sinks import WebhookSettings
from likewise.broker.sinks.retry_queue import SinkDelivery
from likewise.errors import FormatError
from likewise.server.sinks.networks import may_reach, parse_networks
from likewise.server.sinks.sender import make_parcel
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure
from likewise.server.sinks.webhook import WebhookTarget
from tests.server.sinks.receiver import Receiver, receiving

LOOPBACK = parse_networks(["127.0.0.0/8"])
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
TUPLES = b'[{"attribute":"no2","value":45},{"attribute":"city","value":"Galw\\"ay"}]'
EVENT = b'{"v":1,"tuples":' + TUPLES + b',"id":"e1","source":"/a"}'
MATCH = SinkDelivery("msg_1", 7, "arrival", "bad air", 3, 0.9, 1, EVENT, b'{"v":1,"sequence":7,"event":' + EVENT + b"}")


def parcel(**more: Any) -> Parcel:
    return make_parcel(MATCH, WebhookSettings("http://x", **more), (), "default", "ann")


async def sent(receiver: Receiver, *, allowed: Any = LOOPBACK, url: str = "", **more: Any) -> None:
    target = WebhookTarget(WebhookSettings(url or receiver.url, SECRET, **more), allowed, clock=lambda: 1_700_000_000.5)
    try:
        await target.send(parcel())
    finally:
        await target.close()


def test_a_match_is_signed_over_id_time_and_body() -> None:
    """Whoever knows the secret can tell that it is ours and when it was sent, as Standard Webhooks has it."""
    with receiving() as receiver:
        asyncio.run(sent(receiver, headers={"Authorization": "Bearer abc"}))
    [got] = receiver.received
    signed = b"msg_1.1700000000." + got.body
    wanted = base64.b64encode(hmac.new(b"0123456789abcdef0123456789abcdef", signed, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{wanted}"
    assert (got.headers["webhook-id"], got.headers["webhook-timestamp"]) == ("msg_1", "1700000000")
    assert (got.path, got.headers["content-type"], got.headers["authorization"]) == (
        "/hook",
        "application/json",
        "Bearer abc",
    )


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_accepts(status: int) -> None:
    """Whatever its body says."""
    with receiving() as receiver:
        receiver.usual = status
        asyncio.run(sent(receiver))
    assert len(receiver.received) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 403, 404, 405, 409, 410, 413, 422])
def test_what_is_wrong_for_good_is_refused(status: int) -> None:
    """4xx says that trying again will not help; a redirect is said and not followed."""
    with receiving() as receiver, receiving() as elsewhere:
        receiver.usual = (status, {"location": elsewhere.url})
        with pytest.raises(PermanentFailure, match=str(status)):
            asyncio.run(sent(receiver))
        assert (len(receiver.received), elsewhere.received) == (1, [])


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(status: int) -> None:
    """And as late as the receiver says."""
    with receiving() as receiver:
        receiver.answers.append((status, {"retry-after": "17"}))
        receiver.answers.append(status)
        for told in (17.0, None):
            with pytest.raises(TransientFailure, match=str(status)) as failed:
                asyncio.run(sent(receiver))
            assert failed.value.after == told


@pytest.mark.parametrize("how", ["stall", "reset", "lose"])
def test_a_receiver_that_says_nothing_or_breaks_off_is_tried_again(how: str) -> None:
    """It may have the match or not; nobody knows."""
    with receiving() as receiver:
        receiver.usual = how
        with pytest.raises(TransientFailure):
            asyncio.run(sent(receiver, timeout=1.0 if how == "stall" else 60.0))


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (b"hush-header\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 200 OK\r\nhush-header\r\n\r\n", "illegal header line"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: hush-header\r\n\r\n", "bad Content-Length"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: hush-header\r\n\r\n", "not HTTP"),
    ],
)
def test_what_a_receiver_says_is_not_repeated_in_an_error(answer: bytes, fault: str) -> None:
    """It may say what it was sent, secrets too: the kind of fault is told, and none of its bytes."""

    async def play() -> str:
        over = asyncio.Event()

        async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await reader.read()  # until the other side lets go
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            over.set()

        async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            wanted = WebhookSettings(
                f"http://127.0.0.1:{port}/", SECRET, headers={"X-Key": "hush-header"}, timeout=60.0
            )
            target = WebhookTarget(wanted, LOOPBACK)
            with pytest.raises(TransientFailure, match=fault) as failed:
                await target.send(parcel())
            await target.close()
            await asyncio.wait_for(over.wait(), 60)
            return str(failed.value)

    assert "hush" not in asyncio.run(play()).lower()


def test_nobody_there_and_no_such_host_are_tried_again() -> None:
    """A receiver that is being restarted, a name that is not known for a moment."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        with receiving() as receiver, pytest.raises(TransientFailure, match="connection"):
            asyncio.run(sent(receiver, url=url))
    with receiving() as receiver, pytest.raises(TransientFailure, match="no address"):
        asyncio.run(sent(receiver, url="http://nowhere.invalid/"))


def test_one_connection_serves_many_matches() -> None:
    """It is kept, and made again when the receiver closed it."""

    async def play(receiver: Receiver) -> None:
        target = WebhookTarget(WebhookSettings(receiver.url, SECRET), LOOPBACK)
        for _ in range(5):
            await target.send(parcel())
        await target.close()

    with receiving() as receiver:
        asyncio.run(play(receiver))
        assert (len(receiver.received), len(receiver.connections)) == (5, 1)


PRIVATE = [
    "127.0.0.1",
    "127.9.9.9",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "224.0.0.1",
    "255.255.255.255",
    "fe80::1%eth0",
    "ff02::1",
    "198.18.0.1",
    "192.0.2.1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_not_reached(address: str) -> None:
    """Private, loopback, link-local, shared, multicast, and each of these inside an address of IPv6."""
    assert not may_reach(address, ())


def test_public_addresses_are_reached_and_others_where_allowed() -> None:
    """By network, for both versions."""
    assert all(may_reach(each, ()) for each in ("93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:8.8.8.8"))
    assert may_reach("192.168.7.1", parse_networks(["192.168.0.0/16"]))
    assert not may_reach("192.169.7.1", parse_networks(["192.168.0.0/16"])) or may_reach("192.169.7.1", ())
    with pytest.raises(FormatError, match="allow"):
        parse_networks(["localhost"])


def test_a_name_is_judged_by_the_address_it_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public when it is looked at and private when it is connected to reaches nobody: it is asked."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: Any, port: Any, *said: Any, **more: Any) -> Any:
        if host not in ("rebind.example", b"rebind.example"):
            return real(host, port, *said, **more)
        asked.append("rebind.example")
        address = "127.0.0.2" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with receiving() as receiver:
        port = receiver.server_address[1]
        for allowed in ((), parse_networks(["127.0.0.2"])):
            asked.clear()
            with pytest.raises(TransientFailure):
                asyncio.run(sent(receiver, allowed=allowed, url=f"http://rebind.example:{port}/", timeout=1.0))
            assert len(asked) == 1
        asked.append("once before")
        with pytest.raises(TransientFailure, match="no public address"):
            asyncio.run(sent(receiver, allowed=(), url=f"http://rebind.example:{port}/"))
        assert receiver.received == []


def test_forms_say_the_same_match_each_in_its_way() -> None:
    """The delivery, the event, a CloudEvent, JSON and text by templates; nothing an event says breaks JSON."""
    import msgspec

    assert parcel().body == MATCH.delivery
    assert (parcel(form="event").body, parcel(form="event").media_type) == (EVENT, "application/json")
    cloud = parcel(form="cloudevents")
    said = msgspec.json.decode(cloud.body)
    assert cloud.media_type == "application/cloudevents+json"
    assert (said["specversion"], said["id"], said["subject"], said["type"]) == (
        "1.0",
        "msg_1",
        "bad air",
        "likewise.match",
    )
    assert said["data"]["event"]["id"] == "e1"
    made = parcel(
        form="template", template={"text": "{{city}} has {{no2}} ({{@score}})", "n": "{{no2}}", "x": ["{{y}}"]}
    )
    assert msgspec.json.decode(made.body) == {"text": 'Galw"ay has 45 (0.9)', "n": 45, "x": [None]}
    plain = parcel(form="template", template="{{@subscription}}: {{no2}} at {{@source}}")
    assert (plain.body, plain.media_type) == (b"bad air: 45 at /a", "text/plain; charset=utf-8")
    whole = parcel(form="template", template={"all": "{{@payload}}"})
    assert msgspec.json.decode(whole.body) == {"all": {"no2": 45, "city": 'Galw"ay'}}
