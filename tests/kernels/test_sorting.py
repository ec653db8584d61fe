"""The sorts of kernels agree with NumPy's, and kernels that are called with a literal share code."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba.core import types as published
from numba.core.dispatcher import Dispatcher

from likewise.kernels.compile import kernel
from likewise.kernels.sorting import sort_prefix, sorted_order, value_of_rank

types: Any = published
NUMBERS = st.lists(st.integers(-50, 50), max_size=80)


@given(NUMBERS, st.integers(0, 80))
def test_a_prefix_is_sorted_and_the_rest_stays(numbers: list[int], count: int) -> None:
    count = min(count, len(numbers))
    values = np.array(numbers, dtype=np.int64)
    sort_prefix(values, count)
    assert values.tolist() == sorted(numbers[:count]) + numbers[count:]


@given(NUMBERS)
def test_the_order_is_ascending_and_stable(numbers: list[int]) -> None:
    for kind in (np.int64, np.float64):
        keys = np.array(numbers, dtype=kind)
        assert sorted_order(keys).tolist() == np.argsort(keys, kind="stable").tolist()


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=80), st.data())
def test_the_value_of_a_rank_is_that_of_the_sorted_values(numbers: list[float], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(numbers)))
    rank = data.draw(st.integers(0, count - 1))
    assert value_of_rank(np.array(numbers), count, rank) == sorted(numbers[:count])[rank]


def test_a_literal_compiles_no_code_of_its_own() -> None:
    """`0` and any other integer are the same type to a kernel that another one calls."""

    @kernel
    def shifted(value: Any, by: Any) -> Any:
        return value + by

    assert isinstance(shifted, Dispatcher)
    shifted.get_call_template((types.int64, types.literal(0)), {})
    shifted.get_call_template((types.int64, types.int64), {})
    assert [tuple(map(str, each)) for each in shifted.signatures] == [("int64", "int64")]
