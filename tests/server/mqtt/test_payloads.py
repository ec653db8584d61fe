"""What devices publish over MQTT, in the shapes they publish it, becomes events with their own names and units."""

from __future__ import annotations

import json

import pytest

import likewise as lw
from likewise.errors import FormatError
from likewise.model import EventTuple
from likewise.server.media_types import UnreadableInput
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import TopicMap, load_maps, read_map

NOW = 1_700_000_000_000_000

# Messages as the systems' documentation shows them: topic, payload, source, and some of the tuples.
SHAPES: dict[str, tuple[str, object, str, list[tuple[object, ...]]]] = {
    "zigbee2mqtt": (
        "zigbee2mqtt/kitchen_sensor",
        {"battery": 91, "humidity": 51.2, "linkquality": 120, "pressure": 1013, "temperature": 27.34, "voltage": 3005},
        "zigbee2mqtt/kitchen_sensor",
        [("temperature", 27.34, "degC"), ("humidity", 51.2, "%"), ("pressure", 1013, "hPa"), ("voltage", 3005, "")],
    ),
    "zigbee2mqtt below a place": (
        "zigbee2mqtt/attic/climate",
        {"temperature": 24.5},
        "zigbee2mqtt/attic/climate",
        [("temperature", 24.5, "degC"), ("place", "attic", ""), ("device", "climate", "")],
    ),
    "tasmota": (
        "tele/tasmota_1A2B/SENSOR",
        {
            "Time": "2024-05-01T12:00:00",
            "AM2301": {"Temperature": 75.2, "Humidity": 60.1, "DewPoint": 60.3},
            "TempUnit": "F",
        },
        "tasmota:tasmota_1A2B",
        [("AM2301.Temperature", 75.2, "F"), ("AM2301.Humidity", 60.1, "%"), ("AM2301.DewPoint", 60.3, "F")],
    ),
    "tasmota's meter": (
        "tele/plug/SENSOR",
        {"Time": "2024-05-01T12:00:00", "ENERGY": {"Total": 3.185, "Power": 7, "Voltage": 230, "Current": 0.06}},
        "tasmota:plug",
        [("ENERGY.Total", 3.185, "kWh"), ("ENERGY.Power", 7, "W"), ("ENERGY.Voltage", 230, "V")],
    ),
    "shelly's bare values": (
        "shellies/shellyht-AA/sensor/temperature",
        b"22.38",
        "shellyht-AA",
        [("temperature", 22.38, "degC")],
    ),
    "shelly's relay": ("shellies/plug-1/relay/0", b"on", "shellies/plug-1", [("relay_0", "on", "")]),
    "shelly's later ones": (
        "shellyplusht-b0/events/rpc",
        {
            "src": "shellyplusht-b0",
            "dst": "x",
            "method": "NotifyStatus",
            "params": {
                "ts": 1.0,
                "temperature:0": {"id": 0, "tC": 23.4, "tF": 74.1},
                "humidity:0": {"id": 0, "rh": 48},
            },
        },
        "shellyplusht-b0",
        [("temperature:0.tC", 23.4, ""), ("humidity:0.rh", 48, "%")],
    ),
    "chirpstack": (
        "application/ba1f/device/24e124/event/up",
        {
            "deduplicationId": "3ac7e3c4",
            "time": "2024-05-01T12:00:00.823500726+00:00",
            "deviceInfo": {"deviceName": "em300", "devEui": "24e124"},
            "fCnt": 4,
            "data": "AWcQ",
            "object": {"temperature": 27.2, "humidity": 56.5},
        },
        "24e124",
        [("temperature", 27.2, ""), ("deviceInfo.deviceName", "em300", ""), ("device", "24e124", "")],
    ),
    "ttn": (
        "v3/farm@ttn/devices/eui-1/up",
        {
            "end_device_ids": {"device_id": "eui-1"},
            "received_at": "2024-05-01T12:00:00Z",
            "uplink_message": {"session_key_id": "AYf", "f_cnt": 12, "decoded_payload": {"temperature": 26.4}},
        },
        "farm@ttn/eui-1",
        [("temperature", 26.4, ""), ("end_device_ids.device_id", "eui-1", "")],
    ),
    "telegraf": (
        "telegraf/server-1/temp",
        {"fields": {"temperature": 43.5}, "name": "temp", "tags": {"sensor": "core"}, "timestamp": 1714564800},
        "telegraf/server-1",
        [("temp.temperature", 43.5, ""), ("sensor", "core", ""), ("host", "server-1", "")],
    ),
    "a plain topic": ("home/attic/temperature", b"24.9", "home/attic/temperature", [("temperature", 24.9, "")]),
    "a plain topic with its unit": (
        "home/attic/temperature/state",
        "24.9 °C".encode(),
        "home/attic/temperature/state",
        [("temperature", "24.9 °C", "")],
    ),
    "senml": (
        "any/pack",
        [{"bn": "urn:dev:1/", "n": "temp", "u": "Cel", "v": 21.5}],
        "urn:dev:1/",
        [("temp", 21.5, "degC")],
    ),
}


