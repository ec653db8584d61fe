"""The bitmap engine answers as the plain evaluation does, at every size of its blocks and after every change."""

from __future__ import annotations

import math
import random
import sys
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import DuplicateId, UnknownId, UnsupportedSubscription
from likewise.formats.arrow.event_batch import EventBatch
from likewise.matching.bitmap.engine import BitmapEngine, holds
from likewise.matching.bitmap.layout import BlockShape
from likewise.matching.engine import Addition
from likewise.model import (
    All,
    Any,
    Condition,
    Event,
    EventTuple,
    Interval,
    Not,
    Predicate,
    Quantity,
    Subscription,
    event,
)
from likewise.model.predicate import Operator
from likewise.testing import REGRESSIONS, OracleSettings, check_engine, compare_bulk

# Blocks of a few slots and cells of a few bounds: every merge and every path is met with little data.
TINY = BlockShape(
    tail_slots=4, tail_rows=40, largest_block=256, clustered=3, matched=100, dense_from=2, smallest_cell=4, cells=8
)
SPARSE = TINY._replace(dense_share=1, dense_from=10_000)  # nothing is dense: all is listed
SHAPES = {"usual": BlockShape(), "tiny": TINY, "sparse": SPARSE}


def condition(*items: Predicate | All | Any | Not) -> Subscription:
    return Subscription(Condition(items))


def engine_of(subscriptions: list[Subscription], shape: BlockShape = TINY) -> BitmapEngine:
    engine = BitmapEngine(shape=shape)
    for ordinal, subscription in enumerate(subscriptions):
        engine.add(ordinal, subscription)
    return engine


