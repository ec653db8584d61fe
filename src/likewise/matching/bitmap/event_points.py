"""An event as points: for each attribute somebody asks about, its head, its numbers and its tokens.

Written into two reused buffers that the kernels read. An attribute no subscription mentions costs one
look-up. The points of a text are remembered: the vocabulary of a stream is small against its length.

Many events as points, from the columns of a batch: most tuples are written by a kernel, no event is made.

What one look-up answers (a number where ranges without a unit are asked, a text that is true of at most one
question) is found once for each attribute and each distinct text of the batch. An event with anything else, or
with a repeated attribute, is written plainly (`event_points`), and the kernel goes on after it.
"""

from __future__ import annotations

import math
import sys
from typing import Final

import numpy as np
from numpy.typing import NDArray

from likewise.formats.arrow.columns import NUMBER, TEXT, WHOLE, EventColumns
from likewise.formats.arrow.event_batch import EventBatch
from likewise.kernels.compile import compiled, view
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.matching.bitmap.code_book import MAX_REMEMBERED, SEVERAL, UNASKED, AttributeCodes, CodeBook, TextPoints
from likewise.matching.reference.float_bounds import away_from_zero
from likewise.matching.reference.operators import meets
from likewise.model.axis_reading import axis_reading
from likewise.model.event import Event, EventTuple
from likewise.model.text import attribute_names, fold
from likewise.model.timestamps import MOMENT
from likewise.units import WHOLE_IN_FLOAT

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
        codes = self._codes_of(name)
        codes_of_attribute = names[name] = UNASKED if not codes else codes[0] if len(codes) == 1 else SEVERAL
        return codes_of_attribute

    def _codes_of(self, name: str) -> list[AttributeCodes]:
        """The codes of an attribute as an event writes it: those of a list are asked for with `[]` and without."""
        attributes = self.book.attributes
        return [attributes[folded] for folded in attribute_names(name) if folded in attributes]

    def _repeated(self, event: Event, start: int) -> int:
        """As `write`, for events that state an attribute more than once."""
        groups: dict[str, tuple[AttributeCodes, list[EventTuple]]] = {}
        for item in event.tuples:
            for attribute in self._codes_of(item.attribute):
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
            result = axis_reading(item, symbol)
            if result.first <= result.last:
                number = away_from_zero(result.last if last else result.first)
                # no bound lies beyond the largest number, so infinity may stand there
                readings.append((point, number if math.isfinite(number) else math.copysign(LARGEST, number)))
                if result.first < result.last and symbol != MOMENT:
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
        text_points: TextPoints = (tuple(tokens), tuple(failures))
        book = self.book
        if book.remembered >= MAX_REMEMBERED:
            for other in book.attributes.values():
                other.remembered.clear()
            book.remembered = 0
        book.remembered += 1
        attribute.remembered[text] = text_points
        return text_points


NOTHING: Final = -1  # the tuple says no more than that its attribute is there
INVOLVED: Final = -2  # the event has to be written plainly


def write_batch(points: EventPoints, batch: EventBatch, starts: NDArray[np.int64]) -> None:
    """Write the points of every event one after the other, and where each begins and ends into `starts`.

    >>> from likewise.matching.bitmap.code_book import CodeBook
    >>> from likewise.model import event
    >>> book = CodeBook()
    >>> axis = book.axis(book.attribute("lat"), "")
    >>> points, starts = EventPoints(book), np.zeros(3, np.int64)
    >>> write_batch(points, EventBatch.from_events([event({"LAT": 45.8}), event({"lat": 46, "x": 1})]), starts)
    >>> starts.tolist(), points.numbers[[1, 3]].tolist()
    ([0, 2, 4], [45.8, 46.0])
    """
    columns = batch.columns()
    codes = [points.book.names.get(name) or points.attribute(name) for name in columns.attributes]
    heads = np.array([attribute.head for attribute in codes], np.int64)
    heads[[attribute is UNASKED for attribute in codes]] = NOTHING
    value_points = _value_points(points, columns, codes)
    last_event = np.full(len(points.book.where), -1, np.int64)
    check_ids("attributes of tuples", columns.attribute, len(heads))
    check_ids("codes of attributes", heads >> 2, len(last_event), -1)
    check_lengths("tuples of a batch", int(columns.offsets[-1]), columns.attribute, columns.number, value_points)
    event = 0
    while event < len(batch):
        points.make_room(int(starts[event]) + 2 * int(columns.offsets[-1] - columns.offsets[event]))
        event = _write(
            columns.offsets,
            columns.attribute,
            heads,
            value_points,
            columns.number,
            last_event,
            event,
            points.codes,
            points.numbers,
            starts,
        )
        if event < len(batch):
            starts[event + 1] = points.write(batch[event], int(starts[event]))
            event += 1


def _value_points(points: EventPoints, columns: EventColumns, codes: list[AttributeCodes]) -> NDArray[np.int64]:
    """For each tuple the point it makes besides its attribute's, `NOTHING` or `INVOLVED`."""
    axis = np.array([a.axis if a.only_numbers else INVOLVED for a in codes], np.int64)
    value_points = np.full(len(columns.attribute), INVOLVED, np.int64)
    numbers = (columns.kind == NUMBER) | ((columns.kind == WHOLE) & (np.abs(columns.number) < WHOLE_IN_FLOAT))
    value_points[numbers] = axis[columns.attribute[numbers]]
    plain_text = np.array([a is not UNASKED and a.axis < 0 and a.only_numbers for a in codes], bool)
    texts = np.flatnonzero((columns.kind == TEXT) & plain_text[columns.attribute])
    width = max(1, len(columns.texts))
    pairs, place = np.unique(
        columns.attribute[texts].astype(np.int64) * width + columns.text[texts], return_inverse=True
    )
    answers = np.full(len(pairs), NOTHING, np.int64)
    for index, pair in enumerate(pairs.tolist()):
        attribute, text = codes[pair // width], columns.texts[pair % width]
        tokens = (attribute.remembered.get(text) or points.of_text(attribute, text))[0]
        if tokens:
            answers[index] = tokens[0] if len(tokens) == 1 else INVOLVED
    value_points[texts] = answers[place]
    return value_points


@compiled
def _write(
    offsets: NDArray[np.int64],
    attribute: NDArray[np.int32],
    heads: NDArray[np.int64],
    value_points: NDArray[np.int64],
    number: NDArray[np.float64],
    last_event: NDArray[np.int64],
    event: int,
    codes: NDArray[np.int64],
    numbers: NDArray[np.float64],
    starts: NDArray[np.int64],
) -> int:
    """Write events from `event` on, up to one that is involved; which one that is."""
    at = starts[event]
    for current in range(event, len(offsets) - 1):
        for place in range(offsets[current], offsets[current + 1]):
            head = heads[attribute[place]]
            if head < 0:
                continue
            if value_points[place] == INVOLVED or last_event[head >> 2] == current:
                return current
            last_event[head >> 2] = current
            codes[at] = head
            at += 1
            if value_points[place] >= 0:
                codes[at] = value_points[place]
                numbers[at] = number[place]
                at += 1
        starts[current + 1] = at
    return len(offsets) - 1
