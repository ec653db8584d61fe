"""RAPIDMatch and its modification: the papers' example, the papers' errors, and what copies cost."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from likewise.errors import LimitExceeded
from likewise.matching.classical.sgim import SgimEngine
from likewise.matching.interests.bitmap import InterestBitmapEngine
from likewise.matching.interests.rapid import BlockTrees, RapidEngine, blocks, default_c
from likewise.matching.interests.rapid_modified import ModifiedRapidEngine
from likewise.matching.interests.tree import TreeEngine
from likewise.matching.interests.trie import TriePool
from likewise.matching.interests.vectors import InterestEngine, VectorTable
from likewise.matching.reference.interests import agrees
from likewise.model import Event, Interest, Subscription

PAPER = ["00111", "01101", "*11*1", "00000", "01*01", "01000", "10*01"]


def filled(engine: InterestEngine, vectors: list[str]) -> InterestEngine:
    for ordinal, vector in enumerate(vectors):
        engine.add(ordinal, Subscription(Interest(vector)), 0)
    return engine


def found(engine: InterestEngine, vector: str) -> list[int]:
    return list(engine.find(Event(vector=vector), 0).ordinals.tolist())


@pytest.mark.parametrize("make", [TreeEngine, RapidEngine, ModifiedRapidEngine, SgimEngine, InterestBitmapEngine])
def test_the_papers_example_gives_s2_s3_and_s5(make: type[InterestEngine]) -> None:
    """Event 0,1,1,0,1 meets S2, S3 and S5, not "S2 and S7" as the paper says."""
    assert [f"S{ordinal + 1}" for ordinal in found(filled(make(), PAPER), "01101")] == ["S2", "S3", "S5"]


@pytest.mark.parametrize("properties", [1, 2, 5, 6, 12, 50, 1_000])
def test_c_is_the_largest_t_with_t_times_t_plus_one_at_most_k(properties: int) -> None:
    """Stated for any number of properties."""
    c = default_c(properties)
    assert c * (c + 1) <= properties < (c + 1) * (c + 2)


@pytest.mark.parametrize(("properties", "parts"), list(product([1, 2, 7, 50], [1, 2, 3, 8, 51])))
def test_blocks_are_consecutive_even_and_may_be_empty(properties: int, parts: int) -> None:
    """They cover every property once, and their lengths differ by at most one."""
    cut = blocks(properties, parts)
    assert [place for first, length in cut for place in range(first, first + length)] == list(range(properties))
    lengths = [length for _, length in cut]
    assert len(cut) == parts
    assert max(lengths) - min(lengths) <= 1


def test_error_of_the_paper_sets_are_not_disjoint_a_vector_goes_into_every_one_that_fits() -> None:
    """Events with one 1 that leave either half empty must both find a vector without ones."""
    light = BlockTrees(4, 1, base=0)
    assert light.trees(0b0000) == [0, 1, 2]
    engine = filled(RapidEngine(c=1), ["****"])
    assert found(engine, "1000") == [0]
    assert found(engine, "0001") == [0]


def test_error_of_the_paper_disjoint_sets_would_miss_what_ours_finds() -> None:
    """One place a vector, the first that fits, fails on random cases; every place never does."""
    rng = Random(3)
    missed = 0
    for _ in range(300):
        vectors = ["".join(rng.choices("01*", (2, 1, 3), k=8)) for _ in range(10)]
        event = "".join(rng.choices("01", (3, 1), k=8))
        expected = [o for o, v in enumerate(vectors) if agrees(v, event)]
        assert found(filled(RapidEngine(), vectors), event) == expected
        missed += _disjoint(vectors, event) != expected
    assert missed > 10


def _disjoint(vectors: list[str], event: str) -> list[int]:
    """RAPIDMatch as the paper words it: each vector in one T_j^t only."""
    c = default_c(len(event))
    table = VectorTable(len(event))
    light = BlockTrees(len(event), c, base=1)
    pool = TriePool(table, [0, *light.starts], [len(event), *light.lengths])
    for ordinal, vector in enumerate(vectors):
        row = table.add(ordinal, vector)
        ones = table.unpack(row)[1]
        firsts: dict[int, int] = {}
        for tree in light.trees(ones):
            firsts.setdefault(_t_of(tree), tree)
        pool.insert(row, [0, *firsts.values()])
    bits = int(event[::-1], 2)
    tree = light.serving(bits) if bits.bit_count() <= c else 0
    return sorted(table.ordinals[pool.search(table.pack(bits), tree)].tolist())


def _t_of(tree: int) -> int:
    """Trees are numbered 1; 2, 3; 4, 5, 6; ...: one for t = 0, two for t = 1, and so on."""
    t = 0
    while tree > t + 1:
        tree -= t + 1
        t += 1
    return t


def test_error_of_the_paper_modified_rapidmatch_needs_the_mirror() -> None:
    """Searching RAPIDMatch's own trees by the count of zeros fails; with mirrored trees nothing is missed."""
    rng = Random(4)
    missed = 0
    for _ in range(300):
        vectors = ["".join(rng.choices("01*", (1, 2, 3), k=8)) for _ in range(10)]
        event = "".join(rng.choices("01", (1, 3), k=8))
        expected = [o for o, v in enumerate(vectors) if agrees(v, event)]
        assert found(filled(ModifiedRapidEngine(), vectors), event) == expected
        missed += _without_mirror(vectors, event) != expected
    assert missed > 10


