"""A store of the release that named sources by the last level is upgraded: nothing rings, nothing is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from likewise.api.events import Receipt
from likewise.broker.admin import migrate, verify_store
from likewise.broker.broker import Broker
from likewise.broker.log.catalogue.naming import BY_LAST_LEVEL, name_by
from likewise.broker.log.tokens import make_token
from likewise.broker.queries.stored_events import series, stored_events
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.source_upgrade import rename_former_sources
from likewise.server.mqtt.topic_maps import load_maps
from likewise.testing.clocks import ManualClock
from tests.broker.alerts.test_alerts import tick
from tests.broker.fixtures.make_sources import SECOND, START, uplink
from tests.server.mqtt.broker.conftest import devices

KEPT = Path(__file__).parents[2] / "broker" / "fixtures" / "sources-8"
BECAME = {
    "climate": {"zigbee2mqtt/kitchen/climate", "zigbee2mqtt/cellar/climate"},
    "attic": {"zigbee2mqtt/attic", "tasmota:attic", "shellies/attic"},
    "dev-1": {"app1@ttn/dev-1", "app2@ttn/dev-1"},
    "porch/binary_sensor/smoke/state": {"porch"},
    "porch/sensor/temperature/state": {"porch"},
    "boiler": {"tasmota:boiler"},
    "garage": {"zigbee2mqtt/garage"},
    "hall": set(),
}


@pytest.fixture(params=["stopped", "killed"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A store that was stopped well, or one that was killed and so has no saved states of alerts."""
    folder = tmp_path / "data"
    shutil.copytree(KEPT, folder)
    if request.param == "killed":
        shutil.rmtree(folder / "windows")
    migrate(folder)
    return folder


@pytest.fixture
def clock() -> ManualClock:
    made = ManualClock(START)
    made.advance(20 * SECOND)
    return made


@pytest.fixture
def upgraded(older: Path, clock: ManualClock) -> Iterator[Broker]:
    with Broker(older, clock=clock) as broker:
        assert rename_former_sources(broker) == len(BECAME) - 1
        yield broker


def say(broker: Broker, topic: str, payload: object) -> list[Receipt]:
    """Publish a message as a bridge does."""
    tenant = broker.tenant("default")
    reader = MessageReader(load_maps(), identities=tenant.sources.identities)
    message = MqttPublication(topic, json.dumps(payload).encode())
    broker.announcements.identify(tenant, reader.identities(message))
    return broker.publish(tenant, reader.read(message, broker.clock()))


def said(broker: Broker) -> list[tuple[str, str, str]]:
    """Return what was delivered: the cause, the source, and the subscription."""
    broker.wait_until_matched()
    tenant = broker.tenant("default")
    pages = broker.page(tenant, tenant.subscriber("ann"), after=0, limit=1_000)
    found: list[dict[str, Any]] = [msgspec.json.decode(frame) for _, frame in pages]
    return [(d["cause"], d["event"]["source"], d["subscriptions"][0]["id"]) for d in found]


def test_every_name_of_before_becomes_the_sources_it_stood_for(upgraded: Broker) -> None:
    identities = upgraded.tenant("default").sources.identities
    assert {name: identities.sources_of(name) for name in BECAME} == BECAME


def test_an_upgrade_sends_nothing_and_is_done_once(older: Path, clock: ManualClock) -> None:
    """Neither the alarms that are carried over nor those that begin anew are said, now or after a restart."""
    with Broker(older, clock=clock) as broker:
        before = said(broker)
        assert {source for cause, source, id in before if id == "smoke"} == {
            "climate",
            "attic",
            "porch/binary_sensor/smoke/state",
            "boiler",
            "hall",
        }
        rename_former_sources(broker)
        tick(broker)
        assert said(broker) == before
        end = broker.store.position
    with Broker(older, clock=clock) as broker:
        assert rename_former_sources(broker) == 0
        assert said(broker) == before
        assert broker.store.position == end
    verify_store(older)


def test_a_store_that_was_stopped_in_the_middle_is_upgraded_again(older: Path, clock: ManualClock) -> None:
    """The entries of before and those of the second time together lead to the same."""
    with Broker(older, clock=clock) as broker:
        rename_former_sources(broker)
        corrections = sorted(map(str, broker.tenant("default").sources.corrections.values()))
        broker.store.commit(lambda tables: name_by(tables, BY_LAST_LEVEL))
    with Broker(older, clock=clock) as broker:
        assert rename_former_sources(broker) == len(BECAME) - 1
        say(broker, "tele/boiler/SENSOR", {"smoke": False})
        assert said(broker)[-1] == ("cleared", "tasmota:boiler", "smoke")
        known = broker.tenant("default").sources
        assert sorted(map(str, known.corrections.values())) == corrections
        assert {name: known.identities.sources_of(name) for name in BECAME} == BECAME


