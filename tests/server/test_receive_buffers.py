"""What clients have sent of what is not complete costs a stated number of bytes, whoever sends it."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MqttSettings, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.errors import BacklogExceeded
from likewise.server.mqtt.codec import MQTT_5, Disconnect, Publish, Reason, encode
from likewise.server.receive_buffers import PartialPackets, RequestBodies
from tests.server.mqtt.broker.conftest import PATIENCE, Client, Devices, devices

KB = 1024
LARGE = b"[" + b" " * (300 * KB)  # of a body of JSON that goes on


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def begin(home: Devices, size: int = 4_000_000, sent: bytes = LARGE, token: str = "") -> socket.socket:
    """Begin a publish of so many bytes."""
    port = int(home.url.rpartition(":")[2])
    line = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    head = (
        f"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n"
    )
    head += f"Authorization: Bearer {token}\r\n" if token else ""
    line.sendall(head.encode() + b"\r\n" + sent)
    return line


def answer(line: socket.socket) -> tuple[int, dict[str, Any], str | None]:
    found = http.client.HTTPResponse(line)
    found.begin()
    return found.status, json.loads(found.read()), found.getheader("Retry-After")


def open_websocket(home: Devices) -> socket.socket:
    """Open a stream of publishing."""
    line = socket.create_connection(("127.0.0.1", int(home.url.rpartition(":")[2])), timeout=PATIENCE)
    line.sendall(
        b"GET /v1/events/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    assert line.recv(65_536).startswith(b"HTTP/1.1 101 ")
    return line


def ended(line: socket.socket) -> bool:
    """Wait until the other side ends a connection."""
    with suppress(ConnectionResetError):
        while line.recv(65_536):
            pass
    return True


def begin_packet(client: Client, size: int = 400_000, sent: int = 300_000) -> None:
    """Send the beginning of a message."""
    client.raw(encode(Publish("a/b", bytes(size), qos=1, packet_id=1), MQTT_5)[:sent])


def test_bodies_that_do_not_end_are_bounded_and_small_requests_are_served(held: ExitStack) -> None:
    """One tenant may have half; the newest bytes are refused, and what was refused or cut is free again."""
    with devices(server=ServerSettings(port=0, request_bytes=2_000 * KB)) as home:
        lines = [held.enter_context(begin(home)) for _ in range(3)]
        home.until(lambda: home.metric("likewise_request_bytes") > 3 * 250 * KB)
        refused, problem, later = answer(held.enter_context(begin(home)))
        assert (refused, problem["code"], later) == (429, "backlog", "1")
        assert home.metric("likewise_request_bytes") <= 1_000 * KB
        assert httpx.post(home.url + "/v1/events", json={"x": 1}).status_code == 200
        for line in lines:
            line.close()
        home.until(lambda: home.metric("likewise_request_bytes") == 0)
        body = b'[{"x": 1}' + b" " * (400 * KB) + b"]"
        taken, receipts, _ = answer(held.enter_context(begin(home, len(body), body)))
        assert (taken, len(receipts["events"])) == (200, 1)
        assert home.metric("likewise_request_bytes") == 0


def test_the_only_request_of_a_tenant_is_taken_however_large(held: ExitStack) -> None:
    """Also while another tenant has all that there is."""
    server = ServerSettings(port=0, request_bytes=400 * KB)
    with Broker(None, Config(server=server, mqtt=MqttSettings(port=0))) as broker:
        one = broker.store.commit(lambda tables: make_token(tables, "one", "one", ("publish",), 1))
        other = broker.store.commit(lambda tables: make_token(tables, "other", "other", ("publish",), 1))
        with devices(broker=broker) as home:
            held.enter_context(begin(home, token=one))
            time.sleep(0.2)
            assert answer(held.enter_context(begin(home, token=one)))[0] == 429
            body = b'[{"x": 1}' + b" " * (900 * KB) + b"]"
            assert answer(held.enter_context(begin(home, len(body), body, other)))[0] == 200


def test_messages_that_do_not_end_are_bounded_and_the_oldest_goes(held: ExitStack) -> None:
    """With 0x97; whoever sends whole messages is served."""
    with devices(server=ServerSettings(port=0, receive_bytes=2_000_000)) as home:
        clients = [held.enter_context(home.client(f"c{n}")) for n in range(4)]
        for client in clients[:3]:
            begin_packet(client)
        home.until(lambda: home.metric("likewise_receiving_bytes") >= 899_000)
        begin_packet(clients[3])
        assert clients[0].next(Disconnect).reason == Reason.QUOTA_EXCEEDED
        home.until(lambda: 899_000 <= home.metric("likewise_receiving_bytes") <= 1_000_000)
        assert home.metric("likewise_receiving_evicted_total") == 1
        with home.client("well") as well:
            assert well.publish("a/b", b"x" * 500_000) is not None
        for client in clients:
            client.cut()
        home.until(lambda: home.metric("likewise_receiving_bytes") == 0)


def test_the_only_message_of_a_tenant_is_taken_however_large() -> None:
    with devices(server=ServerSettings(port=0, receive_bytes=1_000)) as home, home.client("camera") as camera:
        assert camera.publish("a/b", b"x" * 2_000_000) is not None


def test_messages_of_websockets_that_do_not_end_are_bounded(held: ExitStack) -> None:
    """In one frame or in fragments, empty ones, too; the oldest is cut."""
    frame = b"\x82\xff" + struct.pack(">Q", 900_000) + bytes(4) + bytes(300_000)
    fragment = b"\x00\x80" + bytes(4)
    with devices(server=ServerSettings(port=0, receive_bytes=2_000_000)) as home:
        lines = [held.enter_context(open_websocket(home)) for _ in range(4)]
        for line in lines[:2]:
            line.sendall(frame)
        lines[2].sendall(b"\x02\x80" + bytes(4) + fragment * 4_000)  # 6 bytes each, and more of memory
        home.until(lambda: home.metric("likewise_receiving_bytes") >= 850_000)
        lines[3].sendall(frame)
        assert ended(lines[0])
        assert home.metric("likewise_receiving_evicted_total") == 1
        lines[2].sendall(b"\x80\x80" + bytes(4))  # its end
        home.until(lambda: home.metric("likewise_receiving_bytes") <= 600_100)


def test_a_message_of_endless_fragments_is_cut(held: ExitStack) -> None:
    with devices() as home:
        line = held.enter_context(open_websocket(home))
        line.sendall(b"\x02\x80" + bytes(4))
        with suppress(OSError):
            for _ in range(100):
                line.sendall((b"\x00\x80" + bytes(4)) * 10_000)
        assert ended(line)


def test_packets_are_counted_by_key_and_in_total_and_never_below_nothing() -> None:
    gone: list[str] = []
    packets = PartialPackets[str](100, 60, lambda name: None if name[0] == "-" else name[0], gone.append)
    for name, size in (("a1", 30), ("a2", 30), ("a3", 20), ("b1", 40), ("-1", 30), ("-1", 90), ("-2", 5)):
        packets.note(name, size)
    assert gone == ["a1", "a2", "a3", "b1"]
    assert packets.total == 95
    for name in ("a1", "b1", "-1", "-2", "-2"):
        packets.note(name, 0)
    assert (packets.total, packets.evicted) == (0, 4)


def test_bodies_are_counted_by_tenant_and_released_once() -> None:
    bodies = RequestBodies(100)
    first, second, other = ({"likewise_tenant": tenant} for tenant in ("one", "one", "other"))
    bodies.add(first, 45)
    bodies.add(other, 45)
    with pytest.raises(BacklogExceeded):
        bodies.add(second, 10)
    bodies.add(other, 60)  # its only one
    bodies.release(first)
    bodies.release(first)
    bodies.release(other)
    bodies.add(second, 100)
    bodies.release(second)
    assert bodies.total == 0
