"""Flat objects of plain values as columns: those with equal keys together, one column at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from likewise.defaults import MAX_TERM_LENGTH, MAX_TUPLES
from likewise.formats.arrow.columns import BOOLEAN, NUMBER, TEXT, WHOLE, EventColumns, timestamps_of
from likewise.model import EventTuple
from likewise.model.unit_fields import may_state_unit, units_of_fields
from likewise.units import LARGEST_WHOLE

PLAIN: Final = frozenset((str, int, float, bool))
_KINDS: Final = {str: TEXT, float: NUMBER, int: WHOLE, bool: BOOLEAN}
_MANY: Final = 16  # objects with the same keys; arrays for each key of fewer are dearer than a list of all
Values = tuple[Any, ...]


class ObjectGroup:
    """Objects of a batch with equal keys: their event indices and their values."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys
        self.events: list[int] = []
        self.objects: list[dict[str, Any]] = []

    def remove_complex(self) -> list[int]:
        """The events of objects with a value that is no plain one, or beyond a limit, or a unit in a field of its own.

        They are left out from now on.
        """
        if not (0 < len(self.keys) <= MAX_TUPLES and all(map(_plain_name, self.keys))):
            removed, self.events, self.objects = self.events, [], []
            return removed
        bad = self._with_units()
        for column in self.columns():
            if not _are_plain(column):
                bad.update(place for place, value in enumerate(column) if not _are_plain((value,)))
        return self._remove(bad)

    def remove_with_units(self) -> list[int]:
        """Remove the objects with a unit in a field of its own, and return their event indices."""
        return self._remove(self._with_units())

    def _with_units(self) -> set[int]:
        if not any(map(may_state_unit, self.keys)):
            return set()
        return {place for place, document in enumerate(self.objects) if units_of_fields(document) is not None}

    def _remove(self, bad: set[int]) -> list[int]:
        if not bad:
            return []
        removed = [self.events[place] for place in bad]
        remaining = [place for place in range(len(self.events)) if place not in bad]
        self.events, self.objects = [self.events[p] for p in remaining], [self.objects[p] for p in remaining]
        return removed

    def columns(self) -> Iterator[Values]:
        """Yield the values of each key."""
        return zip(*map(dict.values, self.objects), strict=True)


def remove_complex_objects(alike: Iterable[ObjectGroup]) -> list[int]:
    """Remove the objects that are not flat and plain, and return their event indices."""
    names: set[str] = set()
    values: list[Any] = []
    for each in alike:
        names.update(each.keys)
        for document in each.objects:
            values.extend(document.values())
    if all(map(_plain_name, names)) and _are_plain(values):
        stating = any(map(may_state_unit, names))
        fit = [each for each in alike if 0 < len(each.keys) <= MAX_TUPLES] if stating else []
        removed = [event for each in fit for event in each.remove_with_units()]
        alike = [each for each in alike if not 0 < len(each.keys) <= MAX_TUPLES]
        return removed + [event for each in alike for event in each.remove_complex()]
    return [event for each in alike for event in each.remove_complex()]


def _plain_name(key: str) -> bool:
    """Return whether a key is a valid attribute name."""
    return 0 < len(key) <= MAX_TERM_LENGTH and not key.isspace()


def _are_plain(column: Sequence[Any]) -> bool:
    """Return whether values are plain and within their limits."""
    kinds = set(map(type, column))
    if not kinds <= PLAIN:
        return False
    if str in kinds:
        texts = column if len(kinds) == 1 else [value for value in column if type(value) is str]
        if max(map(len, texts)) > MAX_TERM_LENGTH:
            return False
    if int in kinds:
        numbers = column if len(kinds) == 1 else [value for value in column if type(value) is int]
        return min(numbers) >= -LARGEST_WHOLE and max(numbers) <= LARGEST_WHOLE
    return True


