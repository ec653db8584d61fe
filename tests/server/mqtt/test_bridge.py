"""The bridge: what a real Mosquitto passes on is published, acknowledged when it is on disk, and found by meaning."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import BridgeSettings as BridgeConfig
from likewise.broker.config import Config
from likewise.errors import InputError, LikewiseError
from likewise.server.gateway import Gateway
from likewise.server.mqtt.bridge import MqttBridge
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.publisher import MqttPublisher
from tests.server.mqtt.conftest import Mosquitto


async def until(holds: Any, seconds: float = 60) -> None:
    """Wait for a state."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def bridged(data: Path, url: str, **more: Any) -> AsyncIterator[tuple[Broker, MqttBridge]]:
    """A broker with a bridge that is connected."""
    with Broker(data, Config()) as broker:
        door = Gateway(broker)
        bridge = MqttBridge(door, BridgeConfig(url, **more), data)
        running = asyncio.create_task(bridge.run())
        try:
            await until(lambda: bridge.state.connected)
            yield broker, bridge
        finally:
            door.stopping.set()
            await running


@asynccontextmanager
async def publisher(mosquitto: Mosquitto) -> AsyncIterator[Any]:
    """A device: a plain client of QoS 1."""
    import gmqtt

    client = gmqtt.Client("device")
    await client.connect("127.0.0.1", mosquitto.port)
    try:
        yield client
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            await client.disconnect()


def stored(broker: Broker) -> list[lw.Event]:
    """The events of the log."""
    return [
        entry.value for entry in broker.store.entries(0, broker.store.position) if isinstance(entry.value, lw.Event)
    ]


