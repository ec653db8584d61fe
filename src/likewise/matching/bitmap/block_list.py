"""The blocks of the bitmap engine, in the order of addition: merged, clustered and shrunk as slots come and go.

Four neighbouring blocks of one size class become one, so an addition costs a logarithmic share of building and never
more than one block's build at once. Full blocks are clustered where that is of use (`clustering`). A block with half
of its slots gone is built anew from the rest.
"""

from __future__ import annotations

from likewise.matching.bitmap import layout
from likewise.matching.bitmap.block import Block, Rows, join
from likewise.matching.bitmap.clustering import Clustering
from likewise.matching.bitmap.code_book import CodeBook


class BlockList:
    """Blocks whose codes a book knows.

    >>> blocks = BlockList(CodeBook(), layout.BlockShape())
    >>> blocks.held, blocks.cluster()
    ([], False)
    """

    def __init__(self, book: CodeBook, shape: layout.BlockShape) -> None:
        self.held: list[Block] = []
        self._book = book
        self._shape = shape
        self._clustering: Clustering | None = None

    def clear(self) -> None:
        """Hold none."""
        self.held.clear()
        self._clustering = None

    def append(self, rows: Rows) -> None:
        """One more block, of rows that were added after all others."""
        if len(rows.ordinals):
            self.held.append(Block(rows, self._book.owner, self._shape))

    def remove(self, ordinal: int) -> tuple[list[int], bool]:
        """Clear the slots of an ordinal; the codes their rows hold, and whether blocks were built anew."""
        codes: list[int] = []
        sparse = -1
        for index, block in enumerate(self.held):
            if block.first <= ordinal <= block.last:
                slots = [slot for slot in block.slots_of(ordinal) if block.is_alive(slot)]
                codes += [code for slot in slots for code in block.remove(slot)]
                if slots and 2 * block.live <= block.size:
                    sparse = index
        if self._clustering is not None:
            self._clustering.remove(ordinal)
        if sparse >= 0:
            self._shrink(sparse)
        return codes, sparse >= 0

    def merge_newest(self) -> bool:
        """Merge the newest blocks of each size class, if it is time; whether it was."""
        merged = False
        room = self._shape.largest_block
        for limit in self._shape.size_classes():
            count = total = 0
            full = False  # no further block would fit in
            for block in reversed(self.held):
                full = total + block.live > room
                if full or block.live >= limit:
                    break
                count, total = count + 1, total + block.live
            if count >= self._shape.merged or (full and count > 1 and 2 * total > room):
                self._merge(len(self.held) - count, len(self.held))
                merged = True
        return merged

    def cluster(self) -> bool:
        """Go on with clustering by one block, or see whether there is something to cluster; False if there is not."""
        work = self._clustering
        if work is not None:
            if work.build(self._book.owner, self._shape):
                at = self.held.index(work.old[0])
                self.held[at : at + len(work.old)] = work.finished()
                self._clustering = None
            return True
        run: list[Block] = []
        for block in self.held:
            run = [*run, block] if not block.settled and 2 * block.live > self._shape.largest_block else []
            if len(run) == self._shape.clustered:
                self._clustering = Clustering.plan(run)
                if self._clustering is None:
                    for each in run:
                        each.settled = True
                return True
        return False

    def _shrink(self, index: int) -> None:
        """Build a block anew without what was removed, together with neighbours about as small."""
        low, high, live = index, index + 1, self.held[index].live
        for step, neighbour in ((-1, index - 1), (1, index + 1)):
            if 0 <= neighbour < len(self.held):
                other = self.held[neighbour].live
                if other <= self._shape.merged * live and 2 * (live + other) <= self._shape.largest_block:
                    low, high, live = min(low, neighbour), max(high, neighbour + 1), live + other
            if step < 0 and not live:
                break
        self._merge(low, high)

    def _merge(self, low: int, high: int) -> None:
        if self._clustering is not None and not set(self._clustering.old).isdisjoint(self.held[low:high]):
            self._clustering = None  # its blocks are no more; what is left of them is looked at again
        parts = [block.living() for block in self.held[low:high] if block.live]
        self.held[low:high] = [Block(join(parts), self._book.owner, self._shape)] if parts else []
