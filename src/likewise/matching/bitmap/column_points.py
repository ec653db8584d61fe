"""Many events as points, from the columns of a batch: most tuples are written by a kernel, no event is made.

What one look-up answers (a number where ranges without a unit are asked, a text that is true of at most one
question) is found once for each attribute and each distinct text of the batch. An event with anything else, or
with a repeated attribute, is written plainly (`event_points`), and the kernel goes on after it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from likewise.formats.arrow.columns import NUMBER, TEXT, WHOLE, Columns
from likewise.formats.arrow.event_batch import EventBatch
from likewise.kernels.compile import compiled
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.matching.bitmap.code_book import UNASKED, AttributeCodes
from likewise.matching.bitmap.event_points import EventPoints
from likewise.units import WHOLE_IN_FLOAT

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
    asked = [points.book.names.get(name) or points.attribute(name) for name in columns.attributes]
    heads = np.array([attribute.head for attribute in asked], np.int64)
    heads[[attribute is UNASKED for attribute in asked]] = NOTHING
    said = _said(points, columns, asked)
    seen = np.full(len(points.book.where), -1, np.int64)
    check_ids("attributes of tuples", columns.attribute, len(heads))
    check_ids("codes of attributes", heads >> 2, len(seen), -1)
    check_lengths("tuples of a batch", int(columns.offsets[-1]), columns.attribute, columns.number, said)
    event = 0
    while event < len(batch):
        points.make_room(int(starts[event]) + 2 * int(columns.offsets[-1] - columns.offsets[event]))
        event = _write(
            columns.offsets,
            columns.attribute,
            heads,
            said,
            columns.number,
            seen,
            event,
            points.codes,
            points.numbers,
            starts,
        )
        if event < len(batch):
            starts[event + 1] = points.write(batch[event], int(starts[event]))
            event += 1


def _said(points: EventPoints, columns: Columns, asked: list[AttributeCodes]) -> NDArray[np.int64]:
    """For each tuple the point it makes besides its attribute's, `NOTHING` or `INVOLVED`."""
    axis = np.array([a.axis if a.only_numbers else INVOLVED for a in asked], np.int64)
    said = np.full(len(columns.attribute), INVOLVED, np.int64)
    numbers = (columns.kind == NUMBER) | ((columns.kind == WHOLE) & (np.abs(columns.number) < WHOLE_IN_FLOAT))
    said[numbers] = axis[columns.attribute[numbers]]
    plain_text = np.array([a is not UNASKED and a.axis < 0 and a.only_numbers for a in asked], bool)
    texts = np.flatnonzero((columns.kind == TEXT) & plain_text[columns.attribute])
    width = max(1, len(columns.texts))
    pairs, place = np.unique(
        columns.attribute[texts].astype(np.int64) * width + columns.text[texts], return_inverse=True
    )
    answers = np.full(len(pairs), NOTHING, np.int64)
    for index, pair in enumerate(pairs.tolist()):
        attribute, text = asked[pair // width], columns.texts[pair % width]
        tokens = (attribute.remembered.get(text) or points.of_text(attribute, text))[0]
        if tokens:
            answers[index] = tokens[0] if len(tokens) == 1 else INVOLVED
    said[texts] = answers[place]
    return said


@compiled
def _write(
    offsets: NDArray[np.int64],
    attribute: NDArray[np.int32],
    heads: NDArray[np.int64],
    said: NDArray[np.int64],
    number: NDArray[np.float64],
    seen: NDArray[np.int64],
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
            if said[place] == INVOLVED or seen[head >> 2] == current:
                return current
            seen[head >> 2] = current
            codes[at] = head
            at += 1
            if said[place] >= 0:
                codes[at] = said[place]
                numbers[at] = number[place]
                at += 1
        starts[current + 1] = at
    return len(offsets) - 1
