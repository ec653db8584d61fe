"""The devices of the city that speak MQTT, and a machine without Mosquitto."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from likewise.cli.demo import city as demo
from likewise.cli.demo.city import VENDORS, Mosquitto, MosquittoProgram, MqttDevices
from likewise.demo import City
from tests.server.mqtt.conftest import find_mosquitto
from tests.server.mqtt.test_bridge import bridged, stored, until


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    path, environment = find_mosquitto()
    if path is None:
        pytest.skip("there is no mosquitto; `make test` as root unpacks it, or name it in LIKEWISE_MOSQUITTO")
    pytest.importorskip("gmqtt", reason="the extra `mqtt` is not installed")
    found = MosquittoProgram(path, environment.get("LD_LIBRARY_PATH", ""))
    monkeypatch.setattr(demo, "find_program", lambda: found)


def test_what_devices_say_over_mqtt_is_what_they_report(program: None, tmp_path: Path) -> None:
    """With their own names and sources, once; what other devices say is left for HTTP."""
    reports = City(seed=1, devices=60).between(0, 60)
    own = [each for each in reports if each.device.dialect.vendor in VENDORS]
    assert {each.device.dialect.vendor for each in own} == VENDORS

    async def run() -> None:
        with Mosquitto() as running, MqttDevices(running) as line:
            async with bridged(tmp_path / "data", f"{running.url}/city/#") as (broker, bridge):
                await until(lambda: bridge.state.connected)
                rest = await asyncio.to_thread(line.publish, reports, 600)
                assert [each.id for each in rest] == [each.id for each in reports if each not in own]
                await until(lambda: bridge.state.stored == len(own))
                found = {(each.id, each.source) for each in stored(broker)}
        assert found == {(each.id, each.source) for each in own}

    asyncio.run(run())


def test_devices_use_http_when_mosquitto_is_gone(program: None) -> None:
    """That is said once, and nothing is left out."""
    reports = City(seed=1, devices=60).between(0, 30)
    with Mosquitto() as running, MqttDevices(running) as line:
        running._stop()
        assert line.publish(reports, 600) == reports
        assert "gone" in line.broken
        assert line.publish(reports, 600) == reports
        assert not line.broken


def test_without_mosquitto_the_demo_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every device uses HTTP."""
    monkeypatch.setattr(demo, "find_program", lambda: None)
    reports = City(seed=1, devices=60).between(0, 10)
    with Mosquitto() as running, MqttDevices(running) as line:
        assert "no Mosquitto" in line.description
        assert line.publish(reports, 600) == reports


def test_a_program_that_does_not_run_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It ends at once, or is no program at all."""
    for path in ("/bin/false", str(tmp_path / "nothing")):
        monkeypatch.setattr(demo, "find_program", lambda path=path: MosquittoProgram(path))
        with Mosquitto() as running, MqttDevices(running) as line:
            assert not running.url
            assert "Mosquitto" in line.description
