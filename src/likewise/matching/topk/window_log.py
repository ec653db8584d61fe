"""The publications of a window in arrival order, as the arrays the kernels read, added to one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import view

Arrays = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.uint8]]


class WindowLog:
    """For each publication the numbers it is ranked by, its time, and whether it counts (1) or has left (0).

    `value`, `time` and `alive` are memoryviews, whose single items are read and written several times faster than an
    array's; they change when the log grows. A publication has `width` items in `value`.

    >>> log = WindowLog(1)
    >>> log.append((2.5,), 7, 1)
    >>> [array.tolist() for array in log.arrays()], log.values(0)
    ([[[2.5]], [7], [1]], [2.5])
    """

    __slots__ = ("_arrays", "_room", "alive", "count", "time", "value", "width")

    value: Any
    time: Any
    alive: Any

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._hold(np.empty(16 * width), np.empty(16, np.int64), np.empty(16, np.uint8))

    def _hold(self, *arrays: NDArray[Any]) -> None:
        self._arrays = arrays
        self._room = len(arrays[1])
        self.value, self.time, self.alive = (view(array) for array in arrays)

    def append(self, values: Sequence[float], time: int, alive: int) -> None:
        """Add a publication."""
        at = self.count
        if at == self._room:
            self._hold(*(np.concatenate([array, np.empty_like(array)]) for array in self._arrays))
        if self.width == 1:
            self.value[at] = values[0]
        else:
            for place, number in enumerate(values, at * self.width):
                self.value[place] = number
        self.time[at] = time
        self.alive[at] = alive
        self.count = at + 1

    def cut(self, front: int) -> None:
        """Forget so many from the beginning."""
        self.count -= front
        room = max(16, 2 * self.count)
        fresh: list[NDArray[Any]] = []
        for array, width in zip(self._arrays, (self.width, 1, 1), strict=True):
            fresh.append(np.empty(room * width, array.dtype))
            fresh[-1][: self.count * width] = array[front * width : (front + self.count) * width]
        self._hold(*fresh)

    def values(self, index: int) -> list[float]:
        """The numbers a publication is ranked by."""
        found: list[float] = self.value[index * self.width : (index + 1) * self.width].tolist()
        return found

    def arrays(self) -> Arrays:
        """Everything, without a copy; valid until the next change."""
        values, times, alive = self._arrays
        count = self.count
        return values[: count * self.width].reshape(-1, self.width), times[:count], alive[:count]

    @property
    def nbytes(self) -> int:
        """The bytes held, free space included."""
        return sum(array.nbytes for array in self._arrays)
