"""What one row does to an event's tuples: add one, state a unit, or say what an attribute means.

What an event says itself stays: an attribute it has is not added again, a unit beside a reading is not changed. A
replaced attribute is still found by the name it came with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from likewise.defaults import MAX_TUPLES
from likewise.model.event import EventTuple
from likewise.model.text import attribute_names, fold
from likewise.semantics.enrichment.annotation import Annotation
from likewise.units import find_unit, is_stated, units_in_name


class Change(NamedTuple):
    """What a row did, or why it did nothing: `place` is the tuple concerned, `said` goes on after the row."""

    row: Annotation
    place: int
    said: str = ""


class LaidOver:
    """An event's tuples while rows are laid over them, one after the other."""

    def __init__(self, tuples: Sequence[EventTuple]) -> None:
        self.tuples = list(tuples)
        self.names = [{*attribute_names(item.attribute)} for item in tuples]
        self.changes: list[Change] = []
        self._settled: set[int] = set()
        self._came = frozenset(name for names in self.names for name in names)

    def named(self, attribute: str) -> list[int]:
        """The places of the tuples with this name, or that came with it."""
        wanted = fold(attribute)
        return [place for place, names in enumerate(self.names) if wanted in names]

    def lay(self, row: Annotation, places: Iterable[int] | None = None, said: str = "") -> int | None:
        """Do what a row says, to the tuples in `places` if it names no attribute; the place of a tuple it adds."""
        if row.value:
            return self._add(row, said)
        for place in self.named(row.about) if places is None or row.attribute else places:
            self._restate(row, place, said)
        return None

    def _add(self, row: Annotation, said: str) -> int | None:
        made = EventTuple(row.attribute, row.added(), row.unit)
        if fold(row.attribute) in self._came:
            place = self.named(row.attribute)[0]
            if self.tuples[place].value != made.value:
                self.changes.append(Change(row, place, _with(said, "not added: the event says it itself")))
            return None
        if made in self.tuples:
            return None
        if len(self.tuples) >= MAX_TUPLES:
            self.changes.append(Change(row, -1, _with(said, f"not added: an event has at most {MAX_TUPLES:,} tuples")))
            return None
        self.tuples.append(made)
        self.names.append({*attribute_names(made.attribute)})
        self.changes.append(Change(row, len(self.tuples) - 1, said))
        return len(self.tuples) - 1

    def _restate(self, row: Annotation, place: int, said: str) -> None:
        if place in self._settled:  # a person said it, of something narrower
            return
        if row.where:
            self._settled.add(place)
        item = self.tuples[place]
        reading = item.reading()
        unit = row.unit
        if unit and reading is None:
            unit, said = "", _with(said, "no unit: it is no number")
        elif unit and reading is not None and is_stated(reading[1]):
            stated = find_unit(reading[1])
            if stated is None or stated != find_unit(unit):
                said = _with(said, f"the unit {reading[1]} that the event states stays")
            unit = ""
        if not unit and row.means and reading is not None and not is_stated(reading[1]):
            unit = next((found.symbol for found, sure in units_in_name(item.attribute) if sure), "")
        attribute = item.attribute
        if row.means:
            listed = attribute.rfind("[].")
            attribute = attribute[: listed + 3 if listed >= 0 else 0] + row.means
        made = msgspec.structs.replace(item, attribute=attribute, unit=unit or item.unit)
        if made != item:
            self.names[place].update(attribute_names(attribute))
            self.tuples[place] = made
        if made != item or said:
            self.changes.append(Change(row, place, said))


def _with(said: str, more: str) -> str:
    return f"{said}; {more}" if said else more
