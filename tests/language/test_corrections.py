"""Text that is almost in the language is refused with one correction, and every correction parses."""

from __future__ import annotations

import pytest

from likewise.errors import InputError, ParseError, UnitSyntaxError
from likewise.language import parse
from likewise.language.corrections import MAX_LENGTH

# What people wrote in the words of other languages, and the text they are offered.
CORRECTED = {
    # operators of other languages
    "{city == Galway}": "{city = Galway}",
    "{city === Galway}": "{city = Galway}",
    "{t => 5}": "{t >= 5}",
    "{t =< 5}": "{t <= 5}",
    "{t ≥ 5}": "{t >= 5}",
    "{t <> 5}": "{t != 5}",
    "{t is open}": "{t = open}",
    "{t is not open}": "{t != open}",
    "{t equals 5}": "{t = 5}",
    "{temperature~ is greater than 25 degC}": "{temperature~ > 25 degC}",
    "{temperature~ above 25 degC}": "{temperature~ > 25 degC}",
    "{temperature~ below 5 degC}": "{temperature~ < 5 degC}",
    "{humidity~ at least 80 %}": "{humidity~ >= 80 %}",
    "{t exist}": "{t exists}",
    "{name startswith a}": "{name starts with a}",
    "{name like 'gal%'}": '{name contains "gal"}',
    # and, or, not
    "{temperature~ > 25 and city = Galway}": "{temperature~ > 25, city = Galway}",
    "{temperature~ > 25 AND city = Galway}": "{temperature~ > 25, city = Galway}",
    "{temperature~ > 25 && city == Galway}": "{temperature~ > 25, city = Galway}",
    "{t > 5} and {u < 5}": "{t > 5, u < 5}",
    "{t between 5 and 10 and u > 3}": "{t between 5 and 10, u > 3}",
    "{t > 5 or u > 5}": "{(t > 5 or u > 5)}",
    "{t > 5 || u > 5}": "{(t > 5 or u > 5)}",
    "{!alarm}": "{not alarm exists}",
    "{not alarm}": "{not alarm exists}",
    "{!temperature~ > 20}": "{not temperature~ > 20}",
    "{t > 5, !door = open}": "{t > 5, not door = open}",
    # braces and commas
    "temperature > 25": "{temperature > 25}",
    "{temperature > 25": "{temperature > 25}",
    "temperature > 25}": "{temperature > 25}",
    "door = open for 5 min": "{door = open} for 5 min",
    "{door = open for 5 min": "{door = open} for 5 min",
    "temperature~ > 25 and city = Galway threshold 0.6": "{temperature~ > 25, city = Galway} threshold 0.6",
    "select * from readings where t > 5": "{t > 5}",
    "if temperature~ > 25 degC": "{temperature~ > 25 degC}",
    "{t > 5,}": "{t > 5}",
    "{t > 5; u < 4}": "{t > 5, u < 4}",
    "{t > 1,5}": "{t > 1.5}",
    "{t in [a, b]}": "{t in (a, b)}",
    "{t in a, b}": "{t in (a, b)}",
    "{t between 5, 10}": "{t between 5 and 10}",
    "{~t > 5}": "{t~ > 5}",
    # units
    "{t > 25 degre}": "{t > 25 degree}",
    "{temperature~ > 25 degre}": "{temperature~ > 25 degC}",
    "{temperature~ > 25 degrees}": "{temperature~ > 25 degC}",
    "{t > 25 %%}": "{t > 25 %}",
    "{speed > 5 km\\h}": "{speed > 5 km/h}",
    # clauses
    "{door = open} for 5m": "{door = open} for 5 min",
    "{door = open} during 5 min": "{door = open} for 5 min",
    "{door = open} every 5 min": "{door = open} at most every 5 min",
    "{door = open} at most 5 min": "{door = open} at most every 5 min",
    "{door = open} cooldown 10 min": "{door = open} at most every 10 min",
    "{door = open} once": "{door = open} once until false",
    "{door = open} once untill false": "{door = open} once until false",
    "{door = open} once until not": "{door = open} once until false",
    "{t exists} absent 1 h": "{t exists} absent for 1 h",
    "{t exists} silent for 1 h": "{t exists} absent for 1 h",
    "{t > 5} treshold 0.6": "{t > 5} threshold 0.6",
    "{t~ > 5} threshold 60%": "{t~ > 5} threshold 0.6",
    "{t~ > 5} confidence = 0.9": "{t~ > 5} confidence 0.9",
    "{t > 5} valid 7 d": "{t > 5} valid for 7 d",
    "{t > 5} top 10 within 24h by t": "{t > 5} top 10 within 24h by value(t)",
    "{t > 5} top 10 over 24 h by value(t)": "{t > 5} top 10 within 24 h by value(t)",
    "{t > 5} for each room once until false": "{t > 5} per room once until false",
    "{t > 5} group by room once until false": "{t > 5} per room once until false",
    "{t > 5} select t": "{t > 5} select (t)",
}

