"""Search trees over interest vectors: what `tree` and both RAPIDMatches are made of (sources.md M).

A node tests one property and has a child each for 0, 1 and *; an event follows its own value and *.
We depart from the papers' drawing in two ways that change no answer: rows that still agree share a
bucket of up to eight, whose rows are compared word by word, and a property on which all rows below
agree gets no node. So a tree of n rows has fewer than n inner nodes however long the vectors are, and
a row takes about 20 bytes for each tree it is in.

All trees of one engine live in one pool of arrays, which doubles when it is full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.kernels.sizes import check_capacity
from likewise.matching.interests.vectors import VectorTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TriePool:
    """Trees over the rows of one table. Tree i tests properties from `starts[i]` on, cyclically, `lengths[i]` of them.

    >>> table = VectorTable(2)
    >>> pool = TriePool(table, [0], [2])
    >>> for ordinal, vector in enumerate(["0*", "11", "*1"]):
    ...     pool.insert(table.add(ordinal, vector), [0])
    >>> sorted(pool.search(table.pack(0b10), 0).tolist())
    [0, 2]
    """

    def __init__(self, table: VectorTable, starts: Sequence[int], lengths: Sequence[int]) -> None:
        from likewise.matching.interests import kernels

        self._kernels = kernels
        self._table = table
        self._starts = np.array(starts, np.int64)
        self._lengths = np.array(lengths, np.int64)
        self._roots = np.full(len(starts), -1, np.int32)
        self._counters = np.zeros(5, np.int64)
        self._counters[[kernels.INNER_FREE, kernels.BUCKET_FREE]] = -1
        self._tested = np.zeros(4, np.int16)
        self._child = np.zeros((4, 3), np.int32)
        self._slots = np.zeros((8, kernels.ROOM), np.int32)
        self._total = np.zeros(8, np.int32)
        self._behind = np.zeros(8, np.int32)
        self._stack = np.zeros(table.width + 2, np.int32)
        self._out = np.zeros(16, np.int32)

    @property
    def entries(self) -> int:
        """Rows held, each counted once for every tree it is in."""
        return int(self._counters[self._kernels.LIVE])

    @property
    def nodes(self) -> int:
        """Inner nodes the arrays have had to hold at most."""
        return int(self._counters[self._kernels.INNER])

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(a.nbytes for a in (*self._pool(), self._stack, self._out))

    def _pool(self) -> tuple[NDArray[np.generic], ...]:
        return (self._counters, self._roots, self._tested, self._child, self._slots, self._total, self._behind)

    def _make_room(self, trees: int) -> None:
        """Room for what an insertion into so many trees may need: a node and four buckets each."""
        kernels, used = self._kernels, self._counters
        if used[kernels.INNER] + trees > len(self._tested):
            more = max(trees, len(self._tested))
            self._tested = np.concatenate([self._tested, np.zeros(more, np.int16)])
            self._child = np.concatenate([self._child, np.zeros((more, 3), np.int32)])
        if used[kernels.BUCKET] + 4 * trees > len(self._total):
            more = max(4 * trees, len(self._total))
            self._slots = np.concatenate([self._slots, np.zeros((more, kernels.ROOM), np.int32)])
            self._total = np.concatenate([self._total, np.zeros(more, np.int32)])
            self._behind = np.concatenate([self._behind, np.zeros(more, np.int32)])

    def insert(self, row: int, trees: Sequence[int]) -> None:
        """Put a row of the table into the trees."""
        self._make_room(len(trees))
        table = self._table
        chosen = np.array(trees, np.int64)
        self._kernels.insert(
            self._pool(), table.mask, table.value, table.width, chosen, self._starts, self._lengths, row
        )

    def delete(self, row: int, trees: Sequence[int]) -> None:
        """Take a row out of the trees it was put into."""
        self._kernels.delete(self._pool(), self._table.mask, self._table.value, np.array(trees, np.int64), row)

    def search(self, event: NDArray[np.uint64], tree: int) -> NDArray[np.int64]:
        """The rows of one tree the event meets."""
        table = self._table
        if len(self._out) < table.used:
            self._out = np.zeros(len(table.ordinals), np.int32)
        check_capacity("inner nodes", int(self._counters[self._kernels.INNER]), len(self._tested))
        check_capacity("buckets", int(self._counters[self._kernels.BUCKET]), len(self._total))
        check_capacity("rows of vectors", table.used, min(len(self._out), len(table.mask)))
        rows = self._kernels.search(self._pool(), table.mask, table.value, event, tree, self._stack, self._out)
        return self._out[:rows].astype(np.int64)
