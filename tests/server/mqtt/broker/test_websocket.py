"""MQTT over the WebSocket `/mqtt` is MQTT: the same packets, the same answers, the same doors."""

from __future__ import annotations

import gc
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from likewise.broker.config import MqttSettings, ServerSettings
from likewise.defaults import WEBSOCKET_BYTES
from likewise.server.http.streams.websocket_protocol import BoundedWebSocketProtocol
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.codec import (
    Connack,
    Connect,
    Decoder,
    Disconnect,
    FilterRequest,
    Packet,
    Pingreq,
    Pingresp,
    Properties,
    Puback,
    Publish,
    Reason,
    Suback,
    Subscribe,
    Will,
    encode,
)
from likewise.server.mqtt.codec.fields import encode_variable
from tests.server.mqtt.broker.conftest import PATIENCE, Devices, devices

MQTT = [Subprotocol("mqtt")]


class Line:
    """Packets over a WebSocket."""

    def __init__(self, stream: ClientConnection) -> None:
        self.stream = stream
        self._decoder = Decoder(5, of_server=True)
        self._came: list[Packet] = []

    def send(self, *packets: Packet) -> None:
        self.stream.send(b"".join(encode(each) for each in packets))

    def next(self) -> Packet:
        while not self._came:
            said = self.stream.recv(PATIENCE)
            assert isinstance(said, bytes)
            self._came += self._decoder.feed(said)
        return self._came.pop(0)


@contextmanager
def line(home: Devices, client_id: str = "", **properties: int) -> Iterator[Line]:
    address = f"{home.url.replace('http', 'ws')}/mqtt"
    with connect(address, subprotocols=MQTT, open_timeout=PATIENCE, max_size=None, compression=None) as stream:
        assert stream.subprotocol == "mqtt"
        found = Line(stream)
        found.send(Connect(client_id, properties=Properties(**properties)))  # type: ignore[arg-type]
        answer = found.next()
        assert isinstance(answer, Connack)
        assert answer.reason == 0
        yield found


def test_topics_and_meaning_work_over_a_websocket(home: Devices) -> None:
    """Published over TCP, delivered over the WebSocket, acknowledged, and the other way round."""
    with line(home, "browser", session_expiry=60) as page, home.client("device") as device:
        by_meaning = Properties(user=(("q", "{no2 > 40}"),))
        page.send(
            Subscribe(1, (FilterRequest("ws/a", 1),)),
            Subscribe(2, (FilterRequest("$likewise/bad air", 1),), by_meaning),
        )
        assert [page.next(), page.next()] == [Suback(1, (1,)), Suback(2, (1,))]
        device.publish("ws/a", b'{"no2": 45}')
        came = [page.next(), page.next()]
        assert {each.topic for each in came if isinstance(each, Publish)} == {"ws/a", "$likewise/bad air"}
        for each in came:
            assert isinstance(each, Publish)
            page.send(Puback(each.packet_id))
        device.subscribe("ws/b")
        page.send(Publish("ws/b", b"7", 1, packet_id=9))
        assert page.next() == Puback(9)
        assert device.messages(1)[0].payload == b"7"


def test_packets_may_be_cut_between_messages_anyhow(home: Devices) -> None:
    """And several may stand in one, also one that is larger than any other stream takes."""
    big = b"x" * 200_000
    sent = b"".join(encode(Publish("ws/cut", big if n == 5 else b"%d" % n, 1, packet_id=n + 1)) for n in range(30))
    chance = random.Random(1)
    marks = [0, *sorted(chance.randrange(len(sent)) for _ in range(40)), len(sent)]
    with line(home) as page:
        for begin, end in pairwise(marks):
            page.stream.send(sent[begin:end])
        assert [page.next() for _ in range(30)] == [Puback(n + 1) for n in range(30)]
        page.stream.send(sent)
        assert [page.next() for _ in range(30)] == [Puback(n + 1) for n in range(30)]


