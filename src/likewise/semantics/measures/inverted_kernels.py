"""Compiled comparison of new words with many known ones, whose vectors were turned round before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import unlocked

if TYPE_CHECKING:
    from numpy.typing import NDArray


@unlocked
def turned_dots(
    documents: NDArray[np.uint32],
    ends: NDArray[np.int64],
    rows: NDArray[np.int32],
    weights: NDArray[np.float32],
    seen_ends: NDArray[np.int64],
    seen_documents: NDArray[np.uint32],
    seen_weights: NDArray[np.float32],
    out: NDArray[Any],
) -> None:
    """Puts the inner product of every asked vector (row) with every seen one (column) into `out`, in its precision.

    Only the documents of the seen ones are looked at. `documents` are those of all asked vectors, ascending; up to
    `ends` stand the `rows` that hold each and their `weights`. Both documents' lists ascend, so the search goes on
    where it ended.
    """
    total = np.zeros_like(out[:, 0])
    weight = np.zeros_like(out[0, :1])  # a number of the same precision
    start = 0
    for j in range(len(seen_ends)):
        total[:] = 0.0
        at = 0
        for k in range(start, seen_ends[j]):
            wanted = seen_documents[k]
            step, high = 1, at
            while high < len(documents) and documents[high] < wanted:
                at = high + 1
                high += step
                step *= 2
            high = min(high, len(documents))
            while at < high:
                middle = (at + high) // 2
                if documents[middle] < wanted:
                    at = middle + 1
                else:
                    high = middle
            if at == len(documents):
                break
            if documents[at] == wanted:
                weight[0] = seen_weights[k]
                for p in range(ends[at - 1] if at else 0, ends[at]):
                    total[rows[p]] += weights[p] * weight[0]
        out[:, j] = total
        start = seen_ends[j]
