"""A stated unit is never ignored: wherever it stands, and whether or not it is in a table."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import ParseError
from likewise.language import parse, subscription_text
from likewise.model import Condition, Predicate, event, reading_unit, unit
from likewise.units import UNKNOWN, all_units, any_unit, decimal_fraction, stated_units, units_of_dimension
from tools.make_unit_table import BASES, exact
from tools.qudt_units import pint_expression


def said(obj: dict[str, object]) -> list[tuple[str, str]]:
    return [(t.attribute, t.unit) for t in event(obj).tuples]


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("KEL", "K"),
        ("FAH", "degF"),
        ("CEL", "degC"),
        ("Cel", "degC"),
        ("[degF]", "degF"),
        ("ng/m3", "ng/m3"),
        ("ng/m³", "ng/m3"),
        ("ug.m-3", "ug/m3"),
        ("GQ", "ug/m3"),
        ("unit:DEG_F", "degF"),
        ("P1", "%"),
        ("KMH", "km/h"),
        ("http://qudt.org/vocab/unit/KiloW-HR", "kWh"),
        ("furlong", "furlong"),
        ("nanogram", "ng"),
        ("µV", "uV"),
        ("MegaHZ", "MHz"),
        ("m·s⁻¹", "m/s"),
        ("f", "degF"),
        ("delta_degC", "delta_degC"),
        ("Δ°C", "delta_degC"),
    ],
)
def test_units_are_read_as_machines_and_people_state_them(text: str, symbol: str) -> None:
    """UN/CEFACT's, UCUM's and QUDT's names, prefixes by rule, other signs for the same."""
    assert stated_units(text)[0].symbol == symbol


@pytest.mark.parametrize("stated", ["blorps", "raw", "??", "mpa"])
def test_an_unknown_stated_unit_fits_no_question(stated: str) -> None:
    """Neither what is in no table nor what only its case would tell (`MPa`, `mPa`) is taken for the unit asked for."""
    found = reading_unit("pressure", stated, unit("kPa"))
    assert found is not None
    assert found.dimension == UNKNOWN


@pytest.mark.parametrize("stated", ["", " ", "none", "-", "N/A"])
def test_a_field_that_says_there_is_no_unit_states_none(stated: str) -> None:
    """What stands in the name still counts."""
    assert reading_unit("pressure", stated, unit("kPa")) is None
    assert reading_unit("pressure_hpa", stated, unit("kPa")) == unit("hPa")


def test_a_letter_that_stands_for_two_units_is_the_one_that_fits() -> None:
    """F is a temperature for who asks for one, a capacitance for others."""
    assert reading_unit("x", "F", unit("degC")) == unit("degF")
    fitting = reading_unit("x", "F", unit("uF"))
    assert fitting is not None
    assert fitting.symbol == "farad"
    assert reading_unit("x", "K", unit("delta_degC")) == unit("delta_degC")


def test_a_field_for_the_unit_belongs_to_the_number_beside_it() -> None:
    """To `value`, to the field it is named after, to the only number, or to the one whose kind fits."""
    assert said({"a": {"value": "81.2", "unit": "F"}}) == [("a", "F")]
    assert said({"value": "81.2", "unit": "F"}) == [("value", "F"), ("unit", "")]
    assert said({"temperature": 81.2, "unit": "F"}) == [("temperature", "F"), ("unit", "")]
    assert said({"temperature": 81.2, "battery": 80, "unit": "F"})[:2] == [("temperature", "F"), ("battery", "")]
    assert said({"a": 1, "b": 2, "unit": "F"})[:2] == [("a", ""), ("b", "")]
    assert said({"t": 1, "t_unit": "F", "p": 2, "pUnit": "hPa"})[::2] == [("t", "F"), ("p", "hPa")]
    assert said({"t": {"type": "Property", "value": 3, "unitCode": "CEL"}})[1] == ("t.value", "CEL")


def test_the_u_of_senml_is_the_unit_of_its_v_inside_plain_json() -> None:
    """And its name is what the value is called."""
    made = event({"e": [{"n": "temp", "u": "Cel", "v": 21.5}, {"n": "hum", "u": "%RH", "v": "60"}]})
    assert [(t.attribute, t.unit, t.group) for t in made.tuples if t.attribute == "e[].v"] == [
        ("e[].v", "Cel", 1),
        ("e[].v", "%RH", 2),
    ]
    alone = event({"n": "temp", "u": "Cel", "v": 21.5})
    assert {t.group for t in alone.tuples} == {1}
    assert said({"u": 3, "v": 4}) == [("u", ""), ("v", "")]


