"""Posting lists: for every distinct tuple of the stream, the predicates it meets well enough.

A text (or Boolean) tuple has one list; numbers under one attribute and unit share a list whose entries carry
an interval. Lists ascend by predicate, are extended when predicates are added, and are dropped, least
recently used first, to stay within a number of bytes.

What a predicate asks of a number, as closed intervals on axes (docs/engines/thematic.md).

Axis 0 is the number as sent; every further axis is the number brought to the base of a dimension from one
unit. Open bounds move to the next representable number, so a test is `low <= x <= high`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.growing_array import GrowingArray
from likewise.matching.cache_use import CacheUse
from likewise.matching.reference.float_bounds import closed_bounds
from likewise.matching.reference.operators import register_operators
from likewise.matching.reference.polarity import meets_with_polarity
from likewise.matching.reference.terms import STATE_NUMBERS, attribute_term, named_reading, value_term
from likewise.matching.thematic.relatedness_rows import RelatednessRows
from likewise.matching.thematic.subscription_predicates import SubscriptionPredicates
from likewise.model import (
    MOMENT,
    EventTuple,
    Interval,
    Predicate,
    Quantity,
    TimestampValue,
    Unit,
    fold,
    reading_unit,
    unit,
)
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import COMPARISONS, TEXT_OPERATORS, Operand
from likewise.model.timestamps import MOMENT_UNITS
from likewise.model.values import read_number
from likewise.semantics.concepts.customary import candidate_units
from likewise.semantics.measure import Measure, Term

NumberRange = tuple[Unit | None, float, float]  # the unit to bring the number from (None: as sent), low, high


def number_entries(predicate: Predicate, attribute: str, stated: str, *, whole: bool) -> Iterator[NumberRange]:
    """Yield the intervals in which a number under an attribute, with the unit stated beside it, meets a predicate.

    >>> from likewise.model import Quantity
    >>> p = Predicate("t", ">", Quantity(25.0, "degC"))
    >>> [(u.symbol, low > 298.15, high) for u, low, high in number_entries(p, "air_temp_f", "", whole=False)]
    [('degF', True, inf)]
    """
    units = candidate_units(predicate, attribute, stated, whole=whole)
    if units is not None:
        for taken, least, most in units:
            for axis, low, high in _bounds(predicate, attribute, taken.symbol):
                if max(low, least) <= min(high, most):
                    yield axis, max(low, least), min(high, most)
        return
    match _NUMBER_RULES[predicate.operator]:
        case "any":
            yield None, -inf, inf
        case "equality" if isinstance(predicate.value, str):
            yield from _written_number(predicate, stated, whole=whole)
        case "inequality":
            yield from _unequal_numbers(predicate.value, attribute, stated)
        case "membership":
            for one in predicate.value:  # type: ignore[union-attr]
                if not isinstance(one, (str, bool)):
                    yield from _bounds(Predicate(attribute, "=", one), attribute, stated)
        case "equality" | "range":
            yield from _bounds(predicate, attribute, stated)


def _written_number(predicate: Predicate, stated: str, *, whole: bool) -> Iterator[NumberRange]:
    """Yield the number that a relaxed text writes; 0 and 1 may be states, which measures judge."""
    text = str(predicate.value)
    number = read_number(text) if predicate.value_relaxed else None
    if isinstance(number, float) and (number not in STATE_NUMBERS or stated):
        written = str(int(number)) if whole and number.is_integer() else "" if whole else str(number)
        if written == text.strip().casefold():
            yield None, number, number


def _unequal_numbers(value: Operand, attribute: str, stated: str) -> Iterator[NumberRange]:
    if isinstance(value, (str, bool)):
        yield None, -inf, inf
        return
    equal = list(_bounds(Predicate(attribute, "=", value), attribute, stated))
    for axis, low, high in equal:
        yield axis, -inf, nextafter(low, -inf)
        yield axis, nextafter(high, inf), inf
    if not equal and _never_equal(value, attribute, stated):
        yield None, -inf, inf


# What an operator asks of a number. A list of text evaluates the operator instead, once for each distinct tuple.
_NUMBER_RULES = register_operators(
    "thematic",
    {
        "exists": "any",
        "=": "equality",
        "!=": "inequality",
        "in": "membership",
        "between": "range",
        **dict.fromkeys(COMPARISONS, "range"),
        **dict.fromkeys(TEXT_OPERATORS, "none"),
    },
)


def _bounds(predicate: Predicate, attribute: str, stated: str) -> Iterator[NumberRange]:
    interval: Interval | None = predicate.interval()
    if interval is None:
        return
    axis: Unit | None = None
    if interval.unit == MOMENT:
        axis = reading_unit(attribute, stated, unit("s"))
        if axis is None or axis.symbol not in MOMENT_UNITS:  # a bare number is no time
            return
    elif interval.unit:
        target = unit(interval.unit)
        axis = reading_unit(attribute, stated, target) or target
        if axis.dimension != target.dimension:
            return
    low, high = closed_bounds(interval.base())
    if low <= high:
        yield axis, low, high


def _never_equal(value: object, attribute: str, stated: str) -> bool:
    """Return whether a number of this attribute and unit differs from a value that is no float, or a time."""
    if isinstance(value, Quantity):  # a unit that does not fit is neither equal nor unequal
        target = unit(value.unit)
        return (reading_unit(attribute, stated, target) or target).dimension == target.dimension
    if isinstance(value, TimestampValue):
        taken_unit = reading_unit(attribute, stated, unit("s"))
        return taken_unit is None or taken_unit.symbol in MOMENT_UNITS
    return True


TEXT, NUMBER = 0, 1
LIST_BYTES = 600  # a list's tuple, keys and bookkeeping, beside its entries
CELLS = 4_000_000  # similarities computed at once: 16 MB
SLACK = 1 - 1e-6  # similarities are kept in 32 bits: a cut is lowered by what rounding may take


class PostingKey(NamedTuple):
    """Subject of a list: a tuple (for numbers: any of its attribute and unit) under an event's theme."""

    item: EventTuple
    theme: tuple[str, ...]
    context: tuple[str, ...]

    def seen_by(self, predicate: Predicate) -> EventTuple:
        """Return the tuple as a predicate sees it: a relaxed attribute reads the name beside the value."""
        return named_reading(self.item, self.context) if predicate.attribute_relaxed else self.item


