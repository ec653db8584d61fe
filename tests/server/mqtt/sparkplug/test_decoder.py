"""Sparkplug's messages become events by the names that a BIRTH announced, for as long as it holds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

import likewise as lw
from likewise.errors import FormatError
from likewise.server.media_types import UnreadableInput
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.sparkplug.decoder import BirthMetric, BirthRegistry
from likewise.server.mqtt.topic_maps import load_maps, read_map
from tests.server.mqtt.broker.conftest import devices
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.sparkplug.oracle import payload
from tests.server.mqtt.test_bridge import bridged, publisher, stored, until

NOW = 1_700_000_000_000_000
OIL = {"name": "oil/temperature", "alias": 7, "datatype": 3, "int_value": 61, "unit": "degC"}
BESIDE = ("topic", "group", "message", "node", "device")


class Plant:
    """Messages of a plant's nodes, read one after the other."""

    def __init__(self, *, strict: bool = False) -> None:
        self.reader = MessageReader(load_maps(), strict=strict)

    def says(self, kind: str, *metrics: dict[str, Any], device: str = "", node: str = "press", **said: Any) -> Any:
        topic = f"spBv1.0/plant/{kind}/{node}" + (f"/{device}" if device else "")
        return self.reader.read(MqttPublication(topic, payload(*metrics, **said)), NOW)


def own(made: lw.Event) -> list[tuple[str, object, str]]:
    """The tuples of an event, without what its topic says."""
    return [(t.attribute, t.value, t.unit) for t in made.tuples if t.attribute not in BESIDE]


def test_an_alias_has_the_name_unit_and_type_of_its_birth() -> None:
    """Across messages; the source is the node or the device, the time is the payload's, the topic stands beside."""
    plant = Plant()
    [born] = plant.says("NBIRTH", {"name": "bdSeq", "long_value": 3}, OIL)
    assert own(born) == [("state", "online", ""), ("bdSeq", 3, ""), ("oil/temperature", 61, "degC")]
    assert (born.source, born.time) == ("plant/press", NOW)
    plant.says("DBIRTH", OIL | {"name": "flow", "unit": "m3/h"}, device="pump")
    [made] = plant.says("NDATA", {"alias": 7, "int_value": 2**32 - 4})
    assert own(made) == [("oil/temperature", -4, "degC")]
    assert [t.value for t in made.tuples if t.attribute in BESIDE] == [
        "spBv1.0/plant/NDATA/press",
        "plant",
        "NDATA",
        "press",
    ]
    [made] = plant.says("DDATA", {"alias": 7, "int_value": 12}, device="pump")
    assert (own(made), made.source) == ([("flow", 12, "m3/h")], "plant/press/pump")
    [made] = plant.says("DDATA", {"name": "flow", "int_value": 13}, device="pump")
    assert own(made) == [("flow", 13, "m3/h")]
    assert plant.reader.unannounced == 0


def test_what_is_said_twice_in_a_message_is_two_events() -> None:
    """Nothing is overwritten."""
    plant = Plant()
    made = plant.says(
        "NDATA", {"name": "t", "int_value": 1}, {"name": "t", "int_value": 2}, {"name": "u", "int_value": 3}
    )
    assert list(map(own, made)) == [[("t", 1, ""), ("u", 3, "")], [("t", 2, "")]]


def test_an_alias_that_nobody_announced_is_kept_noted_and_counted() -> None:
    """After a restart, say: until the next BIRTH."""
    plant = Plant()
    [made] = plant.says("NDATA", {"alias": 7, "double_value": 61.5}, {"alias": 9, "boolean_value": True})
    assert own(made) == [
        ("note", "no BIRTH has announced alias 7 and 1 more", ""),
        ("alias 7", 61.5, ""),
        ("alias 9", True, ""),
    ]
    assert plant.reader.unannounced == 2
    plant.says("NBIRTH", OIL)
    assert own(plant.says("NDATA", {"alias": 7, "int_value": 5})[0]) == [("oil/temperature", 5, "degC")]
    assert plant.reader.unannounced == 2


