"""The blocks of the bitmap engine, in the order of addition: merged, clustered and shrunk as slots come and go.

Four neighbouring blocks of one size class become one, so an addition costs a logarithmic share of building and never
more than one block's build at once. Full blocks are clustered where that is of use (`clustering`). A block with half
of its slots gone is built anew from the rest.

The tail of the bitmap engine: the newest slots, held as plain rows until they fill a block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.defaults import MAX_CONJUNCTIONS
from likewise.kernels.compile import address, view
from likewise.matching.bitmap import layout
from likewise.matching.bitmap.block import NO_GATES, Block, Rows, join
from likewise.matching.bitmap.clustering.gates import gates, ranges_on
from likewise.matching.bitmap.clustering.incremental import Clustering
from likewise.matching.bitmap.code_book import CodeBook
from likewise.matching.bitmap.condition_rows import Row
from likewise.matching.bitmap.listing_kernels import find_holders


class Tail:
    """Rows appended one slot at a time; the arrays behind `record` move when they grow.

    >>> tail = Tail(layout.BlockShape())
    >>> tail.append(7, [(0, 0, 0.0, 0.0)], 1)
    >>> tail.remove(7), len(tail.rows().ordinals)
    ([0], 0)
    """

    def __init__(self, shape: layout.BlockShape) -> None:
        self.record = np.zeros(layout.WIDTH, np.int64)
        self._shape = shape
        self.words = -(-(shape.tail_slots + MAX_CONJUNCTIONS) // 64)  # of its bitmap when it is fullest
        capacity = 64 * self.words
        self.slots: dict[int, list[int]] = {}
        self._need = np.zeros(capacity, np.uint64)
        self._alive = np.zeros(self.words, np.uint64)
        self._ordinals = np.zeros(capacity, np.int32)
        self._starts = np.zeros(capacity + 1, np.int64)
        self._views = [view(a) for a in (self._need, self._ordinals, self._starts)]
        self.count = self.used = 0
        self._grow(shape.tail_rows)
        self.clear()

    def _grow(self, size: int) -> None:
        columns: list[NDArray[Any]] = [np.zeros(size, kind) for kind in (np.int32, np.int32, np.float64, np.float64)]
        if self.used:
            for new, old in zip(columns, self._columns, strict=True):
                new[: self.used] = old[: self.used]
        self._columns: list[NDArray[Any]] = columns
        self._rows = [view(column) for column in columns]
        record = self.record
        arrays: list[NDArray[Any]] = [self._alive, self._need, self._ordinals, self._starts, *columns]
        for field, array in zip(
            (
                layout.ALIVE,
                layout.NEED,
                layout.ORDINALS,
                layout.ROW_STARTS,
                layout.ROW_CODES,
                layout.ROW_FLAGS,
                layout.ROW_ON,
                layout.ROW_OFF,
            ),
            arrays,
            strict=True,
        ):
            record[field] = address(array)
        record[layout.ORDER] = layout.SHARED

    def clear(self) -> None:
        """Empty it."""
        self.count = self.used = 0
        self.slots.clear()
        self._alive[:] = 0
        self.record[layout.SLOTS] = self.record[layout.WORDS] = 0

    @property
    def full(self) -> bool:
        """Return whether it is time to make a block of it."""
        return self.count >= self._shape.tail_slots or self.used >= self._shape.tail_rows

    def append(self, ordinal: int, rows: list[Row], requirements: int) -> None:
        """Add one slot."""
        at, slot = self.used, self.count
        if at + len(rows) > len(self._columns[0]):
            self._grow(2 * (at + len(rows)))
        codes, flags, ons, offs = self._rows
        need, ordinals, starts = self._views
        for code, flag, on, off in rows:
            codes[at] = code
            flags[at] = flag
            ons[at] = on
            offs[at] = off
            at += 1
        need[slot] = (1 << requirements) - 1
        ordinals[slot] = ordinal
        starts[slot + 1] = self.used = at
        self._alive[slot >> 6] |= np.uint64(1 << (slot & 63))
        self.slots.setdefault(ordinal, []).append(slot)
        self.count = slot + 1
        self.record[layout.SLOTS] = slot + 1
        self.record[layout.WORDS] = (slot >> 6) + 1

    def remove(self, ordinal: int) -> list[int]:
        """Clear an ordinal's slots; the codes their rows hold."""
        codes: list[int] = []
        for slot in self.slots.pop(ordinal):
            self._alive[slot >> 6] &= ~np.uint64(1 << (slot & 63))
            codes += self._columns[0][self._starts[slot] : self._starts[slot + 1]].tolist()
        return codes

    def rows(self) -> Rows:
        """The rows of the slots that are left, by ordinal."""
        whole = Rows(self._ordinals, self._starts[: self.count + 1], *self._columns)
        living = np.array(sorted((o, s) for o, slots in self.slots.items() for s in slots), np.int64).reshape(-1, 2)
        return whole.take(living[:, 1])

    def ordinals(self) -> NDArray[np.int32]:
        """The ordinals of its slots, removed ones too, in the order of addition."""
        return self._ordinals[: self.count]

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        arrays: list[NDArray[Any]] = [self.record, self._need, self._alive, self._ordinals, self._starts]
        return sum(a.nbytes for a in (*arrays, *self._columns))


