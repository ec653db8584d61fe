"""Events published to a real Mosquitto: acknowledged, in order, read back by a bridge as they were."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import likewise as lw
from likewise.errors import InputError, Unavailable
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher, event_message
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.test_bridge import bridged, stored, until


def published(*arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "likewise", "publish", *arguments],
        input=said,
        text=True,
        capture_output=True,
        timeout=240,
        check=False,
    )


def test_what_is_published_to_mqtt_reaches_a_bridge_as_it_was(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Ids, sources, units, themes and ends; twice the same stands once."""
    ends = 4_000_000_000_000_000
    given = [
        lw.event({"t": {"value": 21, "unit": "degC"}}, id=f"e{n}", source=f"roof/{n % 3}", themes=["air"], expires=ends)
        for n in range(300)
    ]

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/city/#") as (broker, bridge):
            await until(lambda: bridge.state.connected)
            for _ in range(2):
                messages = [event_message(each, "city/{source}", now=0) for each in given]
                await asyncio.to_thread(send, messages)
            await until(lambda: bridge.state.stored == 600)
            found = stored(broker)
            assert [each.id for each in found] == [each.id for each in given]
            for got, sent in zip(found, given, strict=True):
                assert got.tuples[: len(sent.tuples)] == sent.tuples
                assert (got.source, got.themes, got.expires) == (sent.source, sent.themes, sent.expires)

    def send(messages: list[MqttPublication]) -> None:
        with MqttPublisher(mosquitto.url) as out:
            out.publish(messages)

    asyncio.run(run())


def test_a_broker_that_goes_away_is_said_with_what_was_acknowledged(mosquitto: Mosquitto) -> None:
    """Nothing waits for ever, and nothing is claimed."""
    messages = [event_message(lw.event({"n": n}), "a/b", now=0) for n in range(50)]
    with MqttPublisher(mosquitto.url) as out:
        out.publish(messages)
        mosquitto.stop(signal.SIGKILL)
        with pytest.raises(Unavailable, match="0 of 50 messages are acknowledged"):
            out.publish(messages)
    with pytest.raises(Unavailable, match="cannot be reached"), MqttPublisher(mosquitto.url):
        pass


def test_topics_that_cannot_be_published_to_are_refused() -> None:
    """Filters, nothing at all, and a source that an event does not have."""
    for topic in ("a/#", "a/+/b", "", "a/{device}"):
        with pytest.raises(InputError, match="no topic to publish to"):
            event_message(lw.event({"a": 1}), topic, now=0)
    with pytest.raises(InputError, match="--source"):
        event_message(lw.event({"a": 1}), "a/{source}", now=0)


def test_the_command_says_what_was_taken_and_what_is_wrong(mosquitto: Mosquitto) -> None:
    """Receipts as JSON, words without a traceback."""
    taken = published("--address", f"{mosquitto.url}/city/{{source}}", "--source", "roof", "--json", said="{no2: 45}\n")
    assert (taken.returncode, taken.stdout) == (0, '{"topic":"city/roof"}\n'), taken.stderr
    nowhere = published("--address", mosquitto.url, said="{no2: 45}\n")
    assert nowhere.returncode == 2
    assert "names no topic" in nowhere.stderr
    mosquitto.stop()
    mosquitto.admit(everybody=False)
    mosquitto.start()
    refused = published("--address", f"{mosquitto.url}/a", said="{no2: 45}\n")
    assert refused.returncode == 4
    assert "refuses the connection" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
