"""The production engine for exact conditions: interval bitmaps (docs/engines/bitmap.md; sources.md C).

Each conjunction of a condition takes a slot. Slots live in blocks of at most 8,192 (`block`); new ones wait in a small
tail (`tail`) that is scanned as it stands. A tail that is full, or was scanned so often that building would have cost
less, becomes a block; blocks are merged, clustered and shrunk as slots come and go (`block_list`), so an addition costs
a logarithmic share of building and never more than one block's build at once, however many subscriptions there are.
Removal clears a bit. An event is written as points (`event_points`) and ANDs one bitmap for each attribute, block by
block (`match_kernels`). Blocks keep the order of addition, so results need no sorting unless some are clustered.

A condition checked plainly against an event: what the engine does for the few things no point says.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from sys import getrefcount
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.defaults import MAX_CONJUNCTIONS
from likewise.errors import InputError, UnsupportedSubscription
from likewise.formats.arrow.event_batch import EventBatch
from likewise.kernels.compile import address, view
from likewise.kernels.reused_array import UNSHARED_REFERENCES, ResultBuffer
from likewise.kernels.sizes import check_capacity, check_ids
from likewise.matching.bitmap import layout
from likewise.matching.bitmap.block_list import BlockList, Tail
from likewise.matching.bitmap.code_book import CodeBook
from likewise.matching.bitmap.condition_rows import Slot, conjunction_rows
from likewise.matching.bitmap.event_points import EventPoints, write_batch
from likewise.matching.bitmap.listing_kernels import list_matches, places_of_bits
from likewise.matching.bitmap.match_kernels import match_many, match_one
from likewise.matching.bitmap.saved_index import BuiltIndex, read_blocks, read_book, write_blocks, write_book
from likewise.matching.engine import Addition, BaseEngine, EngineBatchResult, EngineResult
from likewise.matching.reference.conditions import PreparedCondition, evaluate, prepare_condition
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.subscription import Condition, Kind, Subscription


def holds(subscription: Subscription, event: Event, types: Hierarchy = NO_TYPES) -> bool:
    """Return whether an event meets an exact condition.

    >>> from likewise.model import Predicate, event
    >>> holds(Subscription(Condition((Predicate("a", ">", 1.0),))), event({"A": 2}))
    True
    """
    if not isinstance(subscription.body, Condition):
        return False
    return evaluate(prepare_condition(subscription), EventView(event, None, types), MatchThreshold.at(1.0)) is not None


SMALL = 4_096  # results up to here are copied; larger ones are handed out in the buffer, used again once let go
# It takes half the time of EngineResult().
_make_found: Callable[[type[EngineResult], tuple[NDArray[np.int32], None]], EngineResult] = tuple.__new__
PLACES = places_of_bits()
BATCH_BYTES = 2**18  # bitmaps of the events a batch matches together; in the cache until they are listed

FOLDED = 50_000  # slots of the tail that events are compared with before it becomes a block: about what building costs

EXACTLY = MatchThreshold.at(1.0)


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
        self._blocks = BlockList(self._book, self._shape)
        self._several = False  # some subscription has several slots
        self._scanned = 0  # slots of the tail that events were compared with since it last became a block
        # Conditions of which rows do not say all, by ordinal; None until one is looked at.
        self._unsaid: dict[int, PreparedCondition | None] = {}
        self._ascending = True
        self._highest = -1
        self._bounds = np.zeros(3, np.int64)  # where the one event's points begin and end; how many matches
        self._ends = view(self._bounds)
        self._found = np.empty(SMALL, np.int32)
        self._ordinals = ResultBuffer()
        self._layout()

    def add(self, ordinal: int, subscription: Subscription, at: int = 0) -> None:
        """Hold a subscription. An ordinal in use is `DuplicateId`, one with relaxed parts `UnsupportedSubscription`."""
        self.register(ordinal, subscription)
        tail = self._tail
        try:
            slots = self._slots(subscription)
        except BaseException:
            self._book.give_up()
            del self.subscriptions[ordinal]
            raise
        self._append(tail, ordinal, slots)
        self._book.keep()
        if tail.full:
            self._close_tail()
        elif self._book.where is not self._where:
            self._layout()
        else:
            self._table[-1] = tail.record

    def add_many(self, additions: Sequence[Addition]) -> None:
        """`add` for each, or none of them if one is refused; many become blocks without passing through the tail."""
        if len(additions) < self._shape.largest_block // 8:
            super().add_many(additions)
            return
        made: list[tuple[int, list[Slot]]] = []
        try:
            for ordinal, subscription, _ in additions:
                self.register(ordinal, subscription)
                made.append((ordinal, []))
                made[-1][1].extend(self._slots(subscription))
        except BaseException:
            self._book.give_up()
            for ordinal, _ in made:
                del self.subscriptions[ordinal]
            raise
        self._close_tail()
        size = self._shape.largest_block
        full = Tail(self._shape._replace(tail_slots=max(1, size - MAX_CONJUNCTIONS), tail_rows=8 * size))
        for ordinal, slots in made:
            self._append(full, ordinal, slots)
            if full.full:
                self._blocks.append(full.rows())
                full.clear()
        self._blocks.append(full.rows())
        self._book.keep()
        while self._blocks.cluster():
            pass
        self._layout()

    def _slots(self, subscription: Subscription) -> list[Slot]:
        """The rows of each conjunction; `UnsupportedSubscription` if there is something relaxed or no condition."""
        body = subscription.body
        if not isinstance(body, Condition) or subscription.top is not None:
            raise UnsupportedSubscription(
                f"the bitmap engine serves exact conditions, not the kind {subscription.kind!r}"
            )
        return [conjunction_rows(conjunction, self._book) for conjunction in body.conjunctions()]

    def _append(self, tail: Tail, ordinal: int, slots: list[Slot]) -> None:
        self._several |= len(slots) > 1
        for rows, requirements, whole in slots:
            for row in rows:
                self._book.hold(row[0])
            tail.append(ordinal, rows, requirements)
            if not whole:
                self._unsaid.setdefault(ordinal)
        if ordinal < self._highest:
            self._ascending = False
        self._highest = max(self._highest, ordinal)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription, wholly. An ordinal not in use is `UnknownId`."""
        self.unregister(ordinal)
        self._unsaid.pop(ordinal, None)
        tail = self._tail
        changed = False
        if ordinal in tail.slots:
            codes = tail.remove(ordinal)
        else:
            codes, changed = self._blocks.remove(ordinal, self._at)
        for code in codes:
            self._book.release(code)
        if not self.subscriptions:
            self._blocks.clear()
            tail.clear()
        if changed or not self.subscriptions:
            self._layout()

    def _close_tail(self) -> None:
        rows = self._tail.rows()
        self._tail.clear()
        self._scanned = 0
        self._blocks.append(rows)
        if not self._blocks.merge_newest():  # an addition waits for one or the other
            self._blocks.cluster()
        self._layout()

    def _layout(self) -> None:
        """Write the table of addresses the kernels read, and make room for results."""
        blocks, book = self._blocks.held, self._book
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
            check_capacity("codes of a block", block.codes, len(book.where))
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
        self._entered = np.zeros(2 * together * (len(blocks) + 1), np.int32)
        head = self._head
        head[layout.BLOCKS], head[layout.RESULT_WORDS] = len(blocks), self._words
        head[layout.WHERE], head[layout.WHERE_SIZE] = address(self._where), len(self._where)
        head[layout.SCRATCH], head[layout.CONFIRMED] = address(self._scratch), address(self._confirmed)
        head[layout.SOURCES], head[layout.SOURCES_ROOM] = address(self._sources), most_dense + 1
        head[layout.PLACES] = address(PLACES)
        head[layout.ENTERED] = address(self._entered)
        head[layout.PAIRS] = address(self._entered) + 4 * together * (len(blocks) + 1)
        head[layout.SCRATCH_ROOM], head[layout.SLOTS_ROOM] = len(self._scratch), len(self._confirmed)
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

    def find(self, event: Event, at: int = 0) -> EngineResult:
        """The ordinals of the subscriptions the event meets, ascending."""
        points = self._points
        self._scanned += self._tail.count
        if self._scanned > FOLDED:
            self._close_tail()
        elif self._book.where is not self._where:  # it grew for an addition that was refused
            self._layout()
        self._ends[1] = points.write(event, 0)
        if points.codes is not self._codes or (self._lent and getrefcount(self._found) > UNSHARED_REFERENCES):
            self._renew(SMALL)
        count = match_one(self._at)
        if count < 0:
            self._renew(-count + (-count >> 2))
            count = list_matches(self._at, self._result, self._bounds[2:], address(self._found), len(self._found))
        ordinals = self._found[:count]
        if count <= SMALL or 4 * count < len(self._found):
            ordinals = ordinals.copy()
        else:
            self._lent = True
        if points.spans:
            ordinals, points.spans = self._evaluate_all(event), False
        elif self._unsaid or not self._ascending:
            ordinals = self._finish(event, ordinals)
        return _make_found(EngineResult, (ordinals, None))

    def _evaluate_all(self, event: Event) -> NDArray[np.int32]:
        """Every condition evaluated as it stands: for a day where seconds are asked for, which no point says."""
        types = self._book.types
        return np.array([o for o, s in sorted(self.subscriptions.items()) if holds(s, event, types)], np.int32)

    def _finish(self, event: Event, ordinals: NDArray[np.int32]) -> NDArray[np.int32]:
        """Put ordinals in order where additions were not, and check what rows do not say."""
        if self._several and not self._ascending:
            ordinals = np.unique(ordinals)
        elif not self._ascending:
            ordinals.sort()
        if self._unsaid:
            unsure = ordinals[np.isin(ordinals, list(self._unsaid))].tolist()
            if unsure:
                seen = EventView(event, None, self._book.types)
                wrong = [o for o in unsure if evaluate(self._condition(o), seen, EXACTLY) is None]
                ordinals = ordinals[~np.isin(ordinals, wrong)]
        return ordinals

    def _condition(self, ordinal: int) -> PreparedCondition:
        condition = self._unsaid[ordinal]
        if condition is None:
            condition = self._unsaid[ordinal] = prepare_condition(self.subscriptions[ordinal])
        return condition

    def export_index(self) -> BuiltIndex:
        """Return what it has built, to be kept beside the subscriptions; `restore` takes it up."""
        arrays = write_blocks(self._blocks.held, self._tail.rows())
        arrays["unsaid"] = np.array(list(self._unsaid), np.int64)
        arrays["facts"] = np.array([self._several, self._highest, *self._shape], np.int64)
        return BuiltIndex(arrays, write_book(self._book))

    def import_index(self, index: BuiltIndex, subscriptions: MutableMapping[int, Subscription]) -> None:
        """Hold subscriptions by what an engine has built of them; an `InputError` if its shape was another."""
        several, highest, *shape = index.arrays["facts"].tolist()
        if tuple(shape) != self._shape:
            raise InputError(f"the index has blocks of the shape {shape}, this engine {list(self._shape)}")
        self.subscriptions = subscriptions
        read_book(index.questions, self._book)
        self._blocks.held = read_blocks(index.arrays, self._book.owner, self._shape)
        self._several, self._highest = bool(several), highest
        self._unsaid = dict.fromkeys(index.arrays["unsaid"].tolist())
        self._layout()

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of the engine; subscriptions and codes are Python objects beside them."""
        arrays = (
            self._table,
            self._scratch,
            self._sources,
            self._confirmed,
            self._touched,
            self._result,
            self._entered,
            self._book.owner,
            self._book.where,
        )
        return sum(b.nbytes for b in self._blocks.held) + self._tail.nbytes + sum(a.nbytes for a in arrays)

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """Equal to `find` one by one, in order; events share the passes over the blocks.

        The columns of an `EventBatch` are read as they are.
        """
        self._scanned += self._tail.count * len(events)
        if self._scanned > FOLDED:
            self._close_tail()
        elif self._book.where is not self._where:
            self._layout()
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
            per_event = np.split(ordinals, np.cumsum(counts)[:-1]) if len(events) else []
            pieces = [self._finish(event, piece) for event, piece in zip(events, per_event, strict=True)]
            counts[:] = [len(piece) for piece in pieces]
            ordinals = np.concatenate([*pieces, np.empty(0, np.int32)])
        return EngineBatchResult(counts, ordinals)

    def _match_all(self, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int32]:
        if self._points.codes is not self._codes:
            self._renew(SMALL)
        check_capacity("points of events", int(starts[-1]), len(self._codes))
        check_ids("codes of points", self._codes[: starts[-1]] >> 2, len(self._where))
        done = used = 0
        all_ordinals = self._ordinals.whole()
        while True:
            now = match_many(
                self._at, starts[done:], counts[done:], address(all_ordinals) + 4 * used, len(all_ordinals) - used
            )
            used += int(counts[done : done + now].sum())
            done += now
            if done == len(counts):
                return self._ordinals.part(used)
            all_ordinals = self._ordinals.grow(used, int(counts[done]))
