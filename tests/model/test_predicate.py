"""Predicates: what each operator takes, what is refused, and the interval a comparison asks for."""

from __future__ import annotations

import math
from typing import Any

import pytest

from likewise.defaults import MAX_IN_VALUES, MAX_TERM_LENGTH
from likewise.errors import InputError, InvalidSubscription, LimitExceeded
from likewise.model import OPERATORS, Interval, Predicate, Quantity

VALUES: dict[str, Any] = {
    "text": "a",
    "number": 1.5,
    "whole": 2,
    "boolean": True,
    "quantity": Quantity(1.0, "degC"),
    "range": Interval(1, 2),
    "half range": Interval(low=1),
    "list": ("a", 1.0),
    "nothing": None,
}
COMPARE = frozenset({"number", "whole", "quantity"})
TAKES = {
    **dict.fromkeys(["<", "<=", ">", ">="], COMPARE),
    **dict.fromkeys(["=", "!="], COMPARE | {"text", "boolean"}),
    **dict.fromkeys(["contains", "starts with", "ends with", "under", "is-a", "matches"], frozenset({"text"})),
    "between": {"range"},
    "in": {"list"},
    "exists": {"nothing"},
}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", VALUES)
def test_an_operator_takes_what_it_can_mean_and_nothing_else(operator: Any, kind: str) -> None:
    """The error says what it takes."""
    if kind in TAKES[operator]:
        assert Predicate("a", operator, VALUES[kind]).value == VALUES[kind]
    else:
        with pytest.raises(InvalidSubscription, match=r"does not take .*; (give|it takes)"):
            Predicate("a", operator, VALUES[kind])


def test_an_unknown_operator_is_refused_with_the_known_ones() -> None:
    """Not silently never true."""
    with pytest.raises(InvalidSubscription, match="'==' is not an operator; use one of =, !="):
        Predicate("a", "==", 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", VALUES)
def test_only_the_text_after_equals_can_be_relaxed(operator: Any, kind: str) -> None:
    """`~` on a number, a range or another operator's value is an error."""
    if kind not in TAKES[operator]:
        return
    if operator == "=" and kind == "text":
        assert Predicate("a", operator, VALUES[kind], value_relaxed=True).relaxed_parts == 1
    else:
        with pytest.raises(InvalidSubscription, match="relaxes the text after"):
            Predicate("a", operator, VALUES[kind], value_relaxed=True)
    assert Predicate("a", operator, VALUES[kind], attribute_relaxed=True).relaxed_parts == 1


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_blank_text_is_refused_where_it_says_nothing(blank: str) -> None:
    """As an attribute, and no text at all inside another; an empty value can be asked for, and a blank looked for."""
    with pytest.raises(InvalidSubscription, match="is empty"):
        Predicate(blank, "=", 1.0)
    with pytest.raises(InvalidSubscription, match="is empty"):
        Predicate("a", "contains", "")
    assert Predicate("a", "=", blank).value == blank
    assert Predicate("a", "in", ("x", blank)).value == ("x", blank)
    assert Predicate("a", "contains", " ").value == " "
    with pytest.raises(InvalidSubscription):
        Predicate("a", "in", ())


def test_limits_hold_at_their_edge() -> None:
    """The longest term and list are fine, one more is not; 10 MB are refused as quickly."""
    longest = "x" * MAX_TERM_LENGTH
    assert Predicate(longest, "=", longest).attribute == longest
    assert len(Predicate("a", "in", ("x",) * MAX_IN_VALUES).value) == MAX_IN_VALUES  # type: ignore[arg-type]
    for attribute, operator, value in (
        (longest + "x", "=", 1.0),
        ("a", "=", longest + "x"),
        ("a", "in", (longest + "x",)),
        ("a", "in", ("x",) * (MAX_IN_VALUES + 1)),
        ("a", "=", "x" * 10_000_000),
    ):
        with pytest.raises(LimitExceeded) as caught:
            Predicate(attribute, operator, value)  # type: ignore[arg-type]
        assert caught.value.code == "limit"
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("number", [math.nan, math.inf, 10**400])
def test_numbers_that_cannot_be_compared_are_refused(number: float) -> None:
    """Alone and in a list."""
    with pytest.raises(InputError):
        Predicate("a", "=", number)
    with pytest.raises(InputError):
        Predicate("a", "in", (1.0, number))


@pytest.mark.parametrize(
    ("operator", "text"),
    [("=", "[5, 5] degC"), ("<", "(-∞, 5) degC"), ("<=", "(-∞, 5] degC"), (">", "(5, ∞) degC"), (">=", "[5, ∞) degC")],
)
def test_a_comparison_asks_for_an_interval(operator: Any, text: str) -> None:
    """With the unit of its quantity."""
    predicate = Predicate("t", operator, Quantity(5.0, "degC"))
    interval = predicate.interval()
    assert interval is not None
    assert interval.text() == text
    assert predicate.unit == "degC"


def test_what_compares_no_numbers_asks_for_no_interval() -> None:
    """Texts, Booleans, lists, differences and presence."""
    for operator, value in (("=", "5"), ("=", True), ("!=", 5.0), ("in", (5.0,)), ("exists", None), ("contains", "5")):
        assert Predicate("t", operator, value).interval() is None  # type: ignore[arg-type]
    assert Predicate("t", "in", ("a", Quantity(1.0, "K"))).unit == "K"
    assert Predicate("t", "exists").unit == ""


def test_a_predicate_cannot_be_changed_and_is_equal_by_value() -> None:
    """So it can be a key."""
    one, other = Predicate("a", "=", "x"), Predicate("a", "=", "x")
    assert one == other
    assert len({one, other, Predicate("a", "=", "x", True)}) == 2
    with pytest.raises(AttributeError):
        one.attribute = "b"  # type: ignore[misc]
