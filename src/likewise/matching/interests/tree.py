"""The tree matcher over interest vectors (sources.md M; Mohapatra et al. 2013, section III.B; Aguilera et al. 1999)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.matching.interests.trie import TriePool
from likewise.matching.interests.vectors import InterestEngine, VectorTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TreeIndex:
    """One search tree over all properties in their order.

    >>> table = VectorTable(3)
    >>> index = TreeIndex(table)
    >>> index.insert(table.add(5, "1*0"))
    >>> table.ordinals[index.search(0b001)].tolist()
    [5]
    """

    def __init__(self, table: VectorTable) -> None:
        self._table = table
        self._pool = TriePool(table, [0], [table.width])

    def insert(self, row: int) -> None:
        """Put a row into the tree."""
        self._pool.insert(row, (0,))

    def delete(self, row: int) -> None:
        """Take a row out of the tree."""
        self._pool.delete(row, (0,))

    def search(self, event: int) -> NDArray[np.int64]:
        """Follow the event's own values and *."""
        return self._pool.search(self._table.pack(event), 0)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self._pool.nbytes


class TreeEngine(InterestEngine):
    """Interests in one search tree for each length: level i tests property i.

    >>> from likewise.model import Event, Interest, Subscription
    >>> engine = TreeEngine()
    >>> engine.add(0, Subscription(Interest("01*")), 0)
    >>> engine.find(Event(vector="011"), 0).ordinals.tolist()
    [0]
    """

    def index(self, table: VectorTable) -> TreeIndex:
        """One tree."""
        return TreeIndex(table)