def test_a_death_is_an_event_and_ends_what_was_announced() -> None:
    """Of a device alone, or of a node with its devices; other nodes go on."""
    plant = Plant()
    for node in ("press", "saw"):
        plant.says("NBIRTH", OIL, node=node)
        for device in ("pump", "fan"):
            plant.says("DBIRTH", OIL, node=node, device=device)
    data = {"alias": 7, "int_value": 5}

    def known(node: str, device: str = "") -> bool:
        [made] = plant.says("DDATA" if device else "NDATA", data, node=node, device=device)
        return own(made) == [("oil/temperature", 5, "degC")]

    [dead] = plant.says("DDEATH", device="pump")
    assert (own(dead), dead.source) == ([("state", "offline", "")], "plant/press/pump")
    assert [known("press", "pump"), known("press", "fan"), known("press")] == [False, True, True]
    [dead] = plant.says("NDEATH", {"name": "bdSeq", "long_value": 0}, time=None)
    assert (own(dead), dead.time) == ([("state", "offline", ""), ("bdSeq", 0, "")], None)
    assert [known("press", "fan"), known("press"), known("saw"), known("saw", "pump")] == [False, False, True, True]


def test_the_death_of_an_earlier_session_changes_nothing() -> None:
    """A broker may publish it as a will after the node was born again; `bdSeq` tells."""
    plant = Plant()
    plant.says("NBIRTH", {"name": "bdSeq", "long_value": 4}, OIL)
    [late] = plant.says("NDEATH", {"name": "bdSeq", "long_value": 3})
    assert [name for name, _, _ in own(late)] == ["note", "bdSeq"]
    assert own(plant.says("NDATA", {"alias": 7, "int_value": 5})[0]) == [("oil/temperature", 5, "degC")]
    [dead] = plant.says("NDEATH", {"name": "bdSeq", "long_value": 4})
    assert ("state", "offline", "") in own(dead)
    assert plant.reader.unannounced == 0


def test_a_birth_of_a_node_forgets_its_devices() -> None:
    """They are born after it, as the specification says."""
    plant = Plant()
    plant.says("DBIRTH", OIL, device="pump")
    plant.says("NBIRTH", OIL | {"name": "other"})
    [made] = plant.says("DDATA", {"alias": 7, "int_value": 5}, device="pump")
    assert own(made)[1] == ("alias 7", 5, "")


def test_null_metrics_are_dropped_and_still_announced() -> None:
    """A message of nothing else says nothing."""
    plant = Plant()
    [born] = plant.says("NBIRTH", {"name": "t", "alias": 1, "is_null": True, "unit": "degC", "datatype": 10})
    assert own(born) == [("state", "online", "")]
    assert plant.says("NDATA", {"alias": 1, "is_null": True}) == []
    assert own(plant.says("NDATA", {"alias": 1, "double_value": 3.5})[0]) == [("t", 3.5, "degC")]


def test_historical_metrics_have_their_own_time() -> None:
    """In events of that time; the rest of the message is one event of its own."""
    plant = Plant()
    past = {"name": "t", "is_historical": True}
    made = plant.says(
        "NDATA",
        past | {"timestamp": 1_000, "int_value": 1},
        {"name": "t", "timestamp": 5, "int_value": 3},
        past | {"timestamp": 2_000, "int_value": 2},
        past | {"name": "u", "timestamp": 2_000, "int_value": 4},
    )
    assert [(each.time, own(each)) for each in made] == [
        (NOW, [("t", 3, "")]),
        (1_000_000, [("t", 1, "")]),
        (2_000_000, [("t", 2, ""), ("u", 4, "")]),
    ]


