"""Names, words and units that the payload does not contain: of the topic, of maps, and of discovery."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from likewise.model import Event
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import Rule, TopicMap, load_maps
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.test_bridge import bridged, publisher, stored, until


def first(reader: MessageReader, topic: str, payload: str) -> tuple[str, object, str]:
    [made] = reader.read(MqttPublication(topic, payload.encode()), now=0)
    item = made.tuples[0]
    return item.attribute, item.value, item.unit


@pytest.mark.parametrize(
    ("device_class", "on", "off", "name", "words"),
    [
        ("door", "1", "0", "door", ("open", "closed")),
        ("moisture", "ON", "OFF", "leak", ("detected", "clear")),
        ("lock", "OFF", "ON", "lock", ("unlocked", "locked")),
        ("battery", "low", "fine", "battery low", (True, False)),
        ("motion", "yes", "no", "motion", ("detected", "clear")),
    ],
)
def test_discovery_gives_kind_and_words_for_the_topics_it_names(
    device_class: str, on: str, off: str, name: str, words: tuple[object, object]
) -> None:
    reader = MessageReader(load_maps())
    config = {"stat_t": "x/7", "dev_cla": device_class, "pl_on": on, "pl_off": off}
    reader.read(MqttPublication("homeassistant/binary_sensor/x/7/config", json.dumps(config).encode()), now=0)
    assert [first(reader, "x/7", payload)[:2] for payload in (on, off)] == [(name, words[0]), (name, words[1])]


@pytest.mark.parametrize(
    ("topic", "payload", "expected"),
    [
        ("shellies/shellydw2-A1B2C3/sensor/state", "open", ("door", "open", "")),
        ("shellies/shellyplug-s-A1/temperature", "51.2", ("device_temperature", 51.2, "degC")),
        ("shellies/shellyht-A1B2C3/sensor/temperature", "21.2", ("temperature", 21.2, "degC")),
        ("N/abc/battery/512/Soc", '{"value": 76.5}', ("Soc", 76.5, "%")),
        ("N/abc/vebus/1/Ac/Out/L1/Power", '{"value": 300}', ("Ac.Out.L1.Power", 300, "W")),
        ("evcc/site/gridPower", "3", ("gridPower", 3, "W")),
        ("evcc/loadpoints/1/chargedEnergy", "5300", ("chargedEnergy", 5300, "Wh")),
        ("plug/status/switch:0", '{"aenergy": {"total": 12345.1}}', ("aenergy.total", 12345.1, "Wh")),
        ("tele/esp/SENSOR", '{"ESP32": {"Temperature": 53}}', ("ESP32.device_temperature", 53, "")),
    ],
)
def test_maps_give_names_and_units_that_the_payload_does_not_state(
    topic: str, payload: str, expected: tuple[str, object, str]
) -> None:
    assert first(MessageReader(load_maps()), topic, payload) == expected


def test_a_map_names_the_attributes_of_an_object() -> None:
    rule = Rule("plc/{device}", names={"t1": "supply temperature"}, units={"supply temperature": "degC"})
    [made] = MessageReader(TopicMap([rule])).read(MqttPublication("plc/7", b'{"t1": 45, "t2": 38}'), now=0)
    assert [each.attribute for each in made.tuples[:2]] == ["supply temperature", "t2"]


def test_what_discovery_said_holds_after_a_restart_with_a_kept_session(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """The session is kept, so that broker sends no retained message again by itself."""
    config = {"stat_t": "x/7", "dev_cla": "door", "pl_on": "1", "pl_off": "0"}

    def doors(events: list[Event]) -> list[object]:
        return [each.value for event in events for each in event.tuples if each.attribute == "door"]

    async def run() -> None:
        async with publisher(mosquitto) as device:
            topic = "homeassistant/binary_sensor/x/7/config"
            device.publish(topic, json.dumps(config).encode(), qos=1, retain=True)
            async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (_, bridge):
                await until(lambda: bridge.state.passed_over)
            async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (broker, bridge):
                await until(lambda: bridge.state.received)
                device.publish("x/7", b"1", qos=1)
                await until(lambda: doors(stored(broker)) == ["open"])

    asyncio.run(run())
