"""One device, one source: over the topics of every system, for any names, through a reader of messages."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import FormatError
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import TopicMap, load_maps, presets, read_map
from tests.server.mqtt.device_groups import GROUPS

MAPS = load_maps()
NOW = 1_700_000_000_000_000


def read(topic: str, payload: bytes, reader: MessageReader | None = None) -> list[lw.Event]:
    return (reader or MessageReader(MAPS)).read(MqttPublication(topic, payload), NOW)


def sources(reader: MessageReader, messages: tuple[tuple[str, bytes], ...]) -> set[str | None]:
    return {made.source for topic, payload in messages for made in read(topic, payload, reader)}


@pytest.mark.parametrize("group", GROUPS)
def test_all_topics_of_a_device_have_its_source(group: str) -> None:
    """Whichever comes first, and whatever came before."""
    source, messages = GROUPS[group]
    for order in (messages, messages[::-1]):
        assert sources(MessageReader(MAPS), order) == {source}


def test_no_two_devices_share_a_source() -> None:
    """In one reader, with everything that it learnt from all of them."""
    assert len(GROUPS) >= 24
    reader = MessageReader(MAPS)
    found = [sources(reader, group.messages) for group in GROUPS.values()]
    assert found == [{group.source} for group in GROUPS.values()]
    assert len({group.source for group in GROUPS.values()}) == len(GROUPS)


name = st.text(string.ascii_lowercase + string.digits + "-_ .éß", min_size=1, max_size=6).filter(str.strip)
names = st.lists(name, min_size=1, max_size=3).map("/".join)
# By system: the topics of a device whose names are filled in, with payloads of its own.
SHAPES: dict[str, tuple[tuple[str, bytes], ...]] = {
    "zigbee2mqtt": (("zigbee2mqtt/{many}", b'{"t": 1}'), ("zigbee2mqtt/{many}/availability", b"online")),
    "tasmota": (("tele/{many}/SENSOR", b'{"t": 1}'), ("stat/{many}/POWER", b"ON"), ("tele/{many}/LWT", b"Online")),
    "tasmota, prefix last": (("tas/{many}/tele/SENSOR", b'{"t": 1}'), ("tas/{many}/tele/LWT", b"Online")),
    "shelly 1": (("shellies/{one}/relay/0", b"on"), ("shellies/{one}/online", b"true")),
    "shelly 2": (("gen2/{many}/status/switch:0", b'{"t": 1}'), ("gen2/{many}/online", b"true")),
    "esphome": (("esp/{many}/sensor/temperature/state", b"1"), ("esp/{many}/status", b"online")),
    "ttn": (("v3/{one}@ttn/devices/{two}/up", b'{"t": 1}'), ("v3/{one}@ttn/devices/{two}/join", b'{"t": 1}')),
    "telegraf": (("telegraf/{one}/cpu", b'{"fields": {"a": 1}}'), ("telegraf/{one}/mem", b'{"fields": {"a": 1}}')),
    "victron": (("N/{one}/battery/1/Soc", b'{"value": 1}'), ("N/{one}/battery/1/Dc/0/Voltage", b'{"value": 1}')),
    "evcc": (("evcc/vehicles/{one}/soc", b"1"), ("evcc/vehicles/{one}/range", b"1")),
    "openhab": (("openhab/items/{one}/state", b"1"),),
    "generic": (("plain/{many}", b"1"),),
}
device = st.tuples(st.sampled_from(sorted(SHAPES)), names, name, name)


def filled(shape: str, many: str, one: str, two: str) -> tuple[tuple[tuple[str, bytes], ...], tuple[str, ...]]:
    """Return a device's messages, and what makes it that device."""
    made = tuple((t.format(many=many, one=one, two=two), payload) for t, payload in SHAPES[shape])
    used = SHAPES[shape][0][0]
    system = shape.partition(",")[0] if "tasmota" not in shape else shape
    return made, (
        system,
        *(value for key, value in (("many", many), ("one", one), ("two", two)) if f"{{{key}}}" in used),
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(device, min_size=2, max_size=6))
def test_devices_never_share_a_source_and_a_devices_topics_do(drawn: list[tuple[str, str, str, str]]) -> None:
    """Any names of any number of levels; those that a system itself takes for something else are left out."""
    reader = MessageReader(MAPS)
    owners: dict[str, tuple[str, ...]] = {}
    for each in drawn:
        messages, who = filled(*each)
        found = sources(reader, messages)
        assert len(found) == 1, (messages, found)
        source = found.pop()
        assert source is not None
        assert owners.setdefault(source, who) == who


def test_long_topics_that_begin_alike_are_two_sources() -> None:
    """A source has at most 1,024 characters, a topic 65,535."""
    one, other = ("a/" * 3_000 + end for end in "bc")
    [first], [second] = read(one, b"1"), read(other, b"1")
    assert first.source != second.source
    assert {len(each.source or "") for each in (first, second)} == {1_024}


