"""Every engine of interest vectors against the plain comparison, position by position."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DuplicateId, UnknownId
from likewise.matching.classical.sgim import SgimEngine
from likewise.matching.engine import BaseEngine
from likewise.matching.interests.bitmap import InterestBitmapEngine
from likewise.matching.interests.rapid import RapidEngine
from likewise.matching.interests.rapid_modified import ModifiedRapidEngine
from likewise.matching.interests.tree import TreeEngine
from likewise.matching.reference.interests import agrees
from likewise.model import Event, EventTuple, Interest, Subscription

ENGINES = [TreeEngine, RapidEngine, ModifiedRapidEngine, SgimEngine, InterestBitmapEngine]
every_engine = pytest.mark.parametrize("make", ENGINES)


def interest(vector: str) -> Subscription:
    return Subscription(Interest(vector))


def found(engine: BaseEngine, vector: str) -> list[int]:
    return list(engine.find(Event(vector=vector), 0).ordinals.tolist())


def fill(engine: BaseEngine, vectors: list[str]) -> None:
    for ordinal, vector in enumerate(vectors):
        engine.add(ordinal, interest(vector), 0)


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, str, int]]:
    """Steps: a vector to add, an event to try, and which of the held ones (if any) to remove first."""
    alphabets = st.sampled_from(["01*", "0*", "1*", "01****", "0011*"])
    length = draw(st.sampled_from([1, 2, 3, 5, 6, 12, 64, 65]))
    letters = draw(alphabets)
    vectors = st.text(letters, min_size=length, max_size=length)
    events = st.text(draw(st.sampled_from(["01", "00001", "01111"])), min_size=length, max_size=length)
    other = st.text("01*", min_size=1, max_size=4)
    step = st.tuples(vectors | other if draw(st.booleans()) else vectors, events, st.integers(0, 200))
    return draw(st.lists(step, min_size=1, max_size=60))


@every_engine
@given(steps=changes())
def test_equals_the_plain_comparison_while_interests_come_and_go(
    make: type[BaseEngine], steps: list[tuple[str, str, int]]
) -> None:
    """Additions, removals and lengths in any order; events at random and made to fit what is held."""
    engine = make()
    held: dict[int, str] = {}
    for ordinal, (vector, event, chosen) in enumerate(steps):
        if held and chosen < 70:
            gone = list(held)[chosen % len(held)]
            engine.remove(gone)
            del held[gone]
        engine.add(ordinal, interest(vector), 0)
        held[ordinal] = vector
        aimed = "".join(e if v == "*" else v for v, e in zip(vector, event, strict=False))
        for tried in (event, aimed):
            assert found(engine, tried) == [o for o, v in held.items() if agrees(v, tried)]


@every_engine
def test_equals_the_plain_comparison_over_thousands_of_interests(make: type[BaseEngine]) -> None:
    """Deep trees, full blocks, several classes; then half are removed and others take their places."""
    rng = Random(7)
    engine = make()
    held = {o: "".join(rng.choices("01*", (1, 1, 6), k=30)) for o in range(3_000)}
    for ordinal, vector in held.items():
        engine.add(ordinal, interest(vector), 0)
    for gone in rng.sample(range(3_000), 1_500):
        engine.remove(gone)
        del held[gone]
    for ordinal in range(3_000, 3_700):
        held[ordinal] = "".join(rng.choices("01*", (1, 2, 6), k=30))
        engine.add(ordinal, interest(held[ordinal]), 0)
    matches = 0
    for share in (0.1, 0.5, 0.9):
        for _ in range(20):
            event = "".join("1" if rng.random() < share else "0" for _ in range(30))
            expected = [o for o, v in held.items() if agrees(v, event)]
            assert found(engine, event) == expected
            matches += len(expected)
    assert matches > 500


@every_engine
def test_serves_a_thousand_properties(make: type[BaseEngine]) -> None:
    """The longest vectors the model allows, few properties asked for or nearly all."""
    rng = Random(8)
    sparse = ["".join(rng.choices("01*", (3, 2, 995), k=1_000)) for _ in range(60)]
    dense = ["".join(rng.choices("01*", (60, 1, 1), k=1_000)) for _ in range(20)]
    vectors = [*sparse, *dense, "*" * 1_000]
    engine = make()
    fill(engine, vectors)
    for ones in (0, 3, 31, 500, 980):
        event = "".join("1" if i < ones else "0" for i in rng.sample(range(1_000), 1_000))
        assert found(engine, event) == [o for o, v in enumerate(vectors) if agrees(v, event)]
    for ordinal, vector in enumerate(vectors):
        event = vector.replace("*", "0")
        assert ordinal in found(engine, event)


@every_engine
def test_an_event_of_another_length_meets_nothing(make: type[BaseEngine]) -> None:
    """Not even where all its positions agree, nor one without a vector."""
    engine = make()
    fill(engine, ["01", "01*", "***"])
    assert found(engine, "01") == [0]
    assert found(engine, "011") == [1, 2]
    assert found(engine, "0111") == []
    assert engine.find(Event((EventTuple("a", 1),)), 0).ordinals.tolist() == []


@every_engine
def test_properties_may_be_named_instead(make: type[BaseEngine]) -> None:
    """p1, p2, ... as Booleans are a vector, too."""
    engine = make()
    fill(engine, ["01", "10"])
    named = Event((EventTuple("p2", True), EventTuple("p1", False)))
    assert engine.find(named, 0).ordinals.tolist() == [0]


@every_engine
def test_many_equal_interests_are_all_found_and_leave_one_by_one(make: type[BaseEngine]) -> None:
    """A bucket that cannot be split just grows."""
    engine = make()
    fill(engine, ["1*0"] * 700)
    assert found(engine, "110") == list(range(700))
    for ordinal in range(699):
        engine.remove(ordinal)
    assert found(engine, "100") == [699]


@every_engine
def test_everything_goes_when_all_interests_go(make: type[BaseEngine]) -> None:
    """No array stays behind, and the engine can be filled again."""
    engine = make()
    for _ in range(2):
        fill(engine, ["01*", "1**", "0000"])
        assert found(engine, "010") == [0]
        for ordinal in range(3):
            engine.remove(ordinal)
        assert engine.nbytes == 0  # type: ignore[attr-defined]
        assert found(engine, "010") == []


@every_engine
def test_refuses_an_ordinal_in_use_and_one_that_is_not(make: type[BaseEngine]) -> None:
    """And changes nothing by refusing."""
    engine = make()
    fill(engine, ["01"])
    with pytest.raises(DuplicateId):
        engine.add(0, interest("11"), 0)
    with pytest.raises(UnknownId):
        engine.remove(1)
    assert found(engine, "01") == [0]
    assert found(engine, "11") == []


@every_engine
def test_serves_interests(make: type[BaseEngine]) -> None:
    """The kind is declared, and asked for by `serves`."""
    assert "interest" in make.kinds
    assert make().serves(interest("01"))
