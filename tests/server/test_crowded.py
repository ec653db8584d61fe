"""More connections than there may be: those that nobody uses give their place to newcomers, whatever they speak."""

from __future__ import annotations

import http.client
import re
import select
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MqttSettings, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.server.connection_limits import WaitingConnections
from likewise.server.mqtt.codec import Connect, encode
from tests.server.mqtt.broker.conftest import PATIENCE, Client, Devices, devices
from tests.server.mqtt.processes import listening_broker
from tests.server.test_tls import make_certificate

ALLOWED = 8
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def ask(line: socket.socket) -> bytes:
    """Return the answer to a request; b"" if the connection was closed."""
    try:
        line.sendall(GET)
        answer = http.client.HTTPResponse(line)
        answer.begin()
        return b"%d " % answer.status + answer.read()
    except (BrokenPipeError, ConnectionResetError, http.client.BadStatusLine):
        return b""


def over(line: socket.socket) -> bool:
    """Wait until the other side ends a connection."""
    try:
        while line.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


def silent(line: socket.socket) -> bool:
    """Return whether a connection is open and nothing has come."""
    return not select.select([line], [], [], 0.0)[0]


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def ports(home: Devices) -> tuple[int, int]:
    return int(home.url.rpartition(":")[2]), home.port


@pytest.mark.parametrize("begun", [b"", b"GET /healthz HTT"], ids=["silence", "half a head"])
def test_connections_without_a_request_give_their_place_to_newcomers(held: ExitStack, begun: bytes) -> None:
    """The oldest of them, with 408; over HTTP and over MQTT alike."""
    with devices(server=ServerSettings(port=0, connections=ALLOWED)) as home:
        web, mqtt = ports(home)
        idle = [held.enter_context(dial(web)) for _ in range(ALLOWED)]
        for each in idle:
            each.sendall(begun)
        for _ in range(2):
            assert ask(held.enter_context(dial(web))).startswith(b"200 ")
        with Client(mqtt, "newcomer") as newcomer:
            assert newcomer.connect().reason == 0
        assert idle[0].recv(100).startswith(b"HTTP/1.1 408 ")
        assert all(over(each) for each in idle[:3])
        assert home.metric("likewise_connections_evicted_total") >= 3
        assert home.metric("likewise_connections_refused_total") == 0


