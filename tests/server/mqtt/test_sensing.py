"""Behind a broker of the user's, sources announce themselves and are told through the bridge, on the same topics."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

import likewise as lw
from likewise.api.sources import SensingCommand
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.test_bridge import bridged, publisher, stored, until

SAID = msgspec.json.encode({"attributes": [{"name": "temp1", "unit": "degC"}], "controllable": True, "interval": 60})


def heard(device: Any) -> list[tuple[str, bytes, bool]]:
    """What a device hears on its topic."""
    found: list[tuple[str, bytes, bool]] = []

    def take(client: object, topic: str, payload: bytes, qos: int, said: dict[str, Any]) -> int:
        found.append((topic, bytes(payload), bool(said.get("retain"))))
        return 0

    device.on_message = take
    return found


def test_a_source_behind_mosquitto_is_told_through_the_bridge(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """To rest, to sense, and nothing when it is revoked; a bad announcement is a dead letter, the others are held."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (broker, bridge), publisher(mosquitto) as device:
            tenant, came = broker.tenant("default"), heard(device)
            device.subscribe("likewise/sense/roof/1", qos=1)
            device.publish("likewise/announcements/roof/2", b"no announcement", qos=1)
            device.publish("likewise/announcements/roof/1", SAID, qos=1, retain=True)
            await until(lambda: "roof/1" in tenant.sources.announcements)
            await until(lambda: came)
            first = msgspec.json.decode(came[-1][1], type=SensingCommand)
            assert (came[-1][0], first.on) == ("likewise/sense/roof/1", False)
            broker.register(tenant, "ann")
            broker.subscribe(tenant, "ann", [lw.parse("{temperature~ > 25 degC}", id="hot")])
            await until(lambda: msgspec.json.decode(came[-1][1], type=SensingCommand).on)
            told = msgspec.json.decode(came[-1][1], type=SensingCommand)
            assert (told.interval, told.wanted) == (60, 1)
            assert bridge.state.refused == 1
            device.publish("likewise/announcements/roof/1", b"", qos=1, retain=True)
            await until(lambda: came[-1][1] == b"")
            assert "roof/1" not in tenant.sources.announcements
            # What is told comes back over the bridge, too, and is no reading.
            assert {event.source for event in stored(broker)} == {"likewise/catalogue"}

    asyncio.run(run())


def test_after_a_restart_of_that_broker_the_words_are_there_again(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """It may have forgotten what was retained."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/likewise/announcements/#") as (broker, bridge):
            tenant = broker.tenant("default")
            async with publisher(mosquitto) as device:
                device.publish("likewise/announcements/roof/1", SAID, qos=1)
                await until(lambda: broker.activation.commands(tenant))
            before = bridge.state.connections
            await asyncio.to_thread(mosquitto.stop)
            for kept in tmp_path.rglob("mosquitto.db*"):
                kept.unlink()  # it forgets what was retained
            await asyncio.to_thread(mosquitto.start)
            await until(lambda: bridge.state.connections > before)
            async with publisher(mosquitto) as device:
                came = heard(device)
                device.subscribe("likewise/sense/#", qos=1)
                await until(lambda: came)
                assert came[-1][0] == "likewise/sense/roof/1"

    asyncio.run(run())
