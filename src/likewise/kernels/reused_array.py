"""Reusable memory for large results: allocating and faulting fresh memory costs more than filling it.

An array handed out is a view; whoever keeps it keeps its memory, and the next result gets other memory.
"""

from __future__ import annotations

from sys import getrefcount

import numpy as np
from numpy.typing import NDArray

UNSHARED_REFERENCES = (
    2  # references to an array that nobody else holds: the attribute and the argument of `getrefcount`
)


class ResultBuffer:
    """Buffer of ordinals that is reused once no result refers to it.

    >>> memory = ResultBuffer()
    >>> memory.grow(0, 8)[:2] = 1, 2
    >>> first = memory.part(2)
    >>> memory.whole()[0] = 5
    >>> first.tolist()
    [1, 2]
    """

    def __init__(self) -> None:
        self._array = np.empty(0, np.int32)

    def whole(self) -> NDArray[np.int32]:
        """Return the whole buffer, for a result of unknown size; `grow` extends it, `part` returns the result."""
        if getrefcount(self._array) > UNSHARED_REFERENCES:
            self._array = np.empty(len(self._array), np.int32)
        return self._array

    def grow(self, used: int, needed: int) -> NDArray[np.int32]:
        """Return a larger buffer with room for `needed` more values after the first `used`, which are copied."""
        larger = np.empty(used + needed + (used + needed) // 2, np.int32)
        larger[:used] = self._array[:used]
        self._array = larger
        return larger

    def part(self, used: int) -> NDArray[np.int32]:
        """Return the first `used` values; a copy if they are few, so that a small result does not pin the buffer."""
        if 4 * used + 4096 < len(self._array):
            return self._array[:used].copy()
        return self._array[:used]
