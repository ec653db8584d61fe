"""Settings of targets: whatever is sent, it is a target that can be kept, or refused with words of the tree."""

from __future__ import annotations

import socket
import ssl
import threading
from asyncio import create_task, run, sleep
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.api.sinks import MqttTargetSettings, TargetSettings, WebhookSettings
from likewise.broker.log.sink_rows import StoredTarget
from likewise.errors import InputError, LikewiseError
from likewise.server.mqtt.client import BrokerAddress, MqttClient
from likewise.server.sinks.networks import may_reach, parse_networks
from likewise.server.sinks.settings import check_target, decode_target, redact_address
from likewise.server.sinks.target import TransientFailure
from likewise.server.sinks.templates import fill
from likewise.server.sinks.webhook import WebhookTarget
from tests.server.sinks.receiver import Receiver
from tests.server.sinks.test_webhook import LOOPBACK, SECRET, parcel
from tests.server.test_tls import make_certificate

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
URLS = st.sampled_from(["https://", "http://", "mqtt://", "ftp://", ""]).flatmap(
    lambda scheme: st.text(max_size=40).map(lambda rest: scheme + rest)
)
TARGETS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["webhook", "mqtt", "x"]), "url": URLS | VALUES},
    optional={
        "topic": st.text(max_size=30) | VALUES,
        "template": VALUES,
        "form": st.sampled_from(["json", "template", "x"]),
        "headers": st.dictionaries(st.text(max_size=10), st.text(max_size=10), max_size=3) | VALUES,
        "secret": st.text(max_size=60) | VALUES,
        "timeout": st.floats(allow_nan=False) | VALUES,
    },
)


@given(TARGETS | VALUES)
def test_whatever_is_sent_is_kept_or_refused_with_words(said: Any) -> None:
    """No other error, and what is kept can be shown without a secret."""
    try:
        body = msgspec.json.encode(said)
    except UnicodeEncodeError:
        return
    try:
        wanted, _ = check_target(decode_target(body, None), ())
    except LikewiseError:
        return
    assert redact_address(wanted).count("?") == 0


@given(VALUES, st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_a_template_of_json_makes_json_whatever_an_event_says(template: Any, values: dict[str, Any]) -> None:
    """Nothing it says adds a field or ends a text."""
    if isinstance(template, str):
        return
    shape = msgspec.json.decode(fill({"a": template, "b": "{{x}} and {{y}}"}, values.get)[0])
    assert set(shape) == {"a", "b"}


HOOK = WebhookSettings("https://a.example/x", SECRET, headers={"X-Key": "hush"})
TOPIC = MqttTargetSettings("mqtt://a.example", "t", username="ann", password="hush")


@pytest.mark.parametrize("partly", [True, False])
@pytest.mark.parametrize(
    ("before", "url"),
    [
        (HOOK, "https://b.example/x"),
        (HOOK, "http://a.example/x"),
        (HOOK, "https://a.example:8443/x"),
        (TOPIC, "mqtt://b.example"),
        (TOPIC, "mqtts://a.example"),
        (TOPIC, "mqtt://a.example:1884"),
    ],
)
def test_what_is_kept_for_one_host_is_not_sent_to_another(before: TargetSettings, url: str, partly: bool) -> None:
    """Who changes the address gives headers, name and password again; else they would be read there."""
    kept = StoredTarget("u", 0, before)
    whole = (
        {} if partly else {"kind": "webhook"} if isinstance(before, WebhookSettings) else {"kind": "mqtt", "topic": "t"}
    )
    names = ["headers"] if isinstance(before, WebhookSettings) else ["username", "password"]
    for some in ({}, {names[0]: None}) if len(names) > 1 else ({},):
        with pytest.raises(InputError, match="again") as refused:
            decode_target(msgspec.json.encode({**whole, "url": url, **some}), kept, partly=partly)
        assert "hush" not in str(refused.value)
    none = decode_target(msgspec.json.encode({**whole, "url": url, **dict.fromkeys(names)}), kept, partly=partly)
    assert [getattr(none, name) for name in names] == [None] * len(names)
    again: dict[str, object] = {"headers": {"X-Key": "n"}} if len(names) == 1 else {"username": "b", "password": "n"}
    changed = decode_target(msgspec.json.encode({**whole, "url": url, **again}), kept, partly=partly)
    assert {name: getattr(changed, name) for name in names} == again


def test_another_path_of_the_same_host_keeps_what_is_secret() -> None:
    """The default port, said or not, is the same host."""
    changed = decode_target(b'{"url": "https://A.example:443/y"}', StoredTarget("u", 0, HOOK), partly=True)
    assert (changed.headers, changed.secret) == (HOOK.headers, SECRET)  # type: ignore[union-attr]
    changed = decode_target(b'{"url": "mqtt://a.example:1883"}', StoredTarget("u", 0, TOPIC), partly=True)
    assert (changed.username, changed.password) == ("ann", "hush")  # type: ignore[union-attr]


class Encrypted(Receiver):
    """A receiver that shows a certificate."""

    def __init__(self, certificate: Path, key: Path) -> None:
        super().__init__()
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)