def test_every_unit_that_qudt_names_and_pint_knows_has_the_factor_pint_computes() -> None:
    """Exactly, as a fraction; over the names of the second table."""
    from likewise.units.lookup import _more

    checked = 0
    for code, hits in _more()[2].exact.items():
        found, expression = hits[0], pint_expression(code) if code.replace("-", "").replace("_", "").isalnum() else None
        if expression is None or len(hits) > 1 or len(code) < 4 or BASES.get(found.dimension, "1") == "1":
            continue
        if "count" in expression or found.dimension in ("temperature", "density of flow"):
            continue
        try:
            expected = exact(expression, found.dimension)[0]
        except Exception:  # QUDT and pint disagree about the dimension of angles and counts
            continue
        assert Fraction(*found.ratio) == expected, code
        checked += 1
    assert checked > 600


def test_every_unit_of_both_tables_can_be_written_in_a_subscription() -> None:
    """It prints back to text that parses to the same value, and is found by its symbol."""
    for found in all_units():
        assert unit(found.symbol) == found
        made = parse(f"{{a > 1.5 {found.symbol}}}")
        assert parse(subscription_text(made)) == made, found.symbol
        assert isinstance(made.body, Condition)
        (asked,) = made.body.items
        assert isinstance(asked, Predicate)
        assert asked.unit == found.symbol


@pytest.mark.parametrize("text", ["5 pm", "5 am", "5 PM", "12 b", "1 2", "5 at", "3 as"])
def test_what_may_be_something_else_is_no_unit_in_a_text(text: str) -> None:
    """Times of day, house numbers, codes."""
    assert lw.event({"a": text}).tuples[0].reading() is None
    assert any_unit(text.split()[1]) is None


@given(st.integers(-(10**9), 10**9), st.integers(0, 6), st.sampled_from(["degF", "km/h", "psi", "ms", "kB", "ng/m3"]))
def test_a_number_is_converted_as_it_is_written_and_rounded_once(digits: int, places: int, symbol: str) -> None:
    """The nearest float64 of the exact fraction, or the whole number itself."""
    value, found = float(f"{digits}e-{places}"), unit(symbol)
    expected = Fraction(digits, 10**places) * Fraction(*found.ratio) + Fraction(*found.shift)
    assert Fraction(*decimal_fraction(value)) == Fraction(digits, 10**places)
    assert found.to_base(value) == (int(expected) if expected.denominator == 1 else float(expected))


def test_times_are_exact_to_the_microsecond() -> None:
    """Seconds with six decimals and whole microseconds are the same moment, and the next one is another."""
    assert unit("s").to_base(1700000000.123456) == unit("us").to_base(1700000000123456)
    assert unit("s").to_base(1700000000.123456) < unit("us").to_base(1700000000123457)


def test_differences_of_temperature_are_not_temperatures() -> None:
    """9 degrees Fahrenheit more are 5 degrees Celsius more; neither is a reading of a thermometer."""
    assert unit("delta_degF").to_base(9) == unit("delta_degC").to_base(5) == 5
    assert unit("delta_degC").dimension != unit("degC").dimension
    assert unit("delta_degC") in units_of_dimension("temperature difference")


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("{t > 25 degCC}", 9, "did you mean degC"),
        ("{t > 25 blorps}", 9, "write one like"),
        ("{a = 1, wind between 3 and 5 kmhh}", 30, "did you mean kmh"),
        ("{t > 1 degC, 3 < x < 7 kWhh}", 24, "did you mean kWh"),
    ],
)
def test_a_mistake_in_a_unit_has_a_caret_and_a_suggestion(text: str, column: int, says: str) -> None:
    """The place is that of the unit."""
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.column == column
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "stated"), [("kg", "ft"), ("B", "dB"), ("t", "ft"), ("Mg/m3", "GJ"), ("bit", "dB"), ("kg", "kt")]
)
def test_an_everyday_unit_is_no_rare_code(asked: str, stated: str) -> None:
    """`ft` are feet, not femtotonnes: what measures something else does not fit, however it may be read."""
    found = reading_unit("x", stated, unit(asked))
    assert found is not None
    assert found.dimension != unit(asked).dimension


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("power_MW", "MW"),
        ("power_mW", "mW"),
        ("power_mw", "mW"),
        ("POWER_MW", "mW"),
        ("energy_MWh", "MWh"),
        ("energyMWh", "MWh"),
        ("energy_GWh", "GWh"),
        ("energy_mWh", "mWh"),
        ("energy_kwh", "kWh"),
        ("battery_mV", "mV"),
        ("pressure_MPa", "MPa"),
        ("temperature [°F]", "degF"),
        ("Temp. in °C", "degC"),
        ("battery_%", "%"),
    ],
)
def test_a_prefix_and_a_sign_in_a_name_count_as_they_are_written(name: str, symbol: str) -> None:
    """A megawatt is no milliwatt, and a sign is a unit."""
    found = reading_unit(name, "", unit(symbol))
    assert found is not None
    assert found.symbol == symbol


@pytest.mark.parametrize("name", ["temp_10cm", "soil_temperature_0_to_7cm", "temperature_2m", "temp_24h"])
def test_how_deep_or_long_is_not_what_a_reading_is_in(name: str) -> None:
    """A temperature ten centimetres below the ground is still one in degrees."""
    assert reading_unit(name, "", unit("degC")) is None
