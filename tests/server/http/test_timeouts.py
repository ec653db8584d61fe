"""Half requests, endless headers, bodies of very many events, and requests under way at a stop."""

from __future__ import annotations

import asyncio
import base64
import queue
import socket
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
from structlog.testing import capture_logs

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings, TenantLimits
from likewise.server.http import server
from likewise.server.http import timeouts as patience
from likewise.server.http.server import HttpServer
from tests.server.conftest import serving
from tests.server.sinks.test_interface import until


def connected(address: str) -> socket.socket:
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30)


def read_to_end(open_socket: socket.socket) -> bytes:
    said = b""
    with open_socket, suppress(ConnectionResetError):  # what was still being sent when it closed
        while part := open_socket.recv(65_536):
            said += part
    return said


@pytest.mark.parametrize(
    "half",
    [b"", b"POST /v1/ev", b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"],
    ids=["silence", "half a head", "half a body"],
)
def test_half_a_request_is_ended_in_time(monkeypatch: pytest.MonkeyPatch, half: bytes) -> None:
    """Others are served meanwhile, and the connection is given back."""
    monkeypatch.setattr(patience, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(patience, "BODY_PAUSE_SECONDS", 0.2)
    with serving() as address:
        waiting = [connected(address) for _ in range(20)]
        for each in waiting:
            each.sendall(half)
        assert httpx.get(f"{address}/healthz").status_code == 200
        assert all(b"408" in read_to_end(each) for each in waiting)


def test_more_connections_than_are_held_are_told_so() -> None:
    """With 503, at once, and those that are held go on."""
    config = Config(server=ServerSettings(port=0, connections=5))
    with serving(config=config) as address:
        held = [connected(address) for _ in range(5)]
        for each in held:
            each.sendall(HALF + b"Expect: 100-continue\r\n\r\n")
            assert each.recv(100).startswith(b"HTTP/1.1 100 ")
        assert b"503" in read_to_end(connected(address))
        held[0].sendall(b'{"a":1}')
        assert held[0].recv(1_000).startswith(b"HTTP/1.1 2")
        for each in held:
            each.close()


HALF = b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 7\r\n"
BEFORE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nb: "
CHUNKED = b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("piece", [b"a: " + b"x" * 1_000 + b"\r\n", b"x" * 100_000], ids=["many", "one"])
@pytest.mark.parametrize("begun", [BEFORE, CHUNKED + b"2\r\n{}\r\n0\r\nb: "], ids=["before the body", "after the body"])
def test_lines_without_end_are_refused(begun: bytes, piece: bytes) -> None:
    """Many of them or one that is large, also trailers; before they fill the memory."""
    with serving() as address, connected(address) as sending:
        sending.sendall(begun)
        sent = 0
        try:
            while sent < 64 * 2**20:
                sending.sendall(piece)
                sent += len(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 32 * 2**20
        assert httpx.get(f"{address}/healthz").status_code == 200


def test_very_many_tiny_events_are_counted_while_they_are_read() -> None:
    """6.4 MB of them are refused at the first one too many, and the loop goes on meanwhile."""
    with serving(config=Config(server=ServerSettings(port=0), limits=TenantLimits(batch=100))) as address:
        slowest = 0.0
        done = threading.Event()

        def watch() -> None:
            nonlocal slowest
            while not done.is_set():
                begun = time.monotonic()
                httpx.get(f"{address}/healthz", timeout=60)
                slowest = max(slowest, time.monotonic() - begun)

        watching = threading.Thread(target=watch)
        watching.start()
        for kind, body in (
            ("application/x-ndjson", b'{"a":1}\n' * 800_000),
            ("application/json", b"[" + b",".join([b'{"a":1}'] * 800_000) + b"]"),
        ):
            refused = httpx.post(f"{address}/v1/events", content=body, headers={"content-type": kind}, timeout=60)
            assert refused.status_code == 413
            assert refused.json()["allowed"] == 100
        done.set()
        watching.join()
        assert httpx.get(f"{address}/v1/activity").json()["events"] == []


def running() -> tuple[Broker, HttpServer, threading.Thread, str]:
    """A broker, what serves it, the thread that does, and its address; the test ends it."""
    broker = Broker(None, Config(server=ServerSettings(port=0)))
    ports: queue.Queue[int] = queue.Queue()
    served = HttpServer(broker, on_ready=ports.put)
    thread = threading.Thread(target=lambda: asyncio.run(served.run()), daemon=True)
    thread.start()
    return broker, served, thread, f"http://127.0.0.1:{ports.get(timeout=60)}"


def test_who_waits_at_a_stop_is_told_503(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request whose answer does not come is not cut off with 500 after ten seconds."""
    monkeypatch.setattr(server, "STOP_SECONDS", 0.2)
    broker, served, thread, address = running()
    monkeypatch.setattr(broker.store, "append_all", lambda requests: None)  # an answer that never comes
    answers: list[httpx.Response] = []
    asking = threading.Thread(
        target=lambda: answers.append(httpx.post(f"{address}/v1/events", json={"a": 1}, timeout=60))
    )
    asking.start()
    time.sleep(0.5)
    served.stop()
    asking.join(timeout=60)
    thread.join(timeout=60)
    broker.close()
    assert [answer.status_code for answer in answers] == [503]
    assert "stopping" in answers[0].json()["detail"]


@pytest.mark.parametrize("path", ["/v1/events", "/v1/match"])
def test_a_request_whose_body_still_comes_at_a_stop_is_told_503(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    """Within the time that requests have, and without a traceback; who leaves in the middle makes none either."""
    monkeypatch.setattr(server, "STOP_SECONDS", 0.2)
    broker, served, thread, address = running()
    half = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{" % path.encode()
    with capture_logs() as said:
        with connected(address) as leaving, connected(address) as sending:
            for each in (leaving, sending):
                each.sendall(half)
            until(lambda: len(served._in_flight._under_way) == 2)
            leaving.close()
            until(lambda: len(served._in_flight._under_way) == 1)
            served.stop()
            answer = read_to_end(sending)
        thread.join(timeout=60)
    assert not thread.is_alive()
    broker.close()
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"the broker is stopping" in answer
    assert [line for line in said if line["log_level"] == "error"] == []
    assert [line for line in caplog.records if line.levelname == "ERROR"] == []


@pytest.mark.parametrize("protocol", ["server-sent events", "WebSocket"])
def test_streams_that_nobody_reads_end_at_a_stop_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, protocol: str
) -> None:
    """They are cut once requests have had their time, not cancelled by the server, which logs each as an error."""
    monkeypatch.setattr(server, "STOP_SECONDS", 0.2)
    broker, served, thread, address = running()
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n"
    key = base64.b64encode(bytes(16))
    with capture_logs() as said, connected(address) as silent:
        httpx.put(f"{address}/v1/subscribers/ann").raise_for_status()
        wanted = {"v": 1, "text": "{a exists}"}
        httpx.put(f"{address}/v1/subscribers/ann/subscriptions/all", json=wanted).raise_for_status()
        path, more = (b"stream", upgrade % key) if protocol == "WebSocket" else (b"events", b"")
        silent.sendall(b"GET /v1/subscribers/ann/%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (path, more))
        assert silent.recv(16).startswith(b"HTTP/1.1 101" if more else b"HTTP/1.1 200")
        large = {"a": 1, **{f"b{n}": "x" * 1_000 for n in range(50)}}
        for _ in range(20):
            httpx.post(f"{address}/v1/events", json=[large] * 10, timeout=60).raise_for_status()
        connections = served._server.server_state.connections
        until(lambda: any(each.transport.get_write_buffer_size() > 65_536 for each in connections))
        served.stop()
        thread.join(timeout=60)
    assert not thread.is_alive()
    broker.close()
    assert [line for line in said if line["log_level"] == "error"] == []
    assert [line for line in caplog.records if line.levelname == "ERROR"] == []


GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_a_client_may_send_some_requests_before_the_answer_to_the_first() -> None:
    """What it sends meanwhile is read once those are answered, however often it does that."""
    with serving() as address, connected(address) as sending:
        answers = 0

        def await_answers(number: int) -> None:
            nonlocal answers
            while answers < number:
                part = sending.recv(65_536)
                assert part
                answers += part.count(b"HTTP/1.1 200 ")

        for burst in range(20):
            sending.sendall(GET * 10)
            await_answers(10 * burst + 1)
        await_answers(200)


def test_requests_that_come_before_answers_wait_on_their_own_connection() -> None:
    """No more of them is read while some wait, so that they do not fill the memory; each is answered."""
    with serving() as address, connected(address) as sending:
        threading.Thread(target=sending.sendall, args=(GET * 5_000,), daemon=True).start()
        answers = 0
        while answers < 5_000:
            part = sending.recv(65_536)
            assert part
            answers += part.count(b"HTTP/1.1 200 ")
        assert httpx.get(f"{address}/healthz").status_code == 200
