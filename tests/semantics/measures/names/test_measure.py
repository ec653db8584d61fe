"""Promises of likewise.semantics.measures.names.measure: how identifiers are understood."""

from __future__ import annotations

import msgspec
import pytest

from likewise.semantics.measure import Term
from likewise.semantics.measures.names.measure import NamesMeasure
from likewise.semantics.space import Space

HALF = 0.5


def score(space: Space, asked: str, seen: str, unit: str = "") -> float:
    return float(space.measure("names").matrix([Term(asked)], [Term(seen, unit=unit)])[0, 0])


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("temperature", "TempC_SHT"),
        ("battery level", "batteryLevel"),
        ("battery level", "batt_lvl"),
        ("relative humidity", "rh"),
        ("state of charge", "SOC"),
        ("temperature", "temperature_1"),
        ("message counter", "msg_cnt"),
        ("wind speed", "wind_avg_km_h"),
    ],
)
def test_abbreviations_initials_units_and_digits_are_understood(embedded: Space, asked: str, seen: str) -> None:
    """Without any list of spellings."""
    assert score(embedded, asked, seen) > HALF


@pytest.mark.parametrize(
    ("asked", "seen"),
    [("temperature", "humidity"), ("battery level", "CO2Level"), ("relative humidity", "rx"), ("car", "card")],
)
def test_other_names_stay_apart(embedded: Space, asked: str, seen: str) -> None:
    assert score(embedded, asked, seen) < HALF


def test_a_adjacent_unit_the_reading_speaks_for_the_quantity(embedded: Space) -> None:
    """`value` in degrees may be a temperature; in volts it may not."""
    assert score(embedded, "temperature", "value", "degC") > score(embedded, "temperature", "value", "V")


def test_strengths_come_from_the_calibration(embedded: Space) -> None:
    """Another strength for beginnings of words gives other scores: nothing is fixed in code."""
    weights = msgspec.structs.replace(embedded.calibration.names, prefix=(0.0,) * 6)
    weaker = NamesMeasure(embedded.vectors, weights)
    assert weaker.matrix([Term("barometer")], [Term("barom_x")])[0, 0] < score(embedded, "barometer", "barom_x")
