"""Values: numbers, quantities, intervals, and text that says a number."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InputError, InvalidSubscription, LikewiseError, UnitError
from likewise.model import Interval, Quantity, read_number, unit
from likewise.model.text import fold
from likewise.model.values import finite
from likewise.units import same_dimension

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400, -(10**400)])
def test_what_cannot_be_compared_is_no_number(number: float) -> None:
    """NaN, infinities and integers beyond 64-bit floating point, wherever they are put."""
    for make in (finite, lambda n: Quantity(n, "degC"), lambda n: Interval(low=n), lambda n: Interval(high=n)):
        with pytest.raises(InputError):
            make(number)


def test_a_quantity_needs_a_unit_of_the_table() -> None:
    """Any spelling through `of`; the value itself carries the symbol."""
    assert Quantity.of(25, "celsius") == Quantity(25.0, "degC")
    with pytest.raises(UnitError):
        Quantity(5.0, "pm")


@given(NUMBERS, NUMBERS, st.booleans(), st.booleans(), NUMBERS)
def test_an_interval_holds_what_lies_between_its_bounds(a: float, b: float, ao: bool, bo: bool, x: float) -> None:
    """Open bounds exclude; an empty interval cannot be made."""
    low, high = min(a, b), max(a, b)
    if low == high and (ao or bo):
        with pytest.raises(InvalidSubscription, match="is empty"):
            Interval(low, high, ao, bo)
        return
    interval = Interval(low, high, ao, bo)
    for number in (x, low, high):
        expected = (low < number or (low == number and not ao)) and (number < high or (number == high and not bo))
        assert interval.holds(number) == expected
    if low < high:
        with pytest.raises(InvalidSubscription, match="is empty"):
            Interval(high, low)


def test_a_missing_bound_is_open_to_infinity() -> None:
    """On either side, or both."""
    assert Interval(low=3).holds(1e308)
    assert not Interval(low=3, low_open=True).holds(3)
    assert Interval(high=3).holds(-1e308)
    assert Interval().holds(0)
    assert Interval(low=3).text() == "[3, ∞)"


def test_an_interval_in_a_unit_is_compared_in_the_base() -> None:
    """Both bounds are converted, offsets included."""
    base = Interval(20, 25, high_open=True, unit="degC").base()
    assert (base.low, base.high, base.high_open, base.unit) == (293.15, 298.15, True, "")
    with pytest.raises(UnitError):
        Interval(1, 2, unit="pm")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("27.5", 27.5),
        (" 27 ", 27.0),
        ("-3", -3.0),
        ("+.5", 0.5),
        ("1e3", 1000.0),
        ("5.", 5.0),
        ("81.2 °F", Quantity(81.2, "degF")),
        ("60%", Quantity(60.0, "%")),
        ("12 km/h", Quantity(12.0, "km/h")),
        ("1e3kWh", Quantity(1000.0, "kWh")),
    ],
)
def test_text_that_is_wholly_a_number_reads_as_one(text: str, expected: float | Quantity) -> None:
    """With or without a unit of the table."""
    assert read_number(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "room 112", "112 rooms", "5 pm", "1,000", "1 2", "0x10", "nan", "inf", "1e999", "--1", "٣", "1_000"],
)
def test_text_that_is_not_wholly_a_number_stays_text(text: str) -> None:
    """No guessing: other digits, separators and words are text."""
    assert read_number(text) is None


@given(st.text(max_size=30))
def test_reading_a_number_never_fails(text: str) -> None:
    """Whatever the text is."""
    read = read_number(text)
    assert read is None or math.isfinite(read.value if isinstance(read, Quantity) else read)


def test_units_of_one_dimension_compare_and_others_do_not() -> None:
    """The message names both dimensions."""
    same_dimension(unit("degC"), unit("degF"))
    with pytest.raises(UnitError, match=r"temperature.*mass"):
        same_dimension(unit("degC"), unit("kg"))


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    """And case, white space inside and around do not matter."""
    assert fold(fold(text)) == fold(text)
    assert fold(f"  {text}\t") == fold(text)


def test_folding_is_without_case_in_every_script() -> None:
    """As Unicode folds case."""
    assert fold("STRASSE  12") == fold("straße\n12")
    assert fold("ΣΊΣΥΦΟΣ") == fold("σίσυφος")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Quantity(1e308, "km"),
        lambda: Interval(low=25.0, high=25.0 + 4e-15, low_open=True, high_open=True, unit="degC"),
        lambda: Interval(high=1e308, unit="km"),
    ],
)
def test_what_cannot_be_compared_in_the_base_unit_is_refused_when_made(make: Callable[[], object]) -> None:
    """An overflow, or an interval that rounding empties, is an error at once and never while matching."""
    with pytest.raises(LikewiseError):
        make()
