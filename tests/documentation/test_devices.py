"""Every guide on devices is tried: its messages go over a real Mosquitto, and meet what the guide says they meet."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from likewise.cli.terminal.text_input import parse_named_subscription
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher
from likewise.server.mqtt.topic_maps import read_map
from tests.server.mqtt.conftest import Mosquitto, mosquitto
from tests.server.mqtt.test_bridge import bridged, until

__all__ = ["mosquitto"]
ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "guides" / "devices").glob("*.md"))


def lines(page: Path, kind: str) -> list[str]:
    """The lines of the page's blocks of a kind."""
    found = re.findall(rf"^```text {kind}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in found for line in block.splitlines() if line.strip()]


@pytest.mark.timeout(600)  # the first relaxed subscription may wait for compiled kernels
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_messages_of_the_guide_meet_what_it_says(page: Path, mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Exactly that, and nothing else; with the maps that come with Likewise."""
    sent = [line.partition(" ") for line in lines(page, "messages")]
    asked = [parse_named_subscription(line) for line in lines(page, "asked")]
    said = {tuple(line.split(" ", 1)) for line in lines(page, "answered")}
    assert all((sent, asked, said)), "the guide shows no messages, no subscription or no answer"

    async def run() -> set[tuple[str, str]]:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (broker, bridge):
            await until(lambda: bridge.state.connected)
            tenant = broker.tenant("default")
            for name, subscription in asked:
                await asyncio.to_thread(broker.register, tenant, name)
                await asyncio.to_thread(broker.subscribe, tenant, name, [subscription])
            with MqttPublisher(mosquitto.url) as out:
                out.publish([MqttPublication(topic, payload.encode(), qos=1) for topic, _, payload in sent])
            state = bridge.state
            await until(lambda: state.stored + state.passed_over == len(sent))
            await asyncio.to_thread(broker.wait_until_matched, 300)
            met = set()
            for name, _ in asked:
                for _, frame in broker.page(tenant, tenant.subscriber(name), after=0):
                    tuples = json.loads(frame)["event"]["tuples"]
                    met.add((name, next(each["value"] for each in tuples if each["attribute"] == "topic")))
            return met

    assert asyncio.run(run()) == said


def test_every_map_in_a_guide_is_one(tmp_path: Path) -> None:
    """What the guides show as a map of one's own is read."""
    found = 0
    for page in PAGES:
        for block in re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            if block.startswith("[[topic]]"):
                read_map(block, page.name)
                found += 1
    assert found >= 2
