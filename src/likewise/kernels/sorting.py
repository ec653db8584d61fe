"""Sorting in kernels: short functions, because numba takes seconds to compile its own sorts for each type of array.

>>> import numpy as np
>>> sorted_order(np.array([3.0, 1.0, 2.0])).tolist()
[1, 2, 0]
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from likewise.kernels.compile import kernel

# Ciura's gaps of Shell's sort: for the thousands of items that kernels sort, as fast as a quicksort.
GAPS: Final = (1_391_376, 463_792, 154_597, 51_532, 17_177, 5_725, 1_750, 701, 301, 132, 57, 23, 10, 4, 1)


@kernel
def sort_prefix(values: Any, count: int) -> None:
    """Sort the first `count` values in place, ascending."""
    for gap in GAPS:
        for i in range(gap, count):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value


@kernel
def sorted_order(keys: Any) -> Any:
    """Return the places of the keys in ascending order; of equal keys the first comes first."""
    order = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        order[i] = i
    for gap in GAPS:
        for i in range(gap, len(keys)):
            place = order[i]
            j = i
            while j >= gap and (
                keys[order[j - gap]] > keys[place] or (keys[order[j - gap]] == keys[place] and order[j - gap] > place)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = place
    return order


@kernel
def value_of_rank(values: Any, count: int, rank: int) -> Any:
    """Return the value of a rank (0 is the smallest) among the first `count`, which are reordered."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]
