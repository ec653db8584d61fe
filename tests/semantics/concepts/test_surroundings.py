"""What the rest of an event says about a reading: the name beside its value, and what the device is."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

import likewise as lw
from likewise.formats.json.batches import decode_each
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.thematic.engine import ThematicEngine
from likewise.semantics.concepts.surroundings import event_contexts, surroundings
from likewise.semantics.library import load_space

PLUG = {"switch": {"output": True, "apower": 2254.1, "voltage": 237.6, "temperature": 51.8}}
MODEM = {"modem": {"rssi": -95, "temp": 48}, "system": {"uptime": 91233}}
COW = {"animal": "DE0981", "metrics": {"temp": 39.4, "rum_index": 412}}
STATION = {"temperature": 27.2, "windspeed": 4.2, "rainfall": 0.2}
CODES = {"status": [{"code": "va_temperature", "value": 16.5}, {"code": "va_humidity", "value": 71}]}
LOGGER = {
    "fields": [{"name": "AirTemp", "units": "Deg C"}, {"name": "RH", "units": "%"}],
    "data": [{"vals": [28.4, 71]}, {"vals": [28.6, 70]}],
}
TEMPEST = {
    "type": "obs_st",
    "obs": [[1763460000, 0.18, 11.22, 17.44, 144, 6, 987.4, 26.37, 50.26, 88120, 7.3, 734, 3.1, 1, 14, 2, 2.61, 1]],
}
DOOR = {"entity_id": "binary_sensor.x", "state": "on", "attributes": {"device_class": "door"}}
OUTDOOR = '{"outdoor temperature"~ > 25 degC}'
ROOM = '{"room temperature"~ < 19 degC}'
WATER = '{"water temperature"~ > 20 degC}'


def met(text: str, data: dict[str, Any]) -> bool:
    matcher = lw.Matcher()
    matcher.add(lw.parse(text, id="s"))
    return bool(matcher.match(lw.event(data, id="e")))


@pytest.mark.parametrize("data", [PLUG, MODEM, COW, {"SoilMoisture": 20, "soilEC": 112, "temp": 27}])
def test_a_temperature_of_a_device_or_a_body_is_neither_outdoors_nor_the_rooms(data: dict[str, Any]) -> None:
    """Beside power, modem or rumination fields a bare temperature is the device's or the body's own."""
    assert not met(OUTDOOR, data)
    assert not met('{"room temperature"~ > 25 degC}', data)


def test_surroundings_say_what_a_bare_name_lacks() -> None:
    """A weather station's temperature is outdoors; that of water whose turbidity is measured is the water's."""
    assert met(OUTDOOR, STATION)
    assert met(
        WATER,
        {
            "channels": [
                {"param": "Turbidity", "value": 3.3},
                {"param": "pH", "value": 7.3},
                {"param": "Temperature", "value": 21.9, "unit": "C"},
            ]
        },
    )
    assert met('{"grid frequency"~ < 49.98 Hz}', {"frequency": 49.9, "voltage": 231, "power": 31})


def test_a_bare_name_alone_is_read_as_before() -> None:
    """Without other fields a temperature may be the room's and the outdoor one's."""
    assert met(OUTDOOR, {"temperature": 27})
    assert event_contexts(lw.event({"temperature": 27})) == ((),)


def test_a_adjacent_name_a_value_names_it() -> None:
    """In the same object, in another list of as many names, or by the model of the device."""
    assert met(ROOM, CODES)
    assert met('{"relative humidity"~ > 65 %}', CODES)
    assert not met('{"relative humidity"~ < 20 %}', CODES)
    assert met(OUTDOOR, LOGGER)
    assert met('{"wind gust"~ > 15 m/s}', TEMPEST)
    assert met('{"battery voltage"~ < 3.3 V}', TEMPEST)
    assert not met('{"wind gust"~ > 18 m/s}', TEMPEST)
    assert met("{door~ = open~}", DOOR)
    assert not met("{door~ = open~}", DOOR | {"state": "off"})


def test_a_list_that_lacks_a_value_has_no_names() -> None:
    """Nobody knows which position is missing."""
    short = {"type": "obs_st", "obs": [TEMPEST["obs"][0][1:]]}
    assert not met('{"wind gust"~ > 15 m/s}', short)


def test_exact_conditions_see_the_attribute_as_it_is_sent() -> None:
    """A name beside the value is for conditions by meaning alone."""
    assert met('{"status[].value" = 71}', CODES)
    assert not met("{va_humidity = 71}", CODES)


def test_an_explanation_says_what_surroundings_told() -> None:
    """The user learns why the temperature of a plug is not the outdoor one."""
    event = lw.event(PLUG, id="e")
    matcher = lw.Matcher()
    matcher.add(lw.parse(OUTDOOR, id="s"))
    told = str(matcher.explain(event, "s"))
    assert "device" in told
    assert surroundings(event) == ("electronics", "electricity")


def test_batches_single_events_and_the_oracle_agree_on_surrounded_readings() -> None:
    """The same readings in other surroundings, in one batch of columns."""
    measure = load_space().measure("sameness")
    texts = (OUTDOOR, ROOM, WATER, '{"relative humidity"~ > 65 %}', '{"battery level"~ < 70 %}', "{door~ = open~}")
    flat: list[dict[str, Any]] = [
        {t.attribute: t.value for t in lw.event(each).tuples} for each in (PLUG, MODEM, COW, STATION, DOOR)
    ]
    flat += [{"temperature": 27, "battery": 0.61}, {"temperature": 27, "type": "water meter", "leak": 0, "flow": 3}]
    batch = decode_each([msgspec.json.encode(each) for each in (*flat, CODES, LOGGER, TEMPEST) * 3])
    engines = ThematicEngine(measure, 0.5), ThematicEngine(measure, 0.5), OracleEngine(measure)
    for engine in engines:
        for number, text in enumerate(texts):
            engine.add(number, lw.parse(text, id=str(number)), 0)
    together = engines[0].match_batch(batch, [0] * len(batch))
    for place in range(len(batch)):
        chosen = together.event_index == place
        for engine in engines[1:]:
            alone = engine.find(batch[place], 0)
            assert together.ordinals[chosen].tolist() == alone.ordinals.tolist()
            assert alone.scores is not None
            assert together.scores is not None
            np.testing.assert_allclose(together.scores[chosen], alone.scores, atol=1e-4)
    assert len(together.ordinals) > 10


@pytest.mark.parametrize(
    ("data", "is_met"),
    [
        ({"type": "OffStreetParking", "open": True}, False),
        ({"parking": {"open": True, "free": 20}}, False),
        ({"parking": {"door": {"open": True}}}, True),
        ({"open": True}, True),
    ],
)
def test_what_is_open_is_no_door_where_the_event_is_about_another_thing(data: dict[str, Any], is_met: bool) -> None:
    """A door is only meant by default: type, path and theme may name a car park."""
    assert met("{door~ = open~}", data) is is_met
