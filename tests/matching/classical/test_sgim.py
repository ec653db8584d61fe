"""SGIM against the plain evaluation, and its classes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DuplicateId, UnknownId
from likewise.matching.classical.sgim import AttributeGroups, SgimEngine, sturges
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import (
    Condition,
    Event,
    EventTuple,
    Interest,
    Interval,
    Kind,
    Predicate,
    Quantity,
    Subscription,
    event,
)
from likewise.testing.generators import SeededChoice
from likewise.testing.generators import event as any_event
from likewise.testing.generators import subscription as any_subscription

KINDS: frozenset[Kind] = frozenset({"exact", "interest"})


def between(low: float, high: float, attribute: str = "x") -> Subscription:
    return Subscription(Condition((Predicate(attribute, "between", Interval(low, high)),)))


def groups_of(engine: SgimEngine) -> Iterator[AttributeGroups]:
    for by_unit in engine._groups.values():
        yield from by_unit.values()


@given(st.integers(0, 2**32))
def test_equals_the_plain_evaluation_while_subscriptions_come_and_go(seed: int) -> None:
    """Conditions and interests, any event, additions and removals in any order: the same ordinals as the oracle."""
    choice = SeededChoice(seed)
    sgim, naive = SgimEngine(), OracleEngine()
    held: list[int] = []
    for ordinal in range(40):
        if held and choice.integer(0, 2) == 0:
            gone = held.pop(choice.integer(0, len(held) - 1))
            sgim.remove(gone)
            naive.remove(gone)
        subscription = any_subscription(choice, choice.pick(("exact", "exact", "interest")), f"s{ordinal}")
        sgim.add(ordinal, subscription, 0)
        naive.add(ordinal, subscription, 0)
        held.append(ordinal)
        for _ in range(3):
            seen = any_event(choice, KINDS, None, 0)
            assert sgim.find(seen, 0).ordinals.tolist() == naive.find(seen, 0).ordinals.tolist()


@given(st.integers(0, 2**32))
def test_equals_the_plain_evaluation_over_many_overlapping_ranges(seed: int) -> None:
    """Enough ranges that classes are made anew several times, some half open, some points."""
    choice = SeededChoice(seed)
    sgim, naive = SgimEngine(), OracleEngine()
    held: list[int] = []
    for ordinal in range(150):
        bound = float(choice.integer(-50, 50))
        predicates = [
            choice.pick(
                (
                    Predicate("x", ">", bound),
                    Predicate("x", "<=", bound),
                    Predicate("x", "=", bound),
                    Predicate("x", "between", Interval(bound, bound + choice.integer(0, 30))),
                )
            )
        ]
        if choice.integer(0, 1):
            low = float(choice.integer(0, 90))
            predicates += [Predicate("y", ">=", low), Predicate("y", "<=", low + 10)]
        for engine in (sgim, naive):
            engine.add(ordinal, Subscription(Condition(tuple(predicates))), 0)
        held.append(ordinal)
        if choice.integer(0, 2) == 0:
            gone = held.pop(choice.integer(0, len(held) - 1))
            sgim.remove(gone)
            naive.remove(gone)
    for _ in range(20):
        seen = event({"x": choice.integer(-60, 90), "y": choice.integer(-10, 110)})
        assert sgim.find(seen, 0).ordinals.tolist() == naive.find(seen, 0).ordinals.tolist()


def test_classes_follow_sturges_rule_and_are_made_anew_when_the_population_doubles() -> None:
    """At every doubling 1 + log2 n classes; between doublings the number stays."""
    engine = SgimEngine()
    for ordinal in range(300):
        engine.add(ordinal, between(ordinal, ordinal + 10), 0)
        (groups,) = groups_of(engine)
        doubled = 1 << (groups.population.bit_length() - 1)
        assert len(groups.classes) == sturges(doubled)
    assert len(groups.classes) == sturges(256) == 9


def test_every_class_covers_its_ranges_also_after_removals() -> None:
    """The interval an event is compared with is never too narrow, and narrows once half the class has gone."""
    engine = SgimEngine()
    for ordinal in range(200):
        engine.add(ordinal, between(ordinal, ordinal + 10), 0)
    (groups,) = groups_of(engine)
    widest = [(each.low, each.high) for each in groups.classes if each.members]
    for ordinal in range(0, 200):
        if ordinal % 10:
            engine.remove(ordinal)
            for each in groups.classes:
                assert all(each.low <= m.low and m.high <= each.high for m in each.members)
    narrowed = [(each.low, each.high) for each in groups.classes if each.members]
    assert len(narrowed) == len(widest)
    assert any(now != before for now, before in zip(narrowed, widest, strict=True))


def test_an_event_looks_into_few_of_the_classes() -> None:
    """What is pruned is most of the population: narrow ranges, one value."""
    engine = SgimEngine()
    for ordinal in range(1024):
        engine.add(ordinal, between(ordinal, ordinal + 1), 0)
    (groups,) = groups_of(engine)
    looked_into = [len(each.members) for each in groups.classes if each.low <= 500.5 <= each.high]
    assert sum(looked_into) < 1024 / 5
    assert engine.find(event({"x": 500.5}), 0).ordinals.tolist() == [500]


def test_a_conjunction_is_filed_under_its_most_selective_attribute() -> None:
    """The narrow range decides, not the wide one, whichever comes first in the text."""
    engine = SgimEngine()
    engine.add(0, between(0, 1000, "x"), 0)
    engine.add(1, between(0, 1000, "y"), 0)
    both = Condition((Predicate("x", "between", Interval(0, 900)), Predicate("y", "between", Interval(5, 6))))
    engine.add(2, Subscription(both), 0)
    assert engine._groups["x"][""].population == 1
    assert engine._groups["y"][""].population == 2


@pytest.mark.parametrize("bounds", [(5.0, 5.0), (0.0, 5e-324), (-1.7e308, 1.7e308), (0.0, 1.7e308)])
def test_extreme_bounds_are_filed_and_found(bounds: tuple[float, float]) -> None:
    """All alike, a hair apart, or as far apart as floating point goes."""
    engine = SgimEngine()
    for ordinal in range(64):
        bound = bounds[ordinal % 2]
        engine.add(ordinal, between(bound, bound), 0)
    for bound in bounds:
        expected = [o for o in range(64) if bounds[o % 2] == bound]
        assert engine.find(event({"x": bound}), 0).ordinals.tolist() == expected


def test_two_readings_of_one_attribute_meet_two_bounds_with_none_between() -> None:
    """Predicates may be met by different tuples, so the span of the values is what is looked up."""
    engine = SgimEngine()
    for ordinal in range(64):
        bounds = Predicate("x", ">=", float(ordinal)), Predicate("x", "<=", ordinal + 0.5)
        engine.add(ordinal, Subscription(Condition(bounds)), 0)
    twice = Event((EventTuple("x", -5), EventTuple("x", 99)))
    assert len(engine.find(twice, 0).ordinals) == 64


def test_units_are_compared_in_the_base_and_a_bare_reading_in_the_unit_asked_for() -> None:
    """25 degC is 77 degF; a bare 30 is 30 of whatever was asked for."""
    engine = SgimEngine()
    engine.add(0, Subscription(Condition((Predicate("t", ">", Quantity(25.0, "degC")),))), 0)
    engine.add(1, Subscription(Condition((Predicate("t", ">", Quantity(77.0, "degF")),))), 0)
    engine.add(2, Subscription(Condition((Predicate("t", ">", 50.0),))), 0)
    assert engine.find(Event((EventTuple("t", 80, "degF"),)), 0).ordinals.tolist() == [0, 1, 2]
    assert engine.find(Event((EventTuple("t", 30, "degC"),)), 0).ordinals.tolist() == [0, 1]
    assert engine.find(Event((EventTuple("t", 30),)), 0).ordinals.tolist() == [0]


def test_everything_goes_when_all_subscriptions_go() -> None:
    """No class, attribute, predicate or interest stays behind."""
    choice = SeededChoice(4)
    engine = SgimEngine()
    for ordinal in range(200):
        engine.add(ordinal, any_subscription(choice, choice.pick(("exact", "interest")), ""), 0)
    for ordinal in range(200):
        engine.remove(ordinal)
    assert not engine._groups
    assert not engine._without
    assert not engine._filed
    assert len(engine._table) == 0
    assert engine.nbytes == 0


def test_refuses_an_ordinal_in_use_and_one_that_is_not() -> None:
    """Also across conditions and interests."""
    engine = SgimEngine()
    engine.add(0, between(1, 2), 0)
    with pytest.raises(DuplicateId):
        engine.add(0, Subscription(Interest("01")), 0)
    with pytest.raises(UnknownId):
        engine.remove(1)