def test_data_sets_templates_files_and_long_texts_become_attributes() -> None:
    """Rows as lists of objects, templates as nested ones, bytes in Base64, texts that are too long in pieces."""
    plant = Plant()
    rows = {
        "num_of_columns": 2,
        "columns": ["n", "ok"],
        "types": [1, 11],
        "rows": [{"elements": [{"int_value": 255}, {"boolean_value": True}]}],
    }
    motor = {
        "template_ref": "motor",
        "metrics": [{"name": "speed", "datatype": 2, "int_value": 65_535}],
        "parameters": [{"name": "poles", "type": 3, "int_value": 4}],
    }
    [made] = plant.says(
        "NDATA",
        {"name": "set", "dataset_value": rows},
        {"name": "motor", "template_value": motor},
        {"name": "plan", "template_value": {"is_definition": True, "metrics": [{"name": "x", "int_value": 1}]}},
        {"name": "file", "bytes_value": b"\x00\x01"},
        {"name": "text", "string_value": "y" * 1_500},
        {"name": "bad", "double_value": float("nan")},
    )
    assert [(name, value) for name, value, _ in own(made)] == [
        ("set[].n", -1),
        ("set[].ok", True),
        ("motor.speed", -1),
        ("motor.poles", 4),
        ("file", "AAE="),
        ("text[]", "y" * 1_024),
        ("text[]", "y" * 476),
        ("bad", "nan"),
    ]


def test_a_birth_of_thousands_of_metrics_is_several_events() -> None:
    """None is lost, and every alias is known after it."""
    plant = Plant()
    made = plant.says("NBIRTH", *({"name": f"m{n}", "alias": n, "int_value": n, "unit": "kPa"} for n in range(2_500)))
    assert len(made) == 3
    assert sum(len(own(each)) for each in made) == 2_501
    assert own(plant.says("NDATA", {"alias": 2_499, "int_value": 1})[0]) == [("m2499", 1, "kPa")]


def test_commands_and_states_are_ordinary() -> None:
    """A command is an event that says so; a host's STATE is JSON; neither changes what is announced."""
    plant = Plant()
    plant.says("NBIRTH", OIL)
    [command] = plant.says(
        "NCMD", {"name": "Node Control/Rebirth", "boolean_value": True}, {"alias": 7, "int_value": 70}
    )
    assert own(command) == [("Node Control/Rebirth", True, ""), ("oil/temperature", 70, "degC")]
    assert ("message", "NCMD") in [(t.attribute, t.value) for t in command.tuples]
    [state] = plant.reader.read(
        MqttPublication("spBv1.0/STATE/scada", b'{"online": true, "timestamp": 1700000000000}'), NOW
    )
    assert ("online", True, "") in own(state)
    assert ("host", "scada", "") in own(state)


@pytest.mark.parametrize(
    ("topic", "body"),
    [
        ("spBv1.0/plant/NBIRTH/press", b"\x12\x05ab"),
        ("spBv1.0/plant/NBIRTH/press", b"\x12\x02\x10\x07"),
        ("spBv1.0/plant/NDATA/press", b"\x12\x02\x50\x07"),
        ("spBv1.0/plant/HELLO/press", b"\x08\x01"),
        ("spBv1.0/plant/NDATA/press/pump", b"\x08\x01"),
        ("spBv1.0/plant/DDATA/press", b"\x08\x01"),
        ("spBv1.0//NDATA/press", b"\x08\x01"),
    ],
)
def test_what_is_unreadable_is_kept_as_bytes_and_changes_nothing(topic: str, body: bytes) -> None:
    """And refused where the reader is strict."""
    plant, strict = Plant(), Plant(strict=True)
    for each in (plant, strict):
        each.says("NBIRTH", OIL)
    [made] = plant.reader.read(MqttPublication(topic, body), NOW)
    assert own(made)[0] == ("bytes", len(body), "")
    with pytest.raises(UnreadableInput):
        strict.reader.read(MqttPublication(topic, body), NOW)
    for each in (plant, strict):
        assert own(each.says("NDATA", {"alias": 7, "int_value": 5})[0]) == [("oil/temperature", 5, "degC")]


