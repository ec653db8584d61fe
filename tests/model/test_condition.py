"""Conditions: and, or, not, the conjunctions they expand to, merged comparisons, limits."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.defaults import MAX_CONJUNCTIONS, MAX_NESTING, MAX_PREDICATES
from likewise.errors import InvalidSubscription, LimitExceeded, UnitError
from likewise.model import (
    All,
    Any,
    Condition,
    Conjunction,
    Interval,
    Node,
    Not,
    Predicate,
    Quantity,
    Some,
    conjunctions,
    merge_comparisons,
)

LETTERS = "pqrst"
ATOMS = st.sampled_from(LETTERS).map(lambda letter: Predicate(letter, "exists"))
NODES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: All(tuple(items))),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: Any(tuple(items))),
    ),
    max_leaves=8,
)


def truth(node: Node, world: dict[str, bool]) -> bool:
    """The plain meaning."""
    assert not isinstance(node, Some)
    match node:
        case Predicate(attribute=letter):
            return world[letter]
        case Not(item=item):
            return not truth(item, world)
        case All(items=items):
            return all(truth(item, world) for item in items)
        case Any(items=items):
            return any(truth(item, world) for item in items)


def holds(conjunction: Conjunction, world: dict[str, bool]) -> bool:
    return all(world[p.attribute] for p in conjunction.positive) and not any(
        world[p.attribute] for p in conjunction.negative
    )


WORLDS = [dict(zip(LETTERS, bits, strict=True)) for bits in product((False, True), repeat=len(LETTERS))]


@given(NODES)
def test_the_conjunctions_mean_what_the_condition_means(node: Node) -> None:
    """In every one of the 32 worlds over five predicates."""
    expanded = conjunctions(node)
    for world in WORLDS:
        assert any(holds(c, world) for c in expanded) == truth(node, world)


@given(st.lists(NODES, min_size=1, max_size=4))
def test_a_condition_is_refused_exactly_if_it_expands_too_far(items: list[Node]) -> None:
    """The count before expansion is that of the expansion, duplicates included."""

    def count(node: Node, negated: bool) -> int:
        assert not isinstance(node, Some)
        match node:
            case Predicate():
                return 1
            case Not(item=item):
                return count(item, not negated)
            case All(items=inner) | Any(items=inner):
                counts = [count(item, negated) for item in inner]
                if isinstance(node, All) is negated:
                    return sum(counts)
                total = 1
                for one in counts:
                    total *= one
                return total

    if count(All(tuple(items)), False) <= MAX_CONJUNCTIONS:
        made = Condition(tuple(items))
        for world in WORLDS:
            assert any(holds(c, world) for c in made.conjunctions()) == all(truth(item, world) for item in items)
    else:
        with pytest.raises(LimitExceeded):
            Condition(tuple(items))


def test_at_most_64_conjunctions_are_allowed() -> None:
    """Six pairs expand to 64; a seventh, or a flood that would take for ever, is refused at once."""
    pairs = [Any((Predicate(f"a{i}", "exists"), Predicate(f"b{i}", "exists"))) for i in range(40)]
    assert len(Condition(tuple(pairs[:6])).conjunctions()) == MAX_CONJUNCTIONS
    for many in (7, 40):
        with pytest.raises(LimitExceeded, match="conjunctions"):
            Condition(tuple(pairs[:many]))


def test_nesting_predicates_and_emptiness_have_limits() -> None:
    """Deep nesting is refused without deep recursion."""
    predicate: Node = Predicate("a", "exists")
    deep = predicate
    for _ in range(MAX_NESTING - 1):
        deep = Not(deep)
    assert Condition((deep,)).items == (deep,)
    for _ in range(10_000):
        deep = Not(deep)
    with pytest.raises(LimitExceeded, match="nesting"):
        Condition((deep,))
    with pytest.raises(LimitExceeded, match="predicates"):
        Condition((Predicate("a", "exists"),) * (MAX_PREDICATES + 1))
    with pytest.raises(LimitExceeded, match="predicates"):
        Condition((All((predicate,) * (MAX_PREDICATES + 1)),))
    for empty in ((), (All(()),), (predicate, Any(())), (Not(All(())),)):
        with pytest.raises(InvalidSubscription, match="empty"):
            Condition(empty)


def test_comparisons_that_no_number_meets_at_once_are_no_empty_interval() -> None:
    """Two tuples of a repeated attribute may meet them, so they stay apart."""
    above, below = Predicate("t", ">", 5.0), Predicate("T ", "<", 5.0)
    assert Condition((above, below)).items == (above, below)
    assert merge_comparisons((above, below)) == (above, below)
    one, two = Predicate("t[]", "=", 1.0), Predicate("t[]", "=", 2.0)
    assert merge_comparisons((one, two)) == (one, two)
    assert Condition((one, two)).items


def test_two_units_of_one_attribute_must_be_comparable() -> None:
    """An error when it is made, not a condition that never holds."""
    with pytest.raises(UnitError, match="cannot be compared"):
        Condition((Predicate("t", ">", Quantity(5.0, "degC")), Predicate("t", "<", Quantity(5.0, "kg"))))
    assert Condition((Predicate("t", ">", Quantity(25.0, "degC")), Predicate("t", "<", Quantity(80.0, "degF")))).items


BOUNDS = st.tuples(st.sampled_from(["<", "<=", ">", ">=", "="]), st.integers(-3, 3).map(float))


@given(st.lists(BOUNDS, min_size=1, max_size=4))
def test_merged_comparisons_hold_where_each_of_them_holds(bounds: list[tuple[str, float]]) -> None:
    """For numbers on, between and beside the bounds; an empty merger leaves them as they are."""
    predicates = tuple(Predicate("t", operator, number) for operator, number in bounds)  # type: ignore[arg-type]
    intervals = [p.interval() for p in predicates]
    numbers = [n / 2 for n in range(-8, 9)]
    inside = [n for n in numbers if all(i is not None and i.holds(n) for i in intervals)]
    merged, *more = merge_comparisons(predicates)
    if more:
        assert inside == []
        assert (merged, *more) == predicates
        return
    interval = merged.interval()
    assert interval is not None
    assert [n for n in numbers if interval.holds(n)] == inside


def test_merging_keeps_order_and_what_cannot_merge() -> None:
    """Texts, lists, other attributes, and relaxed apart from exact ones."""
    exact, relaxed = Predicate("t", ">", 1.0), Predicate("t", "<", 9.0, attribute_relaxed=True)
    other = (Predicate("u", "=", "x"), Predicate("t", "in", (1.0, 2.0)), Predicate("t", "!=", 3.0))
    assert merge_comparisons((exact, *other, relaxed)) == (exact, *other, relaxed)
    merged = merge_comparisons((other[0], exact, other[1], Predicate("T", "<=", 4.0)))
    assert merged == (other[0], Predicate("t", "between", Interval(1.0, 4.0, low_open=True)), other[1])


def test_a_bare_number_takes_the_adjacent_unit_it() -> None:
    """`t > 20 degC, t < 30`: both in degC; two units are brought to the first."""
    (merged,) = merge_comparisons((Predicate("t", "<", 30.0), Predicate("t", ">", Quantity(20.0, "degC"))))
    assert merged.value == Interval(20.0, 30.0, True, True, "degC")
    (mixed,) = merge_comparisons(
        (Predicate("t", ">", Quantity(20.0, "degC")), Predicate("t", "<=", Quantity(77.0, "degF")))
    )
    assert mixed.value == Interval(20.0, 25.0, True, False, "degC")
    (half,) = merge_comparisons((Predicate("t", ">", Quantity(20.0, "degC")), Predicate("t", ">=", 21.0)))
    assert half == Predicate("t", ">=", Quantity(21.0, "degC"))


def test_relaxed_parts_and_duplicates_are_counted_once() -> None:
    """A predicate written twice is one."""
    relaxed = Predicate("a", "=", "x", True, True)
    (only,) = Condition((relaxed, relaxed, Predicate("b", "exists"))).conjunctions()
    assert only.relaxed_parts == 2
    assert len(only.positive) == 2
    assert Condition((Not(relaxed),)).is_relaxed()
    assert not Condition((Any((Predicate("b", "exists"), Not(Predicate("c", "=", 1.0)))),)).is_relaxed()


@given(NODES)
def test_conditions_are_values(node: Node) -> None:
    """Equal and hashable by content, never changed."""
    one, other = Condition((node,)), Condition((node,))
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(AttributeError):
        one.items = ()  # type: ignore[misc]