def test_what_devices_say_is_found_by_meaning(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Zigbee2MQTT's JSON and a bare value, by one subscription; commands are passed over."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (broker, bridge), publisher(mosquitto) as device:
            tenant = broker.tenant("default")
            broker.register(tenant, "ann")
            broker.subscribe(tenant, "ann", [lw.parse("{temperature > 25 degC}", id="hot")])
            device.publish("zigbee2mqtt/attic", b'{"temperature": 27.5, "linkquality": 90}', qos=1)
            device.publish("zigbee2mqtt/attic/set", b'{"state": "ON"}', qos=1)
            device.publish("tele/plug/SENSOR", b'{"Temperature": 90, "TempUnit": "F"}', qos=1)
            device.publish("home/cellar/temperature", b"12", qos=1)
            await until(lambda: bridge.state.stored == 3 and bridge.state.passed_over == 1)
            broker.wait_until_matched()
            assert [event.source for event in stored(broker)] == [
                "zigbee2mqtt/attic",
                "tasmota:plug",
                "home/cellar/temperature",
            ]
            assert len(tenant.subscriber("ann")) == 2

    asyncio.run(run())


def test_nothing_acknowledged_is_lost_when_mosquitto_is_killed(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """It comes back, the bridge reconnects by itself, and goes on."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/a/#") as (_broker, bridge):
            async with publisher(mosquitto) as device:
                device.publish("a/1", b"1", qos=1)
                await until(lambda: bridge.state.stored == 1)
            mosquitto.stop(signal.SIGKILL)
            await until(lambda: not bridge.state.connected)
            mosquitto.start()
            await until(lambda: bridge.state.connected)
            async with publisher(mosquitto) as device:
                device.publish("a/2", b"2", qos=1)
                await until(lambda: bridge.state.stored == 2)
            assert bridge.state.connections == 2

    asyncio.run(run())


def test_while_a_bridge_is_cut_off_alerts_excuse_what_it_brings(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Its outage is no absence of the sources behind it; others are judged as ever."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (broker, bridge):
            tenant = broker.tenant("default")
            broker.register(tenant, "ann")
            broker.subscribe(tenant, "ann", [lw.parse("{temperature exists} absent for 1 h", id="silent")])
            async with publisher(mosquitto) as device:
                device.publish("zigbee2mqtt/attic", b'{"temperature": 27.5}', qos=1)
                await until(lambda: bridge.state.stored == 1)
            broker.publish(tenant, [lw.event({"temperature": 3}, source="near")])
            mosquitto.stop(signal.SIGKILL)
            await until(lambda: tenant.alerts.absence_suspended("unreachable") == {"zigbee2mqtt/attic"})
            mosquitto.start()
            await until(lambda: not tenant.alerts.absence_suspended("unreachable"))

    asyncio.run(run())


def test_a_bridge_that_is_refused_for_a_while_comes_back(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """The user's broker starts without its accounts, and then with them: no restart is needed here."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/a/#") as (_broker, bridge):
            mosquitto.stop()
            mosquitto.admit(False)
            mosquitto.start()
            await until(lambda: bridge.state.trouble.startswith("refuses"))
            assert not bridge.state.connected
            mosquitto.stop()
            mosquitto.admit(True)
            mosquitto.start()
            await until(lambda: bridge.state.connected)
            async with publisher(mosquitto) as device:
                device.publish("a/1", b"1", qos=1)
                await until(lambda: bridge.state.stored == 1)

    asyncio.run(run())


def test_what_comes_while_the_broker_is_away_comes_when_it_is_back(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """The session is kept by its fixed name."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/a/#"):
            pass
        async with publisher(mosquitto) as device:
            for number in range(20):
                device.publish(f"a/{number}", str(number).encode(), qos=1)
            await asyncio.sleep(0.5)
        async with bridged(tmp_path / "data", f"{mosquitto.url}/a/#") as (broker, bridge):
            await until(lambda: bridge.state.stored == 20)
            assert bridge.state.gaps == 0
            assert [event.tuples[0].value for event in stored(broker)] == list(range(20))

    asyncio.run(run())


def test_what_is_not_on_disk_is_not_acknowledged(
    mosquitto: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that cannot store for now lets the message wait; after a restart it comes again, once."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/a/#") as (broker, bridge):
            with monkeypatch.context() as broken:

                def refuse(*_: object) -> None:
                    raise lw.errors.Unavailable("the disk is full")

                broken.setattr(broker, "request", refuse)
                async with publisher(mosquitto) as device:
                    device.publish("a/1", b"1", qos=1)
                    await until(lambda: bridge.state.received == 1)
                    await asyncio.sleep(0.3)
        async with bridged(tmp_path / "data", f"{mosquitto.url}/a/#") as (broker, bridge):
            await until(lambda: bridge.state.stored == 1)
            assert [event.tuples[0].value for event in stored(broker)] == [1]

    asyncio.run(run())


def test_what_is_refused_for_good_is_a_dead_letter(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """It holds up nothing that comes after it."""

    async def run() -> None:
        strict = tmp_path / "strict.toml"
        strict.write_text('[[topic]]\ntopic = "#"\nread = "json"\nstrict = true\n', encoding="utf-8")
        async with (
            bridged(tmp_path / "data", f"{mosquitto.url}/a/#", maps=(str(strict),)) as (_broker, bridge),
            publisher(mosquitto) as device,
        ):
            device.publish("a/1", b"\xff\xd8", qos=1)
            device.publish("a/2", b'{"t": 2}', qos=1)
            await until(lambda: bridge.state.stored == 1 and bridge.state.refused == 1)

    asyncio.run(run())


def test_no_message_ends_the_bridge(mosquitto: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a picture too large to keep nor a mistake of ours: both are dead letters, and the next is stored."""
    read = MessageReader.read

    def mistaken(reader: MessageReader, message: MqttPublication, now: int) -> list[lw.Event]:
        if message.topic == "a/mistake":
            raise ZeroDivisionError
        return read(reader, message, now)

    monkeypatch.setattr(MessageReader, "read", mistaken)

    async def run() -> None:
        async with (
            bridged(tmp_path / "data", f"{mosquitto.url}/a/#") as (broker, bridge),
            publisher(mosquitto) as device,
        ):
            device.publish("a/picture", b"\xff\xd8" * 500_000, qos=1)
            device.publish("a/mistake", b"1", qos=1)
            device.publish("a/after", b"2", qos=1)
            await until(lambda: bridge.state.stored == 1 and bridge.state.refused == 2)
            assert [event.source for event in stored(broker)] == ["a/after"]

    asyncio.run(run())


def test_the_same_id_with_other_content_is_refused_alone(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """A user property is the message's id; the same message again is stored once."""

    async def run() -> None:
        async with (
            bridged(tmp_path / "data", f"{mosquitto.url}/a/#") as (broker, bridge),
            publisher(mosquitto) as device,
        ):
            for body in (b'{"t": 1}', b'{"t": 1}', b'{"t": 2}'):
                device.publish("a/x", body, qos=1, user_property=("id", "m-1"))
            device.publish("a/x", b'{"t": 3}', qos=1)
            await until(lambda: bridge.state.received == 4 and bridge.state.refused == 1)
            await until(lambda: len(stored(broker)) == 2)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("bridge", "problem"),
    [
        (BridgeConfig("http://host/a"), "no address of MQTT"),
        (BridgeConfig("mqtt://ann:secret@/a"), "no address of MQTT"),
        (BridgeConfig("mqtt://host/a/#/b"), "no filter of topics"),
        (BridgeConfig("mqtt://host/a", topics=("b",)), "names topics twice"),
        (BridgeConfig("mqtt://host/a", share="x/y"), "one word"),
        (BridgeConfig("mqtt://host/a", session="soon"), "no span of time"),
        (BridgeConfig("mqtt://host/a", maps=("nowhere.toml",)), "no topic map 'nowhere.toml'"),
        (BridgeConfig("mqtts://host/a", tls_authority="nowhere.pem"), "certificate"),
        (BridgeConfig("mqtt://host/a", password_file="nowhere"), "password file"),
    ],
)
def test_a_bridge_that_cannot_work_is_refused_before_the_start(bridge: BridgeConfig, problem: str) -> None:
    """In words, without its secrets."""
    from likewise.server.mqtt.bridge import check_bridge

    with pytest.raises(LikewiseError, match=problem) as refused:
        check_bridge(bridge, None)
    assert "secret" not in str(refused.value)
    assert isinstance(refused.value, InputError)


def test_a_bridge_that_stands_twice_is_refused_before_the_start() -> None:
    """Both would have one name, and each would end the other's connection, again and again."""
    from likewise.server.mqtt.bridge import bridge_connectors

    once, other = BridgeConfig("mqtt://host/a/#"), BridgeConfig("mqtt://host/b/#")
    assert len(bridge_connectors([once, other], None)) == 1
    with pytest.raises(InputError, match="stands twice"):
        bridge_connectors([once, other, once], None)


def test_connections_are_shown_to_their_tenant(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Where to, whether it is connected and what came of its messages; without a password, and to nobody else."""
    from fastapi.testclient import TestClient

    from likewise.server.http.server import make_app
    from likewise.server.mqtt.bridge import bridge_connectors

    url = f"mqtt://ann:secret@127.0.0.1:{mosquitto.port}/roof/#"
    with Broker(tmp_path / "data", Config()) as broker, TestClient(make_app(broker)) as http:
        door = http.app.state.gateway  # type: ignore[attr-defined]
        other = BridgeConfig("mqtt://127.0.0.1:1/x", tenant="other")
        [beside] = bridge_connectors([BridgeConfig(url), other], tmp_path / "data")
        assert http.portal is not None
        running = http.portal.start_task_soon(beside, door)
        with MqttPublisher(mosquitto.url) as out:
            for _ in range(600):
                [shown] = http.get("/v1/connections").json() or [{}]
                if shown.get("connected") and not shown["stored"]:
                    out.publish([MqttPublication("roof/temperature", b"21.5", qos=1)])
                elif shown.get("stored"):
                    break
                time.sleep(0.1)
        assert shown["address"] == f"mqtt://127.0.0.1:{mosquitto.port}/roof/#"
        assert (shown["kind"], shown["connected"], shown["trouble"]) == ("mqtt-bridge", True, "")
        assert "secret" not in str(shown)
        door.stopping.set()
        running.result(60)