def test_what_is_remembered_is_bounded() -> None:
    """By nodes and devices, by metrics and by characters; the node that was born first goes first."""

    def metrics(count: int, name: str = "m") -> list[BirthMetric]:
        return [BirthMetric(f"{name}{n}", n, "", 0) for n in range(count)]

    for births in (BirthRegistry(sources=5), BirthRegistry(announced=50), BirthRegistry(characters=5 * 26)):
        for n in range(20):
            births.record_birth(f"g/{n:02}", "", metrics(10))
            assert births.sources <= 5
            assert births.announced <= 50
        assert births.find("g/14", "", "", 3) is None
        assert births.find("g/15", "", "", 3) == BirthMetric("m3", 3, "", 0)
        births.record_birth("g/15", "", metrics(1))
        births.record_birth("g/20", "", metrics(10))
        assert births.find("g/15", "", "", 0) is not None
        for n in range(30):
            births.record_death(f"g/{n:02}", "")
        assert (births.sources, births.announced, births.characters) == (0, 0, 0)
    alone = BirthRegistry(sources=3)
    for n in range(10):
        alone.record_birth("g/n", f"d{n}", metrics(1))
        assert alone.sources <= 3
    alone.record_birth("g/n", "", metrics(2))
    assert (alone.sources, alone.announced) == (1, 2)


def test_a_map_of_your_own_may_read_sparkplug_below_another_root() -> None:
    """If it names the levels that are needed."""
    [rule] = read_map('[[topic]]\ntopic = "site/spBv1.0/{group}/{message}/{node}"\nread = "sparkplug"\n', "mine.toml")
    assert rule.read == "sparkplug"
    with pytest.raises(FormatError, match=r"line 1: Sparkplug's topics name \{message\}"):
        read_map('[[topic]]\ntopic = "a/{group}/{node}"\nread = "sparkplug"\n', "mine.toml")


def test_devices_that_connect_here_are_found_by_meaning() -> None:
    """Through the listener, with a metric for what came before its BIRTH; topics get the bytes as they came."""
    with devices() as found, found.client("host") as host, found.client("edge") as edge:
        host.subscribe("spBv1.0/#", qos=1)
        early = payload({"alias": 7, "int_value": 90})
        edge.publish("spBv1.0/plant/NDATA/press", early)
        edge.publish("spBv1.0/plant/NBIRTH/press", payload(OIL))
        edge.publish("spBv1.0/plant/NDATA/press", payload({"alias": 7, "int_value": 95}))
        assert host.messages(3)[0].payload == early
        matcher = lw.Matcher()
        matcher.add("{oil temperature~ > 80 degC}")
        assert [len(matcher.match(made)) for made in stored(found.broker)] == [0, 0, 1]
        assert [made.source for made in stored(found.broker)] == ["plant/press"] * 3
        assert 'likewise_mqtt_unannounced_total{tenant="default"} 1.0' in httpx.get(f"{found.url}/metrics").text


def test_a_bridge_reads_them_alike(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Over a broker of the user's."""

    async def run() -> None:
        async with bridged(tmp_path / "data", f"{mosquitto.url}/#") as (broker, bridge), publisher(mosquitto) as edge:
            edge.publish("spBv1.0/plant/DDATA/press/pump", payload({"alias": 7, "int_value": 90}), qos=1)
            edge.publish("spBv1.0/plant/DBIRTH/press/pump", payload(OIL), qos=1)
            edge.publish("spBv1.0/plant/DDATA/press/pump", payload({"alias": 7, "int_value": 95}), qos=1)
            await until(lambda: bridge.state.stored == 3)
            assert own(stored(broker)[-1]) == [("oil/temperature", 95, "degC")]
            assert bridge.state.unannounced == 1
            assert bridge.state.shown().stored == 3

    asyncio.run(run())
