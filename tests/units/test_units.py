"""Units: the table says what pint says, texts and names are read as people write them."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import UnitError
from likewise.model import find_unit, reading_unit, unit, units_in_name
from likewise.units import UNKNOWN
from likewise.units.table import EVERYDAY
from tools.make_unit_table import BASES, UNITS, rows

REGISTRY: pint.UnitRegistry[float] = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
SYMBOLS = [row.symbol for row in EVERYDAY]


def stated(name: str) -> list[tuple[str, bool]]:
    return [(u.symbol, sure) for u, sure in units_in_name(name)]


def test_the_table_is_what_pint_computes() -> None:
    """Nobody edited it by hand, and the installed pint agrees."""
    assert list(EVERYDAY) == rows()


@pytest.mark.parametrize("line", UNITS.strip().splitlines(), ids=lambda line: line.split("|")[0].strip())
def test_a_reading_converts_as_pint_converts_it(line: str) -> None:
    """A value in the unit, brought to the base, is pint's quantity, offsets included."""
    symbol, dimension, expression = (part.strip() for part in line.split("|")[:3])
    if BASES[dimension] == "1":
        assert unit(symbol).to_base(12.5) == 12.5
        return
    parsed = REGISTRY.parse_expression(expression)
    expected = REGISTRY.Quantity(12.5 * parsed.magnitude if dimension != "temperature" else 12.5, parsed.units)
    assert unit(symbol).to_base(12.5) == pytest.approx(expected.to(BASES[dimension]).magnitude, rel=1e-11)


def test_dimensions_that_pint_cannot_convert_are_apart_in_the_table() -> None:
    """Units of one of our dimensions have one dimensionality in pint."""
    seen: dict[str, object] = {}
    for line in UNITS.strip().splitlines():
        symbol, dimension, expression = (part.strip() for part in line.split("|")[:3])
        if BASES[dimension] != "1":
            found = REGISTRY.parse_expression(expression).dimensionality
            assert seen.setdefault(dimension, found) == found, symbol


@given(st.sampled_from(SYMBOLS), st.floats(-1e6, 1e6, allow_nan=False))
def test_going_to_the_base_and_back_keeps_the_value(symbol: str, value: float) -> None:
    """Up to the ten digits that a message shows; offsets cost those of small values."""
    there_and_back = unit(symbol).from_base(unit(symbol).to_base(value))
    assert there_and_back == pytest.approx(value, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    ("a", "of_a", "b", "of_b"),
    [
        (77, "degF", 25, "degC"),
        (-40, "degF", -40, "degC"),
        (300, "K", 26.85, "degC"),
        (36, "km/h", 10, "m/s"),
        (1, "kWh", 3.6, "MJ"),
        (1013.25, "hPa", 1, "atm"),
        (60, "mph", 96.56064, "km/h"),
        (0.5, "bar", 500, "mbar"),
        (21, "%", 210, "permille"),
        (400, "ppm", 0.04, "%"),
        (1, "mg/m3", 1000, "ug/m3"),
        (90, "min", 1.5, "h"),
    ],
)
def test_equal_readings_in_different_units_are_equal(a: float, of_a: str, b: float, of_b: str) -> None:
    """Exactly equal, not nearly: `=` must work across units."""
    assert unit(of_a).to_base(a) == unit(of_b).to_base(b)


def test_every_spelling_of_the_table_is_found_and_means_its_unit() -> None:
    """Two units never share an exact spelling."""
    owner: dict[str, str] = {}
    for symbol, _, _, _, spellings, _ in EVERYDAY:
        for spelling in (symbol, *spellings):
            assert owner.setdefault(spelling, symbol) == symbol, spelling
            found = find_unit(spelling)
            assert found is not None, spelling
            assert found.symbol == symbol, spelling


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("°C", "degC"),
        ("ºC", "degC"),
        ("KM/H", "km/h"),
        ("Celsius", "degC"),
        (" C ", "degC"),
        ("Lux", "lx"),
        ("µg/m³", "ug/m3"),
        ("%RH", "%"),
        ("Percent", "%"),
        ("kwh", "kWh"),
        ("Cel", "degC"),
        ("VArh", "varh"),
    ],
)
def test_spellings_people_use_are_read(text: str, symbol: str) -> None:
    """Case of longer spellings and blanks around do not matter."""
    found = find_unit(text)
    assert found is not None
    assert found.symbol == symbol


@pytest.mark.parametrize("text", ["pm", "", "room", "c", "f", "x", "degrees of freedom", "MM/Y"])
def test_what_is_no_unit_is_not_taken_for_one(text: str) -> None:
    """`5 pm` is a time; a single letter in the other case is nothing."""
    assert find_unit(text) is None
    with pytest.raises(UnitError, match="no unit of the table"):
        unit(text)


