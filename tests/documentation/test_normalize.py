"""The guide on common names is tried against a real Mosquitto: what it says is published is published, and no more."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher
from tests.documentation.test_devices import ROOT, lines
from tests.server.mqtt.conftest import Mosquitto, mosquitto
from tests.server.mqtt.test_bridge import until
from tests.server.mqtt.test_home_assistant import announcing
from tests.server.mqtt.test_normalizer import listening, normalizing

__all__ = ["mosquitto"]


def test_the_messages_of_the_guide_are_published_as_it_says(mosquitto: Mosquitto, tmp_path: Path) -> None:
    page = ROOT / "docs" / "guides" / "normalize.md"
    sent = [line.partition(" ") for line in lines(page, "messages")]
    expected = sorted(lines(page, "published"))

    async def run() -> list[str]:
        async with normalizing(tmp_path, mosquitto), listening(mosquitto) as heard:

            def publish() -> None:
                with MqttPublisher(mosquitto.url) as out:
                    out.publish([MqttPublication(topic, body.encode(), qos=1) for topic, _, body in sent])

            await asyncio.to_thread(publish)
            await until(lambda: len(heard) >= len(expected))
            await asyncio.sleep(0.2)
            said = [(each.topic, json.loads(each.payload)) for each in heard]
            return sorted(f"{topic} {each['value']} {each.get('unit', '')}".rstrip() for topic, each in said)

    assert asyncio.run(run()) == expected


def test_the_entities_of_the_guide_are_announced_as_it_says(mosquitto: Mosquitto, tmp_path: Path) -> None:
    page = ROOT / "docs" / "guides" / "home-assistant-without-yaml.md"
    sent = [line.partition(" ") for line in lines(page, "messages")]
    expected = sorted(lines(page, "entities"))

    async def run() -> list[str]:
        async with announcing(tmp_path, mosquitto), listening(mosquitto, "homeassistant/#") as heard:

            def publish() -> None:
                with MqttPublisher(mosquitto.url) as out:
                    out.publish([MqttPublication(topic, body.encode(), qos=1) for topic, _, body in sent])

            await asyncio.to_thread(publish)
            await until(lambda: len(heard) >= len(expected))
            await asyncio.sleep(0.2)
            shown = []
            for each in heard:
                config = json.loads(each.payload)
                unit = config.get("unit_of_measurement", "")
                parts = (each.topic.split("/")[1], config["name"], config["device_class"], unit, config["state_topic"])
                shown.append(" ".join(filter(None, parts)))
            return sorted(shown)

    assert asyncio.run(run()) == expected
