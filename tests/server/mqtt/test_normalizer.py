"""The normaliser beside a real Mosquitto: common names and units, and neither loss nor echo."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import BridgeSettings, Config, NormalizeSettings
from likewise.errors import InputError
from likewise.semantics.enrichment.corrections import Correction
from likewise.server.gateway import Gateway
from likewise.server.mqtt.bridge import bridge_connectors
from likewise.server.mqtt.client import BrokerAddress, MqttClient, publication
from likewise.server.mqtt.codec import FilterRequest
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.normalizer_connectors import normalizer_connectors
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.test_bridge import publisher, stored, until


@asynccontextmanager
async def normalizing(data: Path, mosquitto: Mosquitto, prefix: str = "norm", **more: Any) -> AsyncIterator[Broker]:
    """A broker that reads everything of Mosquitto and publishes common names there."""
    to = f"{mosquitto.url}/{prefix}/{{source}}/{{name}}"
    config = Config(normalize=NormalizeSettings(to, **more))
    with Broker(data, config) as broker:
        gateway = Gateway(broker)
        bridges = bridge_connectors([BridgeSettings(f"{mosquitto.url}/#")], data)
        running = [asyncio.create_task(each(gateway)) for each in (*normalizer_connectors(config), *bridges)]
        try:
            await until(
                lambda: len(gateway.connections) == 2 and all(each().connected for _, each in gateway.connections)
            )
            yield broker
        finally:
            gateway.stopping.set()
            await asyncio.gather(*running)


@asynccontextmanager
async def listening(mosquitto: Mosquitto, pattern: str = "norm/#") -> AsyncIterator[list[MqttPublication]]:
    """What is published below a prefix, as it comes."""
    heard: list[MqttPublication] = []

    def take(packet: Any) -> asyncio.Future[None]:
        heard.append(publication(packet))
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    client = MqttClient("listener", on_message=take)
    await client.connect(BrokerAddress("127.0.0.1", mosquitto.port))
    await client.subscribe([FilterRequest(pattern, 1, retain_as_published=True)])
    try:
        yield heard
    finally:
        await client.close()


def topics(name: str) -> list[str]:
    return [f"{prefix}/zigbee2mqtt_attic/{name}" for prefix in ("a", "b")]


def values(heard: list[MqttPublication]) -> dict[str, Any]:
    return {each.topic: json.loads(each.payload)["value"] for each in heard}


HOUSE = {
    "zigbee2mqtt/attic": {"temperature": 21.5, "humidity": 45, "battery": 87, "linkquality": 90},
    "zigbee2mqtt/front door": {"contact": False, "battery_low": False},
    "tele/plug/SENSOR": {"ENERGY": {"Power": 230, "Total": 12.5}},
    "tele/hall/SENSOR": {"AM2301": {"Temperature": 70.7}, "TempUnit": "F"},
    "shellies/shellyht-A1B2C3/sensor/humidity": 51,
    "N/abc/battery/512/Soc": {"value": 76.5},
    "evcc/site/gridPower": 3,
}


def test_every_device_is_published_in_common_names_and_units(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        async with (
            normalizing(tmp_path, mosquitto) as broker,
            listening(mosquitto) as heard,
            publisher(mosquitto) as device,
        ):
            for topic, payload in HOUSE.items():
                device.publish(topic, json.dumps(payload).encode(), qos=1)
            await until(lambda: len(values(heard)) >= 12)
            found = values(heard)
            assert found["norm/zigbee2mqtt_attic/temperature"] == 21.5
            assert found["norm/zigbee2mqtt_front door/contact"] == "open"
            assert found["norm/tasmota:hall/temperature"] == 21.5
            assert found["norm/tasmota:plug/energy"] == 12.5
            assert found["norm/shellyht-A1B2C3/humidity"] == 51
            assert found["norm/victron:abc_battery_512/battery"] == 76.5
            assert found["norm/evcc_site/grid_power"] == 3
            said = json.loads(next(each.payload for each in heard if each.topic.endswith("attic/temperature")))
            assert said["unit"] == "°C"
            assert said["source"] == "zigbee2mqtt/attic"
            assert said["attribute"] == "temperature"
            assert said["probability"] > 0.9
            assert said["time"].endswith("Z")
            assert "likewise_mqtt_normalizer_stored_total{" in broker.metrics.page().decode()

    asyncio.run(run())


def test_what_is_not_certain_is_not_sent_but_listed_with_guesses(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        async with normalizing(tmp_path, mosquitto) as broker, publisher(mosquitto) as device:
            device.publish("home/meter", b'{"energy": 1.2, "temperature": 20}', qos=1)
            known = broker.tenant("default").normalized
            assert known is not None
            await until(known.uncertain)
            [question] = known.uncertain()
            assert (question.attribute, question.guesses[0][0]) == ("energy", "energy")
            assert "unit" in question.why
        async with normalizing(tmp_path, mosquitto) as broker, listening(mosquitto) as heard:
            known = broker.tenant("default").normalized
            assert known is not None
            assert [each.attribute for each in known.uncertain()] == ["energy"]  # after a restart, too
            broker.announcements.correct(broker.tenant("default"), [Correction("energy", unit="kWh")])
            async with publisher(mosquitto) as device:
                device.publish("home/meter", b'{"energy": 1.3}', qos=1)
                await until(lambda: "norm/home_meter/energy" in values(heard))
            assert known.uncertain() == []

    asyncio.run(run())


def test_its_own_output_is_never_read_back_nor_another_normalisers(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Two normalisers read everything of one broker, each with a prefix of its own."""

    async def run() -> None:
        async with (
            normalizing(tmp_path / "a", mosquitto, "a", retain="always") as first,
            normalizing(tmp_path / "b", mosquitto, "b", format="value") as second,
            listening(mosquitto, "#") as heard,
            publisher(mosquitto) as device,
        ):
            device.publish("zigbee2mqtt/attic", b'{"temperature": 21.5}', qos=1)
            await until(lambda: {each.topic for each in heard} >= {*topics("temperature")})
            device.publish("zigbee2mqtt/attic", b'{"humidity": 40}', qos=1)
            await until(lambda: {each.topic for each in heard} >= {*topics("humidity")})
            assert len(heard) == 6
            assert len(stored(first)) == len(stored(second)) == 2
            echo = next(each.payload for each in heard if each.topic[0] == "a")
            # The same, from a broker or a bridge between that drops user properties.
            device.publish("elsewhere/attic/temperature", echo, qos=1)
            device.publish("zigbee2mqtt/attic", b'{"pressure": 1000}', qos=1)
            await until(lambda: sum(each.topic.endswith("/pressure") for each in heard) == 2)
            assert not [each.topic for each in heard if "elsewhere" in each.topic and each.topic[0] == "a"]

    asyncio.run(run())