def test_case_tells_apart_what_only_case_tells_apart() -> None:
    """MJ, mW and the like keep their case; a folded spelling that is ambiguous is no unit."""
    assert unit("mW").factor == 1e-3
    assert unit("MJ").factor == 1e6
    assert find_unit("MW") is None or unit("MW").factor == 1e6
    assert unit("MPa").dimension == unit("mbar").dimension == "pressure"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TempC_SHT", [("degC", True)]),
        ("air_temp_f", [("degF", True)]),
        ("temperature_C", [("degC", True)]),
        ("wind_avg_km_h", [("km/h", True)]),
        ("wind_max_m_s", [("m/s", True)]),
        ("rain_mm", [("mm", True)]),
        ("rain_mm_h", [("mm/h", True)]),
        ("pressure_kPa", [("kPa", True)]),
        ("vpdKPa", [("kPa", True)]),
        ("VDD_mV", [("mV", True)]),
        ("energy_kWh", [("kWh", True)]),
        ("rssi_dBm", [("dBm", True)]),
        ("BatV", [("V", True)]),
        ("batterymV", [("mV", True)]),
        ("tC", [("degC", True)]),
        ("tempf", [("degF", True)]),
        ("tempinf", [("degF", True)]),
        ("windspeedmph", [("mph", True)]),
        ("windgustmph", [("mph", True)]),
        ("dailyrainin", [("inch", True)]),
        ("baromrelin", [("inHg", True)]),
        ("humidity_percent", [("%", True)]),
        ("light_lux", [("lx", True)]),
    ],
)
def test_a_name_states_its_unit(name: str, expected: list[tuple[str, bool]]) -> None:
    """Also glued on; a single letter is sure where what is measured fits it; a prefix belongs to its unit."""
    assert stated(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "temperature",
        "pm2_5",
        "co2",
        "no2",
        "PM10",
        "lux",
        "m",
        "water_meter_7",
        "meterType",
        "WiFi_MACs_found",
        "pulses_per_kwh",
        "GallonsPerTap",
        "battery_ok",
        "device_temperature",
        "switch_l1",
        "temp_min",
        "",
    ],
)
def test_a_name_without_a_unit_states_none(name: str) -> None:
    """The first word is the thing measured; a rate's half is no unit."""
    assert stated(name) == []


@pytest.mark.parametrize("name", ["phase_a", "ledBarScaling", "sensor_m2", "temp_ma", "dif_countByte", "pressure_mb"])
def test_what_may_be_something_else_is_unsure(name: str) -> None:
    """An unsure unit counts only where it fits the question."""
    assert [sure for _, sure in stated(name)] == [False]
    assert reading_unit(name, "", unit("degC")) is None


def test_the_adjacent_unit_a_reading_goes_before_the_one_in_its_name() -> None:
    """And what is written there is never ignored: if it is in no table, it fits nothing."""
    celsius = unit("degC")
    assert reading_unit("air_temp_f", "K", celsius) == unit("K")
    unknown = reading_unit("air_temp_f", "raw", celsius)
    assert unknown is not None
    assert (unknown.symbol, unknown.dimension) == ("raw", UNKNOWN)
    assert reading_unit("air_temp_f", " ", celsius) == unit("degF")
    assert reading_unit("temperature", "", celsius) is None
    assert reading_unit("weight_kg", "", celsius) == unit("kg")


def test_the_labelled_names_of_real_devices_are_read_right(shared: Path) -> None:
    """Of the labelled attributes whose name states a unit, all agree with their label."""
    right, wrong = 0, []
    for file, column in (("lorawan-dev.tsv", "path"), ("rtl433-attribute-gold.tsv", "key")):
        with (shared / "data" / "vendor-events" / file).open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                label = find_unit(row["unit"]) if row["unit"] not in ("none", "1", "unknown") else None
                found = reading_unit(row[column], "", label) if label is not None else None
                if found is not None:
                    right += found == label
                    if found != label:
                        wrong.append(row[column])
    assert wrong == []
    assert right >= 130


def test_no_device_property_states_another_unit_than_its_name_seems_to(shared: Path) -> None:
    """Over 30,000 properties with their declared units; the one exception writes dB/m as dbm."""
    wrong = set()
    with gzip.open(shared / "data" / "iot" / "zigbee" / "devices.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            for exposed in json.loads(line)["exposes"]:
                name, declared = exposed.get("property") or "", exposed.get("unit") or ""
                sure = [u for u, certain in units_in_name(name) if certain]
                if sure and declared and find_unit(declared) != sure[0]:
                    wrong.add(name)
    assert wrong == {"smoke_density_dbm"}
