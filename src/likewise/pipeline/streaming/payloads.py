"""Payloads into events: columns where they are JSON objects, and a reason for each that is no event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from likewise.errors import FormatError, LikewiseError
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.json.batches import read_good

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


class BadPayload(NamedTuple):
    """A payload that is no event: where it stood among the others, and why."""

    place: int
    code: str
    reason: str


class ReadPayloads(NamedTuple):
    """The events, where each stood among the payloads, and those that are none."""

    events: EventBatch
    places: NDArray[np.int64]
    bad: list[BadPayload]


def read_payloads(payloads: Sequence[bytes | str | None]) -> ReadPayloads:
    """The events of JSON payloads, each an object or an envelope.

    >>> read = read_payloads([b'{"t": 21}', None, b'[1]'])
    >>> len(read.events), read.places.tolist(), [(bad.place, bad.code) for bad in read.bad]
    (1, [0], [(1, 'format'), (2, 'format')])
    """
    given = [b"" if each is None else each for each in payloads]
    events, refused = read_good(given)
    bad = [BadPayload(place, error.code, str(error)) for place, error in refused]
    return ReadPayloads(events, _without(len(given), [each.place for each in bad]), bad)


def read_structs(rows: Sequence[dict[str, Any] | None]) -> ReadPayloads:
    """The events of objects that were read already; fields without a value are left out.

    >>> read_structs([{"t": 21, "unit": None}]).events[0].tuples[0].value
    21
    """
    return read_payloads([None if row is None else msgspec.json.encode(_present(row)) for row in rows])


def read_table(table: pa.RecordBatch) -> ReadPayloads:
    """The events of a table in EventBatch's schema; one that breaks a limit is told from the others."""
    try:
        events = EventBatch.from_arrow(table)
    except FormatError:  # of the table, not of one event
        raise
    except LikewiseError as error:
        if table.num_rows == 1:
            nothing = EventBatch.from_events([])
            return ReadPayloads(nothing, np.empty(0, np.int64), [BadPayload(0, error.code, str(error))])
        half = table.num_rows // 2
        return _joined(read_table(table.slice(0, half)), read_table(table.slice(half)), half)
    return ReadPayloads(events, np.arange(len(events)), [])


def _joined(first: ReadPayloads, second: ReadPayloads, by: int) -> ReadPayloads:
    events = EventBatch.from_events([*first.events, *second.events])
    bad = [*first.bad, *(each._replace(place=each.place + by) for each in second.bad)]
    return ReadPayloads(events, np.concatenate([first.places, second.places + by]), bad)


def _without(size: int, places: list[int]) -> NDArray[np.int64]:
    good = np.ones(size, bool)
    good[places] = False
    return np.flatnonzero(good)


def _present(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _present(each) for key, each in value.items() if each is not None}
    return [_present(each) for each in value if each is not None] if isinstance(value, list) else value
