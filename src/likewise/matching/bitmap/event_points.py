"""An event as points: for each attribute somebody asks about, its head, its numbers and its tokens.

Written into two reused buffers that the kernels read. An attribute no subscription mentions costs one
look-up. The points of a text are remembered: the vocabulary of a stream is small against its length.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from likewise.kernels.compile import view
from likewise.matching.bitmap.code_book import MAX_REMEMBERED, SEVERAL, UNASKED, AttributeCodes, CodeBook, TextPoints
from likewise.matching.reference.float_bounds import away_from_zero
from likewise.matching.reference.operators import meets
from likewise.model.comparable import brought
from likewise.model.event import Event, EventTuple
from likewise.model.text import attribute_names, fold
from likewise.model.timestamps import MOMENT

LARGEST = sys.float_info.max
TRUTHS = {"true": True, "false": False}


class EventPoints:
    """Writes events as points.

    >>> book = CodeBook()
    >>> axis = book.axis(book.attribute("lat"), "")
    >>> points = EventPoints(book)
    >>> points.write(Event((EventTuple("LAT", 45.8), EventTuple("unasked", 1))), 0)
    2
    >>> points.codes[:2].tolist() == [book.attribute("lat").head, axis * 4 + 1], float(points.numbers[1])
    (True, 45.8)
    """

    def __init__(self, book: CodeBook) -> None:
        self.book = book
        self.spans = False  # some event written so far has a day where seconds are asked for
        self._serial = 0
        self.codes = np.zeros(0, np.int64)
        self.numbers = np.zeros(0, np.float64)
        self._grow(1024)

    def _grow(self, needed: int) -> None:
        size = max(1024, 2 * needed)
        codes, numbers = np.zeros(size, np.int64), np.zeros(size, np.float64)
        codes[: len(self.codes)], numbers[: len(self.numbers)] = self.codes, self.numbers
        self.codes, self.numbers = codes, numbers
        self._codes, self._numbers = view(codes), view(numbers)

    def make_room(self, needed: int) -> None:
        """Have room for so many points, keeping those there are."""
        if needed > len(self.codes):
            self._grow(needed)

    def write(self, event: Event, start: int) -> int:
        """Write the event's points from `start` on; where they end."""
        self.make_room(start + 3 * len(event.tuples))
        codes, numbers, names = self._codes, self._numbers, self.book.names
        self._serial = serial = self._serial + 1
        at = start
        for item in event.tuples:
            attribute = names.get(item.attribute)
            if attribute is None:
                attribute = self.attribute(item.attribute)
            if attribute is UNASKED:
                continue
            if attribute.seen == serial or attribute is SEVERAL:
                return self._repeated(event, start)
            attribute.seen = serial
            codes[at] = attribute.head
            at += 1
            value = item.value
            kind = type(value)
            if attribute.only_numbers and (kind is float or kind is int):
                if attribute.axis >= 0:
                    codes[at] = attribute.axis
                    numbers[at] = value if kind is float else away_from_zero(value)  # type: ignore[arg-type]
                    at += 1
                continue
            if kind is str and attribute.axis < 0 and attribute.only_numbers:
                known = attribute.remembered.get(value) or self.of_text(attribute, value)  # type: ignore[arg-type]
                if len(known[0]) <= 1:
                    for point in known[0]:
                        codes[at] = point
                        at += 1
                    continue
            tokens, failures, readings = self.of_tuple(attribute, item)
            if at + len(tokens) + len(failures) + len(readings) + 3 * len(event.tuples) > len(codes):
                self._grow(at + len(tokens) + len(failures) + len(readings) + 3 * len(event.tuples))
                codes, numbers = self._codes, self._numbers
            for point in tokens:
                codes[at] = point
                at += 1
            for point in failures:
                codes[at] = point
                at += 1
            for point, number in readings:
                codes[at] = point
                numbers[at] = number
                at += 1
        return at

    def attribute(self, name: str) -> AttributeCodes:
        """The codes of an attribute as an event writes it; `UNASKED` if nobody asks about it. Remembered."""
        names = self.book.names
        if len(names) >= MAX_REMEMBERED:
            names.clear()
        asked = self._asked(name)
        found = names[name] = UNASKED if not asked else asked[0] if len(asked) == 1 else SEVERAL
        return found

    def _asked(self, name: str) -> list[AttributeCodes]:
        """The codes of an attribute as an event writes it: those of a list are asked for with `[]` and without."""
        attributes = self.book.attributes
        return [attributes[folded] for folded in attribute_names(name) if folded in attributes]

    def _repeated(self, event: Event, start: int) -> int:
        """As `write`, for events that state an attribute more than once."""
        groups: dict[str, tuple[AttributeCodes, list[EventTuple]]] = {}
        for item in event.tuples:
            for attribute in self._asked(item.attribute):
                groups.setdefault(attribute.name, (attribute, []))[1].append(item)
        points: list[tuple[int, float]] = []
        for attribute, items in groups.values():
            points.append((attribute.head, 0.0))
            tokens: dict[int, None] = {}
            failing: list[set[int]] = []
            for item in items:
                true, failures, readings = self.of_tuple(attribute, item)
                tokens.update(dict.fromkeys(true))
                failing.append(set(failures))
                points.extend(readings)
            # `!=` fails only if every tuple equals the value
            points.extend((point, 0.0) for point in (*tokens, *set.intersection(*failing)))
        self.make_room(start + len(points))
        for at, (point, number) in enumerate(points, start):
            self._codes[at] = point
            self._numbers[at] = number
        return start + len(points)

    def of_tuple(
        self, attribute: AttributeCodes, item: EventTuple
    ) -> tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, float]]]:
        """The tokens a tuple makes true, the `!=` it fails, and its numbers on each axis."""
        value = item.value
        tokens: tuple[int, ...] = ()
        failures: tuple[int, ...] = ()
        readings: list[tuple[int, float]] = []
        if isinstance(value, bool):
            if value in attribute.booleans:
                tokens = (attribute.booleans[value],)
            if (bool, value) in attribute.different:
                failures = (attribute.different[bool, value],)
        else:
            if isinstance(value, str):
                tokens, failures = attribute.remembered.get(value) or self.of_text(attribute, value)
            reading = item.reading()
            if reading is not None:
                number = reading[0]
                if (float, number) in attribute.different:
                    failures += (attribute.different[float, number],)
                if number in attribute.wholes:
                    tokens += (attribute.wholes[number],)
                if attribute.axis >= 0:
                    readings.append((attribute.axis, away_from_zero(number)))
            if attribute.unit_axes:
                self._brought(attribute, item, readings)
        if attribute.unindexed:
            types = self.book.types
            tokens += tuple(point for predicate, point in attribute.unindexed.items() if meets(predicate, item, types))
        return tokens, failures, readings

    def _brought(self, attribute: AttributeCodes, item: EventTuple, readings: list[tuple[int, float]]) -> None:
        """Add what a tuple shows on every axis of a unit: of a span its first or last number."""
        for symbol, last, point in attribute.unit_axes.values():
            found = brought(item, symbol)
            if found.first <= found.last:
                number = away_from_zero(found.last if last else found.first)
                # no bound lies beyond the largest number, so infinity may stand there
                readings.append((point, number if math.isfinite(number) else math.copysign(LARGEST, number)))
                if found.first < found.last and symbol != MOMENT:
                    self.spans = True  # a day against a number of seconds: both of its ends count

    def of_text(self, attribute: AttributeCodes, text: str) -> TextPoints:
        """The tokens a text makes true, and the `!=` it fails as text; remembered."""
        tokens = attribute.texts.find(text)
        failures = []
        folded = fold(text)
        if (truth := TRUTHS.get(folded)) is not None:
            if truth in attribute.booleans:
                tokens.append(attribute.booleans[truth])
            if (bool, truth) in attribute.different:
                failures.append(attribute.different[bool, truth])
        if (str, folded) in attribute.different:
            failures.append(attribute.different[str, folded])
        found: TextPoints = (tuple(tokens), tuple(failures))
        book = self.book
        if book.remembered >= MAX_REMEMBERED:
            for other in book.attributes.values():
                other.remembered.clear()
            book.remembered = 0
        book.remembered += 1
        attribute.remembered[text] = found
        return found
