"""Subscriptions: kinds, options, limits."""

from __future__ import annotations

import math
from typing import Any

import pytest

from likewise.defaults import MAX_K, MAX_TERM_LENGTH, MAX_THEMES, MAX_VECTOR, MAX_WINDOW_EVENTS
from likewise.errors import InputError, InvalidSubscription, LimitExceeded
from likewise.model import (
    Condition,
    Distance,
    GraphPattern,
    Interest,
    Not,
    Predicate,
    Relatedness,
    Statement,
    Statements,
    Subscription,
    Top,
    TriplePattern,
    ValueOf,
    WeightedSum,
    is_variable,
)

EXACT = Condition((Predicate("t", ">", 25.0),))
RELAXED = Condition((Predicate("a", "exists"), Not(Predicate("t", "exists", attribute_relaxed=True))))
TOP = Top(10, ValueOf("t"), duration=1)


@pytest.mark.parametrize(
    ("body", "top", "kind"),
    [
        (EXACT, None, "exact"),
        (RELAXED, None, "approximate"),
        (EXACT, TOP, "top"),
        (RELAXED, TOP, "top"),
        (Statements((Statement("type", "Football Match"),)), None, "statements"),
        (GraphPattern((TriplePattern("?e", "?p", "?o"),)), None, "pattern"),
        (Interest("10*"), None, "interest"),
    ],
)
def test_the_body_and_the_window_decide_the_kind(body: Any, top: Top | None, kind: str) -> None:
    """A relaxed part under `not` counts as well."""
    assert Subscription(body, top=top).kind == kind


@pytest.mark.parametrize(
    "make",
    [
        lambda: Subscription(EXACT, threshold=1.1),
        lambda: Subscription(EXACT, threshold=-0.1),
        lambda: Subscription(EXACT, threshold=math.nan),
        lambda: Subscription(EXACT, valid_for=0),
        lambda: Subscription(EXACT, themes=("power", " ")),
        lambda: Subscription(Interest("1"), top=TOP),
        lambda: Statements(()),
        lambda: Statement(" ", "x"),
        lambda: Statement("x", ""),
        lambda: GraphPattern(()),
        lambda: Interest(""),
        lambda: Interest("012"),
        lambda: Top(1, ValueOf("t"), duration=1, events=1),
        lambda: Top(1, ValueOf("t"), duration=0),
        lambda: Top(1, Distance(())),
        lambda: Top(1, WeightedSum(())),
        lambda: Top(1, ValueOf(" ")),
        lambda: Top(1, Distance((("", 1.0),))),
    ],
)
def test_what_cannot_be_asked_is_refused_when_it_is_made(make: Any) -> None:
    """With a message that says what to give instead."""
    with pytest.raises(InvalidSubscription):
        make()


@pytest.mark.parametrize("number", [math.nan, math.inf, 10**400])
def test_scoring_takes_numbers_that_can_be_compared(number: float) -> None:
    """Points and weights alike."""
    with pytest.raises(InputError):
        Top(1, Distance((("lat", number),)))
    with pytest.raises(InputError):
        Top(1, WeightedSum(((number, "pm10"),)))


def test_limits_hold_at_their_edge() -> None:
    """Each allowed value is fine, one more is not."""
    longest = "x" * MAX_TERM_LENGTH
    assert Subscription(EXACT, id=longest, themes=("t",) * MAX_THEMES).id == longest
    assert Top(MAX_K, Relatedness(), events=MAX_WINDOW_EVENTS).k == MAX_K
    assert Interest("1" * MAX_VECTOR).vector
    for make in (
        lambda: Subscription(EXACT, id=longest + "x"),
        lambda: Subscription(EXACT, themes=("t",) * (MAX_THEMES + 1)),
        lambda: Subscription(EXACT, themes=(longest + "x",)),
        lambda: Top(MAX_K + 1, Relatedness()),
        lambda: Top(0, Relatedness()),
        lambda: Top(1, Relatedness(), events=MAX_WINDOW_EVENTS + 1),
        lambda: Top(1, Relatedness(), events=0),
        lambda: Top(1, ValueOf(longest + "x")),
        lambda: Interest("1" * (MAX_VECTOR + 1)),
        lambda: Statement(longest + "x", "y"),
    ):
        with pytest.raises(LimitExceeded):
            make()


def test_variables_are_listed_once_in_order() -> None:
    """Over all patterns."""
    pattern = GraphPattern((TriplePattern("?b", "<x:p>", "?a"), TriplePattern("?a", "?b", '"?c"')))
    assert pattern.variables() == ("?b", "?a")
    assert is_variable("?x")
    assert not is_variable('"?x"')


def test_a_subscription_is_a_value() -> None:
    """Equal and hashable by content, and nothing can change it."""
    one = Subscription(EXACT, "s", ("power",), TOP, 0.5, 7)
    assert one == Subscription(
        Condition((Predicate("t", ">", 25.0),)), "s", ("power",), Top(10, ValueOf("t"), 1), 0.5, 7
    )
    assert len({one, Subscription(EXACT, "s"), Subscription(EXACT, "s")}) == 2
    with pytest.raises(AttributeError):
        one.id = "other"  # type: ignore[misc]
