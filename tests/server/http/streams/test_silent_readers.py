"""WebSocket and server-sent event streams whose reader does not read: a bounded memory, and an end after a while."""

from __future__ import annotations

import base64
import json
import os
import socket
import time
from contextlib import ExitStack

import httpx
import pytest
from websockets.sync.client import connect

from likewise.server.http import timeouts as patience
from tests.server.conftest import serving
from tests.server.mqtt.broker.conftest import PATIENCE
from tests.server.mqtt.processes import listening_broker

LARGE = {"town": "W", **{f"filler{n}": "x" * 900 for n in range(100)}}  # 90 KB
WEBSOCKET = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"


def silent(address: str, path: str, upgrade: bool) -> socket.socket:
    """A stream that is begun and not read from, with a small window."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    made.settimeout(PATIENCE)
    made.connect(("127.0.0.1", int(address.rpartition(":")[2])))
    more = WEBSOCKET.format(key=base64.b64encode(os.urandom(16)).decode()) if upgrade else ""
    made.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
    assert made.recv(12).startswith(b"HTTP/1.1 101" if upgrade else b"HTTP/1.1 200")
    return made


def subscriber(http: httpx.Client, id: str) -> None:
    """A subscriber that everything here is for."""
    http.put(f"/v1/subscribers/{id}").raise_for_status()
    http.put(f"/v1/subscribers/{id}/subscriptions/s", json={"v": 1, "text": "{town = W}"}).raise_for_status()


@pytest.mark.parametrize("path", ["stream", "events"])
def test_streams_whose_reader_does_not_read_take_a_bounded_memory(path: str) -> None:
    """100 deliveries of 90 KB for 40 of them would be 360 MB; they all stay in their queues."""
    with (
        listening_broker() as running,
        httpx.Client(base_url=running.http, timeout=PATIENCE) as http,
        ExitStack() as held,
    ):
        for number in range(40):
            subscriber(http, f"s{number}")
        for _ in range(100):
            http.post("/v1/events", json=LARGE).raise_for_status()
        deadline = time.monotonic() + PATIENCE
        while http.get("/v1/subscribers/s39").json()["pending"] < 100:
            assert time.monotonic() < deadline
        before = running.memory()
        peak = before
        for number in range(40):
            held.enter_context(silent(running.http, f"/v1/subscribers/s{number}/{path}", path == "stream"))
            peak = max(peak, running.memory())
        for _ in range(20):
            http.post("/v1/events", json=LARGE).raise_for_status()
            peak = max(peak, running.memory())
        assert peak - before < 120
        assert http.get("/v1/subscribers/s0").json()["pending"] == 120


def test_a_page_that_is_cut_by_its_bytes_goes_on() -> None:
    """Nobody waits for the next event to get the rest."""
    with serving() as address, httpx.Client(base_url=address, timeout=PATIENCE) as http:
        subscriber(http, "ann")
        for n in range(30):
            http.post("/v1/events", json={**LARGE, "n": n}).raise_for_status()
        with connect(address.replace("http", "ws") + "/v1/subscribers/ann/stream") as stream:
            for n in range(30):
                assert json.loads(stream.recv(PATIENCE))["event"]["payload"]["n"] == n


@pytest.mark.parametrize("path", ["stream", "events"])
def test_a_stream_that_is_not_read_for_too_long_is_cut(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Its buffer is given back; what it did not read stays in its queue."""
    monkeypatch.setattr(patience, "STALLED_SECONDS", 0.5)
    with serving() as address, httpx.Client(base_url=address, timeout=PATIENCE) as http:
        subscriber(http, "ann")
        for _ in range(100):
            http.post("/v1/events", json=LARGE).raise_for_status()
        with silent(address, f"/v1/subscribers/ann/{path}", path == "stream"):
            deadline = time.monotonic() + PATIENCE
            while http.get("/readyz").json()["connections"]["open"] > 1:
                assert time.monotonic() < deadline
        assert http.get("/v1/subscribers/ann").json()["pending"] == 100
