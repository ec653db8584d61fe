"""The covering forest against the plain evaluation, and the defects of the original it must not have."""

from __future__ import annotations

import sys
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DuplicateId, UnknownId
from likewise.matching.forest.engine import ForestEngine
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Condition, Interval, Kind, Predicate, Subscription, event
from likewise.testing.generators import SeededChoice
from likewise.testing.generators import event as any_event
from likewise.testing.generators import subscription as any_subscription

EXACT: frozenset[Kind] = frozenset({"exact"})


def above(bound: float) -> Subscription:
    return Subscription(Condition((Predicate("x", ">", bound),)))


def found(engine: ForestEngine | OracleEngine, **values: object) -> list[int]:
    return [int(ordinal) for ordinal in engine.find(event(values), 0).ordinals]


@given(st.integers(0, 2**32))
def test_equals_the_plain_evaluation_while_subscriptions_come_and_go(seed: int) -> None:
    """Any condition, any event, additions and removals in any order: the same ordinals as the oracle."""
    choice = SeededChoice(seed)
    forest, naive = ForestEngine(), OracleEngine()
    held: list[int] = []
    for ordinal in range(40):
        if held and choice.integer(0, 2) == 0:
            gone = held.pop(choice.integer(0, len(held) - 1))
            forest.remove(gone)
            naive.remove(gone)
        subscription = any_subscription(choice, "exact", f"s{ordinal}")
        forest.add(ordinal, subscription, 0)
        naive.add(ordinal, subscription, 0)
        held.append(ordinal)
        for _ in range(3):
            seen = any_event(choice, EXACT, None, 0)
            assert forest.find(seen, 0).ordinals.tolist() == naive.find(seen, 0).ordinals.tolist()


@given(st.integers(0, 2**32))
def test_equals_the_plain_evaluation_where_covering_is_dense(seed: int) -> None:
    """Many nested intervals and equal texts, so that nodes move and hand over children all the time."""
    choice = SeededChoice(seed)
    forest, naive = ForestEngine(), OracleEngine()
    held: list[int] = []
    for ordinal in range(60):
        low = choice.integer(0, 6)
        predicates = [Predicate(choice.pick("xy"), "between", Interval(low, low + choice.integer(0, 6)))]
        if choice.integer(0, 1):
            predicates.append(Predicate("kind", "=", choice.pick(("co", "CO", "no2"))))
        for engine in (forest, naive):
            engine.add(ordinal, Subscription(Condition(tuple(predicates))), 0)
        held.append(ordinal)
        if choice.integer(0, 1):
            gone = held.pop(choice.integer(0, len(held) - 1))
            forest.remove(gone)
            naive.remove(gone)
        values = {"x": choice.integer(0, 12), "y": choice.integer(0, 12), "kind": choice.pick(("co", "no2", "pm"))}
        assert found(forest, **values) == found(naive, **values)


def test_defect_1_after_removal_the_removed_never_matches_and_no_other_is_lost() -> None:
    """CUPUS matched 4,124 removed subscriptions in 12,000 checks and lost 374 others."""
    choice = SeededChoice(1)
    forest = ForestEngine()
    bounds: dict[int, float] = {}
    checks = 0
    for ordinal in range(400):
        bounds[ordinal] = float(choice.integer(0, 30))
        forest.add(ordinal, above(bounds[ordinal]), 0)
        if ordinal % 2:
            gone = choice.pick(sorted(bounds))
            forest.remove(gone)
            del bounds[gone]
        for value in range(0, 32, 2):
            assert found(forest, x=value) == [o for o, bound in sorted(bounds.items()) if value > bound]
            checks += len(bounds) + 1
    assert checks > 12_000


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_defect_2_removing_a_root_keeps_its_grandchildren(order: tuple[int, ...]) -> None:
    """Whatever goes first, what it covered stays to be found, and the forest stays a forest."""
    forest = ForestEngine()
    for ordinal in range(4):
        forest.add(ordinal, above(ordinal), 0)
    assert (forest.roots, forest.depth) == (1, 4)
    left = set(range(4))
    for gone in order:
        forest.remove(gone)
        left.discard(gone)
        assert found(forest, x=10) == sorted(left)
        assert forest.depth == len(left)
    assert forest.roots == 0


def test_defect_8_a_chain_deeper_than_the_recursion_limit_is_built_searched_and_emptied() -> None:
    """Every bound narrower than the last: as deep as it is long."""
    depth = sys.getrecursionlimit() + 500
    forest = ForestEngine()
    for ordinal in range(depth):
        forest.add(ordinal, above(-ordinal), 0)
    assert (forest.roots, forest.depth) == (1, depth)
    assert len(found(forest, x=1)) == depth
    for ordinal in range(depth):
        forest.remove(ordinal)
    assert found(forest, x=1) == []


def test_defect_8_the_index_holds_one_node_and_one_place_a_subscription() -> None:
    """Memory is linear: all children of all nodes together are as many as the nodes less the roots."""
    choice = SeededChoice(2)
    forest = ForestEngine()
    for ordinal in range(300):
        low = choice.integer(0, 50)
        wanted = Predicate("x", "between", Interval(low, low + choice.integer(0, 50)))
        forest.add(ordinal, Subscription(Condition((wanted,))), 0)
    nodes = {id(node): node for node in forest._nodes.values()}
    places = sum(len(stall) for node in nodes.values() for stall in node.children.values())
    assert places + forest.roots == len(nodes) <= 300


def test_a_node_that_fails_prunes_its_subtree_and_one_that_holds_does_not_imply_its_children() -> None:
    """The paper's sentence that a match implies the children's match is backwards."""
    forest = ForestEngine()
    forest.add(0, above(1), 0)
    forest.add(1, above(5), 0)
    assert found(forest, x=3) == [0]
    assert found(forest, x=0) == []


def test_equivalent_subscriptions_share_a_node_and_leave_one_by_one() -> None:
    """Equal intervals in other words stand in one node; it goes with the last of them."""
    forest = ForestEngine()
    forest.add(0, Subscription(Condition((Predicate("x", "between", Interval(1, 2)),))), 0)
    forest.add(1, Subscription(Condition((Predicate("X", "between", Interval(1.0, 2.0)),))), 0)
    assert forest.roots == 1
    forest.remove(0)
    assert found(forest, x=1.5) == [1]
    forest.remove(1)
    assert forest.roots == 0


def test_everything_goes_when_all_subscriptions_go() -> None:
    """No node, stall or predicate stays behind."""
    choice = SeededChoice(3)
    forest = ForestEngine()
    for ordinal in range(200):
        forest.add(ordinal, any_subscription(choice, "exact", ""), 0)
    for ordinal in range(200):
        forest.remove(ordinal)
    assert not forest._roots
    assert not forest._nodes
    assert len(forest._table) == 0


def test_refuses_an_ordinal_in_use_and_one_that_is_not() -> None:
    """And changes nothing by refusing."""
    forest = ForestEngine()
    forest.add(0, above(1), 0)
    with pytest.raises(DuplicateId):
        forest.add(0, above(2), 0)
    with pytest.raises(UnknownId):
        forest.remove(1)
    assert found(forest, x=1.5) == [0]