def test_a_retained_reading_is_retained_under_its_common_name(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        async with publisher(mosquitto) as device:
            device.publish("home/attic/temperature", b"20", qos=1, retain=True)
            async with normalizing(tmp_path, mosquitto), listening(mosquitto) as heard:
                device.publish("home/cellar/temperature", b"12", qos=1)
                await until(lambda: len(heard) == 2)
                assert {each.topic: each.retain for each in heard} == {
                    "norm/home_attic_temperature/temperature": True,
                    "norm/home_cellar_temperature/temperature": False,
                }
        async with listening(mosquitto) as heard:
            await until(lambda: heard)
            assert [each.topic for each in heard] == ["norm/home_attic_temperature/temperature"]

    asyncio.run(run())


def test_nothing_is_lost_while_the_other_broker_is_down(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """What was stored here is published once Mosquitto is back, in order."""

    async def run() -> None:
        async with normalizing(tmp_path, mosquitto) as broker:
            mosquitto.stop(signal.SIGTERM)
            tenant = broker.tenant("default")
            import likewise as lw

            for number in range(20):
                broker.publish(tenant, [lw.event({"temperature": number}, source="attic")])
            mosquitto.start()
            async with listening(mosquitto) as heard:
                await until(lambda: any(json.loads(each.payload)["value"] == 19 for each in heard) or len(heard) > 30)
            numbers = [json.loads(each.payload)["value"] for each in heard]
            assert numbers == sorted(numbers)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("value", b"21.5"),
        ("senml", {"bn": "attic/", "n": "temperature", "u": "Cel", "v": 21.5}),
        ("ngsi-ld", {"id": "urn:ngsi-ld:Device:attic", "type": "Device"}),
    ],
)
def test_messages_take_the_form_that_was_asked_for(
    mosquitto: Mosquitto, tmp_path: Path, form: Any, expected: Any
) -> None:
    async def run() -> None:
        async with normalizing(tmp_path, mosquitto, format=form), listening(mosquitto) as heard:
            async with publisher(mosquitto) as device:
                device.publish("attic", b'{"temperature": 21.5}', qos=1)
                await until(lambda: heard)
            body = heard[0].payload
            if isinstance(expected, bytes):
                assert body == expected
                return
            said = json.loads(body)
            said = said[0] if isinstance(said, list) else said
            assert {name: said[name] for name in expected} == expected

    asyncio.run(run())


@pytest.mark.parametrize(
    "to", ["mqtt://h/norm/{name}", "mqtt://h/{source}/{name}", "mqtt://h/n/{sorce}/{name}", "mqtt://h/n/#"]
)
def test_a_topic_that_cannot_tell_sources_apart_is_refused(to: str) -> None:
    with pytest.raises(InputError):
        normalizer_connectors(Config(normalize=NormalizeSettings(to)))