class PostingLists:
    """All lists, in arrays a kernel can walk."""

    def __init__(
        self,
        predicates: SubscriptionPredicates,
        measure: Measure | None,
        limit: int,
        related: CacheUse | None = None,
        types: Hierarchy = NO_TYPES,
    ) -> None:
        self._asked = predicates
        self._types = types
        self._measure = measure
        self._limit = limit // 2
        self.attributes = RelatednessRows(predicates.attributes, measure, limit // 8, related)
        self.values = RelatednessRows(predicates.values, measure, limit // 4, related)
        self.dropped = 0
        self._clear()

    def _clear(self) -> None:
        self.seen: list[PostingKey] = []
        self.axes: list[tuple[Unit | None, ...]] = []
        self.kind = GrowingArray(np.uint8)
        self.start = GrowingArray(np.int64)
        self.length = GrowingArray(np.int64)
        self.covered = GrowingArray(np.int64)  # how many predicates the list knows about
        self.used = GrowingArray(np.int64)  # the last batch that used it
        self.texts = (GrowingArray(np.int32), GrowingArray(np.float32))
        self.numbers = (
            GrowingArray(np.int32),
            GrowingArray(np.float32),
            GrowingArray(np.float64),
            GrowingArray(np.float64),
            GrowingArray(np.int32),
        )

    def __len__(self) -> int:
        return len(self.seen)

    @property
    def bytes(self) -> int:
        """The bytes held, relatedness rows included."""
        pools = sum(array.nbytes for array in (*self.texts, *self.numbers))
        return pools + LIST_BYTES * len(self.seen) + self.attributes.bytes + self.values.bytes

    def new(self, kind: int, posting_key: PostingKey) -> int:
        """An empty list, which knows no predicate yet; its number."""
        self.seen.append(posting_key)
        self.axes.append((None,))
        self.kind.append(kind)
        for array in (self.start, self.length, self.used):
            array.append(0)
        self.covered.append(1)  # "always" stands in no list
        return len(self.seen) - 1

    def complete(self, numbers: NDArray[np.int64], batch: int) -> None:
        """Bring the lists with these numbers up to date with the predicates, all together."""
        self.used.view()[numbers] = batch
        total = len(self._asked)
        behind = self.covered.view()[numbers] < total
        if not behind.any():
            return
        stale = np.unique(numbers[behind]).tolist()
        described = [self.seen[n] for n in stale]
        attributes = self.attributes.of([attribute_term(s.item, s.theme, s.context) for s in described])
        kinds, covered = self.kind.view(), self.covered.view()
        texts = {
            n: term
            for n, s in zip(stale, described, strict=True)
            if kinds[n] == TEXT and (term := value_term(s.item, s.theme, s.context)) is not None
        }
        rows = dict(zip(texts, self.values.of(list(texts.values())), strict=True))
        together: dict[int, list[tuple[int, NDArray[np.float32], NDArray[np.float32]]]] = {}
        for n, posting_key, attribute in zip(stale, described, attributes, strict=True):
            known = int(covered[n])
            if n in rows:
                together.setdefault(known, []).append((n, attribute, rows[n]))
                continue
            cut = self._asked.cut.view()[known:total] * SLACK
            floor = self._asked.floor.view()[known:total]
            related = attribute[self._asked.attribute_column.view()[known:total]]
            near = np.flatnonzero((related >= cut) & (related >= floor) & (related > 0) & (cut <= 1)) + known
            if len(near) and kinds[n] == TEXT:
                self._extend_value(n, posting_key, near, related[near - known])
            elif len(near):
                self._extend_numbers(n, posting_key, near, related[near - known])
        for known, lists in together.items():
            step = max(1, CELLS // (total - known))
            for begin in range(0, len(lists), step):
                self._extend_texts(lists[begin : begin + step], known, total)
        covered[stale] = total

    def _extend_texts(
        self, lists: list[tuple[int, NDArray[np.float32], NDArray[np.float32]]], known: int, total: int
    ) -> None:
        """Extend lists of texts by the predicates from `known` on: number, row of the attribute, row of the value."""
        columns = self._asked.value_column.view()[known:total]
        cut = (self._asked.cut.view()[known:total] * SLACK).astype(np.float32)
        relaxed = columns >= 0
        similarity = np.stack([row for _, row, _ in lists])[:, self._asked.attribute_column.view()[known:total]]
        floor = self._asked.floor.view()[known:total]
        near = (similarity >= cut) & (similarity >= floor) & (similarity > 0) & (cut <= 1)
        if relaxed.any():
            value = np.stack([row for _, _, row in lists])[:, columns[relaxed]]
            near[:, relaxed] &= value >= floor[relaxed]
            similarity[:, relaxed] *= value
        for i, j in np.argwhere(near & ~relaxed).tolist():
            predicate = self._asked.predicates[known + j]
            if predicate is None or not self._meets(predicate, self.seen[lists[i][0]]):
                similarity[i, j] = 0
        near &= (similarity >= cut) & (similarity > 0)
        places, predicates = np.nonzero(near)
        ends = np.cumsum(near.sum(axis=1))
        numbers = np.array([n for n, _, _ in lists], np.int64)
        if not self.length.view()[numbers].any():  # new lists stand behind one another
            counts = np.diff(ends, prepend=0)
            self.start.view()[numbers] = len(self.texts[0]) + ends - counts
            self.length.view()[numbers] = counts
            self.texts[0].extend(predicates + known)
            self.texts[1].extend(similarity[places, predicates])
            return
        reached = similarity[places, predicates]
        for n, begin, end in zip(numbers.tolist(), (0, *ends.tolist()), ends.tolist(), strict=False):
            self._append(n, self.texts, [predicates[begin:end] + known, reached[begin:end]])

    def _meets(self, predicate: Predicate, posting_key: PostingKey) -> bool:
        return bool(meets_with_polarity(predicate, posting_key.seen_by(predicate), self._types, self._measure))

    def _extend_value(
        self, n: int, posting_key: PostingKey, near: NDArray[np.int64], attribute: NDArray[np.float32]
    ) -> None:
        """Extend the list of one whole number that is no float: a relaxed text is met by the same word only."""
        columns = self._asked.value_column.view()[near]
        value = np.zeros(len(near), np.float32)
        word = fold(str(posting_key.item.value))
        for place, (number, text) in enumerate(zip(near.tolist(), columns.tolist(), strict=True)):
            if text >= 0:
                column = self._asked.values.items[text]
                value[place] = isinstance(column, Term) and fold(column.text) == word
            else:
                predicate = self._asked.predicates[number]
                value[place] = predicate is not None and self._meets(predicate, posting_key)
        similarity = attribute * value
        reached = (similarity >= self._asked.cut.view()[near] * SLACK) & (similarity > 0)
        self._append(n, self.texts, [near[reached], similarity[reached]])

    def _extend_numbers(
        self, n: int, posting_key: PostingKey, near: NDArray[np.int64], attribute: NDArray[np.float32]
    ) -> None:
        axes = list(self.axes[n])
        entries: list[tuple[int, float, float, float, int]] = []
        item = posting_key.item
        whole = isinstance(item.value, int)
        states = self._states(posting_key)
        for number, similarity in zip(near.tolist(), attribute.tolist(), strict=True):
            predicate = self._asked.predicates[number]
            if predicate is None:
                continue
            if predicate.value_relaxed:
                entries += self._state_entries(number, np.float32(similarity), states)
            seen = posting_key.seen_by(predicate)
            for axis, low, high in number_entries(predicate, seen.attribute, seen.unit, whole=whole):
                if axis not in axes:
                    axes.append(axis)
                entries.append((number, similarity, low, high, axes.index(axis)))
        self.axes[n] = tuple(axes)
        self._append(n, self.numbers, list(zip(*entries, strict=True)) if entries else [()] * 5)

    def _states(self, posting_key: PostingKey) -> list[tuple[float, NDArray[np.float32]]]:
        """For each number that may stand for a state, how it is related to every text asked for."""
        item, theme, context = posting_key
        kind = type(item.value)
        items = [EventTuple(item.attribute, kind(number), item.unit) for number in STATE_NUMBERS]
        terms = [(float(i.value), term) for i in items if (term := value_term(i, theme, context)) is not None]
        return list(zip([n for n, _ in terms], self.values.of([term for _, term in terms]), strict=True))

    def _state_entries(
        self, number: int, attribute: np.float32, states: list[tuple[float, NDArray[np.float32]]]
    ) -> list[tuple[int, float, float, float, int]]:
        """The entries of a relaxed text for the numbers that may stand for a state."""
        column = int(self._asked.value_column.view()[number])
        floor, cut = self._asked.floor.view()[number], self._asked.cut.view()[number] * SLACK
        values = [(state, row[column]) for state, row in states]
        reached = [(state, attribute * value) for state, value in values if value >= floor and value > 0]
        return [(number, float(s), state, state, 0) for state, s in reached if s >= cut]

    def _append(self, n: int, pool: tuple[GrowingArray, ...], columns: list[object]) -> None:
        """Write a list anew at the end of its pool, its old entries first."""
        added = len(columns[0])  # type: ignore[arg-type]
        if not added:
            return
        start, length = int(self.start.view()[n]), int(self.length.view()[n])
        self.start.view()[n] = len(pool[0])
        self.length.view()[n] = length + added
        for array, column in zip(pool, columns, strict=True):
            if length:
                array.extend(array.view()[start : start + length].copy())
            array.extend(column)  # type: ignore[arg-type]

    def frequency(self) -> NDArray[np.int64]:
        """Return how many lists each predicate stands in."""
        total = len(self._asked)
        counts = np.bincount(self.texts[0].view(), minlength=total)
        return (counts + np.bincount(self.numbers[0].view(), minlength=total))[:total]

    def over(self) -> bool:
        """Return whether the lists take more than they may."""
        pools = sum(array.nbytes for array in (*self.texts, *self.numbers))
        return pools + LIST_BYTES * len(self.seen) > self._limit

    def keep_recent(self) -> NDArray[np.int64]:
        """Keep the more recently used half, packed; the new number of each old list, -1 if it was dropped."""
        used = self.used.view()
        order = np.argsort(used, kind="stable")
        retained = np.sort(order[len(order) // 2 :])
        return self.keep(retained)

    def keep(self, retained: NDArray[np.int64]) -> NDArray[np.int64]:
        """Keep just these lists, packed; the new number of each old list, -1 if it was dropped."""
        renumbered = np.full(len(self.seen), -1, np.int64)
        renumbered[retained] = np.arange(len(retained))
        self.dropped += len(self.seen) - len(retained)
        pools, axes, old_texts, old_numbers = self.seen, self.axes, self.texts, self.numbers
        columns = [
            array.view()[retained].copy() for array in (self.kind, self.start, self.length, self.covered, self.used)
        ]
        self._clear()
        kinds, starts, lengths, covered, used = columns
        self.seen = [pools[n] for n in retained.tolist()]
        self.axes = [axes[n] for n in retained.tolist()]
        moved = np.zeros(len(retained), np.int64)
        for kind, old, new in ((TEXT, old_texts, self.texts), (NUMBER, old_numbers, self.numbers)):
            mine = np.flatnonzero(kinds == kind)
            sizes = lengths[mine]
            ends = np.cumsum(sizes)
            moved[mine] = ends - sizes
            source = np.repeat(starts[mine] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
            for before, after in zip(old, new, strict=True):
                after.replace(before.view()[source])
        for array, values in zip(
            (self.kind, self.start, self.length, self.covered, self.used),
            (kinds, moved, lengths, covered, used),
            strict=True,
        ):
            array.replace(values)
        return renumbered
