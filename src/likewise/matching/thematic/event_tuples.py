"""Which posting list each tuple of an event has: tuples that mean the same to every predicate share one.

Of events that came as columns the tuples that share a list are told by their codes, and each is looked up once a batch;
of others one by one. A text has a list of its own; numbers of one attribute, unit and kind share one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from likewise.formats.arrow.columns import BOOLEAN, EXACT, NUMBER, TEXT, WHOLE
from likewise.matching.reference.terms import theme_of
from likewise.matching.thematic import posting_lists
from likewise.matching.thematic.posting_lists import PostingKey, PostingLists
from likewise.model import Event, EventTuple
from likewise.semantics.concepts.adjacent_names import is_name_key, is_nameless
from likewise.semantics.concepts.magnitudes import is_bare_battery, unit_by_size
from likewise.semantics.concepts.surroundings import (
    contexts_within,
    is_type_name,
    marks,
    may_have_context,
    name_of,
    rules_that_hold,
    signs_of,
    surroundings,
    text_signs,
    theme_signs,
)
from likewise.units.unit import fits_float

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.formats.arrow.event_batch import EventBatch

Key = tuple[object, ...] | EventTuple
Tags = tuple[str, ...]
_CODES: Final = 2**62  # codes beyond this would not fit
_OTHER_KINDS: Final = 4  # false, true, a whole number, another number; texts come after them


class ColumnTuples:
    """The tuples of a batch: `alike[j]` is the same for tuples that share a list, -1 for one that is looked at alone.

    >>> from likewise.formats.json.batches import decode_each
    >>> lines = [b'{"t": 1, "city": "Cork"}', b'{"t": 2, "city": "Cork"}', b'{"city": "Bonn", "battery": 3}'] * 6
    >>> ColumnTuples(decode_each(lines)).alike[:6].tolist()
    [0, 1, 0, 1, 2, -1]
    """

    def __init__(self, events: EventBatch) -> None:
        self.columns = columns = events.columns()
        self.themes = events.themes()
        self.owner = np.repeat(np.arange(len(events)), np.diff(columns.offsets))
        tags: dict[Tags, int] = {}
        theme = np.array([tags.setdefault(each, len(tags)) for each in self.themes], np.int64)[self.owner]
        surrounded, nameless = self._surrounded()
        self._rules: list[tuple[str, ...]] = [()]
        self._rules_of: NDArray[np.int64] = np.zeros(len(events), np.int64)
        if surrounded.any():
            self._rules, self._rules_of = self._surroundings()
        theme = np.where(surrounded, theme * len(self._rules) + self._rules_of[self.owner], theme)
        sizes = (
            len(tags) * len(self._rules),
            len(columns.attributes),
            len(columns.units) + 1,
            len(columns.texts) + _OTHER_KINDS,
        )
        shared = self._shared() & ~nameless if math.prod(sizes) < _CODES else np.zeros(len(self.owner), bool)
        kind = columns.kind
        value = np.where(kind == BOOLEAN, columns.number == 1.0, np.where(kind == WHOLE, 2, 3))
        value = np.where(kind == TEXT, columns.text.astype(np.int64) + _OTHER_KINDS, value)
        code = (theme * sizes[1] + columns.attribute) * sizes[2] + columns.unit + 1
        _, first, same = np.unique((code * sizes[3] + value)[shared], return_index=True, return_inverse=True)
        self.alike = np.full(len(shared), -1, np.int64)
        self.alike[shared] = same
        self.first = np.flatnonzero(shared)[first]
        self.rows = np.full(len(first), -1, np.int64)  # of those that were looked up
        self.numbered = -1  # how often lists had been renumbered then

    def _shared(self) -> NDArray[np.bool_]:
        """Return whether a tuple's codes alone determine its list: it is in no group, and no number to check."""
        columns = self.columns
        numeric = (columns.kind == NUMBER) | (columns.kind == WHOLE)
        bare = np.zeros(len(columns.attributes), bool)
        for attribute in np.unique(columns.attribute[numeric]).tolist():
            bare[attribute] = is_bare_battery(columns.attributes[attribute])
        exact = (columns.whole >= -EXACT) & (columns.whole <= EXACT)
        by_size = (columns.unit < 0) & bare[columns.attribute] if len(bare) else np.zeros(len(numeric), bool)
        shared: NDArray[np.bool_] = (columns.group == 0) & ~(numeric & (by_size | ~exact))
        return shared

    def _surrounded(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whether the rest of its event may say something about a tuple, and whether it may say its name."""
        columns = self.columns
        named = np.array([is_nameless(name) for name in columns.attributes], bool)
        units = ("", *columns.units)
        codes = columns.attribute.astype(np.int64) * len(units) + columns.unit + 1
        may = np.zeros(len(columns.attributes) * len(units), bool)
        may[codes] = True
        for code in np.flatnonzero(may).tolist():
            may[code] = may_have_context(columns.attributes[code // len(units)], units[code % len(units)])
        nameless = named[columns.attribute] if len(named) else np.zeros(len(codes), bool)
        return may[codes], nameless

    def _surroundings(self) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
        """Return the distinct surroundings of events, and which each event has."""
        columns, events = self.columns, len(self.themes)
        fields, typed = np.zeros(events, np.uint64), np.array([theme_signs(each) for each in self.themes], np.uint64)
        signs = np.array([signs_of(name) for name in columns.attributes], np.uint64)[columns.attribute]
        filled = np.flatnonzero(np.diff(columns.offsets))
        fields[filled] = np.bitwise_or.reduceat(signs, columns.offsets[:-1][filled])
        telling = np.array([is_type_name(name) or is_name_key(name) for name in columns.attributes], bool)
        for place in np.flatnonzero(telling[columns.attribute] & (columns.kind == TEXT)).tolist():
            said = text_signs(columns.attributes[columns.attribute[place]], columns.texts[columns.text[place]])
            fields[self.owner[place]] |= np.uint64(said[0])
            typed[self.owner[place]] |= np.uint64(said[1])
        numbers: dict[tuple[str, ...], int] = {}
        (some, f), (others, t) = (np.unique(each, return_inverse=True) for each in (fields, typed))
        pairs, places = np.unique(f * len(others) + t, return_inverse=True)
        rules = [
            numbers.setdefault(rules_that_hold(int(some[p // len(others)]), int(others[p % len(others)])), len(numbers))
            for p in pairs.tolist()
        ]
        return list(numbers), np.array(rules, np.int64)[places]

    def context(self, place: int, name: str, unit: str) -> tuple[str, ...]:
        """What surrounds a tuple that has its name and stands in no group."""
        return marks(name, unit, self._rules[self._rules_of[self.owner[place]]])

    def item(self, place: int) -> EventTuple:
        """The tuple at a place."""
        columns, kind = self.columns, self.columns.kind[place]
        value: str | int | float | bool
        if kind == TEXT:
            value = columns.texts[columns.text[place]]
        elif kind == BOOLEAN:
            value = bool(columns.number[place] == 1.0)
        else:
            value = int(columns.whole[place]) if kind == WHOLE else float(columns.number[place])
        unit = "" if columns.unit[place] < 0 else columns.units[columns.unit[place]]
        return EventTuple(columns.attributes[columns.attribute[place]], value, unit, int(columns.group[place]))


class TuplePostings:
    """Observed terms by theme tags, and the posting list of each."""

    def __init__(self, lists: PostingLists) -> None:
        self._lists = lists
        self._known: dict[Tags, dict[Key, int]] = {}
        self._themes: dict[Tags, Tags] = {}
        self._numbered = 0

    def rows(self, events: Sequence[Event]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each event's tuples begin, and the posting list of every tuple."""
        rows: list[int] = []
        offsets = [0]
        for event in events:
            # Most tuples are texts that were seen before, and are looked up without a loop in Python.
            list_numbers = list(map(self._of(event.themes).get, event.tuples))
            enclosing: tuple[Tags, ...] | None = None
            rules: tuple[str, ...] | None = None
            for index, item in enumerate(event.tuples) if None in list_numbers else ():
                if list_numbers[index] is not None:
                    continue
                context: Tags = ()
                if item.group or may_have_context(item.attribute, item.unit):
                    rules = surroundings(event) if rules is None else rules
                    if item.group or is_nameless(item.attribute):
                        enclosing = enclosing or contexts_within(event, rules)
                        context = enclosing[index]
                    else:
                        context = marks(item.attribute, item.unit, rules)
                list_numbers[index] = self._row(item, event.themes, context)
            rows += list_numbers  # type: ignore[arg-type]
            offsets.append(len(rows))
        return np.array(offsets, np.int64), np.array(rows, np.int64)

    def column_rows(
        self, tuples: ColumnTuples, events: Sequence[Event], start: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same for events of a batch in columns, from its place `start` on."""
        offsets = tuples.columns.offsets[start : start + len(events) + 1]
        low, high = int(offsets[0]), int(offsets[-1])
        if tuples.numbered != self._numbered:
            tuples.rows[:], tuples.numbered = -1, self._numbered
        alike = tuples.alike[low:high]
        shared = alike >= 0
        new = np.unique(alike[shared & (tuples.rows[alike] < 0)]) if len(tuples.rows) else alike[:0]
        for number, place in zip(new.tolist(), tuples.first[new].tolist(), strict=True):
            item = tuples.item(place)
            context: Tags = tuples.context(place, item.attribute, item.unit)
            tuples.rows[number] = self._row(item, tuples.themes[tuples.owner[place]], context)
        rows = np.where(shared, tuples.rows[alike], -1) if len(tuples.rows) else alike.copy()
        for place in np.flatnonzero(~shared).tolist():
            owner = int(tuples.owner[low + place])
            themes, item = tuples.themes[owner], tuples.item(low + place)
            index = low + place - int(tuples.columns.offsets[owner])
            context = ()
            if item.group or is_nameless(item.attribute):
                event = events[owner - start]
                context = contexts_within(event, surroundings(event))[index]
            elif may_have_context(item.attribute, item.unit):
                context = tuples.context(low + place, item.attribute, item.unit)
            rows[place] = self._row(item, themes, context)
        return offsets - low, rows

    def _of(self, themes: Tags) -> dict[Key, int]:
        known = self._known.get(themes)
        if known is None:
            known = self._known[themes] = {}
            self._themes[themes] = theme_of(themes)
        return known

    def _row(self, item: EventTuple, themes: Tags, context: Tags) -> int:
        """The posting list of a tuple, a new one if it is the first of its kind."""
        known, kind = self._of(themes), type(item.value)
        key: Key
        single = False
        if kind is str and not item.group and not may_have_context(item.attribute, item.unit):
            single = True
            key = item
        elif kind is str or kind is bool or (kind is int and not fits_float(item.value)):  # type: ignore[arg-type]
            single = True  # a whole number that is no float has a list of its own
            key = (kind, item.attribute, item.value, item.unit, context)
        elif is_bare_battery(name := name_of(item.attribute, context) if context else item.attribute) and not item.unit:
            size = unit_by_size(name, item.value)  # type: ignore[arg-type]
            key = (kind, item.attribute, item.unit, context, size)
        else:
            key = (kind, item.attribute, item.unit, context)
        row = known.get(key)
        if row is None:
            posting_key = PostingKey(item, self._themes[themes], context)
            row = known[key] = self._lists.new(posting_lists.TEXT if single else posting_lists.NUMBER, posting_key)
        return row

    def renumber(self, numbers: NDArray[np.int64]) -> None:
        """Follow the posting lists' new numbers; forget those that were dropped."""
        self._numbered += 1
        moved = numbers.tolist()
        for themes, known in list(self._known.items()):
            remaining = {key: moved[number] for key, number in known.items() if moved[number] >= 0}
            if remaining:
                self._known[themes] = remaining
            else:
                del self._known[themes], self._themes[themes]