def _without_mirror(vectors: list[str], event: str) -> list[int]:
    """Modified RAPIDMatch as the paper words it: t counts the rarer value, the sets are RAPIDMatch's."""
    t = min(event.count("0"), event.count("1"))
    if t > default_c(len(event)):
        return [o for o, v in enumerate(vectors) if agrees(v, event)]
    empty = next(((f, n) for f, n in blocks(len(event), t + 1) if "1" not in event[f : f + n]), None)
    if empty is None:
        return []
    first, length = empty
    return [
        o
        for o, v in enumerate(vectors)
        if v.count("1") <= t and "1" not in v[first : first + length] and agrees(v, event)
    ]


def test_all_zero_and_all_one_vectors_are_not_skipped() -> None:
    """The paper leaves them out; events of all zeros and all ones exist."""
    for make in (RapidEngine, ModifiedRapidEngine):
        engine = filled(make(), ["00000", "11111", "*****"])
        assert found(engine, "00000") == [0, 2]
        assert found(engine, "11111") == [1, 2]


@pytest.mark.parametrize("make", [RapidEngine, ModifiedRapidEngine])
@pytest.mark.parametrize("c", [0, 1, 3, 9, None])
def test_every_vector_and_event_of_four_properties(make: type[RapidEngine], c: int | None) -> None:
    """All 81 vectors against all 16 events, for every c, also one above the number of properties."""
    vectors = ["".join(letters) for letters in product("01*", repeat=4)]
    engine = filled(make(c), vectors)
    for letters in product("01", repeat=4):
        event = "".join(letters)
        assert found(engine, event) == [o for o, v in enumerate(vectors) if agrees(v, event)]


def test_copies_are_counted_and_given_back() -> None:
    """A vector without ones goes into all 1 + 2 + ... + (c + 1) trees and the full one; the mirror doubles that."""
    engine = RapidEngine(c=3)
    filled(engine, ["*" * 20])
    assert engine.copies == 10 + 1
    mirrored = ModifiedRapidEngine(c=3)
    filled(mirrored, ["*" * 20])
    assert mirrored.copies == 2 * 10 + 1
    engine.remove(0)
    assert engine.copies == 0


@pytest.mark.parametrize("make", [RapidEngine, ModifiedRapidEngine])
def test_the_limit_on_copies_is_enforced_and_the_engine_stays_right(make: type[RapidEngine]) -> None:
    """The vector that would pass it is refused with the facts; what was held is still found, and room can be made."""
    engine = make(c=3, copies=50)
    held = 4 if make is RapidEngine else 2  # 11 or 21 copies each
    filled(engine, ["*" * 20] * held)
    with pytest.raises(LimitExceeded) as refused:
        engine.add(held, Subscription(Interest("*" * 20)), 0)
    assert len(engine) == held
    assert refused.value.allowed == 50
    assert refused.value.found is not None
    assert engine.copies <= 50 < refused.value.found
    assert found(engine, "0" * 20) == list(range(held))
    engine.remove(0)
    engine.add(1_000, Subscription(Interest("*" * 20)), 0)
    assert found(engine, "1" * 20) == [*range(1, held), 1_000]


def test_a_vector_with_more_than_c_ones_is_kept_once() -> None:
    """It can meet no event that leaves the full tree."""
    engine = RapidEngine()
    filled(engine, ["1" * 50])
    assert engine.copies == 1


def test_trees_stay_small_however_long_the_vectors() -> None:
    """Fewer inner nodes than vectors: equal stretches get no nodes."""
    rng = Random(5)
    table = VectorTable(1_000)
    pool = TriePool(table, [0], [1_000])
    for ordinal in range(2_000):
        pool.insert(table.add(ordinal, "".join(rng.choices("01*", k=1_000))), [0])
    assert pool.entries == 2_000
    assert pool.nodes < 2_000
