"""Names of readings are taken apart as a reader of the data sheet would."""

from __future__ import annotations

import pytest

from likewise.semantics.concepts.facets import FacetParser, Facets
from likewise.semantics.concepts.library import load_inventory
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term


def facets(text: str, unit: str = "", kind: str = "", context: tuple[str, ...] = ()) -> Facets:
    parser = FacetParser(load_inventory(), load_space().vectors.has_word)
    return parser.facets(Term(text, unit=unit, kind=kind, context=context))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("TempC_SHT", "temperature"),
        ("state of charge", "state of charge"),
        ("carbon dioxide", "carbon dioxide"),
        ("CO2Level", "carbon dioxide"),
        ("co_ppm", "carbon monoxide"),
        ("battery voltage", "voltage"),
        ("temperature of water", "temperature"),
        ("light intensity in lux", "illuminance"),
        ("reactive_power", "reactive power"),
        ("powerFactor", "power factor"),
        ("number of people", "people count"),
        ("position north", "latitude"),
        ("software release", "version"),
        ("kind of message", "message type"),
        ("observed at", "timestamp"),
        ("human presence", "presence"),
        ("door_open", "open state"),
        ("door_open_count", "door opening count"),
        ("lid_open_count", "count"),
        ("rainfall_total", "rainfall"),
        ("bytes.temperature.values[]", "temperature"),
    ],
)
def test_phrases_settle_first_then_the_head(name: str, kind: str) -> None:
    """`level`, `total` and `number` never head a name beside another kind."""
    assert facets(name).kinds == (kind,)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("temperature", ""),
        ("zone temp set point", "setpoint"),
        ("44G_U18_TEMP_SPT", "setpoint"),
        ("TemperatureLimitHigh", "limit"),
        ("humidityAlertActive", "alarm"),
        ("current_threshold_alarm", "alarm"),
        ("pressure_alarm_threshold", "limit"),
        ("sensor_event.temperature.max", "maximum"),
        ("co2_calibration_offset", "configuration"),
        ("flow_rate_unit", "unit"),
    ],
)
def test_the_last_word_about_a_reading_is_its_role(name: str, role: str) -> None:
    assert facets(name).role == role


@pytest.mark.parametrize(
    ("name", "qualifiers"),
    [
        ("waterTemp", {"water"}),
        ("discharge air temp", {"supply", "air"}),
        ("SAT", {"supply", "air"}),
        ("CHWR2-T", {"chilled", "water", "return"}),
        ("enclosure temperature", {"device"}),
        ("attic temperature", {"attic"}),
        ("mains voltage", {"mains"}),
    ],
)
def test_every_other_content_word_identifies_one(name: str, qualifiers: set[str]) -> None:
    """Also one that no inventory lists: the vocabulary is open."""
    assert {q.name for q in facets(name).qualifiers} == qualifiers


def test_a_battery_is_a_charge_or_a_voltage_until_the_unit_decides() -> None:
    assert set(facets("battery").kinds) == {"voltage", "state of charge"}
    assert facets("battery", unit="V").kinds == ("voltage",)
    assert facets("battery", unit="%").kinds == ("state of charge",)
    assert facets("batV").kinds == ("voltage",)


def test_a_name_that_says_nothing_is_known_by_its_unit_or_by_the_text_beside_it() -> None:
    assert facets("value", unit="degC").kinds == ("temperature",)
    assert facets("measurements[].value", context=("humidity",)).kinds == ("humidity",)
    assert facets("measurements[].value", context=("a long text about humidity and more",)).kinds == ()


def test_sizes_are_numbers_however_they_are_written() -> None:
    for name in ("pm2.5", "PM2_5", "pm25", "bytes.pm25.values[]"):
        assert facets(name).numbers == ("2.5",), name
        assert facets(name).kinds == ("particulate matter",)
    assert facets("pm10").numbers == ("10",)
    assert facets("temperature_1").kinds == ("temperature",)


@pytest.mark.parametrize("name", ["", " ", "...", "[].[]", "дом", "温度", "%", "x" * 1024, "a.b.c.d", "_", "1", "of"])
def test_any_text_has_facets(name: str) -> None:
    assert isinstance(facets(name), Facets)