def read(topic: str, payload: object, **said: object) -> list[lw.Event]:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return MessageReader(load_maps()).read(MqttPublication(topic, body, **said), NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_message_keeps_its_names_and_gets_its_units(shape: str) -> None:
    """Attributes stay as the device calls them; the source is the device; the topic is a tuple."""
    topic, payload, source, wanted = SHAPES[shape]
    [made] = read(topic, payload)
    tuples = [(t.attribute, t.value, t.unit) for t in made.tuples]
    assert made.source == source
    assert set(wanted) <= set(tuples)
    assert ("topic", topic, "") in tuples


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if "temp" in repr(SHAPES[shape]).casefold()])
def test_every_convention_is_found_by_meaning_and_by_topic(shape: str) -> None:
    """One subscription for all of them, and the trie of topics."""
    topic, payload, *_ = SHAPES[shape]
    [made] = read(topic, payload)
    asked = lw.Matcher()
    asked.add("{temperature~ > 20 degC}")
    asked.add('{topic matches "' + topic.rpartition("/")[0] + '/+"}')
    assert len(asked.match(made)) == 2, made


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("zigbee2mqtt/bridge/state", b'{"state": "online"}'),
        ("zigbee2mqtt/lamp/set", b'{"state": "ON"}'),
        ("cmnd/plug/POWER", b"ON"),
        ("home/attic/temperature", b""),
    ],
)
def test_what_is_no_reading_is_no_event(topic: str, payload: bytes) -> None:
    """Commands, a bridge's own state, and an empty payload, which deletes a retained message."""
    assert read(topic, payload) == []


def test_the_messages_own_identity_is_the_events() -> None:
    """A user property, CloudEvents' id, our envelope's, or the fields that a map names; never a payload's plain id."""
    [up] = read(*SHAPES["chirpstack"][:2])
    assert (up.id, up.time) == ("3ac7e3c4", 1_714_564_800_823_500)
    assert read(*SHAPES["ttn"][:2])[0].id == "AYf:12"
    assert read("a/b", {"id": "device-7", "t": 3})[0].id is None
    assert read("a/b", {"id": "device-7", "t": 3}, properties=(("id", "m-1"),))[0].id == "m-1"
    assert read("a/b", {"v": 1, "id": "e1", "source": "s", "payload": {"t": 3}})[0].id == "e1"
    cloud = {"specversion": "1.0", "id": "c1", "source": "/s", "type": "t", "data": {"t": 3}}
    assert (read("a/b", cloud)[0].id, read("a/b", cloud)[0].source) == ("c1", "/s")


def test_discovery_gives_names_and_units_to_bare_topics() -> None:
    """Home Assistant's configuration says what a state topic's value is; an empty one is forgotten."""
    reader = MessageReader(load_maps())
    config = {"~": "node/x1", "stat_t": "~/a", "dev_cla": "temperature", "unit_of_meas": "°F", "name": "Outside"}
    assert reader.read(MqttPublication("homeassistant/sensor/x1/config", json.dumps(config).encode()), NOW) == []
    field = {"state_topic": "node/y", "value_template": "{{ value_json.t | float }}", "unit_of_measurement": "°C"}
    reader.read(MqttPublication("homeassistant/sensor/n/y1/config", json.dumps(field).encode()), NOW)
    [bare] = reader.read(MqttPublication("node/x1/a", b"78.1"), NOW)
    assert (bare.tuples[0].attribute, bare.tuples[0].value, bare.tuples[0].unit) == ("temperature", 78.1, "°F")
    [both] = reader.read(MqttPublication("node/y", b'{"t": 21.5}'), NOW)
    assert both.tuples[0].unit == "°C"
    asked = lw.Matcher()
    asked.add("{temperature~ > 24 degC}")
    assert asked.match(bare)
    reader.read(MqttPublication("homeassistant/sensor/x1/config", b""), NOW)
    assert reader.read(MqttPublication("node/x1/a", b"78.1"), NOW)[0].tuples[0].attribute == "a"


