"""Memory for large results, used again once nobody holds it: fresh memory costs more than filling it.

An array handed out is a view; whoever keeps it keeps its memory, and the next result gets other memory.
"""

from __future__ import annotations

from sys import getrefcount

import numpy as np
from numpy.typing import NDArray

HELD = 2  # references to an array that nobody else holds: the attribute and the argument of `getrefcount`


class ReusedArray:
    """Hands out arrays of 64-bit integers.

    >>> memory = ReusedArray()
    >>> first = memory.take(3)
    >>> second = memory.take(3)
    >>> np.shares_memory(first, second)
    False
    """

    def __init__(self) -> None:
        self._array = np.empty(0, np.int64)

    def take(self, size: int) -> NDArray[np.int64]:
        """An array of some size, its content undefined."""
        room = len(self._array)
        if not size <= room <= 4 * size + 4096 or getrefcount(self._array) > HELD:
            self._array = np.empty(size + (size >> 3), np.int64)
        return self._array[:size]
