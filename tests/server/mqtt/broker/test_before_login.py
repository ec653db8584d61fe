"""Before a client has logged in: few bytes, little time, few connections; failed logins are answered later."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, suppress

import httpx
import pytest
from structlog.testing import capture_logs

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MqttSettings, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.defaults import LOGIN_ADDRESSES
from likewise.server.connection_limits import ConnectionLimits
from likewise.server.mqtt.broker.authentication import LoginThrottle
from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5, Connack, Connect, Puback, Publish, Reason, Will, encode
from likewise.server.mqtt.codec.fields import encode_variable
from tests.server.mqtt.broker.conftest import PATIENCE, Client, devices
from tests.server.mqtt.processes import listening_broker

STRANGER = ServerSettings(port=0, proxies=())  # loopback counts as any other address


def declared(size: int, version: int = MQTT_5) -> bytes:
    """The first bytes of a CONNECT that says it has so many."""
    whole = encode(Connect("roof", version), version)
    return whole[:1] + encode_variable(size) + whole[2:]


def closed(client: Client) -> bool:
    """Wait until the broker ends a connection."""
    while client.more():
        pass
    return client.over


@pytest.mark.parametrize("pieces", [1, 3, 1_000], ids=["at once", "in pieces", "by bytes"])
def test_a_connect_over_64_kb_is_refused_with_0x95_before_it_has_come(pieces: int) -> None:
    """As soon as its head and its version are there, however they are cut; its body is not waited for."""
    with devices() as home, Client(home.port) as large:
        begun = declared(70_000)[:12]
        for first in range(0, 12, max(1, 12 // pieces)):
            large.raw(begun[first : first + max(1, 12 // pieces)])
            time.sleep(0.01)
        assert large.next(Connack).reason == Reason.PACKET_TOO_LARGE
        assert closed(large)


def test_a_connect_over_64_kb_ends_the_connection_of_mqtt_3_1_1_without_a_word() -> None:
    """That version has no code for it."""
    with devices() as home, Client(home.port, version=MQTT_3_1_1) as large:
        large.raw(declared(70_000, MQTT_3_1_1))
        assert closed(large)
        assert large.came == []


@pytest.mark.parametrize(("payload", "reason"), [(65_000, 0), (65_530, Reason.PACKET_TOO_LARGE)])
def test_the_will_counts_for_the_size_of_a_connect(payload: int, reason: int) -> None:
    """It is a part of the packet."""
    with devices() as home, Client(home.port, "willing") as client:
        assert client.connect(will=Will("last/words", bytes(payload))).reason == reason


def test_the_size_of_a_connect_is_configurable() -> None:
    """`[mqtt] connect_bytes`."""
    with devices(mqtt=MqttSettings(connect_bytes=200_000)) as home, Client(home.port, "willing") as client:
        assert client.connect(will=Will("last/words", bytes(65_530))).reason == 0


def test_what_follows_a_good_connect_may_be_large_at_once() -> None:
    """A client need not wait for CONNACK: its token is looked at before anything else is read."""
    with devices() as home, Client(home.port, "hasty") as client:
        client.raw(encode(Connect("hasty")) + encode(Publish("a/b", b"x" * 500_000, 1, packet_id=1)))
        assert client.next(Connack).reason == 0
        assert client.next(Puback).reason == 0


def test_bytes_that_trickle_in_do_not_prolong_the_time_to_log_in() -> None:
    """The time counts from the start of the connection."""
    with devices(mqtt=MqttSettings(connect_seconds=0.5)) as home, Client(home.port) as slow:
        slow.raw(declared(60_000))
        deadline = time.monotonic() + PATIENCE
        with suppress(BrokenPipeError, ConnectionResetError):
            while slow.more(patience=0.2) or not slow.over:  # it is silent until it ends
                slow.raw(b"\0")
                assert time.monotonic() < deadline
        assert home.metric("likewise_mqtt_pending") == 0


def test_the_oldest_connection_without_a_login_goes_when_there_are_too_many() -> None:
    """So who holds connections open keeps nobody out."""
    with devices(mqtt=MqttSettings(pending=5)) as home:
        held = [Client(home.port) for _ in range(5)]
        home.until(lambda: home.metric("likewise_mqtt_pending") == 5)
        with home.client("newcomer") as newcomer:
            assert newcomer.publish("a/b") is not None
        assert closed(held[0])
        assert home.metric("likewise_mqtt_pending_evicted_total") == 1
        assert not held[1].more(patience=0.2)
        assert not held[1].over


def test_one_address_has_a_quarter_of_the_connections_without_a_login() -> None:
    """Loopback counts as a proxy by default, and has no such bound."""
    with devices(mqtt=MqttSettings(pending=8), server=STRANGER) as home:
        held = [Client(home.port) for _ in range(3)]
        assert closed(held[0])
    with devices(mqtt=MqttSettings(pending=8)) as home:
        held = [Client(home.port) for _ in range(8)]
        home.until(lambda: home.metric("likewise_mqtt_pending") == 8)


@pytest.mark.parametrize(("server", "allowed"), [(ServerSettings(port=0), 100_000), (STRANGER, 400_000)])
def test_bytes_before_a_login_are_bounded_in_total_and_for_an_address(server: ServerSettings, allowed: int) -> None:
    """The oldest connection with a part of a packet goes; 100,000 bytes are a quarter of 400,000."""
    with devices(mqtt=MqttSettings(pending_bytes=allowed), server=server) as home:
        held = []
        for number in range(3):
            held.append(Client(home.port))
            held[-1].raw(declared(60_000) + bytes(40_000))
            if number < 2:
                home.until(lambda: home.metric("likewise_mqtt_pending_bytes") >= 40_000 * len(held))
        assert closed(held[0])
        home.until(lambda: 80_000 <= home.metric("likewise_mqtt_pending_bytes") <= 100_000)


def half_request(port: int) -> socket.socket:
    """Return a connection over HTTP whose request is under way."""
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    assert made.recv(100).startswith(b"HTTP/1.1 100 ")
    return made


def test_connections_of_http_and_mqtt_share_one_bound() -> None:
    """`[server] connections`; health and metrics show it."""
    with devices(server=ServerSettings(port=0, connections=6)) as home, ExitStack() as held:
        http = int(home.url.rpartition(":")[2])
        asking = [held.enter_context(half_request(http)) for _ in range(4)]
        logged_in = [home.client(f"d{n}") for n in range(2)]
        assert closed(Client(home.port))
        with socket.create_connection(("127.0.0.1", http), timeout=PATIENCE) as refused:
            assert b"503" in refused.recv(1_000)
        asking.pop().close()
        value = home.broker.metrics.registry.get_sample_value
        home.until(lambda: value("likewise_connections_open", {"protocol": "http"}) == 3)
        with httpx.Client(base_url=home.url, timeout=PATIENCE) as client:
            assert client.get("/readyz").json()["connections"] == {"open": 6, "allowed": 6, "refused": 2}
            page = client.get("/metrics").text
            assert 'likewise_connections_open{protocol="mqtt"} 2.0' in page
            assert "likewise_connections_allowed 6.0" in page
            asking.pop().close()
            home.until(lambda: client.get("/readyz").json()["connections"]["open"] == 5)
        assert logged_in[0].publish("a/b") is not None


def test_connections_leave_files_for_the_store() -> None:
    """A process that may open 256 files, and 400 connections that say nothing: what is published is stored."""
    with (
        listening_broker(files=256) as running,
        httpx.Client(base_url=running.http, timeout=PATIENCE) as http,
        ExitStack() as held,
    ):
        http.put("/v1/subscribers/ann").raise_for_status()
        publisher = Client(running.port, "publisher")
        assert publisher.connect().reason == 0
        for _ in range(400):
            with suppress(OSError):
                held.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=2))
        shown = http.get("/readyz").json()["connections"]
        assert shown["allowed"] == 192
        assert shown["open"] <= 192 + 16
        for number in range(20):
            assert publisher.publish("a/b", f'{{"t": {number}}}').reason == 0  # type: ignore[union-attr]
            assert http.put(f"/v1/subscribers/s{number}").status_code in (200, 201)
            assert http.get("/v1/subscribers").status_code == 200
        assert "unable to open" not in running.log.read_text()


# -- failed logins ---------------------------------------------------------------------------------


def guarded(server: ServerSettings) -> tuple[Broker, str]:
    """A broker with a token."""
    broker = Broker(None, Config(server=server, mqtt=MqttSettings(port=0)))
    return broker, broker.store.commit(lambda tables: make_token(tables, "root", "default", ("admin",), 1))


def test_failed_logins_are_answered_later_and_a_good_token_at_once() -> None:
    """Behind one address there may be many clients: only refusals wait."""
    broker, token = guarded(STRANGER)
    with devices(broker=broker, server=STRANGER) as home:
        for _ in range(5):
            with Client(home.port, "bad") as bad:
                assert bad.connect(token="lw_wrong").reason == Reason.BAD_USER_NAME_OR_PASSWORD
        with Client(home.port, "bad") as bad, Client(home.port, "good") as good:
            bad.send(Connect("bad", password=b"lw_wrong"))
            time.sleep(0.1)  # so that it is read first
            assert good.connect(token=token).reason == 0
            assert not bad.more(patience=0.01)
            assert bad.next(Connack).reason == Reason.BAD_USER_NAME_OR_PASSWORD
            assert closed(bad)


def test_failed_logins_are_logged_now_and_then() -> None:
    """One line for an address in a minute, and it says how many were left out."""
    broker, _ = guarded(ServerSettings(port=0))
    with devices(broker=broker, server=ServerSettings(port=0)) as home, capture_logs() as logs:
        for _ in range(20):
            with Client(home.port, "bad") as bad:
                bad.connect(token="lw_wrong")
        lines = [each for each in logs if each["event"] == "mqtt_login_refused"]
        assert len(lines) == 1
        assert "lw_wrong" not in str(lines)


def test_failed_logins_take_a_bounded_memory() -> None:
    """The oldest addresses are forgotten."""
    logins = LoginThrottle()
    for number in range(2 * LOGIN_ADDRESSES):
        logins.add(f"10.{number}", 0.0)
        logins.suppressed(f"10.{number}", 0.0)
    assert len(logins) == LOGIN_ADDRESSES


def test_addresses_are_counted_by_machine_and_proxies_not_at_all() -> None:
    """A /64 of IPv6 is one machine's; an IPv4 address in IPv6's form is the same as itself."""
    limits = ConnectionLimits(ServerSettings(proxies=("127.0.0.0/8", "::1", "10.1.0.0/16")))
    assert limits.key_of("127.0.0.1") is limits.key_of("::1") is limits.key_of("10.1.2.3") is None
    assert limits.key_of("::ffff:10.1.2.3") is None
    assert limits.key_of("192.0.2.7") == limits.key_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert limits.key_of("2001:db8::1") == limits.key_of("2001:db8::ffff") != limits.key_of("2001:db8:0:1::1")
