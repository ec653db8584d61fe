"""Modified RAPIDMatch: by the rarer value of the event (SPEC.md M; Mohapatra et al. 2013, section III.D).

The paper keeps RAPIDMatch's structure and only counts the rarer value. That cannot work: trees made for
blocks without ones say nothing about zeros. So a mirrored structure (at most t zeros, no 0 in block j)
serves events whose zeros are fewer, and the copies double. Nor may vectors without any * that are
all 0 or all 1 be left out, as the paper's text does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.matching.interest_vectors import VectorTable
from likewise.matching.rapid import Copies, Light, RapidEngine, default_c
from likewise.matching.trie import TriePool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ModifiedRapidIndex:
    """RAPIDMatch's trees for ones, their mirror for zeros, and the tree of all."""

    def __init__(self, table: VectorTable, c: int | None, copies: Copies) -> None:
        self._table = table
        self._copies = copies
        self._full = (1 << table.width) - 1
        self.c = default_c(table.width) if c is None else min(c, table.width)
        self._ones = Light(table.width, self.c, base=1)
        self._zeros = Light(table.width, self.c, base=1 + len(self._ones.starts))
        starts = [0, *self._ones.starts, *self._zeros.starts]
        self._pool = TriePool(table, starts, [table.width, *self._ones.lengths, *self._zeros.lengths])

    def _trees(self, row: int) -> list[int]:
        care, ones = self._table.unpack(row)
        return [0, *self._ones.trees(ones), *self._zeros.trees(care & ~ones)]

    def insert(self, row: int) -> None:
        """Put a row into the tree of all and into every T_j^t of both structures that fits."""
        trees = self._trees(row)
        self._copies.take(len(trees))
        self._pool.insert(row, trees)

    def delete(self, row: int) -> None:
        """Take a row out of all its trees."""
        trees = self._trees(row)
        self._pool.delete(row, trees)
        self._copies.held -= len(trees)

    def search(self, event: int) -> NDArray[np.int64]:
        """Search by ones or by zeros, whichever are fewer; with too many of both, the tree of all."""
        zeros = self._full & ~event
        light, few = (self._ones, event) if event.bit_count() <= zeros.bit_count() else (self._zeros, zeros)
        tree = light.serving(few) if few.bit_count() <= self.c else 0
        return self._pool.search(self._table.pack(event), tree)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self._pool.nbytes


class ModifiedRapidEngine(RapidEngine):
    """Interests in RAPIDMatch's trees and their mirror.

    >>> from likewise.model import Event, Interest, Subscription
    >>> engine = ModifiedRapidEngine()
    >>> engine.add(0, Subscription(Interest("11111")), 0)
    >>> engine.find(Event(vector="11111"), 0).ordinals.tolist()
    [0]
    """

    def index(self, table: VectorTable) -> ModifiedRapidIndex:  # type: ignore[override]  # another index, same protocol
        """RAPIDMatch's trees and their mirror."""
        return ModifiedRapidIndex(table, self._c, self._copies)