def test_what_is_announced_beside_a_state_gives_its_name_and_unit() -> None:
    """Home Assistant's statestream says the unit of an entity on a topic of its own."""
    reader = MessageReader(MAPS)
    assert read("homeassistant/sensor/attic/unit_of_measurement", '"°C"'.encode(), reader) == []
    assert read("homeassistant/sensor/attic/device_class", b'"temperature"', reader) == []
    [made] = read("homeassistant/sensor/attic/state", b"26.5", reader)
    assert (made.tuples[0].attribute, made.tuples[0].value, made.tuples[0].unit) == ("temperature", 26.5, "°C")


def test_an_unknown_base_is_learnt_from_what_only_the_statestream_sends() -> None:
    """Until then `X/sensor/Y/state` is a node of ESPHome, as the table of sources says."""
    reader = MessageReader(MAPS)
    assert read("mine/sensor/attic/state", b"1", reader)[0].source == "mine"
    read("mine/sensor/attic/unit_of_measurement", b'"lx"', reader)
    assert read("mine/sensor/attic/state", b"1", reader)[0].source == "mine/sensor.attic"
    assert read("mine/sensor/cellar/state", b"1", reader)[0].source == "mine/sensor.cellar"


@pytest.mark.parametrize(
    ("topic", "payload", "attribute"),
    [
        ("attic/sensor/room_temperature/state", b"20.5", "room_temperature"),
        ("attic/climate/heater/current_temperature/state", b"20.5", "heater_current_temperature"),
        ("attic/status", b"online", "availability"),
        ("zigbee2mqtt/attic/availability", b"online", "availability"),
        ("zigbee2mqtt/attic/availability", b'{"state": "online"}', "availability"),  # `state` is that of its switch
        ("telegraf/web-1/cpu", b'{"name": "cpu", "fields": {"usage_idle": 90}}', "cpu.usage_idle"),
        ("N/c0619ab6fe1f/battery/258/Dc/0/Voltage", b'{"value": 13.2}', "Dc.0.Voltage"),
        ("evcc/site/pv/1/power", b"4100", "pv.1.power"),
        ("openhab/items/Kitchen_Light/state", b"ON", "Kitchen_Light"),
        ("homeassistant/climate/hall/current_temperature", b"20.5", "current_temperature"),
    ],
)
def test_the_rest_of_a_topic_is_the_attributes_name(topic: str, payload: bytes, attribute: str) -> None:
    """Where a topic holds one value, the device is one part of it and the attribute another."""
    assert read(topic, payload)[0].tuples[0].attribute == attribute


def test_a_map_names_the_source() -> None:
    """By a template, or else by the topic up to the device; levels that begin with _ are no tuples."""
    text = (
        '[[topic]]\ntopic = ["plc/{_line}/{device}/+", "plc2/{_line}/{device}/+"]\n\n'
        '[[topic]]\ntopic = "house/{floor}/{_room...}/value"\nsource = "room:{_room}"\n'
    )
    mine = MessageReader(TopicMap(read_map(text, "mine.toml")))
    [made] = read("plc/7/press/oil", b"1", mine)
    assert (made.source, {t.attribute for t in made.tuples}) == ("plc/7/press", {"oil", "topic", "device"})
    assert read("plc2/7/press/oil", b"1", mine)[0].source == "plc2/7/press"
    assert read("house/1/east/kitchen/value", b"1", mine)[0].source == "room:east/kitchen"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('topic = "a/{b...}/{c...}"', "span several; where one ends"),
        ('topic = "a/{b}"\nsource = "{c}"', "which is no level"),
        ('topic = "a/{b:[}"', "cannot be read"),
        ('topic = "a/{b...:x}"', "it can do only one"),
        ("topic = []", "empty"),
        ('topic = ["a", 3]', "str"),
    ],
)
def test_a_bad_name_of_a_source_is_refused_with_its_line(text: str, problem: str) -> None:
    """Nothing of the map is used."""
    with pytest.raises(FormatError, match=f"line 1: .*{problem}"):
        read_map(f"[[topic]]\n{text}\n", "mine.toml")


def test_a_broad_preset_takes_no_topic_of_an_exact_one() -> None:
    """In whichever order a user names them; every preset is tried."""
    for names in (["esphome", "home-assistant"], ["home-assistant", "esphome"], list(reversed(presets()))):
        found = load_maps(names).find("homeassistant/sensor/attic/state")
        assert found.source == "sensor.attic"


def test_a_map_keeps_the_devices_of_a_tree_apart_that_looks_like_esphome() -> None:
    """`house/sensor/X/state` of one's own is one source until a map says otherwise."""
    own = TopicMap([*read_map('[[topic]]\ntopic = "house/sensor/{device}/state"\n', "own.toml"), *MAPS.rules[:-1]])
    for maps, sources in ((MAPS, ["house", "house"]), (own, ["house/sensor/attic", "house/sensor/cellar"])):
        reader = MessageReader(maps)
        assert [read(f"house/sensor/{x}/state", b"1", reader)[0].source for x in ("attic", "cellar")] == sources