GROUPED = 4  # groups of clustered blocks that are clustered anew together
FULL = 0.9  # of the slots that so many groups have if none was removed


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
        self._holders = np.zeros(64, np.int64)

    def clear(self) -> None:
        """Hold none."""
        self.held.clear()
        self._clustering = None

    def append(self, rows: Rows) -> None:
        """One more block, of rows that were added after all others."""
        if len(rows.ordinals):
            self.held.append(Block(rows, self._book.owner, self._shape))

    def remove(self, ordinal: int, table: int) -> tuple[list[int], bool]:
        """Clear the slots of an ordinal; the codes their rows hold, and whether blocks were built anew.

        `table`: where the kernels' table of the blocks lies.
        """
        codes: list[int] = []
        sparse = -1
        count = find_holders(table, ordinal, self._holders)
        if count > len(self._holders):
            self._holders = np.zeros(count, np.int64)
            find_holders(table, ordinal, self._holders)
        for index in self._holders[:count].tolist():
            block = self.held[index]
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
                if full or block.live >= limit or block.level:
                    break
                count, total = count + 1, total + block.live
            if count >= self._shape.merged or (full and count > 1 and 2 * total > room):
                self._merge(len(self.held) - count, len(self.held))
                merged = True
        return merged

    def cluster(self) -> bool:
        """Go on with clustering by one step, or see whether there is something to cluster; False if there is not."""
        work = self._clustering
        if work is not None:
            if work.step(self._book.owner, self._shape):
                at = self.held.index(work.old[0])
                self.held[at : at + len(work.old)] = work.finished()
                self._clustering = None
            return True
        run, level = self._run()
        if not run:
            return False
        self._clustering = Clustering.plan(run, level, self._book.owner, self._shape)
        if self._clustering is None:
            for each in run:
                each.settled = True
        return True

    def _run(self) -> tuple[list[Block], int]:
        """Neighbours of one level that are to be clustered together, and the level of what they become."""
        run: list[Block] = []
        for block in [*self.held, None]:
            continues = block is not None and self._may_cluster(block)
            if run and (not continues or block is None or block.level != run[0].level):
                chosen, level = self._chosen(run)
                if chosen:
                    return chosen, level
                run = []
            if block is not None and continues:
                run.append(block)
        return [], 0

    def _may_cluster(self, block: Block) -> bool:
        if block.settled or block.level >= self._shape.levels:
            return False
        return block.level > 0 or 2 * block.live > self._shape.largest_block

    def _chosen(self, run: list[Block]) -> tuple[list[Block], int]:
        """The first blocks of a run that make the largest group there are enough slots for."""
        shape = self._shape
        total = sum(block.live for block in run)
        for level in range(shape.levels, run[0].level, -1):
            size = shape.clustered * shape.largest_block * GROUPED ** (level - 1)
            if total >= FULL * size:
                ends = np.cumsum([block.live for block in run])
                return run[: int(np.searchsorted(ends, size)) + 1], level
        if not run[0].level and len(run) >= shape.clustered:  # some are not full
            return run[: shape.clustered], 1
        return [], 0

    def _shrink(self, index: int) -> None:
        """Build a block anew without what was removed, together with neighbours about as small."""
        low, high, live = index, index + 1, self.held[index].live
        level = self.held[index].level
        room = self._shape.clustered_block if level else self._shape.largest_block
        for step, neighbour in ((-1, index - 1), (1, index + 1)):
            if 0 <= neighbour < len(self.held) and self.held[neighbour].level == level:
                other = self.held[neighbour].live
                if other <= self._shape.merged * live and 2 * (live + other) <= room:
                    low, high, live = min(low, neighbour), max(high, neighbour + 1), live + other
            if step < 0 and not live:
                break
        self._merge(low, high)

    def _merge(self, low: int, high: int) -> None:
        merged = self.held[low:high]
        if self._clustering is not None and not set(self._clustering.old).isdisjoint(merged):
            self._clustering = None  # its blocks are no more; what is left of them is looked at again
        parts = [block.living() for block in merged if block.live]
        self.held[low:high] = []
        if parts:
            rows, owner, block_gates = join(parts), self._book.owner, NO_GATES
            axes = [set(block.gates[:, 0].tolist()) for block in merged]
            if common := sorted(set.intersection(*axes)):
                known = np.array(common, np.int64)
                block_gates = gates(ranges_on(rows, owner, known), known)
            self.held.insert(low, Block(rows, owner, self._shape, block_gates, min(block.level for block in merged)))
