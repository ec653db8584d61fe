"""Top-k subscriptions that look at the same publications in the same way, sharing one window.

A family has one condition, one window and one kind of scoring over the same attributes; its members differ
in k, in when they began, and in the point a distance is measured from. The publications of the window are
kept once, in arrival order; each member keeps its candidates (see `topk_kernels`).

A family of windows that says what it holds, to be kept on disk, and takes it up again.

The publications of a window in arrival order, as the arrays the kernels read, added to one at a time.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import view
from likewise.kernels.growing_array import GrowingArray
from likewise.kernels.sizes import check_capacity, check_lengths
from likewise.matching.reference.window import WindowPosition
from likewise.matching.topk.candidate_kernels import COUNTED, ENDLESS, TIMED, refill, step
from likewise.matching.topk.region_kernels import build_tree, widest_regions
from likewise.model import Distance, Top

Arrays = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.uint8]]


class WindowLog:
    """For each publication the numbers it is ranked by, its time, and whether it counts (1) or has left (0).

    `value`, `time` and `alive` are memoryviews, whose single items are read and written several times faster than an
    array's; they change when the log grows. A publication has `width` items in `value`.

    >>> log = WindowLog(1)
    >>> log.append((2.5,), 7, 1)
    >>> [array.tolist() for array in log.arrays()], log.values(0)
    ([[[2.5]], [7], [1]], [2.5])
    """

    __slots__ = ("_arrays", "_room", "alive", "count", "time", "value", "width")

    value: Any
    time: Any
    alive: Any

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._hold(np.empty(16 * width), np.empty(16, np.int64), np.empty(16, np.uint8))

    def _hold(self, *arrays: NDArray[Any]) -> None:
        self._arrays = arrays
        self._room = len(arrays[1])
        self.value, self.time, self.alive = (view(array) for array in arrays)

    def append(self, values: Sequence[float], time: int, alive: int) -> None:
        """Add a publication."""
        at = self.count
        if at == self._room:
            self._hold(*(np.concatenate([array, np.empty_like(array)]) for array in self._arrays))
        if self.width == 1:
            self.value[at] = values[0]
        else:
            for place, number in enumerate(values, at * self.width):
                self.value[place] = number
        self.time[at] = time
        self.alive[at] = alive
        self.count = at + 1

    def discard_front(self, front: int) -> None:
        """Forget so many from the beginning."""
        self.count -= front
        room = max(16, 2 * self.count)
        fresh: list[NDArray[Any]] = []
        for column, width in zip(self._arrays, (self.width, 1, 1), strict=True):
            fresh.append(np.empty(room * width, column.dtype))
            fresh[-1][: self.count * width] = column[front * width : (front + self.count) * width]
        self._hold(*fresh)

    def values(self, index: int) -> list[float]:
        """The numbers a publication is ranked by."""
        numbers: list[float] = self.value[index * self.width : (index + 1) * self.width].tolist()
        return numbers

    def arrays(self) -> Arrays:
        """Everything, without a copy; valid until the next change."""
        values, times, alive = self._arrays
        count = self.count
        return values[: count * self.width].reshape(-1, self.width), times[:count], alive[:count]

    @property
    def nbytes(self) -> int:
        """The bytes held, free space included."""
        return sum(array.nbytes for array in self._arrays)


Delivery = tuple[int, int]  # ordinal, publication
NOBODY: Sequence[Delivery] = ()

PATIENCE = 64  # members outside the region index, or publications that left, before things are put in order


class PublishedEvent(NamedTuple):
    """One publication of the window, as a delivery tells of it."""

    event_id: str | None
    time: int
    score: float
    product: float


def margin(k: int) -> int:
    """Return how many publications a region spans when it is drawn.

    With exactly k every second expiry would ask for a refill. The number in a region walks at random, so a
    margin of a few times its spread makes refills rare, at the price of that many more candidates.
    """
    return k + 2 * math.isqrt(k) + 8


class SharedWindow:
    """The shared window and the members' candidates."""

    def __init__(self, top: Top) -> None:
        self.top = top
        self.kind = COUNTED if top.events is not None else ENDLESS if top.duration is None else TIMED
        self._span = (top.events if top.events is not None else top.duration) or 0  # events, or µs
        self.sign = -1.0 if top.highest else 1.0
        self.shared = not isinstance(top.by, Distance)
        self.dimensions = len(top.by.point) if isinstance(top.by, Distance) else 0
        self.width = max(1, self.dimensions)
        self._unranked = (math.nan,) * self.width
        # the log: `base` is the number of its first publication
        self.base = 0
        self._window = WindowLog(self.width)
        self.log: list[PublishedEvent | None] = []
        self._front = 0  # how many publications at the front of the log are gone
        self._oldest = 0  # the first publication still among the last n
        self._expiring: list[tuple[int, int]] = []  # (time, number), for windows of time
        self.scoring = 0  # families of one number rank an event by the same values
        # No region reaches further, if all members rank alike: what lies beyond concerns nobody. Else it is not known.
        self._reach = math.inf
        self.scheduled: int | None = None  # the moment the engine will look at this family next
        # members, by slot
        self.ordinals: list[int] = []
        self.slots: dict[int, int] = {}
        self._k, self._keep, self._capacity = GrowingArray(np.int64), GrowingArray(np.int64), GrowingArray(np.int64)
        self._since, self._start, self._length = GrowingArray(np.int64), GrowingArray(np.int64), GrowingArray(np.int64)
        self._entered = GrowingArray(np.int64)  # arrivals in the region since it was drawn
        self._centres = [GrowingArray(np.float64) for _ in range(self.dimensions)]
        self._bounds = (GrowingArray(np.float64), GrowingArray(np.int64), GrowingArray(np.int64))
        self._entries = (
            GrowingArray(np.float64),
            GrowingArray(np.int64),
            GrowingArray(np.int64),
            GrowingArray(np.int32),
            GrowingArray(np.uint8),
        )
        self._matrix: NDArray[np.float64] = np.empty((0, self.dimensions))  # the centres; remade after a change
        self._tree: tuple[NDArray[np.int64], ...] | None = None
        self._tail = 0
        self._out: tuple[NDArray[np.int64], ...] = ()  # what the kernel writes into; touched only as far as used
        self._touched: NDArray[np.int64] = np.empty(0, np.int64)
        self._marks: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._arrays: tuple[Any, ...] = ()  # those of the members that the kernel reads; made anew with the matrix
        self.faded: dict[int, array[int]] = {}  # publication -> slots it was delivered to, and may come back to
        self.refills = 0

    # -- members --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.slots)

    def add_member(self, ordinal: int, top: Top, since: int | None = None) -> None:
        """Take a member in, which counts publications from now (or number `since`) on."""
        slot = len(self.ordinals)
        self.ordinals.append(ordinal)
        self.slots[ordinal] = slot
        keep = margin(top.k)
        capacity = 2 * keep
        for column, value in (
            (self._k, top.k),
            (self._keep, keep),
            (self._capacity, capacity),
            (self._length, 0),
            (self._since, self.next if since is None else since),
            (self._entered, 0),
            (self._start, len(self._entries[0])),
            (self._bounds[0], np.inf),
            (self._bounds[1], 0),
            (self._bounds[2], 0),
        ):
            column.append(value)
        for pool in self._entries:
            pool.extend(np.zeros(capacity))
        if isinstance(top.by, Distance):
            for column, (_, centre) in zip(self._centres, top.by.point, strict=True):
                column.append(centre)
        self._matrix, self._reach = np.empty((0, self.dimensions)), math.inf

    def remove_member(self, ordinal: int) -> None:
        """Forget a member; when most are gone, the rest moves together."""
        slot = self.slots.pop(ordinal)
        self.ordinals[slot] = -1
        self._bounds[0].view()[slot] = -np.inf
        self._length.view()[slot] = 0
        if len(self.ordinals) > PATIENCE + 2 * len(self.slots):
            self._pack()

    def _pack(self) -> None:
        occupied = np.array(list(self.slots.values()), np.int64)
        moved = {old: new for new, old in enumerate(occupied.tolist())}
        capacity, start = self._capacity.view()[occupied], self._start.view()[occupied]
        ends = np.cumsum(capacity)
        source = np.repeat(start - (ends - capacity), capacity) + np.arange(int(capacity.sum()))
        for pool in self._entries:
            pool.replace(pool.view()[source])
        shape = (self._k, self._keep, self._capacity, self._since, self._entered, self._length)
        members = (*shape, *self._centres, *self._bounds)
        for column in members:
            column.replace(column.view()[occupied])
        self._start.replace(ends - capacity)
        self.ordinals = [self.ordinals[slot] for slot in occupied.tolist()]
        self.slots = {ordinal: slot for slot, ordinal in enumerate(self.ordinals)}
        self.faded = {n: array("q", (moved[s] for s in slots if s in moved)) for n, slots in self.faded.items()}
        self._matrix, self._reach = np.empty((0, self.dimensions)), math.inf
        self._tree = None

    # -- publications ---------------------------------------------------------------------------

    @property
    def next(self) -> int:
        """The number the next publication gets."""
        return self.base + len(self.log)

    def arrive(self, values: tuple[float, ...] | None, entry: PublishedEvent, now: int) -> Sequence[Delivery]:
        """A publication that passed the condition; `values` is None if a scored attribute is missing."""
        kind, base = self.kind, self.base
        if kind == TIMED and now - entry.time >= self._span:
            return NOBODY
        number = base + len(self.log)
        self._window.append(values or self._unranked, entry.time, 1)
        self.log.append(entry)
        expired_number = -1
        if kind == COUNTED and number - self._oldest >= self._span:
            expired_number = self._oldest
            self._oldest += 1
        elif kind == TIMED:
            heapq.heappush(self._expiring, (entry.time, number))
        # Nobody's list changes, as is mostly so: the kernel need not look.
        if (
            self._reach < math.inf
            and (values is None or self.sign * values[0] > self._reach)
            and (expired_number < 0 or not self.sign * self._window.value[expired_number - base] <= self._reach)
        ):
            if expired_number >= 0:
                self._window.alive[expired_number - base] = 0
                self._release(expired_number)
            return NOBODY
        expired = [expired_number] if expired_number >= 0 else []
        deliveries = self._step(expired, number if values is not None else -1)
        self._trim(expired)
        return deliveries

    def next_expiry(self) -> int | None:
        """The next moment at which something leaves; None if nothing does by itself."""
        return self._expiring[0][0] + self._span if self._expiring else None

    def expire(self, moment: int) -> Sequence[Delivery]:
        """Everything whose time is over at a moment leaves together."""
        expired_numbers = []
        while self._expiring and self._expiring[0][0] + self._span <= moment:
            expired_numbers.append(heapq.heappop(self._expiring)[1])
        deliveries = self._step([number for number in expired_numbers if self._window.alive[number - self.base]], -1)
        self._trim(expired_numbers)
        return deliveries

    def withdraw(self, number: int) -> Sequence[Delivery]:
        """A publication is taken back. It keeps its place among the last n."""
        index = number - self.base
        if not self._window.alive[index]:
            return NOBODY
        return self._step([number], -1, forced=True)

    def holds(self, number: int) -> bool:
        """Return whether a publication is still in the window."""
        return number >= self.base and self.log[number - self.base] is not None

    def entry(self, number: int) -> PublishedEvent:
        """A publication that is in the window."""
        result = self.log[number - self.base]
        assert result is not None
        return result

    def counts(self, ordinal: int, number: int) -> bool:
        """Return whether a publication is in the window and counts for a member."""
        if not self.holds(number) or not self._window.alive[number - self.base]:
            return False
        return number >= int(self._since.view()[self.slots[ordinal]])

    def values(self, number: int) -> tuple[float, ...] | None:
        """The numbers a publication is ranked by; None if it is no candidate."""
        values = tuple(self._window.values(number - self.base))
        return None if math.isnan(values[0]) else values

    def rank_of(self, ordinal: int, number: int) -> float:
        """The value a publication has for a member, as its subscription scores it."""
        values = self._window.values(number - self.base)
        return self._rank(self.slots[ordinal], values)

    def _rank(self, slot: int, values: Sequence[float]) -> float:
        if self.shared:
            return values[0]
        total = 0.0
        for value, column in zip(values, self._centres, strict=True):
            centre = float(column.view()[slot])
            total += (value - centre) * (value - centre)
        return math.sqrt(total)

    def position(
        self, ordinal: int, values: Sequence[float], time: int, number: int | None, now: int
    ) -> WindowPosition:
        """Where a publication stands for a member (`number`), or would stand if it arrived now (None)."""
        duration = self.top.duration
        if duration is not None and now - time >= duration:
            return WindowPosition(None, None, expired=True)
        slot = self.slots[ordinal]
        first = max(self.base, int(self._since.view()[slot]))
        if number is None and self.top.events is not None:
            first = max(first, self.next + 1 - self.top.events)
        me = (self.sign * self._rank(slot, values), -time, -(self.next if number is None else number))
        others = []
        for index in range(first - self.base, len(self.log)):
            existing = self._window.values(index)
            when = self._window.time[index]
            if (
                self._window.alive[index]
                and not math.isnan(existing[0])
                and index + self.base != number
                and (duration is None or now - when < duration)
            ):
                others.append((self.sign * self._rank(slot, existing), -when, -(index + self.base)))
        ranked = sorted([*others, me])
        k = int(self._k.view()[slot])
        return WindowPosition(
            ranked.index(me) + 1, self.sign * ranked[k - 1][0] if len(ranked) >= k else None, expired=False
        )

    def _trim(self, left_numbers: list[int]) -> None:
        for number in left_numbers:
            self._release(number)

    def _release(self, number: int) -> None:
        """Forget a publication that left; room at the front is given back now and then."""
        log, front = self.log, self._front
        log[number - self.base] = None
        if self.faded:
            self.faded.pop(number, None)
        while front < len(log) and log[front] is None:
            front += 1
        self._front = front
        if front > PATIENCE and 2 * front > len(self.log):
            self._window.discard_front(front)
            del self.log[:front]
            self.base += front
            self._front = 0

    # -- the kernel -----------------------------------------------------------------------------

    def _step(self, left_numbers: list[int], arriving: int, *, forced: bool = False) -> Sequence[Delivery]:
        for number in left_numbers:
            self._window.alive[number - self.base] = 0
        if not self.slots:
            return NOBODY
        size = len(self.ordinals)
        self._refresh(size)
        assert self._tree is not None
        out, faded = self._out[:2], self._out[2:]
        if used := [*left_numbers, arriving] if arriving >= 0 else left_numbers:
            check_capacity("publications of a window", max(used) - self.base + 1, self._window.count)
        members, start, length, entries, bounds = self._arrays
        delivered, faded_count, refills = step(
            np.array(left_numbers, np.int64) - self.base,
            arriving - self.base if arriving >= 0 else -1,
            forced,
            (*self._window.arrays(), self.base),
            self.kind,
            self.shared,
            self.sign,
            members,
            start,
            length,
            entries,
            bounds,
            self._tree,
            self._tail,
            self._touched,
            self._marks,
            out,
            faded,
        )
        if self.shared:
            self._reach = float(self._tree[-1][1])
            if self._tail < size:
                self._reach = max(self._reach, float(bounds[0][self._tail :].max()))
        self.refills += refills
        for slot, number in zip(faded[0][:faded_count].tolist(), faded[1][:faded_count].tolist(), strict=True):
            self._fade(number, slot)
        deliveries = []
        for slot, number in zip(out[0][:delivered].tolist(), out[1][:delivered].tolist(), strict=True):
            if slot not in self.faded.get(number, ()):
                deliveries.append((self.ordinals[slot], number))
        return deliveries

    def _fade(self, number: int, slot: int) -> None:
        """Remember that a publication was delivered to a member whose list it has left."""
        self.faded.setdefault(number, array("q")).append(slot)

    def _refresh(self, size: int) -> None:
        """Bring the arrays the kernel reads up to date."""
        if len(self._matrix) != size:
            columns = [column.view() for column in self._centres]
            self._matrix = np.column_stack(columns) if columns else np.empty((size, 0))
            room = len(self._entries[0])  # no step can deliver more than all lists hold
            self._out = tuple(np.empty(room, np.int64) for _ in range(4))
            self._touched, self._marks = np.empty(2 * size, np.int64), np.zeros(size, np.uint8)
            members = (self._k, self._keep, self._capacity, self._since, self._entered)
            check_lengths("members of a window", size, *members, self._start, self._length, *self._bounds, self._matrix)
            ends = self._start.view() + self._capacity.view()
            check_capacity("candidates of members", int(ends.max(initial=0)), min(map(len, self._entries)))
            self._arrays = (
                (*(column.view() for column in members), self._matrix),
                self._start.view(),
                self._length.view(),
                tuple(pool.view() for pool in self._entries),
                tuple(column.view() for column in self._bounds),
            )
        if self._tree is None or size - self._tail > PATIENCE + self._tail // 4:
            order, first, last, boxes, leaf_of = build_tree(self._matrix, np.arange(size))
            widest = widest_regions(order, first, last, self._bounds[0].view())
            self._tree = (order, first, last, boxes, leaf_of, widest)
            self._tail = size

    def _append(self, entry: PublishedEvent | None, values: Sequence[float], time: int, alive: int) -> None:
        self._window.append(values, time, alive)
        self.log.append(entry)


class WindowFamily(SharedWindow):
    """The shared window and the members' candidates."""

    # -- figures --------------------------------------------------------------------------------

    def candidates(self) -> int:
        """Return how many candidates all members keep."""
        return int(self._length.view().sum())

    def window_bytes(self) -> int:
        """The bytes of the shared window's arrays."""
        return self._window.nbytes

    def member_bytes(self) -> int:
        """The bytes of the members' arrays, candidates and what was delivered to them included."""
        columns = (self._k, self._keep, self._capacity, self._since, self._start, self._length, *self._centres)
        array_bytes = sum(column.nbytes for column in (*columns, *self._bounds, *self._entries))
        return array_bytes + sum(8 * len(slots) for slots in self.faded.values())

    # -- keeping --------------------------------------------------------------------------------

    def publications(self) -> Iterable[tuple[int, PublishedEvent, bool, list[float]]]:
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
        publications: Sequence[tuple[int, PublishedEvent, bool, list[float]]],
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
