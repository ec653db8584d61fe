"""Who is let in, for which tenant, with which client ids and topics; and what the broker has limits for."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MqttSettings, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.errors import InputError, StateError
from likewise.server.mqtt.broker.listener import open_sockets
from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5, Connect, Pingreq, Pingresp, Publish, Reason, Will, encode
from tests.server.mqtt.broker.conftest import Client, Devices, devices

LAST = 100_000  # seconds


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Devices, dict[str, str]]]:
    """A broker with tokens of two tenants."""
    data = tmp_path_factory.mktemp("guarded") / "data"
    wanted = {
        "root": ("default", ["admin"]),
        "north": ("north", ["publish", "subscribe"]),
        "pub": ("default", ["publish"]),
        "pub2": ("default", ["publish"]),
        "ann": ("default", ["subscribe:ann", "publish:home/ann/"]),
        "roof": ("default", ["publish:roof/"]),
        "metrics": ("default", ["metrics"]),
    }
    with Broker(data) as broker:
        tokens = {
            name: broker.store.commit(lambda c, n=name, t=tenant, s=scopes: make_token(c, n, t, s, 1))  # type: ignore[misc]
            for name, (tenant, scopes) in wanted.items()
        }
    with devices(data) as found:
        yield found, tokens


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
def test_the_token_is_the_password_and_decides_the_tenant(
    guarded: tuple[Devices, dict[str, str]], version: int
) -> None:
    """Without it, with another, with a user name that differs: refused with a reason."""
    found, tokens = guarded
    for said, reason in (
        ({}, Reason.NOT_AUTHORIZED),
        ({"token": "lw_no"}, Reason.BAD_USER_NAME_OR_PASSWORD),
        ({"token": tokens["north"], "user": "default"}, Reason.BAD_USER_NAME_OR_PASSWORD),
        ({"token": tokens["metrics"]}, Reason.NOT_AUTHORIZED),
        ({"token": tokens["north"], "user": "north"}, Reason.SUCCESS),
        ({"token": tokens["north"]}, Reason.SUCCESS),
    ):
        client = Client(found.port, "x", version)
        assert client.connect(**said).reason == reason  # type: ignore[arg-type]
        client.cut()


def test_tenants_do_not_see_each_other(guarded: tuple[Devices, dict[str, str]]) -> None:
    """The same client id, the same topics: live, kept and retained."""
    found, tokens = guarded
    with found.client("same", token=tokens["root"]) as here, found.client("same", token=tokens["north"]) as there:
        for client in (here, there):
            client.subscribe("secret", qos=1)
            client.subscribe("open", qos=0)
        here.publish("secret", b"here", 1, retain=True)
        here.publish("open", b"here", 0)
        assert len(here.messages(2)) == 2
        assert not there.settled()
        with found.client("late", token=tokens["north"]) as late:
            late.subscribe("#", qos=1)
            assert not late.settled()


def test_a_bound_token_limits_client_ids_and_topics(guarded: tuple[Devices, dict[str, str]]) -> None:
    """`subscribe:ann` is the client `ann`; `publish:roof/` publishes below that."""
    found, tokens = guarded
    other = Client(found.port, "bob")
    assert other.connect(token=tokens["ann"]).reason == Reason.CLIENT_IDENTIFIER_NOT_VALID
    with found.client("ann", token=tokens["ann"]) as ann:
        assert ann.subscribe("#", qos=1).reasons == (1,)
        assert ann.publish("home/ann/t", b"1").reason == 0  # type: ignore[union-attr]
        assert ann.publish("home/bob/t", b"1").reason == Reason.NOT_AUTHORIZED  # type: ignore[union-attr]
        envelope = b'{"v": 1, "payload": {"a": 1}, "source": "home/ann/x"}'
        assert ann.publish("home/bob/t", envelope).reason == Reason.NOT_AUTHORIZED  # type: ignore[union-attr]
        envelope = b'{"v": 1, "payload": {"a": 1}, "source": "home/bob/x"}'
        assert ann.publish("home/ann/t", envelope).reason == Reason.NOT_AUTHORIZED  # type: ignore[union-attr]
    with found.client("anything", token=tokens["roof"]) as roof:
        assert roof.subscribe("#").reasons == (Reason.NOT_AUTHORIZED,)
        assert roof.publish("roof/1", b"1").reason == 0  # type: ignore[union-attr]
        refused = roof.publish("$likewise/subscriptions/x", b"{a > 1}")
        assert refused is not None
        roof.settled()
    testament = Client(found.port, "t")
    will = Will("home/x", b"1")
    assert testament.connect(token=tokens["roof"], will=will).reason == Reason.NOT_AUTHORIZED
    assert Client(found.port, "").connect(token=tokens["ann"]).properties.assigned_client_id == "ann"


def test_nobody_takes_the_session_of_another_token_that_only_publishes(
    guarded: tuple[Devices, dict[str, str]],
) -> None:
    """Client ids are no secret."""
    found, tokens = guarded
    with found.client("sensor", token=tokens["pub"]) as mine:
        thief = Client(found.port, "sensor")
        assert thief.connect(token=tokens["pub2"]).reason == Reason.CLIENT_IDENTIFIER_NOT_VALID
        mine.send(Pingreq())
        mine.next(Pingresp)
    with found.client("ann", token=tokens["ann"], clean=False, session_expiry=LAST) as ann:
        assert Client(found.port, "ann").connect(token=tokens["pub"]).reason == Reason.CLIENT_IDENTIFIER_NOT_VALID
        ann.send(Pingreq())
        ann.next(Pingresp)


def test_who_only_publishes_does_not_subscribe(guarded: tuple[Devices, dict[str, str]]) -> None:
    """In no form."""
    found, tokens = guarded
    with found.client("p", token=tokens["pub"]) as client:
        answer = client.subscribe("a", "$likewise/q/%7Ba%20%3E%201%7D", "$share/g/a", qos=1)
        assert answer.reasons == (Reason.NOT_AUTHORIZED,) * 3


def test_a_token_that_is_removed_ends_its_connections(guarded: tuple[Devices, dict[str, str]]) -> None:
    """Within moments."""
    found, tokens = guarded
    with httpx.Client(base_url=found.url, headers={"authorization": f"Bearer {tokens['root']}"}) as http:
        made = http.post("/v1/tokens", json={"name": "brief", "scopes": ["publish"]}).json()["token"]
        client = found.client("brief", token=made)
        assert http.delete("/v1/tokens/brief").is_success
    said = client.ended()
    assert said is not None
    assert said.reason == Reason.NOT_AUTHORIZED


def test_connections_are_listed_for_their_tenant(guarded: tuple[Devices, dict[str, str]]) -> None:
    """With what they sent and got, and in the metrics."""
    found, tokens = guarded
    headers = {"authorization": f"Bearer {tokens['root']}"}
    with found.client("shown", token=tokens["root"]) as client, found.client("hidden", token=tokens["north"]):
        client.subscribe("shown/#", qos=1)
        client.publish("shown/1", b"1")
        client.messages(1)
        listed = httpx.get(f"{found.url}/v1/connections", headers=headers).json()
        [mine] = [each for each in listed if each["address"] == "shown"]
        assert (mine["kind"], mine["connected"], mine["received"], mine["subscriptions"]) == ("mqtt", True, 1, 1)
        assert mine["peer"].startswith("127.0.0.1:")
        assert "hidden" not in {each["address"] for each in listed}
        metrics = httpx.get(f"{found.url}/metrics", headers=headers).text
        assert 'likewise_mqtt_received_total{tenant="default"}' in metrics
        assert 'likewise_mqtt_connected{tenant="default"} ' in metrics


# -- limits ----------------------------------------------------------------------------------------


def test_limits_are_stated_and_enforced() -> None:
    """Connections, the size of a packet, messages on their way, filters of a session, silence."""
    limits = MqttSettings(connections=3, packet_bytes=1_000, receive_maximum=5, subscriptions=2, keep_alive=60)
    with devices(mqtt=limits) as found:
        client = Client(found.port, "limited")
        said = client.connect().properties
        assert (said.maximum_packet_size, said.receive_maximum, said.server_keep_alive) == (1_000, 5, 60)
        assert client.subscribe("a", "b").reasons == (0, 0)
        assert client.subscribe("c").reasons == (Reason.QUOTA_EXCEEDED,)
        assert client.subscribe("a", qos=1).reasons == (1,)
        client.send(Publish("x", b"1" * 2_000, 1, packet_id=1))
        ended = client.ended()
        assert ended is not None
        assert ended.reason == Reason.PACKET_TOO_LARGE
        many = [found.client(f"c{n}") for n in range(3)]
        surplus = socket.create_connection(("127.0.0.1", found.port), timeout=60)
        with suppress(ConnectionResetError):
            assert surplus.recv(1) == b""
        surplus.close()
        many[0].cut()
        found.until(lambda: _lets_in(found))
        for each in many[1:]:
            each.cut()


def _lets_in(found: Devices) -> bool:
    with socket.create_connection(("127.0.0.1", found.port), timeout=60) as line:
        line.sendall(encode(Connect("more")))
        try:
            return bool(line.recv(1))
        except ConnectionResetError:
            return False


def test_too_many_messages_at_once_end_the_connection() -> None:
    """0x93: more than the Receive Maximum that the client was told."""
    with devices(mqtt=MqttSettings(receive_maximum=2)) as found, found.client() as client:
        client.send(*(Publish("x", b"1", 1, packet_id=n) for n in range(1, 60)))
        ended = client.ended()
        assert ended is not None
        assert ended.reason == Reason.RECEIVE_MAXIMUM_EXCEEDED


def test_settings_that_cannot_be_are_refused() -> None:
    """With what may be."""
    with pytest.raises(InputError, match="receive_maximum is from 1"):
        MqttSettings(receive_maximum=0)
    with pytest.raises(InputError, match="certificate"):
        open_sockets(Config(mqtt=MqttSettings(tls_port=0)))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StateError, match="choose another port"):
            open_sockets(Config(mqtt=MqttSettings(port=port)))


def test_without_a_port_nobody_listens_for_devices() -> None:
    """And nothing follows the log for them."""
    assert open_sockets(Config()) == []


def test_over_tls(tmp_path: Path) -> None:
    """With the server's certificate."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            key,
            "-out",
            certificate,
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"there is no openssl that makes a certificate: {sys.platform}")
    server = ServerSettings(port=0, tls_certificate=str(certificate), tls_key=str(key))
    with devices(server=server) as found:
        context = ssl.create_default_context(cafile=str(certificate))
        line = socket.create_connection(("127.0.0.1", found.tls_port), timeout=60)
        client = Client.__new__(Client)
        client.client_id, client.version, client._packet = "tls", MQTT_5, 0
        plain = found.client("plain")
        client._socket = context.wrap_socket(line, server_hostname="localhost")
        client._decoder, client.came, client.over = plain._decoder.__class__(MQTT_5, of_server=True), [], False
        assert client.connect().reason == 0
        client.subscribe("tls", qos=1)
        plain.publish("tls", b"1")
        assert [each.payload for each in client.messages(1)] == [b"1"]
        client.cut()
        plain.cut()
