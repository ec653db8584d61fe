"""A family of windows that says what it holds, to be kept on disk, and takes it up again."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence

import numpy as np

from likewise.matching.topk.candidate_kernels import TIMED, refill
from likewise.matching.topk.family import Family, Publication


class WindowFamily(Family):
    """The shared window and the members' candidates."""

    # -- figures --------------------------------------------------------------------------------

    def candidates(self) -> int:
        """How many candidates all members keep."""
        return int(self._length.view().sum())

    def window_bytes(self) -> int:
        """The bytes of the shared window's arrays."""
        return self._window.nbytes

    def member_bytes(self) -> int:
        """The bytes of the members' arrays, candidates and what was delivered to them included."""
        columns = (self._k, self._keep, self._capacity, self._since, self._start, self._length, *self._centres)
        held = sum(column.nbytes for column in (*columns, *self._bounds, *self._entries))
        return held + sum(8 * len(slots) for slots in self.faded.values())

    # -- keeping --------------------------------------------------------------------------------

    def publications(self) -> Iterable[tuple[int, Publication, bool, list[float]]]:
        """Every publication of the window: number, what it is, whether it counts, and its values."""
        for index, entry in enumerate(self.log):
            if entry is not None:
                yield index + self.base, entry, bool(self._window.alive[index]), self._window.values(index)

    def members(self) -> Iterable[tuple[int, int, list[int]]]:
        """Every member: its ordinal, where it began, and what of the window was delivered to it."""
        faded: dict[int, list[int]] = {}
        for number, slots in self.faded.items():
            for slot in slots:
                faded.setdefault(slot, []).append(number)
        numbers, done = self._entries[2].view(), self._entries[4].view()
        for ordinal, slot in self.slots.items():
            start = int(self._start.view()[slot])
            stop = start + int(self._length.view()[slot])
            delivered = sorted({*numbers[start:stop][done[start:stop] == 1].tolist(), *faded.get(slot, ())})
            yield ordinal, int(self._since.view()[slot]), delivered

    def restore(
        self,
        publications: Sequence[tuple[int, Publication, bool, list[float]]],
        since: dict[int, tuple[int, list[int]]],
        next: int,
    ) -> None:
        """Take up a saved window; its members have joined already."""
        self.base = publications[0][0] if publications else next
        self._oldest = self.base
        for number, entry, alive, values in publications:
            while self.next < number:  # gaps left by what had expired out of order
                self._append(None, self._unranked, 0, 0)
            self._append(entry, values, entry.time, int(alive))
            if self.kind == TIMED:
                heapq.heappush(self._expiring, (entry.time, number))
        while self.next < next:
            self._append(None, self._unranked, 0, 0)
        self._matrix, self._reach = np.empty((0, self.dimensions)), math.inf
        self._refresh(len(self.ordinals))
        log = (*self._window.arrays(), self.base)
        for ordinal, (began, delivered) in since.items():
            slot = self.slots[ordinal]
            self._since.view()[slot] = began
            refill(
                slot,
                log,
                began,
                self._matrix[slot],
                self.shared,
                self.sign,
                self.kind,
                self._k.view()[slot],
                self._keep.view()[slot],
                self._start.view()[slot],
                self._length.view(),
                tuple(pool.view() for pool in self._entries),
                tuple(column.view() for column in self._bounds),
                np.empty(int(self._capacity.view()[slot]), np.int64),
            )
            start = int(self._start.view()[slot])
            places = {int(self._entries[2].view()[i]): i for i in range(start, start + int(self._length.view()[slot]))}
            for number in delivered:
                if number in places:
                    self._entries[4].view()[places[number]] = 1
                else:
                    self._fade(number, slot)
        self._tree = None