def test_discovery_whose_two_payloads_are_one_gives_no_words() -> None:
    reader = MessageReader(load_maps())
    config = {"state_topic": "hall/door", "device_class": "door", "payload_on": "1", "payload_off": "1"}
    reader.read(MqttPublication("homeassistant/binary_sensor/x1/config", json.dumps(config).encode()), NOW)
    [state] = reader.read(MqttPublication("hall/door", b"1"), NOW)
    assert state.tuples[0].value == 1


@pytest.mark.parametrize("payload", [b"\xff\xd8\xff\xe0JFIF" * 300, b"{not json", b"[1, {", b"\x00", b"[" * 5000])
def test_what_cannot_be_read_is_kept_with_its_bytes_or_refused(payload: bytes) -> None:
    """Nothing is lost: the bytes stand in the event; where the map says strict they are refused with words."""
    import base64

    [kept] = read("camera/1", payload)
    if kept.tuples[0].attribute == "bytes":
        pieces = [str(t.value) for t in kept.tuples if t.attribute == "payload[]"]
        assert base64.b64decode("".join(pieces)) == payload
    else:
        assert str(kept.tuples[0].value) == payload.decode().strip()
    strict = MessageReader(TopicMap(read_map('[[topic]]\ntopic = "#"\nread = "json"\nstrict = true\n', "m")))
    with pytest.raises(UnreadableInput):
        strict.read(MqttPublication("camera/1", payload), NOW)


def test_a_message_that_expires_ends_its_event() -> None:
    """Message Expiry counts from arrival."""
    [made] = read("a/b", b"1", expiry=60)
    assert made.expires == NOW + 60_000_000


def test_a_topic_may_be_as_long_as_mqtt_allows() -> None:
    """65,535 characters; the source is its beginning."""
    [made] = read("a/" * 30_000 + "b", b"1")
    assert len(str(made.tuples[1].value)) == 60_001
    assert made.source is not None
    assert len(made.source) == 1_024


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\n", "holds \\[\\[topic\\]\\] tables only"),
        ('[[topic]]\ntopic = "a"\n\n[[topic]]\ntopic = "a/#/b"\n', "line 4: .* goes on after #"),
        ('[[topic]]\ntopic = "a/b+"\n', "line 1: .* mixes text and a sign"),
        ('[[topic]]\ntopic = "{a}/{a}"\n', "line 1: .* names two levels alike"),
        ('[[topic]]\ntopic = "a"\nread = "magic"\n', "line 1: .*magic"),
        ('[[topic]]\ntopic = "a"\nunit = "blorp"\n', "line 1: 'blorp' is no unit"),
        ('[[topic]]\nread = "json"\n', "line 1: .*topic"),
        ("[[topic]\n", "is no TOML: .*line 1"),
        ('[[topic]]\ntopic = "a"\nfoo = 3\n', "line 1: .*foo"),
        ('[topic]\ntopic = "a"\n', "two brackets"),
    ],
)
def test_a_bad_map_is_refused_with_its_line(text: str, problem: str) -> None:
    """Nothing of it is used."""
    with pytest.raises(FormatError, match=problem):
        read_map(text, "mine.toml")


@pytest.mark.parametrize("body", [b"\xff\xd8" * 500_000, b'{"a": "' + b"y" * 5_000_000 + b'"}', b"x" * 900_000])
def test_what_is_too_large_to_keep_is_refused_in_words(body: bytes) -> None:
    """A large picture: its bytes do not fit into an event, so it is `UnreadableInput`, which the bridge sets aside."""
    with pytest.raises(UnreadableInput, match="at most"):
        MessageReader(load_maps()).read(MqttPublication("camera/door", body), NOW)


@pytest.mark.parametrize("body", [b"9" * 5_000, b"-" + b"9" * 5_000, b"1." + b"9" * 5_000])
def test_a_number_of_very_many_digits_is_kept_as_it_is(body: bytes) -> None:
    """Python refuses to read some of them; the bytes stay."""
    [made] = MessageReader(load_maps()).read(MqttPublication("a/temp", body), NOW)
    assert made.tuples[0] == EventTuple("bytes", len(body))
