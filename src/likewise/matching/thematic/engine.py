"""Approximate matching at exact-matching speed (sources.md T; docs/engines/thematic.md).

The vocabulary of a stream is small against its length. What a tuple means to every predicate is computed
when the tuple is first seen and kept as a posting list; from then on matching an event is walking the
lists of its tuples and testing conjunctions by a product. The thematic matcher: Hasan and Curry, "Thematic
Event Processing", Middleware 2014, sections 3 and 4.

The conjunctions of all approximate subscriptions, in arrays a kernel can walk.

Conjunctions stand in the order of addition. Each is filed under its rarest predicate (its pivot), so that
an event tests just those whose pivot it meets; those added since the last filing are tested always.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.defaults import CACHE_BYTES, THRESHOLD
from likewise.errors import UnknownId
from likewise.formats.arrow.event_batch import EventBatch
from likewise.kernels.growing_array import GrowingArray
from likewise.kernels.sizes import check_capacity, check_lengths
from likewise.matching.cache_use import POSTING_LISTS, RELATEDNESS, CacheUse
from likewise.matching.engine import BaseEngine, EngineBatchResult, EngineResult
from likewise.matching.reference.conditions import PreparedCondition, evaluate, prepare_condition, rows_of
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.mappings import describe
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.terms import theme_of
from likewise.matching.thematic.event_tuples import ColumnTuples, TuplePostings
from likewise.matching.thematic.posting_lists import NUMBER, PostingLists
from likewise.matching.thematic.subscription_predicates import SubscriptionPredicates
from likewise.model import (
    Condition,
    Conjunction,
    Event,
    Explanation,
    Kind,
    Mapping,
    Match,
    Subscription,
    merge_comparisons,
)
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.matches.sequence import Matches
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.semantics.measure import Measure

SLACK = 1 - 1e-6  # as in posting lists: rounding to 32 bits must not lose a match
PATIENCE = 1_000  # conjunctions that may be unfiled, or gone, before work is spent on order


class ConjunctionTable:
    """Conjunctions by number; `owner` is the place of their subscription, -1 when it was removed."""

    def __init__(self, predicates: SubscriptionPredicates) -> None:
        self._asked = predicates
        self._clear()

    def _clear(self) -> None:
        self.start = GrowingArray(np.int64)
        self.positive = GrowingArray(np.int64)
        self.negative = GrowingArray(np.int64)
        self.inverse = GrowingArray(np.float32)  # 1 / relaxed parts: the power that makes a product a score; 0 without
        self.shared = GrowingArray(np.uint8)  # 1: exact predicates, which may share a tuple
        self.owner = GrowingArray(np.int64)
        self.limit = GrowingArray(np.float64)  # the least product that reaches the threshold
        self.pool = GrowingArray(np.int64)  # predicates, the positive ones of a conjunction first
        self.pool_limit = GrowingArray(np.float64)  # for a negative predicate the similarity that rules it out
        self.pivot_start: NDArray[np.int64] = np.zeros(2, np.int64)
        self.pivots: NDArray[np.int64] = np.empty(0, np.int64)
        self.indexed = 0
        self.longest = 0  # the most positive predicates of one conjunction
        self.gone = 0

    def __len__(self) -> int:
        return len(self.start)

    @property
    def bytes(self) -> int:
        """The bytes of all arrays."""
        arrays = (self.start, self.positive, self.negative, self.inverse, self.shared, self.owner, self.limit)
        return (
            sum(a.nbytes for a in (*arrays, self.pool, self.pool_limit)) + self.pivot_start.nbytes + self.pivots.nbytes
        )

    def columns(self) -> tuple[NDArray[Any], ...]:
        """Return what a kernel walks: start, positive and negative predicates, the pool, shared, owner, inverse."""
        arrays = (self.start, self.positive, self.negative, self.pool, self.shared, self.owner, self.inverse)
        return tuple(array.view() for array in arrays)

    def add(self, owner: int, conjunction: Conjunction, theme: tuple[str, ...], needed: MatchThreshold) -> int:
        """Hold a conjunction; its number."""
        relaxed = conjunction.relaxed_parts
        positive = merge_comparisons(conjunction.positive) if relaxed else conjunction.positive
        relaxed = sum(p.relaxed_parts for p in positive)
        least = needed.score**relaxed if relaxed else 1.0
        self.start.append(len(self.pool))
        for predicate in positive:
            self.pool.append(self._asked.take(predicate, theme, least, needed.part))
            self.pool_limit.append(least)
        for predicate in conjunction.negative:
            ruled_out = needed.against**predicate.relaxed_parts
            self.pool.append(self._asked.take(predicate, theme, ruled_out, needed.part))
            self.pool_limit.append(ruled_out * SLACK)
        self.positive.append(len(positive))
        self.longest = max(self.longest, len(positive))
        self.negative.append(len(conjunction.negative))
        self.inverse.append(1 / relaxed if relaxed else 0.0)
        self.shared.append(0 if relaxed else 1)
        self.owner.append(owner)
        self.limit.append(least * SLACK if relaxed else 0.0)
        return len(self) - 1

    def remove(self, number: int) -> None:
        """Let go of a conjunction and its predicates."""
        start = self.start.view()[number]
        stop = start + self.positive.view()[number] + self.negative.view()[number]
        for predicate in self.pool.view()[start:stop].tolist():
            self._asked.release(predicate)
        self.owner.view()[number] = -1
        self.gone += 1

    def file(self, frequency: NDArray[np.int64]) -> None:
        """File every conjunction under its rarest predicate, as far as now known."""
        from likewise.matching.thematic.match_kernels import choose_pivots

        pivots = choose_pivots(self.start.view(), self.positive.view(), self.pool.view(), self.owner.view(), frequency)
        order = np.argsort(pivots, kind="stable")
        order = order[np.searchsorted(pivots[order], 0) :]
        self.pivots = order
        counts = np.bincount(pivots[order], minlength=len(self._asked))
        self.pivot_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self.indexed = len(self)

    def wants_filing(self) -> bool:
        """Return whether so many conjunctions are unfiled that filing pays."""
        return len(self) - self.indexed > PATIENCE + self.indexed // 4

    def wants_packing(self) -> bool:
        """Return whether more conjunctions are gone than held."""
        return self.gone > PATIENCE + len(self) // 2


CHUNK = 512  # events matched between two looks at the memory; many matches of more would leave the caches
OUTPUT = 500_000  # matches a kernel writes before it hands them over, if a block fits: 8 MB
TINY = 1e-30  # products below this need 64 bits
WIDTH = 32  # as in thematic_kernels: events matched side by side

FoundArrays = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32], NDArray[np.float64]]


class _BatchSlice(NamedTuple):
    """The columns that events are a stretch of, and where it begins; None if they are events alone."""

    tuples: ColumnTuples | None
    start: int


ALONE = _BatchSlice(None, 0)


class ThematicEngine(BaseEngine):
    """Conditions with relaxed parts, under the themes of both sides.

    >>> from likewise.model import Predicate, event
    >>> from likewise.testing import TableMeasure
    >>> engine = ThematicEngine(TableMeasure({("laptop", "computer"): 0.8}), threshold=0.5)
    >>> laptop = Predicate("device", "=", "laptop", value_relaxed=True)
    >>> engine.add(7, Subscription(Condition((laptop,)), "s"), 0)
    >>> found = engine.find(event({"device": "computer"}), 0)
    >>> found.ordinals.tolist(), found.scores.round(3).tolist()
    ([7], [0.800000011920929])
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"approximate", "exact"})

    def __init__(
        self,
        measure: Measure | None = None,
        threshold: float = THRESHOLD,
        cache_bytes: int = CACHE_BYTES,
        curve: ProbabilityCurve = AS_SCORED,
        types: Hierarchy = NO_TYPES,
    ) -> None:
        super().__init__()
        self.types = types
        self.curve = curve
        self.measure = measure
        self.threshold = threshold
        self._cache_bytes = cache_bytes
        self._tick = 0
        self._batch = 0
        self._listed, self._related = CacheUse(), CacheUse()
        self._reset()

    def _reset(self) -> None:
        """Nothing asked, nothing seen."""
        self.asked = SubscriptionPredicates()
        self.lists = PostingLists(self.asked, self.measure, self._cache_bytes, self._related, self.types)
        self.table = ConjunctionTable(self.asked)
        self._owners: list[int] = []  # place -> ordinal, ascending
        self._conjunctions: dict[int, list[int]] = {}  # ordinal -> conjunctions
        self._plain: dict[int, PreparedCondition] = {}  # those that ask for items of lists, evaluated one by one
        self._seen = TuplePostings(self.lists)
        self._met: tuple[NDArray[np.int64], ...] = (np.empty(0, np.int64),) * 3
        self._ordinals: NDArray[np.int64] = np.empty(0, np.int64)
        self._out: tuple[NDArray[Any], ...] = (np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0))

    # -- subscriptions --------------------------------------------------------------------------

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription."""
        self.register(ordinal, subscription)
        self._place(ordinal, subscription)

    def _place(self, ordinal: int, subscription: Subscription) -> None:
        assert isinstance(subscription.body, Condition)  # `serves` lets nothing else in
        theme = theme_of(subscription.themes)
        needed = self._needed(subscription)
        conjunctions = subscription.body.conjunctions()
        if any(conjunction.some or conjunction.none for conjunction in conjunctions):
            self._plain[ordinal] = prepare_condition(subscription)
            return
        owner = len(self._owners)
        self._owners.append(ordinal)
        self._conjunctions[ordinal] = [
            self.table.add(owner, conjunction, theme, needed) for conjunction in conjunctions
        ]

    def _needed(self, subscription: Subscription) -> MatchThreshold:
        return MatchThreshold.of(subscription, self.threshold, self.curve)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription; when most of what is held is gone, the rest is packed."""
        self.unregister(ordinal)
        if self._plain.pop(ordinal, None) is not None:
            return
        for conjunction in self._conjunctions.pop(ordinal):
            self.table.remove(conjunction)
        if self.table.wants_packing() or self.asked.unused() > 1_000 + len(self.asked) // 2:
            self._reset()
            for remaining, subscription in self.subscriptions.items():
                self._place(remaining, subscription)

    # -- events ---------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> EngineResult:
        """The subscriptions the event meets, with their scores."""
        _, ordinals, scores, _ = self._match((event,))
        return EngineResult(ordinals, scores)

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """`matches`, made at once."""
        ordinals, matches = self.matches(event, at)
        return list(zip(ordinals.tolist(), matches, strict=True))

    def matches(self, event: Event, at: int) -> tuple[NDArray[np.int64], Matches]:
        """`find`, as matches with their products and, when asked for, mappings; each made when it is looked at."""
        _, ordinals, scores, products = self._match((event,), products=True)
        subscriptions, removed, curve = self.subscriptions, self._gone, self.curve

        def make(start: int, stop: int) -> list[Match]:
            made = []
            columns = (ordinals[start:stop], scores[start:stop], products[start:stop])
            for ordinal, score, product in zip(*(column.tolist() for column in columns), strict=True):
                of = subscriptions.get(ordinal) or removed[ordinal]
                trace = self._tracer(event, of)
                made.append(Match(event.id, of.id, of.kind, score, product, trace, likelihood=curve))
            return made

        return ordinals, Matches(len(ordinals), make)

    def _tracer(self, event: Event, subscription: Subscription) -> Callable[[], Mapping | None]:
        """The best mapping of a match, computed when it is asked for."""

        def best() -> Mapping | None:
            condition = prepare_condition(subscription)
            view = EventView(event, self.measure, self.types)
            needed = self._needed(subscription)._replace(score=0.0)  # that it is met was found in 32 bits
            result = evaluate(condition, view, needed)
            if result is None:
                return None
            conjunction = condition.conjunctions[result.conjunction]
            rows = rows_of(conjunction, view, condition.theme, needed.part)
            return next(iter(describe(rows, conjunction.relaxed_parts, 1, result.conjunction)), None) if rows else None

        return best

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """Equal to `find` one by one; terms that are new in the batch are understood together."""
        parts = []
        columnar = isinstance(events, EventBatch) and events.columnar
        tuples = ColumnTuples(events) if columnar else None  # type: ignore[arg-type]
        for start in range(0, len(events), CHUNK):
            parts.append(self._match(events[start : start + CHUNK], _BatchSlice(tuples, start))[:3])
        if not parts:
            return EngineBatchResult(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        counts, ordinals, scores = _joined(parts)
        return EngineBatchResult(counts, ordinals, scores)

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Explain why the event does or does not meet the subscription."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        from likewise.matching.explain.explain import explain

        return explain(
            event, subscription, measure=self.measure, threshold=self.threshold, curve=self.curve, types=self.types
        )

    def caches(self) -> dict[str, CacheUse]:
        """Return how often the posting list of a tuple, and the relatedness of a term, was there."""
        return {POSTING_LISTS: self._listed, RELATEDNESS: self._related}

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Drop what is kept about some seen texts, because feedback has moved their relatedness."""
        self.lists.attributes.forget(of)
        self.lists.values.forget(of)
        touched = [of(s.item.attribute) or of(str(s.item.value)) for s in self.lists.seen]
        if any(touched):
            self._seen.renumber(self.lists.keep(np.flatnonzero(~np.array(touched, bool))))

    def _match(self, events: Sequence[Event], of: _BatchSlice = ALONE, *, products: bool = False) -> FoundArrays:
        """Return the number of matches of each event; ordinal, score and on request product of each match."""
        indexed = self._match_indexed(events, of, products=products)
        return self._with_plain(events, indexed, products) if self._plain else indexed

    def _with_plain(self, events: Sequence[Event], indexed: FoundArrays, products: bool) -> FoundArrays:
        """The matches with those of conditions that no list indexes."""
        counts, columns = indexed[0], indexed[1:]
        ends = np.cumsum(counts)
        pieces: list[list[tuple[int, float, float]]] = []
        for event, begin, end in zip(events, ends - counts, ends, strict=True):
            view = EventView(event, self.measure, self.types)
            shown = [column[begin:end].tolist() for column in columns[: 2 + products]]
            event_matches = list(zip(shown[0], shown[1], shown[2] if products else shown[1], strict=True))
            for ordinal, condition in self._plain.items():
                result = evaluate(condition, view, self._needed(self.subscriptions[ordinal]))
                if result is not None:
                    event_matches.append((ordinal, result.score, result.product))
            pieces.append(sorted(event_matches))
        joined = [row for event_matches in pieces for row in event_matches]
        return (
            np.array([len(event_matches) for event_matches in pieces], np.int64),
            np.array([row[0] for row in joined], np.int64),
            np.array([row[1] for row in joined], np.float32),
            np.array([row[2] for row in joined] if products else [], np.float64),
        )

    def _match_indexed(self, events: Sequence[Event], of: _BatchSlice, *, products: bool) -> FoundArrays:
        """The matches of what the lists index."""
        from likewise.matching.thematic.match_kernels import match_events

        self._batch += 1
        lists, table = self.lists, self.table
        known = len(lists)
        if of.tuples is None:
            offsets, rows = self._seen.rows(events)
        else:
            offsets, rows = self._seen.column_rows(of.tuples, events, of.start)
        self._listed.count(len(rows), len(lists) - known)
        lists.complete(rows, self._batch)
        starts, values = self._numbers_of(events, of, offsets, rows)
        if table.wants_filing():
            table.file(lists.frequency())
        list_columns = (
            (lists.kind.view(), lists.start.view(), lists.length.view()),
            tuple(a.view() for a in lists.texts),
            tuple(a.view() for a in lists.numbers),
            table.columns(),
            (table.pool_limit.view(), table.limit.view()),
            (table.pivot_start, table.pivots),
        )
        stamp, ordinals = self._scratch()
        self._check(rows, stamp[0], ordinals)
        counts = np.empty(len(events), np.int64)
        out = self._room(min(len(events), WIDTH) * len(ordinals))
        first, parts = 0, []
        while first < len(events):
            first, written, self._tick = match_events(
                first,
                offsets,
                rows,
                starts,
                values,
                *list_columns,
                table.indexed,
                table.longest,
                stamp,
                self._tick,
                ordinals,
                (counts, *out),
            )
            ordinal, inverse, product = (column[:written] for column in out)
            parts.append((ordinal.copy(), _scores(product, inverse), product.copy() if products else product[:0]))
        if lists.over():
            self._seen.renumber(lists.keep_recent())
        ordinal, score, product = _joined(parts)
        return counts, ordinal, score, product

    def _check(self, rows: NDArray[np.int64], stamp: NDArray[np.int64], ordinals: NDArray[np.int64]) -> None:
        """Check the sizes of what the kernel walks: lists of the batch, the predicates they name, and their owners."""
        lists, table = self.lists, self.table
        check_lengths("posting lists", len(lists), lists.kind, lists.start, lists.length, lists.covered)
        # NumPy refuses a row that no list has; one more look at the rows would be felt by a single event.
        check_capacity("predicates of lists", int(lists.covered.view()[rows].max(initial=0)), len(stamp))
        check_lengths("entries of texts", len(lists.texts[0]), lists.texts[1])
        check_lengths("entries of numbers", len(lists.numbers[0]), *lists.numbers[1:])
        columns = (table.start, table.positive, table.negative, table.shared, table.owner, table.inverse, table.limit)
        check_lengths("conjunctions", len(table), *columns)
        check_lengths("predicates of conjunctions", len(table.pool), table.pool_limit)
        check_capacity("owners of conjunctions", int(table.owner.view()[-1]) + 1 if len(table) else 0, len(ordinals))

    def _room(self, least: int) -> tuple[NDArray[Any], ...]:
        """Where the kernel writes ordinal, inverse and product of matches; the same memory each time."""
        room = max(least, min(OUTPUT, 64 * least))
        if len(self._out[0]) < room:
            self._out = (np.empty(room, np.int64), np.empty(room, np.float32), np.empty(room))
        return self._out

    def _scratch(self) -> tuple[tuple[NDArray[np.int64], ...], NDArray[np.int64]]:
        """For each predicate when it was last met and where that is noted; the ordinal of each owner."""
        if len(self._met[0]) != len(self.asked):
            self._met = tuple(np.zeros(len(self.asked), np.int64) for _ in range(3))
        if len(self._ordinals) != len(self._owners):
            self._ordinals = np.array(self._owners, np.int64)
        return self._met, self._ordinals

    def _numbers_of(
        self, events: Sequence[Event], of: _BatchSlice, offsets: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For every number among the tuples its value on each axis of its posting list, and where they begin."""
        starts = np.zeros(len(rows), np.int64)
        values: list[float] = []
        if len(rows):
            numeric = np.flatnonzero(self.lists.kind.view()[rows] == NUMBER)
            for place, number in zip(numeric.tolist(), _numbers(events, of, offsets, numeric), strict=True):
                starts[place] = len(values)
                for axis in self.lists.axes[rows[place]]:
                    values.append(number if axis is None else axis.to_base(number))
        return starts, np.array(values, np.float64)


def _numbers(
    events: Sequence[Event], of: _BatchSlice, offsets: NDArray[np.int64], places: NDArray[np.int64]
) -> list[float]:
    """The numbers of tuples at some places."""
    if of.tuples is not None:
        columns = of.tuples.columns
        numbers: list[float] = columns.number[places + columns.offsets[of.start]].tolist()
        return numbers
    owners = np.searchsorted(offsets, places, side="right") - 1
    begins = offsets[owners]
    return [
        float(events[owner].tuples[place - begin].value)
        for place, owner, begin in zip(places.tolist(), owners.tolist(), begins.tolist(), strict=True)
    ]


def _scores(products: NDArray[np.float64], inverses: NDArray[np.float32]) -> NDArray[np.float32]:
    """Products as geometric means; in 32 bits, which is quicker, unless they are too small for that."""
    if products.min(initial=1.0) < TINY:
        return np.power(products, inverses.astype(np.float64)).astype(np.float32)
    return np.power(products.astype(np.float32), inverses)


def _joined(parts: Sequence[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Columns of several parts, one after another; those of a single part as they are."""
    return parts[0] if len(parts) == 1 else tuple(np.concatenate(column) for column in zip(*parts, strict=True))