def test_a_goodbye_ends_the_websocket_and_a_broken_one_publishes_the_will(home: Devices) -> None:
    """As over TCP."""
    with home.client("watcher") as watcher:
        watcher.subscribe("ws/will")
        with line(home) as page:
            page.send(Disconnect())
            with pytest.raises(ConnectionClosed) as ended:
                page.stream.recv(PATIENCE)
            assert ended.value.rcvd is not None
            assert ended.value.rcvd.code == 1000
        address = f"{home.url.replace('http', 'ws')}/mqtt"
        with connect(address, subprotocols=MQTT, open_timeout=PATIENCE) as stream:
            stream.send(encode(Connect("breaks", will=Will("ws/will", b"gone"))))
            stream.recv(PATIENCE)
            stream.socket.shutdown(socket.SHUT_RDWR)
        assert watcher.messages(1)[0].payload == b"gone"


def test_what_is_malformed_is_told_and_ends_it(home: Devices) -> None:
    """With the reason code, then the connection; a text is no MQTT."""
    with line(home) as page:
        page.stream.send(b"\x00\x00")
        told = page.next()
        assert isinstance(told, Disconnect)
        assert told.reason == Reason.MALFORMED_PACKET
        with pytest.raises(ConnectionClosed):
            page.stream.recv(PATIENCE)
    with line(home) as page:
        page.stream.send("hello")
        with pytest.raises(ConnectionClosed) as ended:
            page.stream.recv(PATIENCE)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1003


def test_a_slow_reader_holds_up_nobody(home: Devices) -> None:
    """A page that does not read gets everything when it does, and others are served meanwhile."""
    body = b"y" * 60_000
    with line(home, "slow") as page, home.client("publisher") as device:
        page.send(Subscribe(1, (FilterRequest("ws/slow", 1),)))
        assert page.next() == Suback(1, (1,))
        for number in range(60):
            device.publish("ws/slow", b"%d " % number + body)
        with line(home) as other:
            other.send(Pingreq())
            assert other.next() == Pingresp()
        for number in range(60):
            came = page.next()
            assert isinstance(came, Publish)
            assert came.payload.startswith(b"%d " % number)
            page.send(Puback(came.packet_id))


def test_pages_of_others_and_other_subprotocols_are_not_let_in(home: Devices) -> None:
    """The same Host and Origin checks as everywhere, before anything is read."""
    address = f"{home.url.replace('http', 'ws')}/mqtt"
    cases: tuple[dict[str, Any], ...] = (
        {"origin": Origin("http://attacker.example"), "subprotocols": MQTT},
        {"additional_headers": {"Host": "attacker.example"}, "subprotocols": MQTT},
        {"subprotocols": [Subprotocol("chat")]},
        {},
    )
    for said in cases:
        with pytest.raises(InvalidStatus) as refused, connect(address, open_timeout=PATIENCE, **said):
            pass
        assert refused.value.response.status_code == 403


def test_a_paho_client_works_over_a_websocket(home: Devices) -> None:
    """One that knows nothing of Likewise."""
    from paho.mqtt.client import Client as Paho
    from paho.mqtt.enums import CallbackAPIVersion

    came = threading.Event()
    ready = threading.Event()
    paho = Paho(CallbackAPIVersion.VERSION2, "paho", transport="websockets")
    paho.on_connect = lambda client, *_: client.subscribe("ws/paho", 1)
    paho.on_subscribe = lambda *_: ready.set()
    paho.on_message = lambda client, data, message: came.set() if message.payload == b"1" else None
    paho.connect("127.0.0.1", int(home.url.rpartition(":")[2]))
    paho.loop_start()
    try:
        assert ready.wait(PATIENCE)
        paho.publish("ws/paho", b"1", 1)
        assert came.wait(PATIENCE)
    finally:
        paho.disconnect()
        paho.loop_stop()


def unfinished(home: Devices, content: int, *, whole: bool = False) -> socket.socket:
    """Open a WebSocket that begins a CONNECT and never finishes it; `whole` finishes the message around it."""
    host, _, port = home.url.rpartition("/")[2].rpartition(":")
    made = socket.create_connection((host, int(port)), timeout=PATIENCE)
    made.sendall(
        b"GET /mqtt HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Protocol: mqtt\r\n\r\n" % (host.encode(), port.encode())
    )
    assert made.recv(4_096).startswith(b"HTTP/1.1 101 ")
    if content:
        connect = b"\x10" + encode_variable(60_000) + encode(Connect("roof"))[2:]
        made.sendall(b"\x82\xfe" + content.to_bytes(2, "big") + bytes(4) + connect.ljust(content, b"\0")[: content - 1])
        if whole:
            made.sendall(b"\0")
    return made


