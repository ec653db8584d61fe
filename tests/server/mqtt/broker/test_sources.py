"""Devices that connect themselves announce what they can produce, and are told on a topic of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from likewise.api.sources import SensingCommand
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MqttSettings, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.client import Publisher, Subscriber
from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5, Puback, Publish, Reason, Will
from tests.server.mqtt.broker.conftest import Client, Devices, devices

SAID = msgspec.json.encode(
    {"attributes": [{"name": "temp1", "unit": "degC", "low": -40, "high": 85}], "controllable": True, "interval": 60}
)


def word(message: Publish) -> SensingCommand:
    return msgspec.json.decode(message.payload, type=SensingCommand)


def next_word(client: Client, wanted: Callable[[SensingCommand], bool] = lambda said: True) -> SensingCommand:
    """The next word that a device is told, of those that are wanted."""
    while True:
        said = word(client.messages(1)[0])
        if wanted(said):
            return said


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
@pytest.mark.parametrize("qos", [0, 1])
def test_a_device_announces_itself_and_is_told_when_to_sense(home: Devices, version: int, qos: int) -> None:
    """To rest while nobody asks, to sense with an interval at the first subscription, to rest after the last."""
    name = f"d{version}{qos}"
    device = home.client(name, version)
    assert device.subscribe(f"likewise/sense/{name}", qos=qos).reasons == (qos,)
    assert isinstance(device.publish(f"likewise/announcements/{name}", SAID), Puback)
    assert home.tenant.sources.announcement(name).announcement.controllable
    first = next_word(device)
    assert (first.source, first.on, first.reason) == (name, False, "nobody asks for it")
    with Subscriber(f"ann {name}", home.url) as ann:
        ann.subscribe("{temperature~ > 25 degC}", "warm")
        told = next_word(device)
        assert (told.on, told.interval, told.wanted) == (True, 60, 1)
        assert told.version > first.version
        ann.unsubscribe("warm")
        assert not next_word(device).on
    device.publish(f"likewise/announcements/{name}", b"")
    assert device.messages(1)[0].payload == b""  # nothing is told any more
    assert name not in home.tenant.sources.announcements


def test_a_device_that_connects_later_has_the_newest_word(home: Devices) -> None:
    """It is retained, until the announcement is over."""
    device = home.client("later")
    device.publish("likewise/announcements/roof/later", SAID)
    home.until(lambda: home.tenant.retained.find("likewise/sense/roof/later", 0))
    listening = home.client("ear")
    listening.subscribe("likewise/sense/roof/later", qos=1)
    [message] = listening.messages(1)
    assert message.retain
    assert not word(message).on
    device.publish("likewise/announcements/roof/later", b"")
    home.until(lambda: not home.tenant.retained.find("likewise/sense/roof/later", 0))


@pytest.mark.parametrize("qos", [0, 1])
def test_who_subscribes_to_its_topic_asks_for_a_source(home: Devices, qos: int) -> None:
    """By the topic it was seen to publish to, or by the one that is called as it is; for as long as the session is."""
    name = f"zigbee2mqtt/topical{qos}"
    device = home.client(name)
    device.subscribe(f"likewise/sense/{name}", qos=1)
    device.publish(name, b'{"temp1": 20}')
    home.broker.learning.wait_until_learnt()
    device.publish(f"likewise/announcements/{name}", SAID)
    assert not next_word(device).on
    listening = home.client(f"ear of {name}")
    listening.subscribe("zigbee2mqtt/+/#" if qos else name, qos=qos)
    told = next_word(device)
    assert (told.on, told.reason) == (True, "its topic is subscribed to")
    listening.cut()
    assert not next_word(device).on
    device.publish(f"likewise/announcements/{name}", b"")


def test_a_will_revokes_what_a_device_announced(home: Devices) -> None:
    """So who breaks off is no longer counted on."""
    device = Client(home.port, "mortal")
    device.connect(will=Will("likewise/announcements/mortal", b"", 1))
    device.publish("likewise/announcements/mortal", SAID)
    assert "mortal" in home.tenant.sources.announcements
    device.cut()
    home.until(lambda: "mortal" not in home.tenant.sources.announcements)


@pytest.mark.parametrize(
    ("topic", "payload", "words"),
    [
        ("likewise/announcements/x", b"no JSON", "not JSON"),
        ("likewise/announcements/x", b'{"attributes": [{"name": "t", "unit": "frobs"}]}', "is not known"),
        ("likewise/announcements/x", b'{"attributes": [{"name": "t", "low": 2, "high": 1}]}', "reversed"),
        ("likewise/announcements/x", b'{"source": "y", "attributes": [{"name": "t"}]}', "address names"),
        ("likewise/announcements/x", b'{"attributes": [{"name": "t"}], "lease": 1e12}', "must end"),
        ("likewise/announcements/", SAID, "names no source"),
        ("likewise/sense/x", b"{}", "the broker's own"),
    ],
)
@pytest.mark.parametrize("qos", [1, 2])
def test_a_bad_announcement_is_refused_with_words(
    home: Devices, topic: str, payload: bytes, words: str, qos: int
) -> None:
    """By the acknowledgement of MQTT 5; what comes after it is taken."""
    device = home.client(f"bad{qos}")
    answer = device.publish(topic, payload, qos)
    assert answer is not None
    assert answer.reason >= Reason.UNSPECIFIED_ERROR
    assert words in (answer.properties.reason_string or "")
    assert device.publish("home/1", b'{"t": 1}', qos).reason < Reason.UNSPECIFIED_ERROR  # type: ignore[union-attr]
    assert "x" not in home.tenant.sources.announcements


def test_announcements_among_other_messages_keep_their_order(home: Devices) -> None:
    """Many packets at once: readings, a good announcement, a bad one, readings; each is answered."""
    device = home.client("many")
    packets = []
    for n in range(1, 41):
        topic = f"likewise/announcements/many{n}" if n % 5 == 0 else f"home/{n}"
        packets.append(Publish(topic, (b"bad" if n % 10 == 0 else SAID) if n % 5 == 0 else b'{"t": 1}', 1, packet_id=n))
    device.send(*packets)
    answers = {found.packet_id: found.reason for found in (device.next(Puback) for _ in packets)}
    assert {n for n, reason in answers.items() if reason >= Reason.UNSPECIFIED_ERROR} == {10, 20, 30, 40}
    assert {n for n in range(1, 41) if f"many{n}" in home.tenant.sources.announcements} == {5, 15, 25, 35}


def test_a_token_speaks_and_listens_for_its_own_source_alone(tmp_path: Path) -> None:
    """It needs no scope to subscribe where it is told; a filter over others it does."""
    config = Config(server=ServerSettings(port=0), mqtt=MqttSettings(port=0))
    with Broker(tmp_path, config) as broker:
        token = broker.store.commit(lambda c: make_token(c, "roof", "default", ["publish:roof"], 1))
    with devices(tmp_path) as found:
        device = found.client("r", token=token)
        assert device.publish("likewise/announcements/roof/1", SAID).reason < 0x80  # type: ignore[union-attr]
        assert device.publish("likewise/announcements/cellar", SAID).reason == Reason.NOT_AUTHORIZED  # type: ignore[union-attr]
        for said, reason in (
            ("likewise/sense/roof/1", 1),
            ("likewise/sense/cellar", Reason.NOT_AUTHORIZED),
            ("likewise/sense/#", Reason.NOT_AUTHORIZED),
            ("likewise/sense/+", Reason.NOT_AUTHORIZED),
            ("home/#", Reason.NOT_AUTHORIZED),
            ("$share/g/likewise/sense/roof/1", Reason.NOT_AUTHORIZED),
        ):
            assert device.subscribe(said, qos=1).reasons == (reason,), said
        assert not next_word(device).on


def test_a_restart_tells_nobody_what_they_know(tmp_path: Path) -> None:
    """What was told is retained: the same word has the same version, and only a change is said."""
    with devices(tmp_path) as found:
        device = found.client("once", clean=False, session_expiry=1_000)
        device.subscribe("likewise/sense/once", qos=1)
        device.publish("likewise/announcements/once", SAID)
        first = next_word(device)
    with devices(tmp_path) as found:
        device = found.client("once", clean=False, session_expiry=1_000)
        with Publisher(found.url) as client:
            found.until(lambda: found.broker.activation.commands(found.tenant))
            assert client.sources.sense("once").version == first.version
            found.broker.learning.wait_until_learnt()
            client.sources.keep("once")
        assert next_word(device).reason == "a person keeps it"  # nothing came before it
