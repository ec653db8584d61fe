"""Interests as bit planes: the production engine for interest vectors.

For each property and value there is a plane with one bit a vector: set if the vector rejects that value.
An event chooses one plane for each property; the vectors no chosen plane rejects are the answer. Planes
that reject most go first, so that a block of 4,096 vectors is usually empty after some of them; planes
that reject nobody are left out. Memory is 2k bits a vector of k properties, and cost is at most eight
cache lines for each block and property, whatever the vectors look like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.kernels.sizes import check_capacity
from likewise.matching.interests.vectors import InterestEngine, VectorTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class BitPlanes:
    """The planes over one table, kept in blocks of 4,096 rows.

    >>> table = VectorTable(3)
    >>> planes = BitPlanes(table)
    >>> planes.insert(table.add(5, "1*0"))
    >>> table.ordinals[planes.search(0b001)].tolist()
    [5]
    """

    def __init__(self, table: VectorTable) -> None:
        from likewise.matching.interests import kernels

        self._kernels = kernels
        self._table = table
        self._reject = np.zeros((1, table.width, 2, kernels.WORDS), np.uint64)
        self._live = np.zeros((1, kernels.WORDS), np.uint64)
        self._counts = np.zeros((table.width, 2), np.int64)
        self._out = np.zeros(kernels.ROWS, np.int64)

    def insert(self, row: int) -> None:
        """Note what a row rejects."""
        if row // self._kernels.ROWS >= len(self._live):
            self._reject = np.concatenate([self._reject, np.zeros_like(self._reject)])
            self._live = np.concatenate([self._live, np.zeros_like(self._live)])
            self._out = np.zeros(len(self._live) * self._kernels.ROWS, np.int64)
        table = self._table
        self._kernels.set_row(self._reject, self._live, self._counts, table.mask, table.value, table.width, row)

    def delete(self, row: int) -> None:
        """Take a row's bits back."""
        table = self._table
        self._kernels.clear_row(self._reject, self._live, self._counts, table.mask, table.value, table.width, row)

    def search(self, event: int) -> NDArray[np.int64]:
        """The rows that no plane the event chooses rejects."""
        table = self._table
        used = -(-table.used // self._kernels.ROWS)
        check_capacity(
            "blocks of planes", used, min(len(self._live), len(self._reject), len(self._out) // self._kernels.ROWS)
        )
        rows = self._kernels.survivors(self._reject, self._live, self._counts, table.pack(event), used, self._out)
        return self._out[:rows].copy()

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self._reject.nbytes + self._live.nbytes + self._counts.nbytes + self._out.nbytes


class InterestBitmapEngine(InterestEngine):
    """Interests in bit planes.

    >>> from likewise.model import Event, Interest, Subscription
    >>> engine = InterestBitmapEngine()
    >>> engine.add(0, Subscription(Interest("01*")), 0)
    >>> engine.find(Event(vector="011"), 0).ordinals.tolist(), engine.find(Event(vector="0110"), 0).ordinals.tolist()
    ([0], [])
    """

    def index(self, table: VectorTable) -> BitPlanes:
        """Bit planes."""
        return BitPlanes(table)
