"""Modified RAPIDMatch: by the rarer value of the event (sources.md M; Mohapatra et al. 2013, section III.D).

The paper keeps RAPIDMatch's structure and only counts the rarer value. That cannot work: trees made for
blocks without ones say nothing about zeros. So a mirrored structure (at most t zeros, no 0 in block j)
serves events whose zeros are fewer, and the copies double. Nor may vectors without any * that are
all 0 or all 1 be left out, as the paper's text does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.matching.interests.rapid import BlockTrees, CopyBudget, RapidEngine, RapidIndex
from likewise.matching.interests.trie import TriePool
from likewise.matching.interests.vectors import VectorTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ModifiedRapidIndex(RapidIndex):
    """RAPIDMatch's trees for ones, their mirror for zeros, and the tree of all."""

    def __init__(self, table: VectorTable, c: int | None, copies: CopyBudget) -> None:
        super().__init__(table, c, copies)
        self._full = (1 << table.width) - 1
        self._mirror = BlockTrees(table.width, self.c, base=len(self._light.starts))
        starts, lengths = self._light.starts + self._mirror.starts, self._light.lengths + self._mirror.lengths
        self._pool = TriePool(table, starts, lengths)

    def _trees(self, row: int) -> list[int]:
        mask, ones = self._table.unpack(row)
        return self._light.trees(ones) + self._mirror.trees(mask & ~ones)

    def search(self, event: int) -> NDArray[np.int64]:
        """Search by ones or by zeros, whichever are fewer; with too many of both, the tree of all."""
        zeros = self._full & ~event
        light, few = (self._light, event) if event.bit_count() <= zeros.bit_count() else (self._mirror, zeros)
        if few.bit_count() > self.c:
            return self._all.search(event)
        return self._pool.search(self._table.pack(event), light.serving(few))


class ModifiedRapidEngine(RapidEngine):
    """Interests in RAPIDMatch's trees and their mirror.

    >>> from likewise.model import Event, Interest, Subscription
    >>> engine = ModifiedRapidEngine()
    >>> engine.add(0, Subscription(Interest("11111")), 0)
    >>> engine.find(Event(vector="11111"), 0).ordinals.tolist()
    [0]
    """

    def index(self, table: VectorTable) -> ModifiedRapidIndex:
        """RAPIDMatch's trees and their mirror."""
        return ModifiedRapidIndex(table, self._c, self._copies)