def test_one_name_to_one_device_carries_its_alarms(upgraded: Broker, clock: ManualClock) -> None:
    """What was active is not said again, and its end is."""
    before = len(said(upgraded))
    say(upgraded, "tele/boiler/SENSOR", {"smoke": True})
    assert len(said(upgraded)) == before
    say(upgraded, "tele/boiler/SENSOR", {"smoke": False})
    assert said(upgraded)[before:] == [("cleared", "tasmota:boiler", "smoke")]
    say(upgraded, "zigbee2mqtt/garage", {"door": "open"})
    clock.advance(5 * 60 * SECOND)
    tick(upgraded)
    assert ("held", "zigbee2mqtt/garage", "door") in said(upgraded)


def test_several_names_to_one_device_are_active_if_any_was(upgraded: Broker) -> None:
    """Of a node of ESPHome, one sensor's alarm was active and another's was not."""
    before = len(said(upgraded))
    say(upgraded, "porch/binary_sensor/smoke/state", True)
    assert len(said(upgraded)) == before
    say(upgraded, "porch/binary_sensor/smoke/state", False)
    assert said(upgraded)[before:] == [("cleared", "porch", "smoke")]


def test_one_name_to_several_devices_begins_anew(upgraded: Broker) -> None:
    """Nobody knows whose alarm it was: each device alarms if it still smokes, and none is cleared for another."""
    before = len(said(upgraded))
    say(upgraded, "zigbee2mqtt/cellar/climate", {"smoke": False})
    assert len(said(upgraded)) == before
    say(upgraded, "zigbee2mqtt/kitchen/climate", {"smoke": True})
    say(upgraded, "zigbee2mqtt/attic", {"smoke": True})
    assert said(upgraded)[before:] == [
        ("arrival", "zigbee2mqtt/kitchen/climate", "smoke"),
        ("arrival", "zigbee2mqtt/attic", "smoke"),
    ]


def test_corrections_are_copied(upgraded: Broker) -> None:
    """To each source that a name became; that of the name stays, for what stands in the log under it."""
    found = sorted((each.name, each.attribute) for each in upgraded.tenant("default").sources.corrections.values())
    assert found == [
        ("boiler", "temperature"),
        ("climate", "temp1"),
        ("hall", "temperature"),
        ("tasmota:boiler", "temperature"),
        ("zigbee2mqtt/cellar/climate", "temp1"),
        ("zigbee2mqtt/kitchen/climate", "temp1"),
    ]


def test_history_stays_under_the_old_name_and_is_found_by_the_new_one(upgraded: Broker) -> None:
    stored = list(upgraded.store.entries(0, upgraded.store.position))
    assert {each.source for each in stored if each.source} >= BECAME.keys()
    tenant, end = upgraded.tenant("default"), upgraded.store.position + 1
    found = series(upgraded.store, tenant, "tasmota:boiler", "temperature", since=0, until=2**62, points=10)
    assert [point.value for point in found.points] == [61.0]
    listed = stored_events(upgraded.store, tenant, before=end, limit=10, source="zigbee2mqtt/attic")
    assert listed.events == ()  # what three devices said together is nobody's alone
    assert len(stored_events(upgraded.store, tenant, before=end, limit=10, source="attic").events) == 3


def test_an_event_that_comes_again_is_known_under_its_name_of_before(upgraded: Broker) -> None:
    """A frame that was stored before the upgrade; another application's with the same counter is another event."""
    [again] = say(upgraded, "v3/app1@ttn/devices/dev-1/up", uplink(1, 5.0))
    assert again.duplicate
    [other] = say(upgraded, "v3/app2@ttn/devices/dev-1/up", uplink(1, 7.0))
    assert not other.duplicate
    [same] = say(upgraded, "v3/app2@ttn/devices/dev-1/up", uplink(1, 7.0))
    assert same.duplicate


def test_the_catalogue_shows_every_device_once(upgraded: Broker) -> None:
    """Names that were given up are aliases of what they became; an announcement goes along."""
    for topic in ("tele/boiler/SENSOR", "zigbee2mqtt/garage"):
        say(upgraded, topic, {"temperature": 20})
    upgraded.wait_until_matched()
    upgraded.learning.wait_until_learnt()
    tenant = upgraded.tenant("default")
    shown = {each.source: each for each in upgraded.catalogue.page(tenant, limit=100).sources}
    assert {"boiler", "garage", "climate", "attic", "dev-1", "porch/sensor/temperature/state"}.isdisjoint(shown)
    assert {"hall", "tasmota:boiler", "zigbee2mqtt/garage"} <= shown.keys()
    assert (shown["tasmota:boiler"].aliases, shown["tasmota:boiler"].events) == (("boiler",), 2)
    assert shown["zigbee2mqtt/garage"].announcement is not None


def test_the_listener_upgrades_before_a_device_connects(older: Path) -> None:
    """And a token that is bound to a name of before still publishes for its device, and for no other."""
    with Broker(older) as broker:
        token = broker.store.commit(lambda c: make_token(c, "boiler", "default", ["publish:boiler"], 1))
    with devices(older) as home:
        device = home.client("b", token=token)
        assert home.tenant.sources.identities.sources_of("boiler") == {"tasmota:boiler"}
        assert device.publish("tele/boiler/SENSOR", b'{"t": 1}').reason < 0x80  # type: ignore[union-attr]
        assert device.publish("tele/attic/SENSOR", b'{"t": 1}').reason >= 0x80  # type: ignore[union-attr]
