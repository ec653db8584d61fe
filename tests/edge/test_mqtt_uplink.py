"""An edge below any MQTT broker: nothing is lost while that is away, order stays, disk is bounded."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import event_entries
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.edge.app import attach_mqtt_uplink, make_edge_broker
from likewise.edge.bounds import Bounds
from likewise.edge.mqtt_uplink import MqttUplink
from likewise.errors import InputError
from likewise.server.gateway import Gateway
from likewise.server.mqtt.messages import MqttPublication
from tests.server.mqtt.conftest import Mosquitto, mosquitto
from tests.server.mqtt.test_bridge import until
from tests.server.mqtt.test_normalizer import listening

__all__ = ["mosquitto"]


@asynccontextmanager
async def edge(data: Path, url: str, bounds: Bounds | None = None) -> AsyncIterator[tuple[Broker, MqttUplink]]:
    """An edge that publishes below a prefix of some broker."""
    with make_edge_broker(data, elsewhere=frozenset()) as broker:
        gateway = Gateway(broker)
        uplink = attach_mqtt_uplink(broker, "roof", f"{url}/plant", bounds=bounds)
        running = asyncio.create_task(uplink.run(gateway))
        try:
            yield broker, uplink
        finally:
            gateway.stopping.set()
            await running


def readings(broker: Broker, numbers: range) -> None:
    tenant = broker.tenant("default")
    for number in numbers:
        broker.publish(tenant, [lw.event({"n": number}, id=f"e{number}", source=f"s{number % 3}")])


def numbers(heard: list[MqttPublication]) -> list[int]:
    return [json.loads(each.payload)["tuples"][0]["value"] for each in heard]


def test_what_waits_goes_up_in_order_once_that_broker_is_there(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Over a stop of that broker, and over a restart of the edge."""

    async def run() -> None:
        mosquitto.stop(signal.SIGTERM)
        async with edge(tmp_path, mosquitto.url) as (broker, uplink):
            await asyncio.to_thread(readings, broker, range(300))
            await until(lambda: uplink.outbox.waiting == 300 and uplink.trouble)
            assert uplink.status().state == "away"
        async with edge(tmp_path, mosquitto.url) as (broker, uplink):
            await asyncio.to_thread(readings, broker, range(300, 310))
            mosquitto.start()
            async with listening(mosquitto, "plant/#") as heard:
                await until(lambda: len(set(numbers(heard))) == 310 or uplink.outbox.waiting == 0, 60)
                await until(lambda: uplink.outbox.waiting == 0)
            assert uplink.outbox.counts.forwarded >= 310 - 1
            for source in ("s0", "s1", "s2"):
                own = [n for n, each in zip(numbers(heard), heard, strict=True) if each.topic == f"plant/{source}"]
                assert own == sorted(own)

    asyncio.run(run())


def test_a_devices_message_goes_up_as_it_published_it(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        async with edge(tmp_path, mosquitto.url) as (broker, _), listening(mosquitto, "plant/#") as heard:
            entries = event_entries(broker.tenant("default").number, [lw.event({"t": 1}, source="attic")], None)
            entries[0].message = StoredMessage("home/attic", b'{"t": 1}', qos=1, retain=True)
            await asyncio.to_thread(wait_for, lambda done: broker.store.append(entries, done))
            await until(lambda: heard)
            assert (heard[0].topic, heard[0].payload, heard[0].retain) == ("plant/home/attic", b'{"t": 1}', True)
            assert heard[0].user_property("id")

    asyncio.run(run())


def test_the_outbox_is_bounded_and_counts_what_it_drops(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def run() -> None:
        mosquitto.stop(signal.SIGTERM)
        async with edge(tmp_path, mosquitto.url, Bounds(bytes=5_000)) as (broker, uplink):
            await asyncio.to_thread(readings, broker, range(300))
            await until(lambda: uplink.outbox.counts.dropped)
            assert uplink.outbox.bytes <= 5_000
            assert (
                f"likewise_edge_outbox_dropped_total {uplink.outbox.counts.dropped}" in broker.metrics.page().decode()
            )
        mosquitto.start()

    asyncio.run(run())


@pytest.mark.parametrize("url", ["mqtt://127.0.0.1", "mqtt://127.0.0.1/plant/#"])
def test_an_address_without_a_prefix_is_refused(url: str, tmp_path: Path) -> None:
    with make_edge_broker(tmp_path) as broker, pytest.raises(InputError):
        MqttUplink(broker, "roof", url)
