"""Packed sets: whatever numbers they hold, they are read back, and any reader of Roaring bitmaps reads them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64

from likewise.broker.log.packed_sets import pack, pack_parts, unpack


@st.composite
def sets(draw: st.DrawFn) -> list[int]:
    base = draw(st.sampled_from([0, 60_000, 2**16 - 5, 2**32 - 7, 2**41]))
    few = draw(st.sets(st.integers(0, draw(st.sampled_from([50, 10_000, 2**20, 2**34]))), max_size=60))
    runs = draw(st.lists(st.tuples(st.integers(0, 2**18), st.integers(1, 300)), max_size=4))
    return sorted({base + n for n in few} | {base + n for first, size in runs for n in range(first, first + size)})


@given(sets())
def test_a_packed_set_is_read_back(numbers: list[int]) -> None:
    packed = pack(numbers)
    assert unpack(packed).tolist() == numbers
    assert pack(np.array(numbers, np.int64)) == packed


@given(st.lists(sets(), max_size=4))
def test_parts_are_packed_as_each_alone(parts: list[list[int]]) -> None:
    numbers = np.array([n for part in parts for n in part], np.int64)
    cuts = np.cumsum([0, *map(len, parts)]).tolist()
    assert pack_parts(numbers, cuts) == [pack(part) for part in parts]


@pytest.mark.parametrize("step", [1, 2, 3, 40])
@pytest.mark.parametrize("count", [129, 4096, 4097, 70_000])
def test_many_numbers_are_a_portable_roaring_bitmap(step: int, count: int) -> None:
    numbers = range(65_000, 65_000 + step * count, step)
    packed = pack(numbers)
    assert packed[:1] == b"r"
    assert BitMap64.deserialize(packed[1:]) == BitMap64(numbers)


def test_neighbours_take_a_few_bytes() -> None:
    assert len(pack(range(100, 3100))) < 60
