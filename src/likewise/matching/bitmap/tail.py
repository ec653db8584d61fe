"""The tail of the bitmap engine: the newest slots, held as plain rows until they fill a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.defaults import MAX_CONJUNCTIONS
from likewise.kernels.compile import address, view
from likewise.matching.bitmap import layout
from likewise.matching.bitmap.block import Rows
from likewise.matching.bitmap.condition_rows import Row


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
        """Whether it is time to make a block of it."""
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
        kept = np.array(sorted((o, s) for o, slots in self.slots.items() for s in slots), np.int64).reshape(-1, 2)
        return whole.take(kept[:, 1])

    def ordinals(self) -> NDArray[np.int32]:
        """The ordinals of its slots, removed ones too, in the order of addition."""
        return self._ordinals[: self.count]

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        arrays: list[NDArray[Any]] = [self.record, self._need, self._alive, self._ordinals, self._starts]
        return sum(a.nbytes for a in (*arrays, *self._columns))
