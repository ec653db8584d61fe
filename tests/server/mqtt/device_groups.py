"""Groups of topics, each of one device, as the systems' documentation shows them; no two groups are one device.

Many are called `attic`: a name that only its place in the topic tells apart.
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Group(NamedTuple):
    """A device: its source, and messages that it sends, each a topic and a payload."""

    source: str
    messages: tuple[tuple[str, bytes], ...]


def _group(source: str, *said: tuple[str, object]) -> Group:
    return Group(
        source, tuple((topic, body if isinstance(body, bytes) else json.dumps(body).encode()) for topic, body in said)
    )


def _uplink(count: int) -> dict[str, object]:
    decoded = {"temperature": 20.5}
    return {"uplink_message": {"session_key_id": "AYf", "f_cnt": count, "decoded_payload": decoded}}


RPC = {"src": "shellyplus1-a8032abe54dc", "method": "NotifyStatus", "params": {"switch:0": {"apower": 3.5}}}
GROUPS: dict[str, Group] = {
    "zigbee2mqtt": _group(
        "zigbee2mqtt/attic", ("zigbee2mqtt/attic", {"temperature": 20}), ("zigbee2mqtt/attic/availability", b"online")
    ),
    "zigbee2mqtt, kitchen": _group(
        "zigbee2mqtt/kitchen/climate",
        ("zigbee2mqtt/kitchen/climate", {"temperature": 20}),
        ("zigbee2mqtt/kitchen/climate/availability", {"state": "online"}),
    ),
    "zigbee2mqtt, cellar": _group("zigbee2mqtt/cellar/climate", ("zigbee2mqtt/cellar/climate", {"temperature": 11})),
    "zigbee2mqtt, three levels": _group(
        "zigbee2mqtt/house/cellar/climate",
        ("zigbee2mqtt/house/cellar/climate", {"temperature": 12}),
        ("zigbee2mqtt/house/cellar/climate/availability", b"offline"),
    ),
    "tasmota": _group(
        "tasmota:attic",
        ("tele/attic/SENSOR", {"AM2301": {"Temperature": 70}, "TempUnit": "F"}),
        ("tele/attic/STATE", {"POWER": "ON"}),
        ("tele/attic/LWT", b"Online"),
        ("stat/attic/POWER", b"ON"),
        ("stat/attic/RESULT", {"POWER": "ON"}),
    ),
    "tasmota, topic of two levels": _group(
        "tasmota:cellar/pump",
        ("tele/cellar/pump/SENSOR", {"ENERGY": {"Power": 7}}),
        ("tele/cellar/pump/LWT", b"Online"),
    ),
    "tasmota, prefix last": _group(
        "tasmota:garden/pump",
        ("garden/pump/tele/SENSOR", {"ENERGY": {"Power": 7}}),
        ("garden/pump/tele/LWT", b"Online"),
        ("garden/pump/stat/POWER", b"ON"),
    ),
    "shelly 1": _group(
        "shellyht-A1B2C3",
        ("shellies/shellyht-A1B2C3/sensor/temperature", b"22.4"),
        ("shellies/shellyht-A1B2C3/sensor/battery", b"88"),
        ("shellies/shellyht-A1B2C3/online", b"true"),
    ),
    "shelly 1 with an id of its owner's": _group(
        "shellies/attic", ("shellies/attic/relay/0", b"on"), ("shellies/attic/online", b"true")
    ),
    "shelly 2": _group(
        "shellyplus1-a8032abe54dc",
        ("shellyplus1-a8032abe54dc/events/rpc", RPC),
        ("shellyplus1-a8032abe54dc/status/switch:0", {"id": 0, "apower": 3.5}),
        ("shellyplus1-a8032abe54dc/status/sys", {"uptime": 7}),
        ("shellyplus1-a8032abe54dc/online", b"true"),
    ),
    "shelly 2 with a prefix of three levels": _group(
        "home/attic/pump",
        ("home/attic/pump/status/switch:0", {"id": 0, "apower": 3.5}),
        ("home/attic/pump/online", b"false"),
    ),
    "esphome": _group(
        "attic",
        ("attic/status", b"online"),
        ("attic/sensor/temperature/state", b"20.5"),
        ("attic/binary_sensor/window/state", b"ON"),
        ("attic/switch/fan/state", b"OFF"),
        ("attic/climate/heater/mode/state", b"heat"),
        ("attic/status", b"offline"),
    ),
    "esphome with a prefix of two levels": _group(
        "esp/porch", ("esp/porch/sensor/temperature/state", b"9.5"), ("esp/porch/status", b"online")
    ),
    "statestream": _group(
        "sensor.attic",
        ("homeassistant/sensor/attic/unit_of_measurement", b'"\xc2\xb0C"'),
        ("homeassistant/sensor/attic/friendly_name", b'"Attic"'),
        ("homeassistant/sensor/attic/state", b"20.5"),
        ("homeassistant/sensor/attic/battery_level", b"88"),
    ),
    "statestream, another entity": _group("climate.attic", ("homeassistant/climate/attic/state", b"heat")),
    "statestream, another base": _group(
        "states/sensor.attic",
        ("states/sensor/attic/state", b"20.5"),
        ("states/sensor/attic/unit_of_measurement", b'"\xc2\xb0C"'),
    ),
    "ttn, one application": _group(
        "app1@ttn/dev-1",
        ("v3/app1@ttn/devices/dev-1/up", _uplink(1)),
        ("v3/app1@ttn/devices/dev-1/join", {"join_accept": {}}),
        ("v3/app1@ttn/devices/dev-1/service/data", {"battery": 7}),
    ),
    "ttn, another application": _group("app2@ttn/dev-1", ("v3/app2@ttn/devices/dev-1/up", _uplink(1))),
    "chirpstack": _group(
        "24e124535b316056",
        ("application/ba1f/device/24e124535b316056/event/up", {"deduplicationId": "d1", "object": {"t": 20}}),
        ("application/ba1f/device/24e124535b316056/event/status", {"deduplicationId": "d2", "margin": 7}),
    ),
    "sparkplug, node": _group("plant/press", ("spBv1.0/plant/NBIRTH/press", b"\x08\x01")),
    "sparkplug, device": _group("plant/press/oil", ("spBv1.0/plant/DBIRTH/press/oil", b"\x08\x01")),
    "sparkplug, the device of another node": _group("plant/saw/oil", ("spBv1.0/plant/DBIRTH/saw/oil", b"\x08\x01")),
    "telegraf": _group(
        "telegraf/attic",
        ("telegraf/attic/cpu", {"name": "cpu", "fields": {"usage_idle": 90}, "tags": {}, "timestamp": 1_714_564_800}),
        ("telegraf/attic/mem", {"name": "mem", "fields": {"used": 3}, "tags": {}, "timestamp": 1_714_564_800}),
    ),
    "victron, battery": _group(
        "victron:c0619ab6fe1f/battery/258",
        ("N/c0619ab6fe1f/battery/258/Dc/0/Voltage", {"value": 13.2}),
        ("N/c0619ab6fe1f/battery/258/Soc", {"value": 88}),
    ),
    "victron, charger": _group(
        "victron:c0619ab6fe1f/solarcharger/258", ("N/c0619ab6fe1f/solarcharger/258/Yield/Power", {"value": 410})
    ),
    "evcc, load point": _group(
        "evcc/loadpoints/1", ("evcc/loadpoints/1/chargePower", b"7200"), ("evcc/loadpoints/1/session/energy", b"3.5")
    ),
    "evcc, another load point": _group("evcc/loadpoints/2", ("evcc/loadpoints/2/chargePower", b"0")),
    "evcc, site": _group("evcc/site", ("evcc/site/gridPower", b"-300"), ("evcc/site/pv/1/power", b"4100")),
    "openhab": _group(
        "openhab:attic", ("openhab/items/attic/state", b"20.5"), ("openhab/items/attic/statechanged", b"20.5")
    ),
    "generic": _group("home/attic/temperature", ("home/attic/temperature", b"20.5")),
    "generic, its neighbour": _group("home/attic/humidity", ("home/attic/humidity", b"55")),
    "generic, a status that is none": _group("home/attic/status", ("home/attic/status", b"running")),
}
