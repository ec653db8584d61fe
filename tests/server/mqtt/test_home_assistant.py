"""Home Assistant's discovery of what is understood: valid, of the original topics, and never read back."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import BridgeSettings, Config, HomeAssistantSettings, NormalizeSettings
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.semantics.enrichment.corrections import Correction
from likewise.server.gateway import Gateway
from likewise.server.mqtt.bridge import bridge_connectors
from likewise.server.mqtt.home_assistant import _quoted
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.normalizer_connectors import normalizer_connectors
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import load_maps
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.home_assistant_schema import HomeAssistantRules
from tests.server.mqtt.test_bridge import publisher, until
from tests.server.mqtt.test_normalizer import listening

CHECKOUT = os.environ.get("LIKEWISE_HOME_ASSISTANT")
# Devices that announce nothing to Home Assistant, and what they say.
SILENT = {
    "growatt/inverter": {"pvPower": 4500, "gridFrequency": 50.01, "inverter_temperature": 41.5},
    "pws/garden": {"tempf": 71.6, "humidity": 45, "windspeedmph": 10, "dailyrainin": 0.1},
    "lora/v3/cellar": {"uplink": {"decoded": {"BatV": 3.01, "water_leak": False}}},
    "evcc/site/gridPower": 420,
    "alarm/front_door": {"door_open": True},
    "heat/pump": {"flow_temp": 35.5, "return_temp": 30.0, "defrosting": "off"},
}
THEMSELVES = {
    "zigbee2mqtt/attic": {"temperature": 21.5},
    "tele/plug/SENSOR": {"ENERGY": {"Power": 230}},
    "node/sensor/temperature/state": 21.5,
}


@asynccontextmanager
async def announcing(data: Path, mosquitto: Mosquitto) -> AsyncIterator[Broker]:
    """A broker that normalises everything of Mosquitto and announces it to Home Assistant."""
    to = f"{mosquitto.url}/norm/{{source}}/{{name}}"
    config = Config(normalize=NormalizeSettings(to), home_assistant=HomeAssistantSettings(publish=True))
    with Broker(data, config) as broker:
        gateway = Gateway(broker)
        bridges = bridge_connectors([BridgeSettings(f"{mosquitto.url}/#")], data)
        running = [asyncio.create_task(each(gateway)) for each in (*normalizer_connectors(config), *bridges)]
        shown = gateway.connections
        try:
            await until(lambda: len(shown) == 2 and all(each().connected for _, each in shown))
            yield broker
        finally:
            gateway.stopping.set()
            await asyncio.gather(*running)


def configs(heard: list[MqttPublication]) -> dict[tuple[str, str], dict[str, Any]]:
    """The configurations that hold, by component and topic; an empty message removes one."""
    found: dict[str, bytes] = {each.topic: each.payload for each in heard}
    return {(topic.split("/")[1], topic): json.loads(body) for topic, body in found.items() if body}


def rendered(template: str, payload: object) -> str:
    """What Home Assistant makes of a payload."""
    jinja2 = pytest.importorskip("jinja2")
    return str(jinja2.Environment().from_string(template).render(value_json=payload, value=payload, this={}))


def test_every_understood_reading_is_announced_as_home_assistant_wants_it(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        async with (
            announcing(tmp_path, mosquitto) as broker,
            listening(mosquitto, "homeassistant/#") as heard,
            publisher(mosquitto) as device,
        ):
            for topic, payload in {**THEMSELVES, **SILENT}.items():
                device.publish(topic, json.dumps(payload).encode(), qos=1)
            await until(lambda: len(heard) >= 14)
            found = configs(heard)
            by_name = {(each["device"]["name"], each["name"]): (kind, each) for (kind, _), each in found.items()}
            assert all(each.retain for each in heard)
            assert not {name for name, _ in by_name} & {"zigbee2mqtt/attic", "tasmota:plug", "node"}
            kind, temperature = by_name["pws/garden", "Temperature"]
            assert (kind, temperature["state_topic"], temperature["unit_of_measurement"]) == (
                "sensor",
                "pws/garden",
                "°F",
            )
            assert rendered(temperature["value_template"], SILENT["pws/garden"]) == "71.6"
            kind, leak = by_name["lora/v3/cellar", "Leak"]
            assert (kind, leak["device_class"], leak["payload_on"]) == ("binary_sensor", "moisture", "True")
            assert rendered(leak["value_template"], SILENT["lora/v3/cellar"]) == "False"
            _, power = by_name["evcc/site", "Grid power"]
            assert (power["state_topic"], power["value_template"]) == ("evcc/site/gridPower", "{{ value }}")
            _, defrosting = by_name["heat/pump", "Defrosting"]
            assert (defrosting["payload_on"], defrosting["payload_off"]) == ("on", "off")
            if CHECKOUT:
                rules = HomeAssistantRules(Path(CHECKOUT))
                for (component, _), each in found.items():
                    rules.check(component, each)
            # None of it was read back: no source is called as Home Assistant's devices are.
            await until(lambda: 1 in broker.learning.learnt)
            assert not [name for name in broker.learning.learnt[1].sources() if "likewise" in name]
            count = len(heard)
            device.publish("pws/garden", json.dumps(SILENT["pws/garden"]).encode(), qos=1)
            device.publish("pws/garden2", b'{"tempf": 71.6}', qos=1)
            await until(lambda: len(heard) > count)
            assert len(heard) == count + 1  # what was announced is not announced again

    asyncio.run(run())


@pytest.mark.skipif(not CHECKOUT, reason="LIKEWISE_HOME_ASSISTANT names no checkout of home-assistant/core")
def test_every_shipped_name_is_valid_for_home_assistant() -> None:
    from likewise.matching.common_names.table import default_text, read_common_names
    from likewise.server.mqtt.home_assistant import KNOWN_UNITS, UNITS
    from likewise.units import any_unit

    rules = HomeAssistantRules(Path(str(CHECKOUT)))
    for row in read_common_names(default_text()).rows:
        config: dict[str, Any] = {"state_topic": "x", "device": {"identifiers": ["a"]}, "origin": {"name": "Likewise"}}
        config |= {"device_class": row.device_class} if row.device_class else {}
        if row.is_state:
            config |= {"payload_on": row.true, "payload_off": row.false}
        else:
            known = any_unit(row.unit) if row.unit else None
            config |= {"state_class": row.state_class} if row.state_class else {}
            config |= {} if known is None else {"unit_of_measurement": UNITS.get(known.symbol, known.symbol)}
        rules.check("binary_sensor" if row.is_state else "sensor", config)
        dimension = "" if row.is_state or not row.unit else str(getattr(any_unit(row.unit), "dimension", ""))
        for symbol in KNOWN_UNITS if row.device_class else ():
            known = any_unit(symbol)
            if known is not None and known.dimension == dimension:
                rules.check("sensor", {**config, "unit_of_measurement": UNITS.get(symbol, symbol)})


def test_a_correction_rewrites_it_and_a_revoked_source_removes_it(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        async with (
            announcing(tmp_path, mosquitto) as broker,
            listening(mosquitto, "homeassistant/#") as heard,
            publisher(mosquitto) as device,
        ):
            tenant = broker.tenant("default")
            said = Announcement("box", (AnnouncedAttribute("t1"),), lease=600_000.0)
            await asyncio.to_thread(broker.announcements.announce, tenant, said)
            device.publish("box", b'{"temperature": 35}', qos=1)
            await until(lambda: heard)
            await asyncio.to_thread(
                broker.announcements.correct,
                tenant,
                [Correction("temperature", "source", "box", means="supply water temperature")],
            )
            device.publish("box", b'{"temperature": 36}', qos=1)
            await until(lambda: len(heard) == 3)
            [config] = configs(heard).values()
            assert config["name"] == "Supply temperature"
            assert heard[1].payload == b""
            await asyncio.to_thread(broker.announcements.revoke, tenant, "box")
            await until(lambda: len(heard) == 4)
            assert configs(heard) == {}

    asyncio.run(run())


def test_our_configurations_are_no_announcements_of_a_device_to_any_bridge() -> None:
    reader = MessageReader(load_maps())
    config = {"stat_t": "home/attic", "dev": {"ids": ["likewise home/attic"]}, "dev_cla": "temperature"}
    message = MqttPublication("homeassistant/sensor/likewise-0123/temperature/config", json.dumps(config).encode())
    assert reader.identities(message) == []
    assert reader.read(message, now=0) == []
    assert reader.announcements(message) == []


@pytest.mark.parametrize("key", ["a'b", "a\\", "}}{{ 7 * 7 }}", "a\nb", "%}x", "'] }}{{ self", "ü.°"])
def test_a_hostile_key_of_a_payload_is_no_code_in_a_template(key: str) -> None:
    assert rendered("{{ value_json[" + _quoted(key) + "] | default(this.state) }}", {key: 5}) == "5"


def test_an_alert_is_a_binary_sensor_until_it_is_unsubscribed(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        async with (
            announcing(tmp_path, mosquitto) as broker,
            listening(mosquitto, "#") as heard,
            publisher(mosquitto) as device,
        ):
            tenant = broker.tenant("default")
            await asyncio.to_thread(broker.register, tenant, "ann")
            alert = lw.parse("{n > 25} per room once until false", id="hot")
            await asyncio.to_thread(broker.subscribe, tenant, "ann", [alert])
            await until(lambda: [each for each in heard if each.topic == "norm/alerts/ann/hot"])
            device.publish("home", b'{"n": 30, "room": "attic"}', qos=1)

            def states() -> list[Any]:
                return [json.loads(each.payload) for each in heard if each.topic == "norm/alerts/ann/hot"]

            await until(lambda: len(states()) == 2)
            assert states() == [{"state": "OFF", "keys": []}, {"state": "ON", "keys": [["attic"]]}]
            [config] = [
                c
                for (kind, _), c in configs([each for each in heard if each.topic.startswith("homeassistant/")]).items()
            ]
            assert (config["name"], config["state_topic"]) == ("hot", "norm/alerts/ann/hot")
            if CHECKOUT:
                assert set(config) <= HomeAssistantRules(Path(CHECKOUT)).keys | {"json_attributes_topic", "name"}
            await asyncio.to_thread(broker.unsubscribe, tenant, "ann", "hot")
            await until(lambda: not heard[-1].payload)

    asyncio.run(run())
