"""One device, one source, whichever way its messages come: a bridge from a real Mosquitto, or the listener."""

from __future__ import annotations

import asyncio
from pathlib import Path

import likewise as lw
from likewise.broker.broker import Broker
from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5, Publish
from tests.server.mqtt.broker.conftest import devices
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.device_groups import GROUPS
from tests.server.mqtt.test_bridge import bridged, publisher, stored, until


def by_source(broker: Broker) -> dict[str, set[str]]:
    """Return the topics of the log's events, by their source."""
    found: dict[str, set[str]] = {}
    for event in stored(broker):
        topic = next(str(each.value) for each in event.tuples if each.attribute == "topic")
        found.setdefault(event.source or "", set()).add(topic)
    return found


def test_the_bridge_gives_every_device_one_source(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """All groups of topics at once; what says something about a device only is no event."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (broker, bridge), publisher(mosquitto) as device:
            every = [message for group in GROUPS.values() for message in group.messages]
            for topic, payload in every:
                device.publish(topic, payload, qos=1)
            await until(lambda: bridge.state.received == len(every))
            await until(lambda: bridge.state.stored + bridge.state.passed_over == len(every))
            assert bridge.state.refused == 0
            found = by_source(broker)
            assert set(found) == {group.source for group in GROUPS.values()}
            for source, topics in found.items():
                [group] = [each for each in GROUPS.values() if each.source == source]
                assert topics <= {topic for topic, _ in group.messages}
            broker.wait_until_matched()
            broker.learning.wait_until_learnt()
            page = broker.catalogue.page(broker.tenant("default"), limit=1_000)
            assert sorted(each.source for each in page.sources) == sorted(found)  # each device once

    asyncio.run(run())


def test_the_listener_gives_every_device_one_source(tmp_path: Path) -> None:
    """The same groups, with MQTT 3.1.1 and 5, each message on its own."""
    with devices(tmp_path) as home:
        for version in (MQTT_3_1_1, MQTT_5):
            client = home.client(f"v{version}", version)
            for group in GROUPS.values():
                for topic, payload in group.messages:
                    client.publish(topic, payload)
        assert by_source(home.broker) == {
            group.source: {topic for topic, _ in group.messages} for group in GROUPS.values()
        }


def test_the_same_name_in_three_systems_is_three_keys_of_an_alert(tmp_path: Path) -> None:
    """`once` is counted for each device: one that is active does not silence the others."""
    with devices(tmp_path) as home:
        broker, tenant = home.broker, home.tenant
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{smoke = true} once until false", id="smoke")])
        client = home.client("all")
        for topic in (
            "zigbee2mqtt/attic",
            "tele/attic/SENSOR",
            "zigbee2mqtt/kitchen/climate",
            "zigbee2mqtt/cellar/climate",
        ):
            client.publish(topic, b'{"smoke": true}')
        broker.wait_until_matched()
        assert len(broker.page(tenant, tenant.subscriber("ann"), after=0, limit=100)) == 4


def test_messages_of_one_read_keep_their_order_whatever_they_are(tmp_path: Path) -> None:
    """A bare value before an object, in one segment: the log has them as they were sent."""
    with devices(tmp_path) as home:
        client = home.client("quick")
        said = [b"1", b'{"t": 2}', b"3", b'{"t": 4}', b'{"t": 5}', b"6"]
        client.send(*(Publish("home/t", payload) for payload in said))
        home.until(lambda: len(stored(home.broker)) == len(said))
        assert [event.tuples[0].value for event in stored(home.broker)] == [1, 2, 3, 4, 5, 6]
