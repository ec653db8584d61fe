"""What Zigbee2MQTT and Home Assistant announce over MQTT stands in the catalogue."""

from __future__ import annotations

import msgspec

from likewise.broker.broker import Broker
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import load_maps

DEVICES = [
    {"friendly_name": "Coordinator", "type": "Coordinator", "definition": None},
    {
        "friendly_name": "attic/thermometer",
        "definition": {
            "model": "WSDCGQ11LM",
            "exposes": [
                {"type": "numeric", "property": "temperature", "unit": "°C", "access": 1},
                {"type": "numeric", "property": "battery", "unit": "%", "access": 1, "value_min": 0, "value_max": 100},
                {"type": "numeric", "property": "strange", "unit": "frobs", "access": 1},
                {"type": "numeric", "property": "only_set", "access": 2},
            ],
        },
    },
    {
        "friendly_name": "lamp",
        "definition": {
            "model": "LED1545G12",
            "exposes": [
                {
                    "type": "light",
                    "features": [
                        {"type": "binary", "property": "state", "value_on": "ON", "value_off": "OFF", "access": 7},
                        {"type": "numeric", "property": "brightness", "value_min": 0, "value_max": 254, "access": 7},
                        {
                            "type": "composite",
                            "property": "color",
                            "features": [{"type": "numeric", "property": "x", "access": 7}],
                        },
                    ],
                },
                {"type": "enum", "property": "effect", "values": ["blink", "breathe"], "access": 3},
            ],
        },
    },
    {"friendly_name": "off", "disabled": True, "definition": {"exposes": []}},
    "no device",
]


def message(topic: str, said: object) -> MqttPublication:
    return MqttPublication(topic, msgspec.json.encode(said), retain=True)


def test_zigbee2mqtts_devices_become_announcements() -> None:
    """Each with its model, place, units, ranges and values; what is not published is not announced."""
    reader = MessageReader(load_maps())
    said = message("zigbee2mqtt/bridge/devices", DEVICES)
    assert reader.read(said, 0) == []
    thermometer, lamp = reader.announcements(said)
    assert (thermometer.source, thermometer.model, thermometer.place) == (
        "zigbee2mqtt/attic/thermometer",
        "WSDCGQ11LM",
        "attic",
    )
    assert [(each.name, each.unit, each.low, each.high) for each in thermometer.attributes] == [
        ("temperature", "degC", None, None),
        ("battery", "%", 0, 100),
        ("strange", "", None, None),
    ]
    assert [(each.name, each.values) for each in lamp.attributes] == [
        ("state", ("ON", "OFF")),
        ("brightness", ()),
        ("color.x", ()),
        ("effect", ("blink", "breathe")),
    ]
    reading = message("zigbee2mqtt/attic/thermometer", {"temperature": 21})
    assert reader.read(reading, 0)[0].source == thermometer.source
    assert reader.announcements(reading) == []


def test_home_assistants_discovery_becomes_an_announcement_of_the_state_topics_source() -> None:
    """All that was said of it so far."""
    reader = MessageReader(load_maps())
    found = []
    for name, unit in (("temperature", "°C"), ("humidity", "%")):
        said = {
            "stat_t": "tele/attic/SENSOR",
            "dev_cla": name,
            "unit_of_meas": unit,
            "val_tpl": f"{{{{ value_json.AM2301.{name} }}}}",
        }
        config = message(f"homeassistant/sensor/attic_{name}/config", said)
        assert reader.read(config, 0) == []
        found = reader.announcements(config)
    [made] = found
    assert (made.source, [(each.name, each.unit) for each in made.attributes]) == (
        "tasmota:attic",
        [("AM2301.temperature", "degC"), ("AM2301.humidity", "%")],
    )


def test_what_is_no_list_of_devices_announces_nothing_and_ends_nothing() -> None:
    """Anybody may publish there."""
    reader = MessageReader(load_maps())
    for payload in (b"", b"{}", b"[", b"[1, null, {}]", b'[{"friendly_name": "x", "definition": {"exposes": [1]}}]'):
        said = MqttPublication("zigbee2mqtt/bridge/devices", payload)
        assert reader.read(said, 0) == []
        assert reader.announcements(said) == []


def test_what_was_heard_stands_in_the_catalogue() -> None:
    """With what each attribute is taken for, before the first reading comes."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        reader = MessageReader(load_maps())
        broker.announcements.announce_all(tenant, reader.announcements(message("zigbee2mqtt/bridge/devices", DEVICES)))
        broker.store.commit(lambda tables: None)
        broker.wait_until_matched()
        assert [each.source for each in broker.catalogue.page(tenant).sources] == [
            "zigbee2mqtt/attic/thermometer",
            "zigbee2mqtt/lamp",
        ]
        [temperature, *_] = broker.catalogue.source(tenant, "zigbee2mqtt/attic/thermometer").attributes
        assert "temperature" in temperature.understood.means
