"""RAPIDMatch over interest vectors (sources.md M; Mohapatra et al. 2013, section III.C; Kale et al. 2005).

S_t holds the vectors with at most t ones, t = 0..c. For each t the properties are cut into t + 1 blocks,
and the tree T_j^t holds those of S_t without a 1 in block j. An event with t <= c ones has a block
without ones, and every vector it meets is in that block's tree. Other events search the tree of all.

The paper calls the T_j^t disjoint; they are not, and a vector must go into every one that fits, or
events that find another empty block miss it. These copies are the price: with c = 6 (50 properties) a
vector with three ones has about 12 besides the one in the full tree, with c = 31 (1,000 properties)
about 440. So an engine holds at most `copies` of them and refuses with `LimitExceeded` beyond; a lower
`c` needs fewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.defaults import RAPID_COPIES
from likewise.errors import LimitExceeded
from likewise.matching.interests.tree import TreeIndex
from likewise.matching.interests.trie import TriePool
from likewise.matching.interests.vectors import InterestEngine, VectorTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def default_c(properties: int) -> int:
    """The largest t with t(t + 1) <= k: as long as blocks are not shorter than they are many.

    >>> default_c(50), default_c(1000)
    (6, 31)
    """
    t = 0
    while (t + 1) * (t + 2) <= properties:
        t += 1
    return t


def blocks(properties: int, parts: int) -> list[tuple[int, int]]:
    """Consecutive blocks (first, length), as even as possible, the longer ones first; some may be empty.

    >>> blocks(7, 3), blocks(1, 2)
    ([(0, 3), (3, 2), (5, 2)], [(0, 1), (1, 0)])
    """
    size, longer = divmod(properties, parts)
    cut = []
    first = 0
    for part in range(parts):
        length = size + (part < longer)
        cut.append((first, length))
        first += length
    return cut


class BlockTrees:
    """The sets T_j^t for bits that are few: which trees a set of bits goes into, and which one serves an event.

    Tree numbers count from `base`. For RAPIDMatch the bits are the ones; the mirror uses the zeros.

    >>> light = BlockTrees(4, 1, base=0)  # T_1^0 leaves all properties out, T_1^1 and T_2^1 a half each
    >>> light.starts, light.lengths, light.trees(0b0001), light.serving(0b0001)
    ([0, 2, 0], [0, 2, 2], [2], 2)
    """

    def __init__(self, properties: int, c: int, base: int) -> None:
        self.c = c
        self.starts: list[int] = []
        self.lengths: list[int] = []
        self._masks: list[list[tuple[int, int]]] = []
        for t in range(c + 1):
            masks = []
            for first, length in blocks(properties, t + 1):
                masks.append((base + len(self.starts), ((1 << length) - 1) << first))
                self.starts.append((first + length) % properties)
                self.lengths.append(properties - length)
            self._masks.append(masks)

    def trees(self, few: int) -> list[int]:
        """Every tree a vector with these bits fits into."""
        return [tree for masks in self._masks[few.bit_count() :] for tree, mask in masks if not few & mask]

    def serving(self, few: int) -> int:
        """The tree of the first block an event with these bits leaves empty; the event has at most c of them."""
        return next(tree for tree, mask in self._masks[few.bit_count()] if not few & mask)


class CopyBudget:
    """Limit of the copies of an engine, and their number.

    >>> CopyBudget(2).take(3)
    Traceback (most recent call last):
    likewise.errors.LimitExceeded: copies RAPIDMatch holds ...
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0

    def take(self, copies: int) -> None:
        """Count copies in, or refuse."""
        if self.held + copies > self.limit:
            raise LimitExceeded(
                "copies RAPIDMatch holds (a lower c needs fewer)", allowed=self.limit, found=self.held + copies
            )
        self.held += copies


class RapidIndex:
    """The trees T_j^t and the tree of all, over the vectors of one length."""

    def __init__(self, table: VectorTable, c: int | None, copies: CopyBudget) -> None:
        self._table = table
        self._copies = copies
        self.c = default_c(table.width) if c is None else min(c, table.width)
        self._all = TreeIndex(table)
        self._light = BlockTrees(table.width, self.c, base=0)
        self._pool = TriePool(table, self._light.starts, self._light.lengths)

    def _trees(self, row: int) -> list[int]:
        _, ones = self._table.unpack(row)
        return self._light.trees(ones)

    def insert(self, row: int) -> None:
        """Put a row into the tree of all and into every T_j^t that fits."""
        trees = self._trees(row)
        self._copies.take(1 + len(trees))
        self._all.insert(row)
        if trees:
            self._pool.insert(row, trees)

    def delete(self, row: int) -> None:
        """Take a row out of all its trees."""
        trees = self._trees(row)
        self._all.delete(row)
        if trees:
            self._pool.delete(row, trees)
        self._copies.held -= 1 + len(trees)

    def search(self, event: int) -> NDArray[np.int64]:
        """Search the tree of a block without ones; with too many ones, the tree of all."""
        if event.bit_count() > self.c:
            return self._all.search(event)
        return self._pool.search(self._table.pack(event), self._light.serving(event))

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self._all.nbytes + self._pool.nbytes


class RapidEngine(InterestEngine):
    """Interests in RAPIDMatch's trees; `c` is chosen by the length unless given, `copies` bounds the memory.

    >>> from likewise.model import Event, Interest, Subscription
    >>> engine = RapidEngine()
    >>> engine.add(0, Subscription(Interest("0*1**")), 0)
    >>> engine.find(Event(vector="00100"), 0).ordinals.tolist(), engine.copies
    ([0], 2)
    """

    def __init__(self, c: int | None = None, copies: int = RAPID_COPIES) -> None:
        super().__init__()
        self._c = c
        self._copies = CopyBudget(copies)

    @property
    def copies(self) -> int:
        """Return how many places of trees the interests take."""
        return self._copies.held

    def index(self, table: VectorTable) -> RapidIndex:
        """RAPIDMatch's trees."""
        return RapidIndex(table, self._c, self._copies)