class ColumnWriter:
    """Writer of the columns of a known number of events, whose tuples come in any event order."""

    def __init__(self, counts: NDArray[np.int64]) -> None:
        """Allocate arrays for events with this many tuples each."""
        self._offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=self._offsets[1:])
        size = int(self._offsets[-1])
        self._attribute = np.empty(size, np.int32)
        self._kind = np.empty(size, np.int8)
        self._number = np.full(size, np.nan)
        self._whole = np.zeros(size, np.int64)
        self._text, self._unit = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
        self._group = np.zeros(size, np.int32)
        self._attributes: dict[str, int] = {}
        self._texts: dict[str, int] = {}
        self._units: dict[str, int] = {}

    def write_flat(self, alike: Iterable[ObjectGroup]) -> None:
        """Write flat objects: those of frequent keys column by column, all others together."""
        events: list[int] = []
        names: list[str] = []
        values: list[Any] = []
        for each in alike:
            if len(each.events) < _MANY:  # of many kinds of objects most come seldom: they are written together
                events += each.events
                for document in each.objects:
                    names += document
                    values += document.values()
                continue
            first = self._offsets[np.array(each.events, np.int64)]
            for place, (key, column) in enumerate(zip(each.keys, each.columns(), strict=True)):
                self._attribute[first + place] = self._attributes.setdefault(key, len(self._attributes))
                self._write_values(first + place, column)
        if events:
            codes = self._attributes
            at = self._places(np.array(events, np.int64))
            self._attribute[at] = [codes.setdefault(name, len(codes)) for name in names]
            self._write_values(at, values)

    def _places(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the array positions of all tuples of some events, event by event."""
        sizes = self._offsets[events + 1] - self._offsets[events]
        before = np.cumsum(sizes) - sizes
        return np.repeat(self._offsets[events] - before, sizes) + np.arange(int(sizes.sum()))

    def _write_values(self, at: NDArray[np.int64], column: Sequence[Any]) -> None:
        """Write values of any kinds."""
        kinds = set(map(type, column))
        if len(kinds) == 1:
            self._write(at, column, kinds.pop())
            return
        for kind in kinds:
            chosen = [place for place, value in enumerate(column) if type(value) is kind]
            self._write(at[chosen], [column[place] for place in chosen], kind)

    def _write(self, at: NDArray[np.int64], values: Sequence[Any], kind: type) -> None:
        """Write values of one kind."""
        self._kind[at] = _KINDS[kind]
        if kind is str:
            texts = self._texts
            self._text[at] = [texts.setdefault(value, len(texts)) for value in values]
            return
        if kind is int:
            whole = np.array(values, np.int64)
            self._whole[at] = whole
            self._number[at] = whole
        else:
            self._number[at] = values

    def write_tuples(self, event: int, tuples: Iterable[EventTuple]) -> None:
        """Write the tuples of one event."""
        for place, item in enumerate(tuples, int(self._offsets[event])):
            at = np.array([place], np.int64)
            self._attribute[place] = self._attributes.setdefault(item.attribute, len(self._attributes))
            self._write(at, [item.value], type(item.value))
            if item.unit:
                self._unit[place] = self._units.setdefault(item.unit, len(self._units))
            self._group[place] = item.group

    def columns(self, time: NDArray[np.int64], expires: NDArray[np.int64]) -> EventColumns:
        """Return the written columns with the times of the events."""
        texts = list(self._texts)
        return EventColumns(
            self._offsets,
            self._attribute,
            list(self._attributes),
            self._kind,
            self._number,
            self._whole,
            self._text,
            texts,
            timestamps_of(self._text, texts),
            self._unit,
            list(self._units),
            self._group,
            time,
            expires,
        )


def columns_of_flat(
    alike: Sequence[ObjectGroup],
    rest: Mapping[int, Sequence[EventTuple]],
    time: NDArray[np.int64],
    expires: NDArray[np.int64],
) -> EventColumns:
    """Return the columns of flat objects, and of the events between them that were decoded otherwise.

    >>> found = ObjectGroup(("t", "on"))
    >>> found.events, found.objects = [0, 2], [{"t": 21, "on": True}, {"t": 21.5, "on": False}]
    >>> none = np.zeros(3, np.int64)
    >>> made = columns_of_flat([found], {1: (EventTuple("t", "warm"),)}, none, none)
    >>> made.offsets.tolist(), made.attribute.tolist(), made.kind.tolist(), made.whole.tolist()
    ([0, 2, 3, 5], [0, 1, 0, 0, 1], [3, 2, 0, 1, 2], [21, 0, 0, 0, 0])
    """
    counts = np.zeros(len(time), np.int64)
    for each in alike:
        counts[each.events] = len(each.keys)
    for event, tuples in rest.items():
        counts[event] = len(tuples)
    writer = ColumnWriter(counts)
    writer.write_flat(alike)
    for event, tuples in rest.items():
        writer.write_tuples(event, tuples)
    return writer.columns(time, expires)