def check(engine: BitmapEngine, *events: Event) -> None:
    """All ways to ask give exactly what holds, in order."""
    expected = [[o for o, s in sorted(engine.subscriptions.items()) if holds(s, e)] for e in events]
    assert [engine.find(e).ordinals.tolist() for e in events] == expected
    for batched in (events, EventBatch.from_events(events)):
        batch = engine.match_batch(batched, [0] * len(events))
        assert batch.event_index.tolist() == [i for i, found in enumerate(expected) for _ in found]
        assert batch.ordinals.tolist() == [o for found in expected for o in found]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_engine_keeps_the_contract(shape: str) -> None:
    """Under any interleaving of calls it answers as the oracle does."""
    check_engine(lambda: BitmapEngine(shape=SHAPES[shape]), examples=max(8, settings().max_examples // 3))


@pytest.mark.parametrize("name", REGRESSIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_named_regressions(name: str, shape: str) -> None:
    """The defects of the original engine (sources.md C: 1, 2, 3 and 8 concern this one) are none of ours."""
    REGRESSIONS[name](lambda: BitmapEngine(shape=SHAPES[shape]), frozenset({"exact"}), OracleSettings())


def test_a_million_pairs_agree_with_the_oracle() -> None:
    """1,000,000 generated pairs of subscription and event without one difference, over all shapes."""
    compared = [
        compare_bulk(partial(BitmapEngine, shape=shape), ["exact"], pairs, seed=seed)
        for seed, (shape, pairs) in enumerate([(TINY, 500_000), (SPARSE, 250_000), (BlockShape(), 250_000)])
    ]
    assert sum(done.pairs for done in compared) >= 1_000_000
    assert all(0 < done.matches < done.pairs for done in compared)


def test_dense_data_at_the_usual_sizes() -> None:
    """Thousands of boxes on two attributes, through full blocks, removal and addition."""
    rng = np.random.default_rng(5)
    low = rng.random((3000, 2)).round(2)
    high = (low + 0.01 + rng.random((3000, 2))).round(2)
    engine = BitmapEngine()
    for i in range(3000):
        bounds: list[tuple[str, Operator, float]] = [
            ("x", ">=", low[i, 0]),
            ("x", "<=", high[i, 0]),
            ("y", ">", low[i, 1]),
            ("y", "<", high[i, 1]),
        ]
        chosen = bounds[: 2 + 2 * (i % 2)]
        engine.add(i, condition(*(Predicate(a, op, float(v)) for a, op, v in chosen)))
    removed = np.zeros(3000, bool)
    for step in range(4):
        for x, y in rng.random((25, 2)).round(2):
            inside = (low[:, 0] <= x) & (x <= high[:, 0])
            inside[1::2] &= ((low[:, 1] < y) & (y < high[:, 1]))[1::2]
            expected = np.flatnonzero(inside & ~removed).tolist()
            assert engine.find(event({"x": float(x), "y": float(y)})).ordinals.tolist() == expected
        for i in np.flatnonzero(~removed)[step::3].tolist():
            engine.remove(i)
            removed[i] = True


EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e308, -1e308, sys.float_info.max, -sys.float_info.max]
EXTREMES += [0.1, math.nextafter(0.1, 1), math.nextafter(0.1, 0), 1.0, 2.0**53, 2.0**53 + 2]


@pytest.mark.parametrize("shape", [TINY, SPARSE])
def test_extreme_numbers_and_ties(shape: BlockShape) -> None:
    """Signed zeros, denormals, the largest numbers and neighbours in the last digit: on both sides of every bound."""
    bounds = [*EXTREMES, 2**53 + 1, 2**60 + 1]
    subscriptions = [condition(Predicate("x", op, b)) for b in bounds for op in ("<", "<=", ">", ">=", "=", "!=")]
    subscriptions += [
        condition(Predicate("x", "between", Interval(a, b, low_open=a < b))) for a in bounds for b in bounds if a <= b
    ]
    check(engine_of(subscriptions, shape), *(event({"x": x}) for x in bounds))


@settings(max_examples=30)
@given(data=st.data())
def test_many_bounds_at_one_place(data: st.DataObject) -> None:
    """Cells that begin, end and consist of equal bounds."""
    places = st.sampled_from([1.0, 2.0, 3.0])
    subscriptions = []
    for _ in range(data.draw(st.integers(1, 60))):
        a, b = sorted([data.draw(places), data.draw(places)])
        closed = a == b
        low_open, high_open = (data.draw(st.booleans()) and not closed for _ in range(2))
        subscriptions.append(condition(Predicate("x", "between", Interval(a, b, low_open, high_open))))
    check(engine_of(subscriptions), *(event({"x": x}) for x in (0, 1, 1.5, 2, 2.5, 3, 4)))


@pytest.mark.parametrize("shape", SHAPES)
def test_repeated_attributes(shape: str) -> None:
    """Two tuples may meet two bounds of one attribute together; `!=` needs one that differs; `not` forbids all."""
    kinds = [
        condition(Predicate("x", ">=", 3.0), Predicate("x", "<=", 5.0)),
        condition(Predicate("x", "between", Interval(3.0, 5.0))),
        condition(Predicate("x", ">", 5.0), Predicate("y", "exists")),
        condition(Predicate("x", "!=", 2.0)),
        condition(Not(Predicate("x", ">", 5.0))),
        condition(Not(Predicate("x", "!=", 2.0))),
        condition(Predicate("x", "in", (2.0, "six", True))),
        condition(Predicate("x", "contains", "i"), Predicate("x", "contains", "s")),
    ]
    engine = engine_of(kinds * 40, SHAPES[shape])
    values: list[list[str | float | bool]] = [[2, 6], [4], [2], [2, 2], [2, 2.0, "2"], ["six", 6], ["is"], ["i", "s"]]
    values += [[True], [7]]
    check(engine, *(Event(tuple(EventTuple(a, v) for v in items for a in ("x", "Y"))) for items in values))
    check(engine, *(Event(tuple(EventTuple("X", v) for v in items)) for items in values))


@pytest.mark.parametrize("shape", SHAPES)
def test_units(shape: str) -> None:
    """One attribute asked with several units and with none; readings with a unit beside, in the name, or with none."""
    asked = [Quantity(25.0, "degC"), Quantity(77.0, "degF"), Quantity(298.15, "K"), Quantity(25.0, "kg"), 25.0]
    names = ["temp_f", "temp"]
    subscriptions = [
        condition(item) if not negated else condition(Not(item))
        for name in names
        for value in asked
        for op in (">", "<=", "=", "!=")
        for negated in (False, True)
        for item in [Predicate(name, op, value)]  # type: ignore[arg-type]
    ]
    subscriptions += [condition(Predicate("temp", "in", (Quantity(25.0, "degC"), 77.0)))]
    events = [
        Event((EventTuple(name, value, unit),))
        for name in ("temp_F", "TEMP", "temp")
        for value in (25, 77.0, "77 °F", "25", 298.15, "warm", True, 1e308)
        for unit in ("", "degC", "degF", "kg", "bananas")
    ]
    check(engine_of(subscriptions * 3, SHAPES[shape]), *events)


@pytest.mark.parametrize("shape", SHAPES)
def test_text_topics_and_types(shape: str) -> None:
    """Every text operator, without case and surplus blanks, on texts that nearly meet it."""
    texts = ["a", "A/b", "a/b/", "a.b", "ab", "a/bc", "/", "true", "5", "  A   b ", "", "ß", "ss"]
    operators = ("=", "!=", "contains", "starts with", "ends with", "under", "is-a")
    subscriptions = [condition(Predicate("t", op, x)) for x in texts if x for op in operators]  # type: ignore[arg-type]
    subscriptions += [condition(Not(s.body.items[0])) for s in subscriptions]  # type: ignore[union-attr,arg-type]
    subscriptions += [condition(Predicate("t", op, v)) for op in ("=", "!=") for v in (True, False, 5.0)]
    check(engine_of(subscriptions * 2, SHAPES[shape]), *(event({"t": x}) for x in [*texts, True, False, 5, 0.5]))


def test_remembered_texts_follow_new_questions() -> None:
    """What was remembered of a text is forgotten when somebody asks a new question of its attribute."""
    engine = engine_of([condition(Predicate("t", "=", "x"))])
    check(engine, event({"t": "xy"}))
    engine.add(1, condition(Predicate("t", "contains", "y")))
    check(engine, event({"t": "xy"}))
    engine.remove(1)
    check(engine, event({"t": "xy"}))


def test_an_or_is_found_once() -> None:
    """Several conjunctions of one subscription may hold; its ordinal comes once, in order."""
    either = condition(Any((Predicate("a", ">", 1.0), Predicate("b", ">", 1.0), Predicate("c", "=", "x"))))
    engine = engine_of([either, condition(Predicate("a", ">", 0.0))] * 30)
    check(engine, event({"a": 2, "b": 2, "c": "X"}), event({"a": 0.5}), event({"d": 1}))


def test_more_requirements_than_a_word_has_bits() -> None:
    """A conjunction of a hundred predicates is checked to the last."""
    many = tuple(Predicate(f"p{i}", ">", float(i)) for i in range(100))
    engine = engine_of([Subscription(Condition(many)), condition(Predicate("p0", "exists"))])
    good = {f"p{i}": i + 1 for i in range(100)}
    check(engine, event(good), event({**good, "p99": 0}), event({**good, "p3": 0}))
    engine.remove(0)
    check(engine, event(good))


def test_very_many_attributes_stay_lists() -> None:
    """With an attribute for each subscription no bitmap is made, so memory stays small."""
    engine = BitmapEngine()
    for i in range(2000):
        engine.add(i, condition(Predicate(f"sensor {i}", ">", float(i)), Predicate(f"other {i}", "=", "on")))
    check(engine, event({"sensor 7": 8, "other 7": "ON", "sensor 9": 10, "other 8": "on"}))
    assert engine.nbytes / 2000 < 500


def test_ordinals_may_come_in_any_order() -> None:
    """Results ascend although additions did not, and removal finds its subscription."""
    engine = BitmapEngine(shape=TINY)
    order = list(range(60))
    random.Random(3).shuffle(order)
    for ordinal in order:
        engine.add(ordinal, condition(Predicate("a", ">", float(ordinal % 7))))
    for ordinal in order[::2]:
        engine.remove(ordinal)
        check(engine, event({"a": 3.5}), event({"a": 9}))


def test_everything_is_given_back() -> None:
    """After the last removal no code, block or row is left, however often that happens."""
    engine = BitmapEngine(shape=TINY)
    for round_ in range(3):
        for i in range(50):
            engine.add(i, condition(Predicate(f"a{i % 5}", "=", f"v{round_} {i}"), Predicate("n", ">", float(i))))
        check(engine, event({"a1": f"v{round_} 1", "n": 3}))
        for i in range(50):
            engine.remove(i)
        assert len(engine) == len(engine._book) == len(engine._blocks.held) == 0
        assert engine.find(event({"n": 3})).ordinals.tolist() == []


def test_a_refused_subscription_changes_nothing() -> None:
    """Relaxed parts and ordinals in use are refused, and what was there still answers."""
    engine = engine_of([condition(Predicate("a", ">", 1.0))])
    with pytest.raises(UnsupportedSubscription):
        engine.add(1, condition(Predicate("new", "=", 1.0), Predicate("b", "=", "x", value_relaxed=True)))
    with pytest.raises(DuplicateId):
        engine.add(0, condition(Predicate("c", "exists")))
    with pytest.raises(UnknownId):
        engine.remove(1)
    assert len(engine) == 1
    assert len(engine._book) == 2  # an attribute and its axis
    check(engine, event({"a": 2, "new": 1, "c": 1}))


def test_a_result_is_never_written_again() -> None:
    """Results are views of memory that is used again, but only once nobody holds them."""
    engine = engine_of([condition(Predicate("a", ">", float(i))) for i in range(3000)], BlockShape())
    kept = [engine.find(event({"a": x})).ordinals for x in (2000.5, 2500.5, 1500.5)]
    batches = [engine.match_batch([event({"a": x})] * 2, [0, 0]) for x in (2000.5, 2500.5)]
    engine.find(event({"a": 2900.5}))
    assert [len(k) for k in kept] == [2001, 2501, 1501]
    assert all(k.tolist() == list(range(len(k))) for k in kept)
    assert [b.ordinals.tolist() for b in batches] == [list(range(2001)) * 2, list(range(2501)) * 2]
    assert [b.event_index.tolist() for b in batches] == [[0] * 2001 + [1] * 2001, [0] * 2501 + [1] * 2501]


def test_a_table_of_plain_readings_makes_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns of a batch are read as they are; only what one look-up does not answer becomes an event."""
    engine = engine_of([condition(Predicate("a", ">", 3.0), Predicate("city", "=", "Galway"))])
    readings = [{"a": n, "City": "galway", "unasked": True} for n in range(8)]
    table = EventBatch.from_arrow(EventBatch.from_events([event(r) for r in readings]).to_arrow())

    def refuse(_: EventBatch) -> None:
        raise AssertionError("an event was made")

    monkeypatch.setattr(EventBatch, "to_events", refuse)
    assert engine.match_batch(table, [0] * 8).counts.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_every_number_of_matches_is_listed() -> None:
    """Words with no, few, many and all bits set give their ordinals, single and together."""
    engine = engine_of([condition(Predicate("a", ">=", float(i))) for i in range(130)], BlockShape())
    check(engine, *(event({"a": x}) for x in range(-1, 131)))


def boxes(count: int) -> list[Subscription]:
    """Narrow ranges on one axis that all ask for, with something else; a few are wide, some have two parts."""
    found = []
    for n in range(count):
        low = (n * 37 % 100) / 10
        high = low + (5.0 if n % 11 == 0 else 0.4)
        near = Predicate("lat", "between", Interval(low, high))
        if n % 7 == 3:
            found.append(condition(near, Any((Predicate("a", ">", 1.0), Predicate("b", "=", "x")))))
        else:
            found.append(condition(near, Predicate("a", ">", float(n % 3))))
    return found


def test_clustered_blocks_find_what_holds_in_order() -> None:
    """Blocks clustered by a range all ask for: right through additions and removals, before, during and after."""
    engine = BitmapEngine(shape=TINY._replace(largest_block=16, clustered=4))
    gated = 0
    events = [event({"lat": n / 7, "a": n % 4, "b": "x"}) for n in range(0, 80, 9)]
    events += [event({"lat": [9.5, 0.1], "a": 3}), event({"a": 3}), event({"lat": "far", "a": 3})]
    for ordinal, subscription in enumerate(boxes(240)):
        engine.add(ordinal, subscription)
        if ordinal % 3 == 2:
            engine.remove(ordinal - 2)
        if ordinal % 8 == 0:
            check(engine, *events)
        gated = max(gated, sum(len(block.gates) > 0 for block in engine._blocks.held))
    assert gated >= 4, "nothing was clustered"
    for ordinal in sorted(engine.subscriptions)[::2]:
        engine.remove(ordinal)
    check(engine, *events)
    for ordinal in list(engine.subscriptions):
        engine.remove(ordinal)
    assert len(engine._book) == 0


def test_nothing_is_clustered_where_it_is_of_no_use() -> None:
    """Wide ranges, and slots that say nothing narrow, stay in the order of addition."""
    wide = [condition(Predicate("x", ">", n / 100)) for n in range(100)]
    plain = [condition(Predicate("x", "exists"), Predicate("y", "!=", float(n))) for n in range(100)]
    for subscriptions in (wide, plain):
        engine = engine_of(subscriptions, TINY._replace(largest_block=16))
        assert not any(block.level or len(block.gates) for block in engine._blocks.held)
        check(engine, event({"x": 0.5, "y": 40.0}))


def asked_alike(n: int, random: Random) -> Subscription:
    """Conditions that clustering can tell apart by a range, by two, by a text, or not at all."""
    x, y = random.uniform(0, 100), random.uniform(0, 100)
    parts = [
        Predicate("x", "between", Interval(x, x + random.choice([0.5, 1, 2, 60]))),
        Predicate("y", "between", Interval(y, y + random.choice([0.5, 1, 3, 80]))),
        Predicate("city", "=", f"town {n % 40}"),
        Predicate("kind", random.choice(["=", "!="]), random.choice(["a", "b"])),
        Predicate("t", ">", random.uniform(0, 10)),
    ]
    chosen = random.sample(parts[:3], random.choice([1, 2, 3])) + random.sample(parts[3:], random.choice([0, 1]))
    return condition(*chosen)


def said_alike(random: Random) -> Event:
    said = {"x": random.uniform(0, 100), "y": random.uniform(0, 100), "city": f"Town {random.randrange(42)}"}
    said |= {"kind": random.choice("abc"), "t": random.uniform(0, 10)}
    kept = {name: value for name, value in said.items() if random.random() < 0.9}
    if random.random() < 0.2:
        kept["x"] = [random.uniform(0, 100), random.uniform(0, 100)]
    if random.random() < 0.2:
        kept["city"] = [f"town {random.randrange(42)}", "town 7"]
    return event(kept)


@pytest.mark.parametrize("seed", range(2))
def test_slots_dealt_again_and_again_find_what_holds(seed: int) -> None:
    """Through every level of clustering, by numbers and texts, with removals at any moment and many at once."""
    random = Random(seed)
    shape = TINY._replace(largest_block=16, clustered=2, finer=2, merged=2, entered=100)
    engine = BitmapEngine(shape=shape)
    levels: set[int] = set()
    token_gates = 0
    highest = 0
    for ordinal in range(900):
        engine.add(ordinal, asked_alike(ordinal, random))
        highest = ordinal + 1
        if random.random() < 0.08:
            engine.remove(random.choice(list(engine.subscriptions)))
        if ordinal % 60 == 0:
            check(engine, *(said_alike(random) for _ in range(6)))
        levels |= {block.level for block in engine._blocks.held}
        token_gates += sum(bool(axis % 2) for block in engine._blocks.held for axis in block.gates[:, 0])
    engine.add_many([Addition(highest + n, asked_alike(n, random), 0) for n in range(500)])
    levels |= {block.level for block in engine._blocks.held}
    assert levels == {0, 1, 2, 3}, "not every level of clustering was at work"
    assert token_gates, "nothing was clustered by a text"
    check(engine, *(said_alike(random) for _ in range(20)))
    held = list(engine.subscriptions)
    for ordinal in random.sample(held, len(held) * 3 // 4):
        engine.remove(ordinal)
    check(engine, *(said_alike(random) for _ in range(20)))
    for ordinal in list(engine.subscriptions):
        engine.remove(ordinal)
    assert len(engine._book) == 0


@pytest.mark.parametrize("folded", [0, 7, 40])
def test_a_tail_that_is_scanned_often_becomes_a_block_and_nothing_else_changes(
    folded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between additions and removals, one by one and in batches, answers are those of the plain evaluation."""
    monkeypatch.setattr("likewise.matching.bitmap.engine.FOLDED", folded)
    chosen = random.Random(folded)
    engine = BitmapEngine(shape=TINY)
    held: list[int] = []
    most = 0
    for ordinal in range(150):
        engine.add(ordinal, condition(Predicate("a", ">", float(chosen.randrange(9))), Predicate("b", "=", "x")))
        held.append(ordinal)
        if chosen.random() < 0.4:
            engine.remove(held.pop(chosen.randrange(len(held))))
        seen = [event({"a": chosen.randrange(10), "b": "X"}) for _ in range(chosen.randrange(4))]
        check(engine, *seen)
        engine.match_batch(seen, [0] * len(seen))
        most = max(most, len(engine._blocks.held))
    assert most >= 2
    for ordinal in held:
        engine.remove(ordinal)
    assert len(engine) == len(engine._book) == 0