def test_connections_without_a_login_give_their_place_to_requests(held: ExitStack) -> None:
    """Silent MQTT connections, and those that took the rest without a request."""
    with devices(server=ServerSettings(port=0, connections=ALLOWED), mqtt=MqttSettings(pending=ALLOWED)) as home:
        web, mqtt = ports(home)
        silent = [held.enter_context(dial(port)) for port in [mqtt] * (ALLOWED // 2) + [web] * (ALLOWED // 2)]
        for _ in range(ALLOWED):
            assert ask(held.enter_context(dial(web))).startswith(b"200 ")
        assert all(over(each) for each in silent)


def test_connections_between_two_requests_go_after_those_without_any(held: ExitStack) -> None:
    """The one that was used longest ago first; one with a request under way, or logged in, never."""
    with devices(server=ServerSettings(port=0, connections=ALLOWED)) as home:
        web, mqtt = ports(home)
        client = held.enter_context(Client(mqtt, "client"))
        assert client.connect().reason == 0
        rested = [held.enter_context(dial(web)) for _ in range(ALLOWED - 2)]
        for each in reversed(rested):
            assert ask(each).startswith(b"200 ")
        quiet = held.enter_context(dial(web))
        newcomer = held.enter_context(dial(web))
        assert ask(newcomer).startswith(b"200 ")
        assert over(quiet)
        assert all(silent(each) for each in rested)
        assert ask(held.enter_context(dial(web))).startswith(b"200 ")
        assert over(rested[-1])
        assert client.publish("a/b") is not None


def test_half_requests_that_were_refused_give_their_place(held: ExitStack) -> None:
    """Who has no token is told so before the body, and holds no connection by sending none of it."""
    broker = Broker(None, Config(server=ServerSettings(port=0, connections=ALLOWED), mqtt=MqttSettings(port=0)))
    broker.store.commit(lambda tables: make_token(tables, "root", "default", ("admin",), 1))
    with devices(broker=broker) as home:
        web, _ = ports(home)
        lines = [held.enter_context(dial(web)) for _ in range(ALLOWED)]
        for each in lines:
            each.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{")
            assert each.recv(65_536).startswith(b"HTTP/1.1 401 ")
        assert ask(held.enter_context(dial(web))).startswith(b"200 ")


def test_an_address_with_more_than_a_quarter_of_them_loses_its_own_first() -> None:
    """So 1,000 connections of one machine cost nobody else a connection."""

    class Line:
        def __init__(self, address: str) -> None:
            self.address = address

        def abort(self) -> None:
            raise AssertionError("closed by the list itself")

    waiting = WaitingConnections(2, lambda address: address or None)
    lines = [Line(address) for address in ("old", "", "crowd", "crowd", "crowd", "", "", "")]
    for line in lines:
        waiting.add(line)
    assert waiting.oldest() is lines[2]
    assert waiting.remove(lines[3])
    assert not waiting.remove(lines[3])
    assert waiting.oldest() is lines[0]
    for line in lines:
        waiting.remove(line)
    assert waiting.oldest() is None
    assert len(waiting) == 0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("crowded"), "localhost")


def guarded(certificate: tuple[Path, Path], connections: int | None = None) -> ServerSettings:
    return ServerSettings(
        port=0, connections=connections, tls_certificate=str(certificate[0]), tls_key=str(certificate[1])
    )


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


@pytest.mark.parametrize("hello", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["silence", "half a hello"])
@pytest.mark.parametrize("speaks", ["http", "mqtt"])
def test_tls_handshakes_count_and_give_their_place(
    held: ExitStack, certificate: tuple[Path, Path], speaks: str, hello: bytes
) -> None:
    """Sockets that never end their handshake keep out neither requests nor logins."""
    trust = trusting(certificate[0])
    with devices(server=guarded(certificate, ALLOWED)) as home, held:
        web = int(home.url.rpartition(":")[2])
        port = web if speaks == "http" else home.tls_port
        lines = [held.enter_context(dial(port)) for _ in range(ALLOWED)]
        for each in lines:
            each.sendall(hello)
        open_now = home.broker.metrics.registry.get_sample_value
        home.until(lambda: open_now("likewise_connections_open", {"protocol": "handshake"}) == ALLOWED)
        secure = held.enter_context(trust.wrap_socket(dial(web), server_hostname="localhost"))
        page = metrics(secure)
        assert 'likewise_connections_open{protocol="handshake"} 7.0' in page
        assert "likewise_connections_waiting 7.0" in page
        assert over(lines[0])
        device = held.enter_context(trust.wrap_socket(dial(home.tls_port), server_hostname="localhost"))
        device.sendall(encode(Connect("device")))
        assert device.recv(2)[0] == 0x20
        assert over(lines[1])


def metrics(line: socket.socket) -> str:
    line.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    page = b""
    while part := line.recv(65_536):
        page += part
    return page.decode()


def test_a_handshake_has_as_long_as_a_login(held: ExitStack, certificate: tuple[Path, Path]) -> None:
    """`[mqtt] connect_seconds`; its place is free again."""
    with devices(server=guarded(certificate), mqtt=MqttSettings(connect_seconds=0.2)) as home, held:
        assert over(held.enter_context(dial(home.tls_port)))
        web = int(home.url.rpartition(":")[2])
        secure = held.enter_context(trusting(certificate[0]).wrap_socket(dial(web), server_hostname="localhost"))
        assert 'likewise_connections_open{protocol="handshake"} 0.0' in metrics(secure)


def test_what_comes_with_the_end_of_the_handshake_is_read(held: ExitStack, certificate: tuple[Path, Path]) -> None:
    """A client of TLS 1.3 sends its request with its last message of the handshake, in one packet."""
    with devices(server=guarded(certificate)) as home, held:
        line = held.enter_context(dial(int(home.url.rpartition(":")[2])))
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = trusting(certificate[0]).wrap_bio(incoming, outgoing, server_hostname="localhost")
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                line.sendall(outgoing.read())
                incoming.write(line.recv(65_536))
        tls.write(GET)
        line.sendall(outgoing.read())
        answer = b""
        while b"HTTP/1.1 200 " not in answer:
            incoming.write(line.recv(65_536))
            try:
                answer += tls.read(65_536)
            except ssl.SSLWantReadError:
                continue


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_hundreds_of_silent_connections_over_http_keep_nobody_out(
    held: ExitStack, certificate: tuple[Path, Path], tls: bool
) -> None:
    """A process that may open 256 files, of which connections may have 192."""
    files = "--tls-certificate", str(certificate[0]), "--tls-key", str(certificate[1])
    trust = trusting(certificate[0])
    with listening_broker(*(files if tls else ()), files=256) as running, held:
        url = running.http.replace("http:", "https:") if tls else running.http
        web = int(url.rpartition(":")[2])
        for _ in range(400):
            line = held.enter_context(dial(web))
            line.sendall(b"\x16" if tls else b"G")
            time.sleep(0.005)  # the kernel's queue is short: what finds it full waits for seconds
        with httpx.Client(base_url=url, timeout=PATIENCE, verify=trust) as client:
            evicted = re.search(r"^likewise_connections_evicted_total (.*)$", client.get("/metrics").text, re.MULTILINE)
            assert evicted is not None
            assert float(evicted[1]) >= 100
            assert client.get("/readyz").status_code == 200
            assert client.put("/v1/subscribers/ann").status_code in (200, 201)
        with Client(running.port, "device") as device:
            assert device.connect().reason == 0
