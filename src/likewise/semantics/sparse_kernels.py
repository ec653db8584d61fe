"""Compiled products of many sparse vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def dots(
    asked_ends: NDArray[np.int64],
    asked_documents: NDArray[np.uint32],
    asked_weights: NDArray[np.float32],
    seen_ends: NDArray[np.int64],
    seen_documents: NDArray[np.uint32],
    seen_weights: NDArray[np.float32],
    documents: int,
) -> Any:
    """The inner product of every asked vector with every seen one.

    Each seen vector is spread over one dense row of all `documents`, which every asked vector then
    reads: the cost is the asked vectors' length for each seen one, however long that is.
    """
    rows, columns = len(asked_ends), len(seen_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    spread = np.zeros(documents, dtype=np.float32)
    start = 0
    for j in range(columns):
        end = seen_ends[j]
        for k in range(start, end):
            spread[seen_documents[k]] = seen_weights[k]
        if end > start:
            begin = 0
            for i in range(rows):
                total = np.float32(0.0)
                for k in range(begin, asked_ends[i]):
                    total += asked_weights[k] * spread[asked_documents[k]]
                out[i, j] = total
                begin = asked_ends[i]
        for k in range(start, end):
            spread[seen_documents[k]] = 0.0
        start = end
    return out
