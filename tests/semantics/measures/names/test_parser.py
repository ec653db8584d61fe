"""Promises of likewise.semantics.measures.names.parser and quantities: what the name of a reading says it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import defaults
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term, ValueKind
from likewise.semantics.measures.names.parser import parse_name
from likewise.semantics.measures.names.quantities import EXPANSIONS, QUANTITIES, dimensions, expanded, quantity
from likewise.semantics.space import Space


def heaviest(space: Space, text: str, context: tuple[str, ...] = ()) -> str:
    """The word of a name that counts most."""
    parsed = parse_name(text, context, space.vectors.words, space.vectors.has_token, space.calibration.names)
    return max(parsed.words, key=lambda word: word.weight).text


def score(
    space: Space, asked: str, seen: str, unit: str = "", kind: ValueKind = "", context: tuple[str, ...] = ()
) -> float:
    return float(space.measure().matrix([Term(asked)], [Term(seen, unit=unit, kind=kind, context=context)])[0, 0])


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("battery voltage", "voltage"),
        ("temperature_alarm", "alarm"),
        ("temperature of water", "temperature"),
        ("movement detected", "movement"),
        ("soil.temperature.value", "temperature"),
        ("payload.measurements[].humidity", "humidity"),
        ("wind_speed_km_h", "speed"),
        ("Vbat", "voltage"),
        ("noise level", "noise"),
    ],
)
def test_the_head_counts_most(embedded: Space, name: str, head: str) -> None:
    """The last noun of the last part that says something; not a unit, a participle or what follows a preposition."""
    assert heaviest(embedded, name) == head


def test_the_text_beside_a_value_speaks_where_its_name_says_nothing(embedded: Space) -> None:
    assert heaviest(embedded, "readings[].value", ("Humidity",)) == "humidity"
    assert score(embedded, "humidity", "readings[].value", context=("Humidity", "%")) >= defaults.THRESHOLD
    assert score(embedded, "humidity", "readings[].value", context=("Pressure", "hPa")) < defaults.THRESHOLD


@pytest.mark.parametrize("other", ["humidity", "pressure", "voltage", "longitude", "battery_level"])
def test_another_quantity_stays_below_the_threshold(embedded: Space, other: str) -> None:
    """However often two quantities are spoken of together."""
    assert score(embedded, "temperature" if other != "longitude" else "latitude", other) < defaults.THRESHOLD


def test_a_unit_of_another_dimension_lowers_the_score(embedded: Space) -> None:
    right, wrong = score(embedded, "air temperature", "temp", "degC"), score(embedded, "air temperature", "temp", "V")
    assert wrong < defaults.THRESHOLD <= right


def test_a_quantity_is_a_number_and_a_state_rather_is_not(embedded: Space) -> None:
    assert score(embedded, "air temperature", "temperature", kind="text") < score(
        embedded, "air temperature", "temperature", kind="number"
    )
    assert score(embedded, "door open", "door", kind="number") < score(embedded, "door open", "door", kind="boolean")


def test_values_are_plain_text(embedded: Space) -> None:
    """A value has no head and no quantity: `temp` the worker stays one."""
    both = [Term("value level", "value")], [Term("level value", "value")]
    assert embedded.measure().matrix(*both)[0, 0] > 0.9


@pytest.mark.parametrize("short", sorted(EXPANSIONS))
def test_short_forms_are_not_expanded_twice(short: str) -> None:
    """What a short form stands for is written out, unless it is a formula's own word."""
    for word in expanded(short):
        assert expanded(word) == (word,)


def test_every_quantity_has_bits_and_dimensions() -> None:
    """And two that share none are told apart."""
    assert all(quantity(word) and dimensions(quantity(word)) for word in QUANTITIES)
    assert quantity("temperature") & quantity("pressure") == 0
    assert max(quantity(word) for word in QUANTITIES) < 2**62


names = st.lists(
    st.sampled_from(
        ["temp", "battery", "level", "value", "co2", "[]", ".", "_", "V", "km_h", "7", "of", "é", "x", " "]
    ),
    max_size=6,
).map("".join)


@given(
    names,
    names,
    st.lists(names, max_size=3),
    st.sampled_from(["", "degC", "V"]),
    st.sampled_from(["", "number", "text"]),
)
def test_a_score_never_depends_on_other_names(
    asked: str, seen: str, others: list[str], unit: str, kind: ValueKind
) -> None:
    """Whatever else is asked about in the same call; and it lies in [0, 1]."""
    measure = load_space().measure()
    term = Term(seen, unit=unit, kind=kind)
    alone = measure.matrix([Term(asked)], [term])[0, 0]
    among = measure.matrix([Term(asked), *map(Term, others)], [*map(Term, others), term])
    assert among[0, -1] == pytest.approx(alone, abs=1e-6)
    assert ((among >= 0) & (among <= 1)).all()
    assert not np.isnan(among).any()
