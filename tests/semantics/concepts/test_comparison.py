"""The rule for names: what agrees, what tells apart, and the reasons that the kernel notes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise.semantics.measures.sameness import SamenessMeasure

WORDS = [
    "temp",
    "humidity",
    "pressure",
    "battery",
    "voltage",
    "level",
    "total",
    "alarm",
    "setpoint",
    "max",
    "avg",
    "min",
    "water",
    "air",
    "soil",
    "outdoor",
    "indoor",
    "supply",
    "return",
    "attic",
    "cellar",
    "quokka",
    "door",
    "open",
    "count",
    "pm2.5",
    "pm10",
    "1",
    "2",
    "x",
    "unit",
    "of",
    "in",
    "value",
    "reading",
    "speed",
    "wind",
    "fan",
    "motor",
    "phase",
    "a",
    "b",
    "instantaneous",
    "tyre",
    "atmospheric",
    "flow",
    "rate",
    "input",
    "output",
    "electric",
]
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
terms = st.builds(
    Term,
    st.one_of(names, names.map(lambda n: n.replace(" ", "_")), names.map(lambda n: n.replace(" ", "."))),
    unit=st.sampled_from(["", "", "degC", "V", "%", "Pa"]),
    kind=st.sampled_from(["", "number", "text", "boolean"]),
    context=st.sampled_from([(), ("humidity",), ("V",)]),
)


def sameness() -> SamenessMeasure:
    found = load_space().measure("sameness")
    assert isinstance(found, SamenessMeasure)
    return found


def score(asked: str, seen: str, *, asked_unit: str = "", unit: str = "", kind: str = "") -> float:
    return float(sameness().matrix([Term(asked, unit=asked_unit)], [Term(seen, unit=unit, kind=kind)])[0, 0])  # type: ignore[arg-type]


@given(asked=st.lists(terms, min_size=1, max_size=4), seen=st.lists(terms, min_size=1, max_size=4))
def test_the_reasons_of_a_pair_multiply_to_its_score(asked: list[Term], seen: list[Term]) -> None:
    measure = sameness()
    related, words = measure.relatedness(asked, seen)
    found = measure.facet_scores(related, words, asked, seen)
    for i, a in enumerate(asked):
        for j, s in enumerate(seen):
            plain = measure.agreement_as_written(a, s).apply(float(related[i, j]))
            assert found[i, j] == pytest.approx(plain, abs=1e-4), (a, s)


@given(asked=st.lists(terms, min_size=1, max_size=4), seen=st.lists(terms, min_size=1, max_size=4))
def test_the_score_of_a_pair_does_not_depend_on_the_other_terms(asked: list[Term], seen: list[Term]) -> None:
    measure = sameness()
    found = measure.matrix(asked, seen)
    for i, a in enumerate(asked):
        for j, s in enumerate(seen):
            assert measure.matrix([a], [s])[0, 0] == pytest.approx(found[i, j], abs=1e-4), (a, s)


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("temperature", "TempC_SHT"),
        ("temperature", "temperature_1"),
        ("outdoor temperature", "temperature"),
        ("room temperature", "indoor_temp"),
        ("supply air temperature", "discharge_air_temp"),
        ("temperature setpoint", "target_temperature"),
        ("high temperature alarm", "over_temperature_warning"),
        ("alarm state", "temperature_alarm"),
        ("phase a voltage", "voltage_a"),
        ("phase a voltage", "voltage_l1"),
        ("phase 2 current", "current_b"),
        ("instantaneous power", "power"),
        ("wind speed", "windSpeed_ms"),
        ("pm2.5", "pm2p5"),
        ("total flow", "flowTotal"),
        ("particulate matter", "pm10"),
        ("soil moisture", "groundWetness"),
        ("human presence", "occupancy"),
        ("observed at", "date"),
        ("position north", "latitude"),
        ("mean wind speed", "wind_speed_avg"),
        ("state of charge", "batteryLevel"),
    ],
)
def test_the_same_reading_is_found_in_other_words(asked: str, seen: str) -> None:
    assert score(asked, seen) >= 0.5


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("enclosure temperature", "waterTemp"),
        ("mains voltage", "battery_voltage"),
        ("soil wetness", "air_humidity"),
        ("indoor temperature", "outdoorTemp"),
        ("pm10", "pm2_5"),
        ("pm10", "pm1"),
        ("CO2 concentration", "co_ppm"),
        ("phase 1 current", "phase_2_current"),
        ("power factor", "power"),
        ("active power", "reactive_power"),
        ("temperature", "temperature_timestamp"),
        ("temperature", "temperature_setpoint"),
        ("temperature", "temperature_alarm"),
        ("temperature", "max_temperature"),
        ("minimum temperature", "maximum_temperature"),
        ("attic temperature", "cellar_temperature"),
        ("battery level", "battery_voltage"),
        ("heating setpoint", "cooling_setpoint"),
    ],
)
def test_another_reading_is_kept_apart(asked: str, seen: str) -> None:
    assert score(asked, seen) < 0.5


def test_a_unit_that_does_not_fit_tells_apart() -> None:
    """`{battery~ < 85 %}` is no question about volts."""
    assert score("battery", "BatV", asked_unit="%", kind="number") < 0.5
    assert score("battery", "battery", asked_unit="%", unit="V", kind="number") < 0.5
    assert score("battery", "battery", asked_unit="%", unit="%", kind="number") >= 0.5


def test_equal_terms_are_one_only_if_they_are_wholly_equal() -> None:
    measure = sameness()
    asked = Term("battery", unit="%")
    assert measure.matrix([asked], [asked])[0, 0] == 1
    assert measure.matrix([asked], [Term("battery", unit="V")])[0, 0] < 1
    odd = Term("temperature", unit="V")  # contradicts itself, and is still what it is
    assert measure.matrix([odd], [odd])[0, 0] == 1


def test_what_was_asked_in_general_is_met_by_the_special_and_less_the_other_way_round() -> None:
    assert score("gas concentration", "methane") > score("methane", "gas_concentration")


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("motor torque", "Drehmoment_Nm"),
        ("spin speed of the washing machine", "spinningSpeed"),
        ("exhaust gas temperature cylinder 3", "EGT_3"),
    ],
)
def test_a_name_that_says_of_nothing_else_which_one_it_is_may_be_the_one_asked_for(asked: str, seen: str) -> None:
    """A torque means no certain thing's, and an exhaust temperature is already told from the air's."""
    assert score(asked, seen) >= 0.5


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("motor temperature", "temperature"),  # the air's, by default
        ("motor torque", "wheel_torque"),  # another thing's
        ("return temperature", "water_temperature"),  # the supply's as well as not
    ],
)
def test_a_name_that_may_as_well_be_anothers_is_not_the_one_asked_for(asked: str, seen: str) -> None:
    assert score(asked, seen) < 0.5


def test_a_long_path_costs_as_much_as_one_outer_part() -> None:
    assert score("chiller power", "Drivers/Network/Plant.chiller.Power") >= 0.5


def test_a_word_that_nobody_lists_counts_more_where_the_asked_one_is_only_meant_by_default() -> None:
    assert score("room temperature", "temperature") > 0.8 > 0.6 > score("room temperature", "plenum_temp")


@pytest.mark.parametrize(
    ("asked", "seen", "sibling"),
    [
        ("dc link voltage", "Uzk", "motor_voltage"),
        ("hook load", "hakenlast", "hookHeight"),
        ("night noise level", "Lnight", "Lday"),
        ("desk height", "tischhoehe", "deskOccupied"),
        ("column head temperature", "kopftemperatur", "sumpftemperatur"),
        ("departure time", "abfahrt", "ankunft"),
        ("parked time", "parkdauer", "travelTime"),
        ("blade hours", "bladeUsage", "sideBrushLife"),
        ("inverter yield today", "eDay", "eTotal"),
        ("is the boot open", "kofferraum", "motorhaube"),
        ("chance of rain", "regenwahrscheinlichkeit", "regenmenge"),
    ],
)
def test_a_trade_is_asked_in_plain_words_and_its_siblings_stay_apart(asked: str, seen: str, sibling: str) -> None:
    assert score(asked, seen) >= 0.5 > score(asked, sibling)
