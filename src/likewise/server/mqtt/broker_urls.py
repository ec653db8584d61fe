"""Broker URLs like `mqtt://host:1883/zigbee2mqtt/#`, with the credentials and certificates beside them."""

from __future__ import annotations

import hashlib
import socket
import ssl
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from likewise.broker.config import BridgeSettings
from likewise.defaults import MQTT_PORT
from likewise.errors import FormatError, InputError
from likewise.model.hierarchies.topic_filters import check_filter
from likewise.model.time import SECOND, duration
from likewise.server.mqtt.client import BrokerAddress, ClientSession

_PORTS: Final = {"mqtt": MQTT_PORT, "mqtts": 8883}


class MqttUrl(NamedTuple):
    """An address in parts; `topic` is '' if it names none."""

    scheme: str
    host: str
    port: int
    username: str | None
    password: str | None
    topic: str


def parse_mqtt_url(url: str) -> MqttUrl:
    """Parse a URL. Everything after the host is the topic, also `#` and `?`.

    >>> parse_mqtt_url("mqtts://ann:secret@broker.local/home/+/temperature/#")[:3]
    ('mqtts', 'broker.local', 8883)
    >>> parse_mqtt_url("mqtt://localhost:1884/a/#").topic
    'a/#'
    >>> parse_mqtt_url("http://localhost")
    Traceback (most recent call last):
    likewise.errors.InputError: 'http://localhost' is no address of MQTT; write it like mqtt://host:1883/home/#
    """
    scheme, sign, rest = url.partition("://")
    authority, _, topic = rest.partition("/")
    try:
        parts = urlsplit(f"//{authority}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit("//"), None
    if not sign or scheme not in _PORTS or not parts.hostname:
        shown = f"{scheme}{sign}{rest.rpartition('@')[2].partition('/')[0]}"[:80]  # never a password, whatever it holds
        hint = "; in a user name or password write / as %2F and @ as %40" if "@" in rest else ""
        raise InputError(f"{shown!r} is no address of MQTT; write it like mqtt://host:1883/home/#{hint}")
    username = None if parts.username is None else unquote(parts.username)
    password = None if parts.password is None else unquote(parts.password)
    return MqttUrl(scheme, parts.hostname, port or _PORTS[scheme], username, password, topic)


def shown(url: str) -> str:
    """Return a URL without its password.

    >>> shown("mqtt://ann:secret@host/a/#")
    'mqtt://host:1883/a/#'
    """
    found = parse_mqtt_url(url)
    return f"{found.scheme}://{found.host}:{found.port}/{found.topic}"


def bridge_address(bridge: BridgeSettings) -> BrokerAddress:
    """Return where a bridge connects to, with its credentials and certificates."""
    parts = parse_mqtt_url(bridge.url)
    password = bridge.password if bridge.password is not None else parts.password
    if bridge.password_file is not None:
        password = _read_secret(bridge.password_file).strip()
    tls = None
    if parts.scheme == "mqtts":
        try:
            tls = ssl.create_default_context(cafile=bridge.tls_authority)
            if bridge.tls_certificate:
                tls.load_cert_chain(bridge.tls_certificate, bridge.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise FormatError(f"a certificate of the bridge {shown(bridge.url)} cannot be read: {error}") from None
    elif bridge.tls_authority or bridge.tls_certificate:
        raise InputError(f"the bridge {shown(bridge.url)} names certificates; write mqtts:// to use them")
    return BrokerAddress(parts.host, parts.port, tls, bridge.username or parts.username, password)


def bridge_session(bridge: BridgeSettings, data: Path | None) -> ClientSession:
    """Return a bridge's session. Its client id is the same at every start, and another for another folder."""
    topic = parse_mqtt_url(bridge.url).topic
    topics = bridge.topics or ((topic,) if topic else ("#",))
    if bridge.topics and topic:
        raise InputError(f"the bridge {shown(bridge.url)} names topics twice; leave them out of the address")
    for each in topics:
        try:
            check_filter(each)
        except InputError as error:
            raise InputError(f"{each[:80]!r} is no filter of topics: {error}") from None
    if bridge.share:
        if "/" in bridge.share or "+" in bridge.share or "#" in bridge.share:
            raise InputError(f"`share` is one word, the same for all who share, not {bridge.share[:40]!r}")
        topics = tuple(f"$share/{bridge.share}/{each}" for each in topics)
    identity = f"{socket.gethostname()}|{data.resolve() if data else ''}|{bridge.tenant}|{shown(bridge.url)}|{topics}"
    name = bridge.client_id or f"likewise-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    return ClientSession(name, min(duration(bridge.session) // SECOND, 2**32 - 2), topics)


def _read_secret(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"the password file {path} cannot be read: {error}") from None