def is_cut(made: socket.socket) -> bool:
    """Wait until the broker closes a connection."""
    try:
        while made.recv(4_096):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize("whole", [False, True], ids=["part of a message", "part of a packet"])
def test_bytes_over_a_websocket_before_a_login_are_bounded_as_those_over_tcp(*, whole: bool) -> None:
    """`[mqtt] pending_bytes`: the oldest goes, and what has come of its message with it."""
    allowed = 3 * (WEBSOCKET_BYTES + 40_000)
    with devices(mqtt=MqttSettings(pending_bytes=allowed)) as home, ExitStack() as stack:
        held = []
        for number in range(1, 4):
            held.append(stack.enter_context(unfinished(home, 40_000, whole=whole)))
            least = number * (WEBSOCKET_BYTES + 39_000)
            home.until(lambda least=least: home.metric("likewise_mqtt_pending_bytes") >= least)  # type: ignore[misc]
        stack.enter_context(unfinished(home, 40_000, whole=whole))
        assert is_cut(held[0])
        home.until(lambda: 0 < home.metric("likewise_mqtt_pending_bytes") <= allowed)
        with line(home, "newcomer") as page:
            page.send(Pingreq())
            assert page.next() == Pingresp()


def test_websockets_without_a_login_are_few_since_each_takes_as_much_as_a_connect() -> None:
    """Those of one address a quarter; a login frees its place."""
    stranger = ServerSettings(port=0, proxies=())
    mqtt = MqttSettings(pending_bytes=12 * WEBSOCKET_BYTES)
    with devices(mqtt=mqtt, server=stranger) as home, line(home, "logged in"), ExitStack() as stack:
        held = [stack.enter_context(unfinished(home, 0)) for _ in range(4)]
        assert is_cut(held[0])
        assert home.metric("likewise_mqtt_pending_bytes") == 3 * WEBSOCKET_BYTES


def test_bytes_that_trickle_over_a_websocket_do_not_prolong_the_time_to_log_in() -> None:
    """`[mqtt] connect_seconds`, from the start of the WebSocket."""
    with devices(mqtt=MqttSettings(connect_seconds=0.5)) as home:
        deadline = time.monotonic() + PATIENCE
        with unfinished(home, 1_000, whole=True) as made, suppress(BrokenPipeError, ConnectionResetError):
            while time.monotonic() < deadline:
                made.sendall(b"\x82\x81" + bytes(5))
                time.sleep(0.05)
        assert time.monotonic() < deadline
        home.until(lambda: home.metric("likewise_mqtt_pending") == 0)


def test_a_websocket_that_is_over_leaves_nothing_to_the_garbage_collector() -> None:
    """It comes late, and a client may open and leave thousands meanwhile."""
    with devices() as home:
        unfinished(home, 40_000).close()
        home.until(lambda: home.metric("likewise_mqtt_pending") == 0)
        gc.collect()
        kinds = (BoundedWebSocketProtocol, MqttConnection)
        others = [each for each in gc.get_objects() if type(each) in kinds]
        gc.disable()
        try:
            for whole in (False, True):
                unfinished(home, 40_000, whole=whole).close()
            home.until(lambda: home.metric("likewise_mqtt_pending") == 0)
            deadline = time.monotonic() + PATIENCE
            while (left := sum(type(each) in kinds for each in gc.get_objects())) > len(others):
                assert time.monotonic() < deadline, left
                time.sleep(0.1)
        finally:
            gc.enable()


def test_a_message_before_the_login_has_at_most_64_kb_and_afterwards_a_packet_of_any_size(
    home: Devices, caplog: pytest.LogCaptureFixture
) -> None:
    """What carries the packets does not buffer what no packet may have, and a client without a login fills no log."""
    address = f"{home.url.replace('http', 'ws')}/mqtt"
    with connect(address, subprotocols=MQTT) as stream:
        stream.send(b"\x10\xff\xff\x7f" + bytes(70_000))
        with pytest.raises(ConnectionClosed) as ended:
            stream.recv(PATIENCE)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1009
    with connect(address, subprotocols=MQTT) as stream:
        line = Line(stream)
        line.send(Connect("grown"))
        assert isinstance(line.next(), Connack)
        line.send(Publish("large/x", bytes(500_000), 1, packet_id=1))
        answer = line.next()
        assert isinstance(answer, Puback)
        assert answer.reason == 0
    assert "Exception in ASGI application" not in caplog.text
