"""Covering, equality and intersection: exact where promised, never wrong in the forbidden direction elsewhere."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.matching.covering.compatibility import compatible
from likewise.matching.covering.covering import covers, equivalent, implies, intersects
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.reference.operators import meets
from likewise.model import Any as Either
from likewise.model import (
    Condition,
    Conjunction,
    Event,
    EventTuple,
    Interval,
    Not,
    Predicate,
    Quantity,
    Subscription,
    TimestampValue,
    event,
)
from likewise.testing.generators import SeededChoice
from likewise.testing.generators import condition as any_condition
from likewise.testing.generators import event as any_event
from likewise.testing.generators import predicate as any_predicate


def only(*predicates: Predicate) -> Condition:
    return Condition(predicates)


def meets_condition(condition: Condition, seen: Event) -> bool:
    engine = OracleEngine()
    engine.add(0, Subscription(condition), 0)
    return len(engine.find(seen, 0).ordinals) == 1


# -- one tuple: every pair of operators against every value that could tell them apart -------------

NUMBERS = [-1, 0, 0.5, 1, 1.5, 2, 3]
COMPARING = [
    *(Predicate("x", op, bound) for op in ("<", "<=", "=", "!=", ">", ">=") for bound in (0.0, 1.0, 2.0)),
    *(
        Predicate("x", "between", Interval(low, high, low_open, high_open))
        for low, high in ((0.0, 1.0), (0.0, 2.0), (1.0, 2.0))
        for low_open in (False, True)
        for high_open in (False, True)
    ),
    Predicate("x", "in", (0.0, 1.0)),
    Predicate("x", "in", (1.0,)),
    Predicate("x", "exists"),
]
PIECES = ("", "a", "b", "ab", "a/b", "a.b", "a/", "z", ".", "/")
WORDS = sorted({"".join(pieces) for pieces in product(PIECES, repeat=4)})
WORDING = [
    *(
        Predicate("x", op, text)
        for op in ("contains", "starts with", "ends with", "under", "=", "!=")
        for text in ("a", "b", "ab", "a/b", "a.b", "a/", "A")
    ),
    Predicate("x", "in", ("a", "b")),
    Predicate("x", "in", ("A",)),
    Predicate("x", "exists"),
]
MIXING = [
    *(Predicate("x", op, value) for op in ("=", "!=") for value in (True, False, "true", "1", 1.0, "a")),
    Predicate("x", ">", 0.0),
    Predicate("x", "in", (True, 1.0)),
    Predicate("x", "in", ("true", "1")),
    Predicate("x", "!=", "5 km"),
    Predicate("x", "contains", "1"),
    Predicate("x", "starts with", "t"),
    Predicate("x", "exists"),
]
MIXED = [
    True,
    False,
    "true",
    "TRUE",
    "false",
    "1",
    "1.0",
    1,
    1.5,
    0,
    -1,
    "a",
    "b",
    "tea",
    "t1",
    "x1y",
    "5 km",
    "5 KM",
    "",
    "21",
]
CASES = pytest.mark.parametrize(
    ("predicates", "values"),
    [(COMPARING, NUMBERS), (WORDING, WORDS), (MIXING, MIXED)],
    ids=["numbers", "text", "mixed"],
)


def values_met(predicate: Predicate, values: list[str | float | bool]) -> frozenset[int]:
    return frozenset(i for i, value in enumerate(values) if meets(predicate, EventTuple("x", value)))


@CASES
def test_implication_is_exact_for_one_tuple(predicates: list[Predicate], values: list[str | float | bool]) -> None:
    """Yes just when no value meets the narrow predicate alone; the values tell all these predicates apart."""
    met = [values_met(p, values) for p in predicates]
    for narrow, narrow_met in zip(predicates, met, strict=True):
        for wide, wide_met in zip(predicates, met, strict=True):
            assert implies(narrow, wide) == (narrow_met <= wide_met), (narrow, wide)


@CASES
def test_compatibility_is_exact_for_pairs_on_one_tuple(
    predicates: list[Predicate], values: list[str | float | bool]
) -> None:
    """Yes just when some value meets both."""
    met = [values_met(p, values) for p in predicates]
    for one, one_met in zip(predicates, met, strict=True):
        for other, other_met in zip(predicates, met, strict=True):
            assert compatible((one, other)) == bool(one_met & other_met), (one, other)


def test_a_type_implies_wider_types_only_and_fits_any_text() -> None:
    """A declared type need not be spelled like what it is a kind of."""
    narrow, wide = Predicate("x", "is-a", "a/b"), Predicate("x", "is-a", "A")
    assert implies(narrow, wide)
    assert not implies(wide, narrow)
    assert not implies(narrow, Predicate("x", "starts with", "a"))
    assert compatible((narrow, Predicate("x", "=", "thermometer")))


def test_topics_and_times_are_not_reasoned_about() -> None:
    """Equal ones cover each other; anything else is open."""
    topic, when = Predicate("x", "matches", "a/+"), Predicate("x", ">", TimestampValue("2024-05-01"))
    assert implies(topic, topic)
    assert not implies(topic, Predicate("x", "starts with", "a"))
    assert not implies(Predicate("x", "=", "a/b"), topic)  # which is compared folded, and the topic is not
    assert implies(Predicate("x", ">", TimestampValue("2024-05-02")), when)
    assert not implies(when, Predicate("x", ">", 0.0))
    assert compatible((topic, when, Predicate("x", "<", 3.0)))


# -- conditions -----------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
def test_covering_never_errs_towards_yes(seed: int) -> None:
    """Any two conditions, with `or`, `not`, units and repeated attributes: no event meets the covered one alone."""
    choice = SeededChoice(seed)
    conditions = [any_condition(choice, relaxed=False) for _ in range(6)]
    events = [any_event(choice, frozenset({"exact"}), None, 0) for _ in range(25)]
    met = [[meets_condition(c, e) for e in events] for c in conditions]
    for a, met_a in zip(conditions, met, strict=True):
        assert covers(a, a)
        for b, met_b in zip(conditions, met, strict=True):
            if covers(a, b):
                assert all(x or not y for x, y in zip(met_a, met_b, strict=True)), (a, b)


@given(st.integers(0, 2**32))
def test_implication_never_errs_towards_yes_with_units(seed: int) -> None:
    """Readings with a stated unit, one in the name, or none: none meets the narrow predicate alone."""
    choice = SeededChoice(seed)
    symbols = ("degC", "degF", "K", "km/h", "")
    attribute = choice.pick(("x", "x_c", "x_f", "x_kmh"))
    for _ in range(10):
        narrow, wide = (_with_unit(choice, attribute, choice.pick(symbols)) for _ in range(2))
        implied, fitting = implies(narrow, wide), compatible((narrow, wide))
        for number in (*range(-5, 90, 5), 250, 273.15, 298.15, 300):
            for symbol in symbols:
                item = EventTuple(attribute, number, symbol)
                if meets(narrow, item):
                    assert meets(wide, item) or not implied, (narrow, wide, item)
                    assert fitting or not meets(wide, item), (narrow, wide, item)


def _with_unit(choice: SeededChoice, attribute: str, symbol: str) -> Predicate:
    number = float(choice.pick((-5, 0, 20, 25, 30, 68, 77, 86, 298.15)))
    operator = choice.pick(("<", "<=", "=", "!=", ">", ">=", "between"))
    if operator == "between":
        return Predicate(attribute, "between", Interval(number, number + choice.integer(0, 60), unit=symbol))
    return Predicate(attribute, operator, Quantity(number, symbol) if symbol else number)  # type: ignore[arg-type]


@given(st.integers(0, 2**32))
def test_intersection_never_errs_towards_no(seed: int) -> None:
    """An event with one value an attribute that meets both conditions is proof that they intersect."""
    choice = SeededChoice(seed)
    conditions = [any_condition(choice, relaxed=False) for _ in range(5)]
    for _ in range(40):
        drawn = any_event(choice, frozenset({"exact"}), None, 0)
        seen = Event(tuple({t.attribute.strip().casefold(): t for t in drawn.tuples}.values()))
        met = [c for c in conditions if meets_condition(c, seen)]
        assert all(intersects(a, b) for a in met for b in met)


@given(st.integers(0, 2**32))
def test_what_covers_intersects_and_intersection_is_symmetric(seed: int) -> None:
    """For single predicates, which can always be met."""
    choice = SeededChoice(seed)
    for _ in range(30):
        a, b = only(any_predicate(choice, relaxed=False)), only(any_predicate(choice, relaxed=False))
        assert intersects(a, b) == intersects(b, a)
        assert intersects(a, a)
        if covers(a, b):
            assert intersects(a, b)


def test_defect_3_identical_betweens_cover_equal_and_intersect_each_other() -> None:
    """In CUPUS `between` never covered, intersected or equalled an identical `between`."""
    a = only(Predicate("x", "between", Interval(1, 2)))
    b = only(Predicate("X ", "between", Interval(1.0, 2.0)))
    assert covers(a, b)
    assert covers(b, a)
    assert equivalent(a, b)
    assert intersects(a, b)
    quantities = only(Predicate("t", "between", Interval(1, 2, unit="degC")))
    assert equivalent(quantities, quantities)


def test_defect_3_announcing_9_does_not_match_7() -> None:
    """Nor does any other pair that no one value satisfies."""
    announced = only(Predicate("x", "=", 9.0))
    assert not intersects(announced, only(Predicate("x", "=", 7.0)))
    assert not intersects(announced, only(Predicate("x", "<", 9.0)))
    assert not intersects(announced, only(Predicate("x", "in", (7.0, "nine"))))
    assert not intersects(only(Predicate("x", "starts with", "ab")), only(Predicate("x", "=", "ba")))
    assert intersects(announced, only(Predicate("x", "between", Interval(5, 10))))


def test_an_attribute_the_announcement_does_not_mention_is_open() -> None:
    """But one it does mention constrains."""
    announced = only(Predicate("type", "=", "no2"), Predicate("value", ">=", 0.0))
    assert intersects(announced, only(Predicate("type", "=", "NO2"), Predicate("station", "=", "ST01")))
    assert not intersects(announced, only(Predicate("value", "<", 0.0), Predicate("station", "=", "ST01")))


def test_intersection_joins_all_that_both_sides_ask_of_an_attribute() -> None:
    """Three bounds of which any two can be met, but not all three."""
    announced = only(Predicate("x", ">=", 0.0), Predicate("x", "<=", 10.0))
    assert intersects(announced, only(Predicate("x", ">", 9.0)))
    assert not intersects(announced, only(Predicate("x", ">", 10.0)))
    assert not intersects(only(Predicate("x", ">=", 5.0), Predicate("x", "<=", 5.0)), only(Predicate("x", "!=", 5.0)))


def test_values_of_a_list_and_attributes_meant_to_repeat_are_open() -> None:
    """`tags[]` may hold both; who asks for two teams means events with two teams."""
    assert intersects(only(Predicate("tags[]", "=", "a")), only(Predicate("tags[]", "=", "b")))
    teams = only(Predicate("team", "=", "Spain"), Predicate("team", "=", "Italy"))
    assert intersects(teams, only(Predicate("team", "=", "Spain")))


def test_more_predicates_are_covered_by_fewer() -> None:
    """And not the other way round; `exists` covers every demand on its attribute."""
    one = only(Predicate("x", ">", 1.0))
    two = only(Predicate("x", ">", 2.0), Predicate("y", "=", "a"))
    assert covers(one, two)
    assert not covers(two, one)
    assert covers(only(Predicate("y", "exists")), two)
    assert not covers(only(Predicate("z", "exists")), two)


def test_repeated_attributes_keep_one_interval_from_covering_two_bounds() -> None:
    """Readings 0 and 5 meet `x >= 1, x <= 2` by one tuple each, and `between` by none."""
    interval, bounds = (
        only(Predicate("x", "between", Interval(1, 2))),
        only(Predicate("x", ">=", 1.0), Predicate("x", "<=", 2.0)),
    )
    twice = Event((EventTuple("x", 0), EventTuple("x", 5)))
    assert meets_condition(bounds, twice)
    assert not meets_condition(interval, twice)
    assert covers(bounds, interval)
    assert not covers(interval, bounds)


def test_units_cover_in_the_base_only_if_bare_readings_agree() -> None:
    """A bare 30 is above 25 degC and not above 77 degF, so neither equality nor that covering holds."""
    celsius = only(Predicate("t", ">", Quantity(25.0, "degC")))
    fahrenheit = only(Predicate("t", ">", Quantity(77.0, "degF")))
    assert covers(celsius, fahrenheit)
    assert not covers(fahrenheit, celsius)
    assert meets_condition(celsius, event({"t": 30}))
    assert not meets_condition(fahrenheit, event({"t": 30}))
    assert not covers(only(Predicate("t", ">", Quantity(25.0, "kg"))), celsius)
    cold, warm = Predicate("t", "<", Quantity(10.0, "degC")), Predicate("t", ">", Quantity(60.0, "degF"))
    assert not intersects(only(cold), only(warm))


def test_one_and_true_are_different_though_equal_in_python() -> None:
    """Neither covers the other, alone or in a set."""
    assert not covers(only(Predicate("x", "=", 1.0)), only(Predicate("x", "=", True)))
    assert not covers(only(Predicate("x", "in", (1.0,))), only(Predicate("x", "in", (True,))))
    assert not intersects(only(Predicate("x", "=", 1.0)), only(Predicate("x", "=", True)))


def test_not_and_or_cover_where_it_is_certain() -> None:
    """A wider prohibition is covered by a narrower one; each alternative needs a cover."""
    off = Predicate("status", "=", "off")
    some_text = Predicate("status", "starts with", "o")
    here = Predicate("x", "exists")
    assert covers(only(here, Not(off)), only(here, Not(some_text)))  # type: ignore[arg-type]
    assert not covers(only(here, Not(some_text)), only(here, Not(off)))  # type: ignore[arg-type]
    assert covers(Condition((Either((here, off)),)), only(off))
    assert not covers(only(off), Condition((Either((here, off)),)))
    assert not intersects(only(off), Condition((Not(some_text),)))


def test_conjunctions_are_accepted_as_they_are() -> None:
    """What a condition expands to can be compared by itself."""
    wide, narrow = Conjunction((Predicate("x", ">", 1.0),)), Conjunction((Predicate("x", "=", 2.0),))
    assert covers(wide, narrow)
    assert intersects(wide, narrow)


def test_a_relaxed_condition_is_covered_by_an_equal_one_only_and_open_to_intersection() -> None:
    """Nothing is known here about relatedness."""
    laptop = only(Predicate("device", "=", "laptop", True, True))
    assert covers(laptop, only(Predicate("device", "=", "laptop", True, True)))
    assert not covers(only(Predicate("device", "exists")), laptop)
    assert intersects(laptop, only(Predicate("device", "=", "computer")))
