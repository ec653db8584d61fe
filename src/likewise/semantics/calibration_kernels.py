"""Compiled reading of scores against their backgrounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)
def interpolated(
    scores: NDArray[np.float32],
    asked: NDArray[np.int64],
    seen: NDArray[np.int64],
    knots: NDArray[np.float32],
    levels: NDArray[np.float32],
) -> Any:
    """The level of each score, on straight lines between the knots of its two classes.

    Of several equal knots the first counts: a score that very many random pairs have says little. A
    score of 0 has the level 0.
    """
    rows, columns = scores.shape
    last = knots.shape[2] - 1
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            x = scores[i, j]
            if x <= 0.0:
                continue
            table = knots[asked[i], seen[j]]
            k = 0
            while k < last and table[k + 1] < x:
                k += 1
            if k == last:
                out[i, j] = levels[last]
            else:
                width = table[k + 1] - table[k]
                share = (x - table[k]) / width if width > 0.0 else np.float32(0.0)
                out[i, j] = levels[k] + share * (levels[k + 1] - levels[k])
    return out
