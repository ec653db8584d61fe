"""Readings under common names: the shipped file, what is certain, what is not, units and words of states."""

from __future__ import annotations

import pytest

import likewise as lw
from likewise.errors import FormatError
from likewise.matching.common_names.normaliser import ReadingNormaliser
from likewise.matching.common_names.table import CommonNames, default_text, read_common_names
from likewise.semantics.concepts.library import shipped_concepts, shipped_entries
from likewise.semantics.interpretation import Interpretation


@pytest.fixture(scope="module")
def shipped() -> CommonNames:
    return read_common_names(default_text())


@pytest.fixture(scope="module")
def normaliser(shipped: CommonNames) -> ReadingNormaliser:
    return ReadingNormaliser(shipped, Interpretation())


def names(normaliser: ReadingNormaliser, payload: dict[str, object]) -> dict[str, object]:
    certain, _ = normaliser.read(lw.event(payload))
    return {each.name.name: each.value for each in certain}


def test_the_shipped_names_are_kinds_of_the_encyclopaedia(shipped: CommonNames) -> None:
    """About 150 kinds or more, each known to the encyclopaedia or the inventory under what it means."""
    known = {entry.id for entry in shipped_entries()} | {
        label for concept in shipped_concepts() for label in (concept.name, *concept.labels)
    }
    unknown = [row.means for row in shipped.rows if row.means not in known]
    assert len(shipped.rows) >= 150
    assert len(unknown) <= 8, unknown  # compounds that the parser of names puts together


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"tempf": 71.6, "baromrelin": 29.92}, {"temperature": 22, "sea_level_pressure": 1013.2075}),
        ({"BatV": 3.01, "TempC_SHT": 27.1}, {"battery_voltage": 3.01, "temperature": 27.1}),
        ({"water_level_cm": 120}, {"water_level": 1.2}),
        ({"apower": 2254.1, "output": True}, {"power": 2254.1, "switch": "on"}),
        ({"contact": True, "battery_low": False, "tamper": False}, {"contact": "closed", "low_battery": "ok"}),
        ({"water_leak": "true"}, {"leak": "detected"}),
        ({"POWER": "OFF"}, {"switch": "off"}),
        ({"code": "va_humidity", "value": 71}, {"humidity": 71}),
        ({"temperature": {"value": 293.15, "unit": "K"}}, {"temperature": 20}),
    ],
)
def test_a_reading_gets_its_common_name_unit_and_word(
    normaliser: ReadingNormaliser, payload: dict[str, object], expected: dict[str, object]
) -> None:
    result = names(normaliser, payload)
    assert {name: result.get(name) for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"voltage": 2985}, "not usual"),
        ({"energy": 1.2}, "not stated"),
        ({"brightness": 254}, "equally probable"),
        ({"LEAK": 255}, "probable enough"),
        ({"door_status": 1}, "neither open nor closed"),
    ],
)
def test_what_is_not_certain_is_withheld_with_the_reason(
    normaliser: ReadingNormaliser, payload: dict[str, object], why: str
) -> None:
    certain, uncertain = normaliser.read(lw.event(payload))
    assert certain == []
    assert why in uncertain[0].why


def test_an_announced_unit_settles_a_bare_number(normaliser: ReadingNormaliser) -> None:
    certain, _ = normaliser.read(lw.event({"voltage": 2985}), {"voltage": "mV"})
    assert [(each.name.name, each.value) for each in certain] == [("voltage", 2.985)]


@pytest.mark.parametrize(
    "payload",
    [{"cpu_load": 0.4}, {"soil_moisture": 0.8}, {"soc": 1.0}, {"battery": 3}, {"power_factor": 97}, {"ph": 71}],
)
def test_a_number_that_two_units_fit_or_that_is_not_usual_is_not_certain(
    normaliser: ReadingNormaliser, payload: dict[str, object]
) -> None:
    """A processor is at 0.4 % as well as at 40 %; three of a battery are percent or volts; no power factor is 97."""
    assert names(normaliser, payload) == {}
    assert list(payload) == [each.attribute for each in normaliser.read(lw.event(payload))[1]]


def test_one_reading_in_two_units_is_published_once_and_a_second_probe_twice(normaliser: ReadingNormaliser) -> None:
    both, _ = normaliser.read(lw.event({"temperature": {"tC": 51.2, "tF": 124.2}}))
    assert [each.value for each in both] == [51.2]
    probes, _ = normaliser.read(lw.event({"TempC_SHT": 27.1, "TempC_DS": 12.5}))
    assert [each.value for each in probes] == [27.1, 12.5]


def test_customary_units_settle_what_several_units_fit(shipped: CommonNames) -> None:
    chosen = ReadingNormaliser(shipped, Interpretation(), customary={"energy": "Wh"})
    assert names(chosen, {"energy": 1200}) == {"energy": 1.2}


def test_people_name_kinds_and_units_themselves() -> None:
    mine = read_common_names("name,means,unit,true,false\nwarmth,temperature,°F,,\nway,open state,,OPEN,SHUT\n")
    assert names(ReadingNormaliser(mine, Interpretation()), {"temp_c": 20, "contact": True}) == {
        "warmth": 68,
        "way": "SHUT",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,unit\nx,°C\n", "line 1"),
        ("name,means,unit\nx,temperature,degX\n", "line 2: 'degX' is no unit"),
        ("name,means\na b,temperature\n", "line 2"),
        ("name,means,true\nx,open state,open\n", "two words"),
        ("name,means\nx,temperature\nx,humidity\n", "twice"),
        ("name,means,usual\nx,temperature,cold\n", "usual range"),
        ("name,means,unit,usual\nx,temperature,°C,50..-50\n", "lower end"),
        ("name,means,unit,bare\nx,temperature,°C,kg\n", "bare numbers in 'kg'"),
        ("name,means,true,false\nx,switch,on,on\n", "words of a state differ"),
    ],
)
def test_a_bad_file_of_names_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_common_names(text)
