"""Memory for large results, used again once nobody holds it: fresh memory costs more than filling it.

An array handed out is a view; whoever keeps it keeps its memory, and the next result gets other memory.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

HELD = 2  # references to an array that nobody else holds: the attribute and the argument of `getrefcount`


Kind = TypeVar("Kind", bound=np.generic)


class ReusedArray(Generic[Kind]):
    """Hands out arrays of one kind of number.

    >>> memory = ReusedArray(np.int32)
    >>> first = memory.take(3)
    >>> second = memory.take(3)
    >>> np.shares_memory(first, second)
    False
    """

    def __init__(self, kind: type[Kind]) -> None:
        self._kind = kind
        self._array = np.empty(0, kind)

    def take(self, size: int) -> NDArray[Kind]:
        """An array of some size, its content undefined."""
        room = len(self._array)
        if not size <= room <= 4 * size + 4096 or getrefcount(self._array) > HELD:
            self._array = np.empty(size + (size >> 3), self._kind)
        return self._array[:size]

    def whole(self) -> NDArray[Kind]:
        """All the memory there is, for a result of unknown size; `grow` makes it more, `part` hands it out."""
        if getrefcount(self._array) > HELD:
            self._array = np.empty(len(self._array), self._kind)
        return self._array

    def grow(self, used: int, needed: int) -> NDArray[Kind]:
        """The same with room for `needed` more after the first `used`, which are kept."""
        larger = np.empty(used + needed + (used + needed) // 2, self._kind)
        larger[:used] = self._array[:used]
        self._array = larger
        return larger

    def part(self, used: int) -> NDArray[Kind]:
        """The first `used`; apart from the rest if they are few, so that whoever keeps them keeps little else."""
        if 4 * used + 4096 < len(self._array):
            return self._array[:used].copy()
        return self._array[:used]