# What nobody can be sure of has a problem in words and no correction.
UNCORRECTED = {
    "": "the text is empty",
    "{": "the text ends too early",
    "{}": "at least one predicate",
    "{t > abc}": "give a number",
    "{t > 5} per": "write it as in `per room`",
    "{t > 5} for": "write it as in `for 5 min`",
    "{t > 5} limit 10": "`limit` cannot stand here",
    "{t > 5} top 10": "expected `by` or `within`",
    "{t > 25 blorps}": "write one like degC",
    "{rainfall~ > 5 l/m2}": "'l/m2' is no unit of the table",
    "{temperature change~ > 2 degC/h}": "'degC/h' is no unit of the table",
    "{temperature~ > 25 kW}": "`kW` is not a unit of temperature",
    "{25 kW < indoor temperature~}": "a unit of temperature such as degC, degF or K",
    "{temperature~ between 5 and 6 %}": "`%` is not a unit of temperature",
    "{battery voltage~ = 3 degC}": "`degC` is not a unit of voltage",
    "[1, 2]": "expected `0`, `1` or `*`",
    "?x ?y": "ends too early",
}


@pytest.mark.parametrize(("text", "meant"), CORRECTED.items())
def test_a_habit_of_another_language_is_corrected(text: str, meant: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.correction == meant
    assert f"Did you mean: {meant}" in str(caught.value)
    assert parse(meant)


@pytest.mark.parametrize(("text", "problem"), UNCORRECTED.items())
def test_what_may_mean_anything_gets_no_correction(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert problem in str(caught.value)
    assert not getattr(caught.value, "correction", "")


def test_the_table_holds_sixty_wrong_inputs_and_more() -> None:
    assert len(CORRECTED) + len(UNCORRECTED) >= 60


@pytest.mark.parametrize(
    "text",
    [
        "{temperature > 25 kW}",
        "{noise temperature~ > 3 dB}",
        "{temperature sensor power~ > 25 kW}",
        "{temperature~ > 300 K}",
        "{energy~ > 5 kWh}",
        "{humidity~ > 5 g/m3}",
        "{speed~ > 900 rpm}",
    ],
)
def test_a_unit_is_refused_only_where_the_kind_is_certain(text: str) -> None:
    assert parse(text)


def test_text_in_quotes_is_never_rewritten() -> None:
    with pytest.raises(ParseError) as caught:
        parse('{name == "salt and pepper && 1,5"}')
    assert caught.value.correction == '{name = "salt and pepper && 1,5"}'


def test_a_unit_keeps_its_kind_of_error_beside_a_correction() -> None:
    with pytest.raises(UnitSyntaxError) as caught:
        parse("{t > 25 degre}")
    assert (caught.value.line, caught.value.column) == (1, 9)


def test_long_text_is_not_corrected() -> None:
    with pytest.raises(ParseError) as caught:
        parse("{city == " + "x" * MAX_LENGTH + "}")
    assert caught.value.correction == ""