def test_a_certificate_is_believed_for_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the connection goes to an address: for webhooks and for MQTT alike."""
    certificate, key = make_certificate(tmp_path, "receiver")
    believed = ssl.create_default_context(cafile=certificate)
    server = Encrypted(certificate, key)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    port = server.server_address[1]
    real = socket.getaddrinfo

    def found_here(host: Any, *said: Any, **more: Any) -> Any:
        return real("127.0.0.1" if host in ("another.example", b"another.example") else host, *said, **more)

    monkeypatch.setattr(socket, "getaddrinfo", found_here)

    async def send(host: str, trust: ssl.SSLContext | None) -> None:
        target = WebhookTarget(WebhookSettings(f"https://{host}:{port}/hook", SECRET), LOOPBACK, trust=trust)
        try:
            await target.send(parcel())
        finally:
            await target.close()
            await sleep(0.1)  # a connection that was refused is closed by the loop, a moment later

    async def reach(name: str) -> None:
        tls = ssl.create_default_context(cafile=str(certificate))
        client = MqttClient()
        connecting = create_task(client.connect(BrokerAddress("127.0.0.1", port, tls, server_name=name)))
        while not connecting.done() and client._transport is None:
            await sleep(0.02)  # the handshake; the receiver speaks no MQTT, so that is all
        client.abort()
        with suppress(ConnectionResetError):
            await connecting

    try:
        run(send("localhost", believed))
        assert len(server.accepted) == 1
        with pytest.raises(TransientFailure, match="CERTIFICATE_VERIFY_FAILED"):
            run(send("another.example", believed))
        with pytest.raises(TransientFailure, match="CERTIFICATE_VERIFY_FAILED"):
            run(send("localhost", None))
        run(reach("localhost"))
        with pytest.raises(ssl.SSLCertVerificationError):
            run(reach("another.example"))
        assert len(server.accepted) == 1
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


def test_networks_are_read_from_the_configuration() -> None:
    """As addresses or networks, of both versions."""
    assert len(parse_networks(["10.0.0.0/8", "fd00::/8", "127.0.0.1"])) == 3


@pytest.mark.parametrize(
    "special",
    [
        "fec0::1",
        "64:ff9b:1::7f00:1",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "192.88.99.1",
        "5f00::1",
        "3fff::1",
        "2002:7f00:1::",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "fe80::1",
        "100.64.0.1",
        "224.0.0.1",
        "0.0.0.0",
    ],
)
def test_no_special_address_counts_as_public(special: str) -> None:
    """Neither those of private networks nor those that carry one inside; public ones do."""
    assert not may_reach(special, ())
    assert may_reach("2606:2800:21f:cb07:6820:80da:af6b:8b2c", ())
    assert may_reach("64:ff9b::5db8:d70e", ())


def test_a_header_file_with_another_line_is_refused_without_showing_it(tmp_path: Path) -> None:
    """It may be a secret."""
    from likewise.cli.broker.targets import _read_headers
    from likewise.errors import FormatError

    file = tmp_path / "headers"
    file.write_text("X-Key: a:b\n\nSECRET\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 3") as refused:
        _read_headers(file)
    assert "SECRET" not in str(refused.value)
    file.write_text("X-Key: a:b\n\n", encoding="utf-8")
    assert _read_headers(file) == {"X-Key": "a:b"}


def test_a_password_with_a_slash_is_not_shown_in_errors() -> None:
    """It has to be written in another way, and that is said."""
    from likewise.errors import InputError
    from likewise.server.mqtt.broker_urls import parse_mqtt_url

    with pytest.raises(InputError, match="%2F") as refused:
        parse_mqtt_url("mqtt://ann:SEC/RET@host/a")
    assert "SEC" not in str(refused.value)
    assert parse_mqtt_url("mqtt://ann:SEC%2FRET@host/a").password == "SEC/RET"
