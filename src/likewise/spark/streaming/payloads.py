"""Payloads into events: columns where they are JSON objects, and a reason for each that is no event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import FormatError, LikewiseError, Unavailable
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import METADATA, check_schema
from likewise.formats.json.batches import decode_valid
from likewise.model import Event
from likewise.spark.streaming.deserialisers.deserialiser import PLAIN, PayloadFormat, read_special
from likewise.spark.streaming.deserialisers.documents import Headers

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


AUTO: Final = PayloadFormat()
_NULL: Final = "there is no event: the payload is null"


class BadPayload(NamedTuple):
    """A payload that is no event: where it stood among the others, and why."""

    place: int
    code: str
    reason: str


class DecodedBatch(NamedTuple):
    """The events, where each stood among the payloads, and those that are none."""

    events: EventBatch
    places: NDArray[np.int64]
    bad: list[BadPayload]


class PayloadContext(NamedTuple):
    """What stands beside payloads: their form, headers and sources of each where they have any, moments (µs)."""

    form: PayloadFormat = PLAIN
    headers: Sequence[Headers | None] | None = None
    sources: Sequence[str] | str | None = None
    now: Sequence[int] | int = 0


def decode_payloads(payloads: Sequence[bytes | str | None], beside: PayloadContext = PayloadContext()) -> DecodedBatch:  # noqa: B008
    """The events of payloads: of JSON, each an object or an envelope, or of what else they are said to be.

    An event that names no source has the one that stands beside its payload. A payload may hold several events.

    >>> read = decode_payloads([b'{"t": 21}', None, b'[1]'])
    >>> len(read.events), read.places.tolist(), [(bad.place, bad.code) for bad in read.bad]
    (1, [0], [(1, 'format'), (2, 'format')])
    """
    given = [b"" if each is None else each for each in payloads]
    special: dict[int, Sequence[Event]] = {}
    wrong = [BadPayload(place, FormatError.code, _NULL) for place, each in enumerate(payloads) if each is None]
    if not beside.form.plain and not (beside.form == AUTO and not any(beside.headers or ())):
        for place, payload in enumerate(given):
            if payloads[place] is None:
                continue
            data = payload.encode() if isinstance(payload, str) else payload
            headers = beside.headers[place] if beside.headers is not None else None
            now = beside.now if isinstance(beside.now, int) else int(beside.now[place])
            try:
                found = read_special(beside.form, data, headers or {}, now)
                if isinstance(found, dict):
                    given[place] = msgspec.json.encode(found)
                elif found is not None:
                    special[place] = found
            except Unavailable:
                raise
            except LikewiseError as error:
                wrong.append(BadPayload(place, error.code, str(error)))
    aside = {*special, *(each.place for each in wrong)}
    places = [place for place in range(len(given)) if place not in aside] if aside else list(range(len(given)))
    events, refused = decode_valid([given[place] for place in places] if aside else given)
    wrong += [BadPayload(places[place], error.code, str(error)) for place, error in refused]
    kept = _without(len(given), [*aside, *(each.place for each in wrong)])
    if beside.sources is not None:
        said = beside.sources
        events = events.with_sources([said] * len(kept) if isinstance(said, str) else [said[n] for n in kept.tolist()])
    read = DecodedBatch(events, kept, sorted(wrong))
    return read if not special else _with_special(read, special, beside)


def _with_special(read: DecodedBatch, special: dict[int, Sequence[Event]], beside: PayloadContext) -> DecodedBatch:
    """The events of other documents between those of JSON, in the order of their payloads."""
    found: list[tuple[int, Event]] = list(zip(read.places.tolist(), read.events, strict=True))
    for place, events in special.items():
        said = beside.sources if isinstance(beside.sources, str) or beside.sources is None else beside.sources[place]
        found += [
            (place, each if each.source or said is None else msgspec.structs.replace(each, source=said))
            for each in events
        ]
    found.sort(key=lambda pair: pair[0])  # which keeps the order of a document's own events
    events = EventBatch.from_events([each for _, each in found])
    return DecodedBatch(events, np.array([place for place, _ in found], np.int64), read.bad)


def source_of(key: bytes | str | None, place: str) -> str:
    """Who sent a message that does not say so itself: its key, where that is a name, else the topic and partition.

    >>> source_of(b"s17", "readings/0"), source_of(None, "readings/0"), source_of(bytes([0, 1]), "readings/0")
    ('s17', 'readings/0', 'readings/0')
    """
    try:
        name = key.decode() if isinstance(key, bytes) else key or ""
    except UnicodeDecodeError:
        return place
    return name if name and len(name) <= MAX_TERM_LENGTH and name.isprintable() else place


def decode_structs(rows: Sequence[dict[str, Any] | None]) -> DecodedBatch:
    """The events of objects that were read already; fields without a value are left out.

    Maps are objects, too: Arrow gives them as lists of pairs, and nothing else as tuples.

    >>> decode_structs([{"t": 21, "unit": None}]).events[0].tuples[0].value
    21
    >>> decode_structs([{"m": [("k", 1)]}]).events[0].tuples[0].attribute
    'm.k'
    """
    return decode_payloads([None if row is None else msgspec.json.encode(_present(row)) for row in rows])


def decode_table(table: pa.RecordBatch) -> DecodedBatch:
    """The events of a table in EventBatch's schema; a row that is no event is told from the others.

    Raises what is wrong with the table itself: its columns, whatever is in them.
    """
    try:
        return DecodedBatch(EventBatch.from_arrow(table), np.arange(table.num_rows), [])
    except LikewiseError:
        EventBatch.from_arrow(table.slice(0, 0))
    table = _with_version(table)
    bad = list(_bad_rows(table, 0))
    good = _without(table.num_rows, [each.place for each in bad])
    return DecodedBatch(EventBatch.from_arrow(table.take(good)), good, bad)


def _with_version(table: pa.RecordBatch) -> pa.RecordBatch:
    """The same, saying its version of the schema: where none is said it goes by all rows, not by each alone."""
    import pyarrow.compute as pc

    if check_schema(table.schema) is not None or "tuples" not in table.schema.names:
        return table
    values: Any = pc.list_flatten(table.column("tuples"))
    names = {field.name for field in values.type} & {"whole", "moment"}
    newer = any(pc.struct_field(values, name).null_count < len(values) for name in names)
    said = {"likewise.schema": str(METADATA["likewise.schema"]), "v": str(METADATA["v"]) if newer else "1"}
    return table.replace_schema_metadata(said)


def _bad_rows(table: pa.RecordBatch, first: int) -> Iterator[BadPayload]:
    """The rows that are no events, looked for by halves; `first` is the place of the first row."""
    try:
        EventBatch.from_arrow(table)
    except LikewiseError as error:
        if table.num_rows == 1:
            yield BadPayload(first, error.code, str(error))
            return
        half = table.num_rows // 2
        yield from _bad_rows(table.slice(0, half), first)
        yield from _bad_rows(table.slice(half), first + half)


def _without(size: int, places: list[int]) -> NDArray[np.int64]:
    good = np.ones(size, bool)
    good[places] = False
    return np.flatnonzero(good)


def _present(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _present(each) for key, each in value.items() if each is not None}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return _present(dict(value))
    return [_present(each) for each in value if each is not None] if isinstance(value, list) else value
