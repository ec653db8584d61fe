"""Growable arrays for indexes to which entries are added one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


class GrowingArray:
    """One-dimensional array with amortised appending; its capacity doubles when it is full.

    >>> a = GrowingArray(np.int64)
    >>> a.append(3); a.extend([4, 5]); a.view().tolist()
    [3, 4, 5]
    """

    __slots__ = ("_array", "_length")

    def __init__(self, dtype: DTypeLike) -> None:
        self._array: NDArray[Any] = np.empty(16, dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Allocated bytes, free capacity included."""
        return self._array.nbytes

    def view(self) -> NDArray[Any]:
        """Return the appended values without a copy; valid until the next change."""
        return self._array[: self._length]

    def append(self, value: float) -> None:
        """Add one value."""
        if self._length == len(self._array):
            self._reserve(self._length + 1)
        self._array[self._length] = value
        self._length += 1

    def extend(self, values: ArrayLike) -> None:
        """Add many values."""
        values = np.asarray(values)
        end = self._length + len(values)
        if end > len(self._array):
            self._reserve(end)
        self._array[self._length : end] = values
        self._length = end

    def replace(self, values: NDArray[Any]) -> None:
        """Replace all values."""
        self._array = np.array(values, self._array.dtype)
        self._length = len(values)
        if self._length == 0:
            self._array = np.empty(16, self._array.dtype)

    def _reserve(self, capacity: int) -> None:
        grown = np.empty(max(capacity, 2 * len(self._array)), self._array.dtype)
        grown[: self._length] = self._array[: self._length]
        self._array = grown
