"""The production engine for exact conditions: interval bitmaps (docs/engines/bitmap.md; sources.md C).

Each conjunction of a condition takes a slot. Slots live in blocks of at most 8,192
(`bitmap_block`); new ones wait in a small tail (`bitmap_tail`) that is scanned as it stands. A full
tail becomes a block, and four neighbouring blocks of one size class become one, so an addition costs
a logarithmic share of building and never more than one block's build at once, however many
subscriptions there are. Full blocks are clustered where that is of use (`clustering`). Removal clears a
bit; a block with half of its slots gone is built anew from the rest. An event is written as points
(`event_points`) and ANDs one bitmap for each attribute, block by block (`bitmap_kernels`). Blocks keep the
order of addition, so results need no sorting unless some are clustered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import NotServed
from likewise.formats.arrow.event_batch import EventBatch
from likewise.kernels.compile import address, view
from likewise.kernels.reused_array import HELD, ReusedArray
from likewise.matching.bitmap import layout
from likewise.matching.bitmap.block import Block, join
from likewise.matching.bitmap.clustering import Clustering
from likewise.matching.bitmap.code_book import CodeBook
from likewise.matching.bitmap.column_points import write_batch
from likewise.matching.bitmap.condition_rows import conjunction_rows
from likewise.matching.bitmap.event_points import EventPoints
from likewise.matching.bitmap.listing_kernels import list_matches, places_of_bits
from likewise.matching.bitmap.match_kernels import match_many, match_one
from likewise.matching.bitmap.residual import holds
from likewise.matching.bitmap.tail import Tail
from likewise.matching.engine import BaseEngine, Found, FoundBatch
from likewise.matching.plain.conditions import PlainCondition, evaluate, plain_condition
from likewise.matching.plain.needed import Needed
from likewise.matching.plain.similarity import SeenEvent
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.subscription import Condition, Kind, Subscription

SMALL = 1_024  # results up to here are copied; larger ones are handed out in the buffer, used again once let go
_make_found: Callable[[type[Found], tuple[NDArray[np.int32], None]], Found] = tuple.__new__  # half the time of Found()
PLACES = places_of_bits()
BATCH_BYTES = 2**18  # bitmaps of the events a batch matches together; in the cache until they are listed

EXACTLY = Needed.at(1.0)


class BitmapEngine(BaseEngine):
    """Exact conditions by interval bitmaps; equal to the plain evaluation, always.

    >>> from likewise.model import Condition, Predicate, event
    >>> engine = BitmapEngine()
    >>> engine.add(0, Subscription(Condition((Predicate("no2", ">", 40.0), Predicate("city", "=", "Galway")))), at=0)
    >>> engine.find(event({"NO2": 41.5, "city": "galway"}), at=0).ordinals.tolist()
    [0]
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"exact"})

    def __init__(self, *, shape: layout.BlockShape | None = None, types: Hierarchy = NO_TYPES) -> None:
        super().__init__()
        self._shape = shape or layout.BlockShape()
        self.types = types
        self._book = CodeBook(types)
        self._points = EventPoints(self._book)
        self._tail = Tail(self._shape)
        self._blocks: list[Block] = []
        self._clustering: Clustering | None = None
        self._several = False  # some subscription has several slots
        self._unsaid: dict[int, PlainCondition] = {}  # conditions of which rows do not say all, by ordinal
        self._ascending = True
        self._highest = -1
        self._bounds = np.zeros(3, np.int64)  # where the one event's points begin and end; how many matches
        self._ends = view(self._bounds)
        self._found = np.empty(SMALL, np.int32)
        self._ordinals = ReusedArray()
        self._layout()

    def add(self, ordinal: int, subscription: Subscription, at: int = 0) -> None:
        """Hold a subscription. An ordinal in use is `DuplicateId`, one with relaxed parts `NotServed`."""
        self.admit(ordinal, subscription)
        book, tail = self._book, self._tail
        try:
            body = subscription.body
            if not isinstance(body, Condition) or subscription.top is not None:
                raise NotServed(f"the bitmap engine serves exact conditions, not the kind {subscription.kind!r}")
            slots = [conjunction_rows(conjunction, book) for conjunction in body.conjunctions()]
        except BaseException:
            book.give_up()
            del self.subscriptions[ordinal]
            raise
        self._several |= len(slots) > 1
        for rows, requirements, whole in slots:
            for row in rows:
                book.hold(row[0])
            tail.append(ordinal, rows, requirements)
            if not whole and ordinal not in self._unsaid:
                self._unsaid[ordinal] = plain_condition(subscription)
        book.keep()
        if ordinal < self._highest:
            self._ascending = False
        self._highest = max(self._highest, ordinal)
        if tail.full:
            self._close_tail()
        elif address(book.where) != self._head[layout.WHERE]:
            self._layout()
        else:
            self._table[-1] = tail.record

    def remove(self, ordinal: int) -> None:
        """Forget a subscription, wholly. An ordinal not in use is `UnknownId`."""
        self.dismiss(ordinal)
        self._unsaid.pop(ordinal, None)
        tail = self._tail
        codes = tail.remove(ordinal) if ordinal in tail.slots else self._remove_from_block(ordinal)
        for code in codes:
            self._book.release(code)
        if not self.subscriptions:
            self._blocks.clear()
            self._clustering = None
            tail.clear()
            self._layout()

    def _remove_from_block(self, ordinal: int) -> list[int]:
        codes: list[int] = []
        sparse = -1
        for index, block in enumerate(self._blocks):
            if block.first <= ordinal <= block.last:
                slots = [slot for slot in block.slots_of(ordinal) if block.is_alive(slot)]
                codes += [code for slot in slots for code in block.remove(slot)]
                if slots and 2 * block.live <= block.size:
                    sparse = index
        if self._clustering is not None:
            self._clustering.remove(ordinal)
        if sparse >= 0:
            self._shrink(sparse)
        return codes

    def _close_tail(self) -> None:
        rows = self._tail.rows()
        self._tail.clear()
        if len(rows.ordinals):
            self._blocks.append(Block(rows, self._book.owner, self._shape))
        if not self._merge_newest():  # an addition waits for one or the other
            self._cluster()
        self._layout()

    def _merge_newest(self) -> bool:
        """Merge the newest blocks of each size class, if it is time; whether it was."""
        merged = False
        room = self._shape.largest_block
        for limit in self._shape.size_classes():
            count = total = 0
            full = False  # no further block would fit in
            for block in reversed(self._blocks):
                full = total + block.live > room
                if full or block.live >= limit:
                    break
                count, total = count + 1, total + block.live
            if count >= self._shape.merged or (full and count > 1 and 2 * total > room):
                self._merge(len(self._blocks) - count, len(self._blocks))
                merged = True
        return merged

    def _cluster(self) -> None:
        """Go on with clustering by one block, or see whether there is something to cluster."""
        work = self._clustering
        if work is not None:
            if work.build(self._book.owner, self._shape):
                at = self._blocks.index(work.old[0])
                self._blocks[at : at + len(work.old)] = work.finished()
                self._clustering = None
            return
        run: list[Block] = []
        for block in self._blocks:
            run = [*run, block] if not block.settled and 2 * block.live > self._shape.largest_block else []
            if len(run) == self._shape.clustered:
                self._clustering = Clustering.plan(run)
                if self._clustering is None:
                    for each in run:
                        each.settled = True
                return

    def _shrink(self, index: int) -> None:
        """Build a block anew without what was removed, together with neighbours about as small."""
        low, high, live = index, index + 1, self._blocks[index].live
        for step, neighbour in ((-1, index - 1), (1, index + 1)):
            if 0 <= neighbour < len(self._blocks):
                other = self._blocks[neighbour].live
                if other <= self._shape.merged * live and 2 * (live + other) <= self._shape.largest_block:
                    low, high, live = min(low, neighbour), max(high, neighbour + 1), live + other
            if step < 0 and not live:
                break
        self._merge(low, high)
        self._layout()

    def _merge(self, low: int, high: int) -> None:
        if self._clustering is not None and not set(self._clustering.old).isdisjoint(self._blocks[low:high]):
            self._clustering = None  # its blocks are no more; what is left of them is looked at again
        parts = [block.living() for block in self._blocks[low:high] if block.live]
        self._blocks[low:high] = [Block(join(parts), self._book.owner, self._shape)] if parts else []

    def _layout(self) -> None:
        """Write the table of addresses the kernels read, and make room for results."""
        blocks, book = self._blocks, self._book
        self._table = np.zeros((len(blocks) + 2, layout.WIDTH), np.int64)
        self._head, self._at = self._table[0], address(self._table)
        used = largest = 0
        last = -1
        self._ascending = True
        for line, block in enumerate(blocks, 1):
            self._table[line] = block.record
            self._table[line, layout.AT] = used
            used += int(block.record[layout.WORDS])
            largest = max(largest, block.size)
            self._ascending = self._ascending and block.first > last
            last = block.last
        newest = self._tail.ordinals()
        self._ascending = self._ascending and bool((np.diff(newest, prepend=last) >= 0).all())
        self._tail.record[layout.AT] = used
        self._table[-1] = self._tail.record
        self._words = used + self._tail.words
        self._scratch = np.zeros(2 * (largest // 64 + 1), np.uint64)
        most_dense = max((int(b.record[layout.DENSE]) for b in blocks), default=0)
        self._sources = np.zeros(2 * 4 * (most_dense + 1), np.int64)
        self._confirmed, self._touched = np.zeros(largest + 1, np.uint64), np.zeros(largest + 1, np.int64)
        together = max(1, BATCH_BYTES // (8 * self._words + 1))
        self._result = np.zeros(together * self._words, np.uint64)
        self._where = book.where
        head = self._head
        head[layout.BLOCKS], head[layout.RESULT_WORDS] = len(blocks), self._words
        head[layout.WHERE], head[layout.WHERE_SIZE] = address(self._where), len(self._where)
        head[layout.SCRATCH], head[layout.CONFIRMED] = address(self._scratch), address(self._confirmed)
        head[layout.SOURCES], head[layout.SOURCES_ROOM] = address(self._sources), most_dense + 1
        head[layout.PLACES] = address(PLACES)
        head[layout.TOUCHED], head[layout.RESULT] = address(self._touched), address(self._result)
        head[layout.TOGETHER] = together
        self._renew(len(self._found))

    def _renew(self, room: int) -> None:
        """Point the table to the present buffers of the one event, with a new one for its ordinals."""
        points, head = self._points, self._head
        self._found, self._codes, self._lent = np.empty(room, np.int32), points.codes, False
        head[layout.FOUND], head[layout.FOUND_ROOM] = address(self._found), room
        head[layout.POINTS], head[layout.POINTS_ROOM] = address(points.codes), len(points.codes)
        head[layout.NUMBERS_OF_POINTS], head[layout.ENDS] = address(points.numbers), address(self._bounds)

    def find(self, event: Event, at: int = 0) -> Found:
        """The ordinals of the subscriptions the event meets, ascending."""
        points = self._points
        self._ends[1] = points.write(event, 0)
        if points.codes is not self._codes or (self._lent and getrefcount(self._found) > HELD):
            self._renew(SMALL)
        count = match_one(self._at)
        if count < 0:
            self._renew(-count + (-count >> 2))
            count = list_matches(self._at, self._result, self._bounds[2:], address(self._found))
        found = self._found[:count]
        if count <= SMALL or 4 * count < len(self._found):
            found = found.copy()
        else:
            self._lent = True
        if points.spans:
            found, points.spans = self._plainly(event), False
        elif self._unsaid or not self._ascending:
            found = self._finish(event, found)
        return _make_found(Found, (found, None))

    def _plainly(self, event: Event) -> NDArray[np.int32]:
        """Every condition evaluated as it stands: for a day where seconds are asked for, which no point says."""
        types = self._book.types
        return np.array([o for o, s in sorted(self.subscriptions.items()) if holds(s, event, types)], np.int32)

    def _finish(self, event: Event, found: NDArray[np.int32]) -> NDArray[np.int32]:
        """Put ordinals in order where additions were not, and check what rows do not say."""
        if self._several and not self._ascending:
            found = np.unique(found)
        elif not self._ascending:
            found.sort()
        if self._unsaid:
            unsure = found[np.isin(found, list(self._unsaid))].tolist()
            if unsure:
                seen = SeenEvent(event, None, self._book.types)
                wrong = [o for o in unsure if evaluate(self._unsaid[o], seen, EXACTLY) is None]
                found = found[~np.isin(found, wrong)]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of the engine; subscriptions and codes are Python objects beside them."""
        own = (
            self._table,
            self._scratch,
            self._sources,
            self._confirmed,
            self._touched,
            self._result,
            self._book.owner,
            self._book.where,
        )
        return sum(b.nbytes for b in self._blocks) + self._tail.nbytes + sum(a.nbytes for a in own)

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> FoundBatch:
        """Equal to `find` one by one, in order; events share the passes over the blocks.

        The columns of an `EventBatch` are read as they are.
        """
        starts = np.zeros(len(events) + 1, np.int64)
        if isinstance(events, EventBatch):
            write_batch(self._points, events, starts)
        else:
            end = 0
            for index, event in enumerate(events, 1):
                starts[index] = end = self._points.write(event, end)
        counts = np.zeros(len(events), np.int64)
        ordinals = self._match_all(starts, counts)
        if self._points.spans:
            pieces = [self.find(event, when).ordinals for event, when in zip(events, at, strict=True)]
            counts[:] = [len(piece) for piece in pieces]
            ordinals = np.concatenate([*pieces, np.empty(0, np.int32)])
        elif self._unsaid or not self._ascending:
            found = np.split(ordinals, np.cumsum(counts)[:-1]) if len(events) else []
            pieces = [self._finish(event, piece) for event, piece in zip(events, found, strict=True)]
            counts[:] = [len(piece) for piece in pieces]
            ordinals = np.concatenate([*pieces, np.empty(0, np.int32)])
        return FoundBatch(counts, ordinals)

    def _match_all(self, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int32]:
        if self._points.codes is not self._codes:
            self._renew(SMALL)
        done = used = 0
        found = self._ordinals.whole()
        while True:
            now = match_many(self._at, starts[done:], counts[done:], address(found) + 4 * used, len(found) - used)
            used += int(counts[done : done + now].sum())
            done += now
            if done == len(counts):
                return self._ordinals.part(used)
            found = self._ordinals.grow(used, int(counts[done]))
