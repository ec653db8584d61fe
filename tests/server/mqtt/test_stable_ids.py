"""A stable id that becomes known later is an entry of the log: alerts, corrections and history go along with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.broker.log.entries import RenameSourceCommand
from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance import housekeeping as being_up
from likewise.errors import Conflict
from likewise.semantics.enrichment.corrections import Correction
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import load_maps
from likewise.testing.clocks import ManualClock
from tests.server.mqtt.broker.conftest import devices
from tests.server.mqtt.test_source_upgrade import said

START = "2024-05-01T12:00:00Z"
SECOND = 1_000_000
KITCHEN, CELLAR = "0x00158d0001a2b3c4", "0x00158d0001a2b3c5"
SMOKE = "{smoke = true} once until false"


class House:
    """A broker and the messages that come to it over a bridge."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.tenant = broker.tenant("default")
        self.reader = MessageReader(load_maps(), identities=self.tenant.sources.identities)

    def say(self, topic: str, payload: object, **more: object) -> list[str | None]:
        """Let a message come; the sources of its events."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        message = MqttPublication(topic, body, **more)  # type: ignore[arg-type]
        announcements = self.broker.announcements
        announcements.identify(self.tenant, self.reader.identities(message))
        events = self.reader.read(message, self.broker.clock())
        if events:
            self.broker.publish(self.tenant, events)
        else:
            announcements.announce_all(self.tenant, self.reader.announcements(message))
            self.broker.store.commit(lambda tables: None)
        self.broker.wait_until_matched()
        return [each.source for each in events]

    def devices(self, base: str = "zigbee2mqtt", **names: str) -> None:
        """Zigbee2MQTT lists its devices: friendly names by address."""
        exposes = [{"type": "binary", "property": "smoke", "access": 1, "value_on": True, "value_off": False}]
        listed = [
            {"ieee_address": address, "friendly_name": name, "definition": {"model": "X", "exposes": exposes}}
            for address, name in names.items()
        ]
        self.say(f"{base}/bridge/devices", listed)

    def subscribe(self, *texts: str) -> None:
        self.broker.register(self.tenant, "ann")
        self.broker.subscribe(self.tenant, "ann", [lw.parse(text, id=f"a{n}") for n, text in enumerate(texts)])

    def causes(self) -> list[tuple[str, str]]:
        return [(cause, source) for cause, source, _ in said(self.broker)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture(autouse=True)
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests tick themselves, and their clock's leaps are no outages."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(being_up, "PAUSE", 24 * 3_600 * SECOND)
    monkeypatch.setattr(being_up, "TICK", 24 * 3_600 * SECOND)


@pytest.fixture(params=[0, 2], ids=["in the broker", "in workers"])
def house(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[House]:
    config = Config(matching=MatchingSettings(workers=request.param))
    with Broker(None, config, clock=clock) as broker:
        yield House(broker)


def test_an_address_that_is_announced_later_takes_over_the_alarm(house: House) -> None:
    """Smoke before the list of devices came, its end after it: one alarm, one `cleared`."""
    house.subscribe(SMOKE)
    assert house.say("zigbee2mqtt/kitchen", {"smoke": True}) == ["zigbee2mqtt/kitchen"]
    house.devices(**{KITCHEN: "kitchen"})
    assert house.say("zigbee2mqtt/kitchen", {"smoke": True}) == [KITCHEN]
    assert house.say("zigbee2mqtt/kitchen/availability", b"online") == [KITCHEN]
    assert house.say("zigbee2mqtt/kitchen", {"smoke": False}) == [KITCHEN]
    assert house.causes() == [("arrival", "zigbee2mqtt/kitchen"), ("cleared", KITCHEN)]


def test_renaming_a_device_keeps_its_alarms(house: House) -> None:
    """And another that gets its name does not have them."""
    house.subscribe(SMOKE)
    house.devices(**{KITCHEN: "kitchen", CELLAR: "cellar/climate"})
    house.say("zigbee2mqtt/kitchen", {"smoke": True})
    house.devices(**{KITCHEN: "pantry", CELLAR: "kitchen"})
    assert house.say("zigbee2mqtt/kitchen", {"smoke": False}) == [CELLAR]
    assert house.say("zigbee2mqtt/pantry", {"smoke": True}) == [KITCHEN]
    assert house.causes() == [("arrival", KITCHEN)]
    house.say("zigbee2mqtt/kitchen", {"smoke": True})
    house.say("zigbee2mqtt/pantry", {"smoke": False})
    assert house.causes()[1:] == [("arrival", CELLAR), ("cleared", KITCHEN)]
    names = {each.source: each.label for each in house.broker.catalogue.page(house.tenant).sources}
    assert (names[KITCHEN], names[CELLAR]) == ("pantry", "kitchen")


def test_every_clause_goes_along(house: House, clock: ManualClock) -> None:
    """A run that lasts, a silence that is waited for, a key of `per` with several sources."""
    from tests.broker.alerts.test_alerts import tick

    house.subscribe(
        "{door = open} for 5 min", "{t exists} absent for 10 min", "{door = open} per room once until false"
    )
    house.say("zigbee2mqtt/kitchen", {"door": "open", "t": 1, "room": "r1"})
    house.say("zigbee2mqtt/hall", {"door": "open", "room": "r1"})
    clock.advance(240 * SECOND)
    house.devices(**{KITCHEN: "kitchen"})
    clock.advance(61 * SECOND)
    tick(house.broker)
    clock.advance(300 * SECOND)
    tick(house.broker)
    ids = [(cause, id) for cause, _, id in said(house.broker)]
    assert sorted(ids) == [("absent", "a1"), ("arrival", "a2"), ("held", "a0"), ("held", "a0")]
    house.say("zigbee2mqtt/hall", {"door": "closed", "room": "r1"})
    assert ("cleared", "a2") not in [(cause, id) for cause, _, id in said(house.broker)]
    house.say("zigbee2mqtt/kitchen", {"door": "closed", "room": "r1"})
    assert ("cleared", "a2") in [(cause, id) for cause, _, id in said(house.broker)]


def test_corrections_and_history_go_along(house: House) -> None:
    house.say("zigbee2mqtt/kitchen", {"temp1": 20})
    house.broker.announcements.correct(
        house.tenant, [Correction("temp1", "source", "zigbee2mqtt/kitchen", means="air temperature", unit="degC")]
    )
    house.devices(**{KITCHEN: "kitchen"})
    house.say("zigbee2mqtt/kitchen", {"temp1": 21})
    house.broker.learning.wait_until_learnt()
    known = house.tenant.sources
    assert [each.name for each in known.corrections.values()] == ["zigbee2mqtt/kitchen", KITCHEN]
    assert known.identities.history_of(KITCHEN) == {KITCHEN, "zigbee2mqtt/kitchen"}
    [shown] = house.broker.catalogue.page(house.tenant).sources
    assert (shown.source, shown.label, shown.aliases, shown.events) == (KITCHEN, "kitchen", ("zigbee2mqtt/kitchen",), 2)
    assert house.broker.catalogue.source(house.tenant, "zigbee2mqtt/kitchen").source == KITCHEN


def test_what_comes_under_a_name_is_stored_under_what_it_stands_for(house: House) -> None:
    """Read before the id was known, or published by somebody who uses the name; and known as the same event."""
    tenant, broker = house.tenant, house.broker
    [first] = broker.publish(tenant, [lw.event({"t": 1}, id="e1", source="zigbee2mqtt/kitchen")])
    house.devices(**{KITCHEN: "kitchen"})
    [again] = broker.publish(tenant, [lw.event({"t": 1}, id="e1", source="zigbee2mqtt/kitchen")])
    [same] = broker.publish(tenant, [lw.event({"t": 1}, id="e1", source=KITCHEN)])
    assert (again.duplicate, again.position, same.duplicate) == (True, first.position, True)
    with pytest.raises(Conflict):
        broker.publish(tenant, [lw.event({"t": 2}, id="e1", source=KITCHEN)])
    broker.publish(tenant, [lw.event({"t": 3}, id="e3", source="zigbee2mqtt/kitchen")])
    assert broker.stored_event(tenant, "e3").source == KITCHEN
    assert broker.stored_event(tenant, "e1", KITCHEN).position == first.position
    broker.withdraw(tenant, "e1", KITCHEN)


def test_a_restart_and_a_replay_lead_to_the_same(tmp_path: Path, clock: ManualClock) -> None:
    """From saved states, and from the log alone: the entry stands where it stood."""
    config = Config(matching=MatchingSettings(workers=0))
    with Broker(tmp_path / "data", config, clock=clock) as broker:
        house = House(broker)
        house.subscribe(SMOKE)
        house.say("zigbee2mqtt/kitchen", {"smoke": True})
        house.devices(**{KITCHEN: "kitchen"})
        house.devices(**{KITCHEN: "pantry"})
        entries = [each.value for each in broker.store.entries(0, broker.store.position)]
        renames = [each for each in entries if isinstance(each, RenameSourceCommand)]
        assert [(each.before, each.sources, each.label) for each in renames] == [
            ("zigbee2mqtt/kitchen", (KITCHEN,), "kitchen"),
            ("zigbee2mqtt/pantry", (KITCHEN,), "pantry"),
        ]
    for forget in (False, True):
        for folder in (tmp_path / "data" / "windows").glob("*") if forget else ():
            for path in sorted(folder.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            folder.rmdir()
        with Broker(tmp_path / "data", config, clock=clock) as broker:
            house = House(broker)
            assert house.tenant.sources.identities.resolve("zigbee2mqtt/pantry") == KITCHEN
            assert house.say("zigbee2mqtt/pantry", {"smoke": True}) == [KITCHEN]  # no list came since the restart
            assert house.causes() == [("arrival", "zigbee2mqtt/kitchen")]
            assert house.tenant.sources.identities.labels == {KITCHEN: "pantry"}


def test_a_saved_state_and_the_log_after_it_lead_to_the_same(tmp_path: Path, clock: ManualClock) -> None:
    """The rename stands after the last save: it is replayed."""
    with Broker(tmp_path / "data", clock=clock) as broker:
        house = House(broker)
        house.subscribe(SMOKE)
        house.say("zigbee2mqtt/kitchen", {"smoke": True})
    with Broker(tmp_path / "data", clock=clock) as broker:
        house = House(broker)
        house.devices(**{KITCHEN: "kitchen"})
        broker._housekeeping.save_windows = lambda *said: None  # type: ignore[method-assign]
        broker.worker._on_end = lambda *said: None
    with Broker(tmp_path / "data", clock=clock) as broker:
        house = House(broker)
        house.say("zigbee2mqtt/kitchen", {"smoke": False})
        assert house.causes() == [("arrival", "zigbee2mqtt/kitchen"), ("cleared", KITCHEN)]


@pytest.mark.parametrize(
    ("announced", "topics", "id", "label"),
    [
        (
            ("tasmota/discovery/DC4F22A1B2C3/config", {"mac": "DC4F22A1B2C3", "t": "plug", "dn": "Plug"}),
            (("tele/plug/SENSOR", {"t": 1}), ("stat/plug/POWER", b"ON"), ("tele/plug/LWT", b"Online")),
            "DC4F22A1B2C3",
            "Plug",
        ),
        (
            (
                "tasmota/discovery/DC4F22A1B2C3/config",
                {"mac": "DC4F22A1B2C3", "t": "plug", "ft": "home/%topic%/%prefix%/", "tp": ["cmnd", "stat", "tele"]},
            ),
            (("home/plug/tele/SENSOR", {"t": 1}), ("home/plug/stat/POWER", b"ON")),
            "DC4F22A1B2C3",
            "plug",
        ),
        (
            ("home/attic/pump/events/rpc", {"src": "shellyplus1-a8", "params": {"switch:0": {"apower": 3}}}),
            (
                ("home/attic/pump/status/switch:0", {"apower": 3}),
                ("home/attic/pump/online", b"true"),
                ("home/attic/pump/anything", b"7"),
            ),
            "shellyplus1-a8",
            "home/attic/pump",
        ),
        (
            (
                "homeassistant/sensor/n1/t/config",
                {"stat_t": "node1/t/state", "json_attr_t": "node1/more", "dev": {"ids": ["n1-abc"], "name": "Node"}},
            ),
            (("node1/t/state", b"20"), ("node1/more", {"rssi": -60})),
            "n1-abc",
            "Node",
        ),
        (
            (
                "homeassistant/device/n2/config",
                {
                    "dev": {"ids": "n2-abc", "name": "Two"},
                    "cmps": {
                        "a": {"p": "sensor", "state_topic": "node2/a"},
                        "b": {"p": "sensor", "state_topic": "node2/b"},
                    },
                },
            ),
            (("node2/a", b"20"), ("node2/b", b"21")),
            "n2-abc",
            "Two",
        ),
        (
            (
                "homeassistant/sensor/k/config",
                {"stat_t": "zigbee2mqtt/kitchen", "dev": {"ids": [f"zigbee2mqtt_{KITCHEN}"], "name": "kitchen"}},
            ),
            (("zigbee2mqtt/kitchen", {"t": 1}), ("zigbee2mqtt/kitchen/availability", b"online")),
            KITCHEN,
            "kitchen",
        ),
    ],
    ids=["tasmota", "tasmota, prefix last", "shelly", "discovery", "discovery of a device", "discovery of zigbee2mqtt"],
)
def test_whatever_announces_a_stable_id_gives_it_to_all_topics_of_the_device(
    announced: tuple[str, object], topics: tuple[tuple[str, object], ...], id: str, label: str
) -> None:
    with Broker(None) as broker:
        house = House(broker)
        house.say(*announced)
        for topic, payload in topics:
            assert house.say(topic, payload) == [id], topic
        assert house.tenant.sources.identities.labels[id] == label
        house.say(*announced)
        entries = [each.value for each in broker.store.entries(0, broker.store.position)]
        assert len({each for each in entries if isinstance(each, RenameSourceCommand)}) == len(
            [each for each in entries if isinstance(each, RenameSourceCommand)]
        )  # said again, it is written once


def test_the_devices_own_system_is_believed_before_discovery() -> None:
    """Whichever comes first, it is one device with one id in the end; an alarm goes along."""
    discovery = ("homeassistant/sensor/p/config", {"stat_t": "tele/plug/SENSOR", "dev": {"ids": ["A1B2C3"]}})
    native = ("tasmota/discovery/DC4F22A1B2C3/config", {"mac": "DC4F22A1B2C3", "t": "plug"})
    for order in ((discovery, native), (native, discovery)):
        with Broker(None) as broker:
            house = House(broker)
            house.subscribe(SMOKE)
            house.say("tele/plug/SENSOR", {"smoke": True})
            for each in order:
                house.say(*each)
                house.say("tele/plug/SENSOR", {"smoke": True})
            assert house.say("tele/plug/SENSOR", {"smoke": False}) == ["DC4F22A1B2C3"]
            assert house.causes() == [("arrival", "tasmota:plug"), ("cleared", "DC4F22A1B2C3")]


def test_a_gateways_topic_is_none_of_its_devices() -> None:
    """Two devices are announced for one state topic: what comes there is of the topic."""
    with Broker(None) as broker:
        house = House(broker)
        for n in (1, 2):
            house.say(f"homeassistant/sensor/d{n}/config", {"stat_t": "gateway/all", "dev": {"ids": [f"d{n}"]}})
        assert house.say("gateway/all", {"d1": 1, "d2": 2}) == ["gateway/all"]


def test_another_base_of_zigbee2mqtt_is_learnt_from_its_list() -> None:
    """Its devices have their units and their ids as those below `zigbee2mqtt`."""
    with Broker(None) as broker:
        house = House(broker)
        house.devices("upstairs/z2m", **{KITCHEN: "bath/climate"})
        assert house.say("upstairs/z2m/bath/climate", {"temperature": 20}) == [KITCHEN]
        assert house.say("upstairs/z2m/bath/climate/availability", b"online") == [KITCHEN]
        assert house.say("upstairs/z2m/new one", {"temperature": 20}) == ["upstairs/z2m/new one"]
        assert house.say("upstairs/z2m/bath/climate/set", {"state": "ON"}) == []
        newest = next(broker.store.entries(broker.store.position - 1, broker.store.position))
        assert newest.value.tuples[0].unit == "degC"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[]", b"[1]", b'[{"friendly_name": 3, "ieee_address": {}}]', b'{"mac": 3}', b'{"src": [1]}']
)
def test_what_announces_nothing_changes_nothing(payload: bytes) -> None:
    """Anybody may publish to these topics."""
    with Broker(None) as broker:
        house = House(broker)
        for topic in (
            "zigbee2mqtt/bridge/devices",
            "tasmota/discovery/x/config",
            "a/events/rpc",
            "homeassistant/s/x/config",
        ):
            house.say(topic, payload)
        assert not house.tenant.sources.identities


def test_a_bound_token_says_nothing_about_others(tmp_path: Path) -> None:
    """Who may publish for one source cannot give its name to another's device."""
    from likewise.broker.log.tokens import make_token

    with Broker(tmp_path) as broker:
        token = broker.store.commit(lambda c: make_token(c, "x", "default", ["publish:zigbee2mqtt/bridge"], 1))
        free = broker.store.commit(lambda c: make_token(c, "y", "default", ["publish"], 1))
    listed = msgspec.json.encode([{"ieee_address": KITCHEN, "friendly_name": "kitchen"}])
    with devices(tmp_path) as home:
        home.client("bound", token=token).publish("zigbee2mqtt/bridge/devices", listed)
        assert not home.tenant.sources.identities
        client = home.client("free", token=free)
        client.publish("zigbee2mqtt/bridge/devices", listed)
        client.publish("zigbee2mqtt/kitchen", b'{"t": 1}')
        home.broker.wait_until_matched()
        newest = next(home.broker.store.entries(home.broker.store.position - 1, home.broker.store.position))
        assert newest.source == KITCHEN


def test_values_side_by_side_are_offered_as_one_device_and_never_joined() -> None:
    """The catalogue asks; a map answers."""
    with Broker(None) as broker:
        house = House(broker)
        for topic in ("home/attic/temperature", "home/attic/humidity", "home/hall/temperature"):
            house.say(topic, b"20")
        house.say("plc/a", {"x": 1, "y": 2})
        house.say("plc/b", {"x": 1, "y": 2})
        broker.learning.wait_until_learnt()
        page = broker.catalogue.page(house.tenant)
        assert [(each.device, each.sources) for each in page.one_device] == [
            ("home/attic", ("home/attic/humidity", "home/attic/temperature"))
        ]
        assert [each.label for each in page.sources] == ["humidity", "attic/temperature", "hall/temperature", "a", "b"]
