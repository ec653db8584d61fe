"""Columnar JSON decoder: flat objects of plain values become arrays without an `Event` each.

Everything else (nested objects, lists, units in fields of their own, text beyond a limit, what is no JSON) is read by
the plain reader (`json.events`), so that what it refuses is refused here, with the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from likewise.defaults import MAX_EVENT_BYTES
from likewise.errors import LikewiseError
from likewise.formats.arrow.columns import NO_TIME, EventColumns, columns_of
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import REST, batch_schema
from likewise.formats.json.envelope_bytes import BARE, Document, EnvelopeFields, open_envelopes
from likewise.formats.json.events import Data, event_from_document, event_from_json, is_envelope
from likewise.formats.json.flat_columns import ObjectGroup, columns_of_flat, remove_complex_objects
from likewise.formats.strict_json import as_bytes, decode_items, decode_object
from likewise.formats.version import JSON_VERSION
from likewise.model import Event, event

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

# What is raised for the event at a place, and why it is refused; None lets the others be looked at first.
Refuse = Callable[[int, LikewiseError], Exception | None]
_ANYTHING: Final = msgspec.json.Decoder()
_WRITTEN: Final = msgspec.json.Decoder(list[msgspec.Raw])
MANY: Final = 16  # events from which on reading them together pays
_ENCODE: Final = msgspec.json.Encoder().encode
_BARE_ENVELOPE: Final = b'{"v":%d,"payload":%%b,"id":%%b}' % JSON_VERSION
_BLANKS: Final = b" \t\n\r"  # of JSON; Python has more of them


class JsonBatch(EventBatch):
    """Events decoded from JSON: columns at once, an `Event` on demand, and the original bytes of each.

    >>> batch = decode_array(b'[{"no2": 45, "city": "Galway"}, {"v": 1, "payload": {"no2": 4}, "id": "e2"}]')
    >>> len(batch), batch.envelope_fields(1).id, batch[0].tuples[1].value, batch.columns().number[[0, 2]].tolist()
    (2, 'e2', 'Galway', [45.0, 4.0])
    >>> batch.envelope(0, "e1")
    b'{"v":1,"payload":{"no2": 45, "city": "Galway"},"id":"e1"}'
    """

    __slots__ = ("_decoded", "_documents", "_fields", "_flat", "_payloads")

    def __init__(
        self,
        columns: EventColumns | None,
        payloads: list[Document | None],
        written: list[bytes],
        fields: list[EnvelopeFields],
        made: dict[int, Event],
        flat: list[ObjectGroup] | None = None,
    ) -> None:
        """Use `decode_array`, `decode_each` or `decode_one`."""
        super().__init__(None, columns)
        self._payloads = payloads
        self._documents = written  # b"" where the bytes are no envelope that could be kept
        self._fields = fields
        self._decoded = made  # those that were read otherwise, at first
        self._flat = flat  # the others, until columns are asked for

    @property
    def columnar(self) -> bool:
        """Return whether columns exist or can be made from flat objects; few events are decoded one by one."""
        return self._flat is not None or self._columns is not None

    def themes(self) -> list[tuple[str, ...]]:
        """Return the theme tags of each event."""
        return [fields.themes for fields in self._fields]

    def columns(self) -> EventColumns:
        """Return the tuples and times as flat arrays."""
        flat = self._flat  # looked at first: another thread lets go of it once the columns are there
        if self._columns is None:
            self._columns = columns_of(self.to_events()) if flat is None else self._from_flat(flat)
            self._flat = None
        return self._columns

    def _from_flat(self, flat: list[ObjectGroup]) -> EventColumns:
        times = np.array([NO_TIME if each.time is None else each.time for each in self._fields], np.int64)
        ends = np.array([NO_TIME if each.expires is None else each.expires for each in self._fields], np.int64)
        there = {place for each in flat for place in each.events} if self._decoded else set()
        rest = {place: each.tuples for place, each in list(self._decoded.items()) if place not in there}
        return columns_of_flat(flat, rest, times, ends)

    def to_events(self) -> tuple[Event, ...]:
        """Return the events, each created once."""
        if self._events is None:
            self._events = tuple(map(self._event, range(len(self))))
        return self._events

    def __len__(self) -> int:
        return len(self._documents)

    def _event(self, place: int) -> Event:
        decoded = self._decoded.get(place)
        if decoded is None:
            payload, (_, id, source, time, expires, themes) = self._payloads[place], self._fields[place]
            assert payload is not None  # it was read into columns
            decoded = event(payload, themes=themes, id=id, source=source, time=time, expires=expires)
            self._decoded[place] = decoded
        return decoded

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, int):
            return self._event(range(len(self))[index])
        start, stop, step = index.indices(len(self))
        if step != 1:
            return super().__getitem__(index)
        stop = max(start, stop)
        if start == 0 and stop == len(self):
            return self  # which never changes
        return JsonBatch(
            self.columns().slice(start, stop) if self.columnar else None,
            self._payloads[start:stop],
            self._documents[start:stop],
            self._fields[start:stop],
            {place - start: made for place, made in list(self._decoded.items()) if start <= place < stop},
        )

    def with_sources(self, sources: Sequence[str]) -> JsonBatch:
        """Return the same events; an event without a source gets its default.

        >>> [each.source for each in decode_each([b'{"t": 1}', b'{"v": 1, "payload": {"t": 1}, "source": "a"}']
        ...     ).with_sources(["x", "y"])]
        ['x', 'a']
        """
        # Events without an envelope share one.
        bare = {default: BARE._replace(source=default) for default in set(sources)}
        fields = [
            each if each.source else bare[default] if each is BARE else each._replace(source=default)
            for each, default in zip(self._fields, sources, strict=True)
        ]
        made = {
            place: each if each.source else replace(each, source=sources[place])
            for place, each in list(self._decoded.items())  # which another thread may add to
        }
        return JsonBatch(self._columns, self._payloads, self._documents, fields, made, self._flat)

    def take(self, places: NDArray[np.int64]) -> JsonBatch:
        """Return the events at these indices, in this order."""
        chosen, columns = places.tolist(), self._columns
        payloads = [self._payloads[place] for place in chosen]
        return JsonBatch(
            None if columns is None else columns.take(places),
            payloads,
            [self._documents[place] for place in chosen],
            [self._fields[place] for place in chosen],
            {new: self._decoded[old] for new, old in enumerate(chosen) if old in self._decoded},
            _sort_by_keys(payloads)[0] if columns is None and self.columnar else None,
        )

    def names(self, places: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Return ids, sources and times of the events at these indices."""
        import pyarrow as pa

        fields = [self._fields[place] for place in places.tolist()]
        ids, sources = [each.id for each in fields], [each.source for each in fields]
        return pa.array(ids, pa.string()), pa.array(sources, pa.string()), self._times(places)

    def _rest_of_events(self) -> pa.RecordBatch:
        made, size = dict(self._decoded), len(self)
        if not self.columnar or any(each.graph or each.vector for each in made.values()):
            return super()._rest_of_events()
        import pyarrow as pa

        schema = pa.schema([batch_schema().field(name) for name in REST])
        nothing: list[Any] = [[]] * size
        lists: list[Any] = [
            [each.id for each in self._fields],
            [each.source for each in self._fields],
            self.themes(),
            nothing,
            [None] * size,
        ]
        arrays = [pa.array(values, field.type) for values, field in zip(lists, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    @property
    def has_times(self) -> bool:
        """Return whether any event has a time."""
        return any(each.time is not None for each in self._fields)

    def first_end(self) -> int | None:
        """Return the earliest end of validity; None if no validity ends."""
        return min((each.expires for each in self._fields if each.expires is not None), default=None)

    def envelope_fields(self, place: int) -> EnvelopeFields:
        """Return id, source, time, end of validity and themes of an event."""
        return self._fields[place]

    def envelope(self, place: int, id: str) -> bytes | None:
        """Return an event's original bytes in an envelope, with this id if it has none; None if
        they cannot be stored.
        """
        written, fields = self._documents[place], self._fields[place]
        if not written:
            return None
        if fields.bare:
            return _BARE_ENVELOPE % (written, _ENCODE(id))
        return written if fields.id is not None else b'%s,"id":%s}' % (written[:-1], _ENCODE(id))

    def envelopes(self, ids: Sequence[str]) -> list[bytes | None]:
        """Return `envelope` of each event."""
        if self._fields.count(BARE) == len(ids) and all(self._documents):
            return [_BARE_ENVELOPE % (written, _ENCODE(id)) for written, id in zip(self._documents, ids, strict=True)]
        return [self.envelope(place, id) for place, id in enumerate(ids)]


class _SomeRefused(Exception):
    """Some events were refused one by one and recorded."""


def first_end(events: Sequence[Event]) -> int | None:
    """Return the earliest end of validity among events; None if no validity ends."""
    if isinstance(events, JsonBatch):
        return events.first_end()
    return min((each.expires for each in events if each.expires is not None), default=None)


def raise_unchanged(place: int, error: LikewiseError) -> LikewiseError:
    """Return the error unchanged, to be raised."""
    return error


def decode_array(data: bytes, most: int | None = None, refuse: Refuse = raise_unchanged) -> JsonBatch:
    """Decode a JSON array of objects, at most the first `most`.

    Args:
        data: A JSON array of objects.
        most: Largest number of events to decode; the rest is ignored.
        refuse: Called with the index and error of an invalid event; returns the exception to raise, or None to go on.
    """
    documents = decode_items(data, "array of events")[:most]
    written = list(map(bytes, _WRITTEN.decode(data)[:most]))
    return _read(documents, written, lambda place: _decode_document(documents[place]), refuse)


def decode_each(data: Sequence[Data], refuse: Refuse = raise_unchanged) -> JsonBatch:
    """Decode events, each from its own JSON document.

    Args:
        data: JSON documents.
        refuse: Called with the index and error of an invalid event; returns the exception to raise, or None to go on.

    >>> [e.tuples[0].value for e in decode_each([b'{"a": 1}', b'{"a": {"b": "x"}}'])]
    [1, 'x']
    """
    documents: list[Document | None] = []
    written: list[bytes] = []
    for each in data:
        try:
            line = as_bytes(each, "event", MAX_EVENT_BYTES).strip(_BLANKS)
            document = _ANYTHING.decode(line)
            documents.append(document if type(document) is dict and has_unique_keys(line, document) else None)
        except (LikewiseError, msgspec.MsgspecError, UnicodeError, RecursionError, OverflowError):
            documents.append(None)  # the plain reader says why
            line = b""
        written.append(line)

    def decode_plain(place: int) -> Event:
        document = documents[place]
        return event_from_json(data[place]) if document is None else _decode_document(document)

    return _read(documents, written, decode_plain, refuse)


def decode_valid(data: Sequence[Data]) -> tuple[JsonBatch, list[tuple[int, LikewiseError]]]:
    """Decode the valid events, and return the indices and errors of the others.

    >>> batch, bad = decode_valid([b'{"a": 1}', b'{"a": ', b'{"a": 2}'])
    >>> [each.tuples[0].value for each in batch], [(place, error.code) for place, error in bad]
    ([1, 2], [(1, 'format')])
    """
    bad: dict[int, LikewiseError] = {}
    try:
        return decode_each(data, bad.__setitem__), []
    except _SomeRefused:
        return decode_each([each for place, each in enumerate(data) if place not in bad]), sorted(bad.items())


def _decode_document(document: Document) -> Event:
    return event_from_document(document) if is_envelope(document) else event(document)


def has_unique_keys(data: bytes, document: Document) -> bool:
    """Return whether certainly no key is repeated in one object: a lost key would leave an extra colon."""
    colons = data.count(b":")
    inside = document.get("payload")
    keys = len(document) + len(inside) if type(inside) is dict else len(document)
    return colons == keys or (b"\\u" not in data and colons == _ENCODE(document).count(b":"))


def decode_one(data: Data) -> JsonBatch:
    """Decode one event with the row-wise decoder, and keep its original bytes.

    >>> decode_one(b' {"a": 1}').envelope(0, "e1")
    b'{"v":1,"payload":{"a": 1},"id":"e1"}'
    """
    line = as_bytes(data, "event", MAX_EVENT_BYTES)
    document = decode_object(line, "event")
    made = _decode_document(document)
    return JsonBatch(
        None, [None], [line.strip(_BLANKS) if is_storable(document) else b""], [_fields_of(made, document)], {0: made}
    )


def _fields_of(made: Event, document: Document) -> EnvelopeFields:
    return EnvelopeFields(not is_envelope(document), made.id, made.source, made.time, made.expires, made.themes)


def is_storable(document: Document) -> bool:
    """Return whether an event's bytes can be stored: a bare payload, or an envelope that at most lacks an id.

    Tuples are written again, so that what begins with them is known to be written here.
    """
    if "v" not in document or not is_envelope(document):
        return True
    named = (document.get("id", ""), document.get("source", ""))
    return "tuples" not in document and all(type(name) is str for name in named)


def batch_of_documents(payloads: list[Document], written: list[bytes], fields: list[EnvelopeFields]) -> JsonBatch:
    """Return a batch of decoded payloads with the envelopes in which they are stored.

    >>> around = EnvelopeFields(False, source="roof")
    >>> batch = batch_of_documents([{"a": 1}], [b'{"v":1,"payload":{"a": 1},"source":"roof"}'], [around])
    >>> batch[0].source, batch.envelope(0, "e1")
    ('roof', b'{"v":1,"payload":{"a": 1},"source":"roof","id":"e1"}')
    """

    def decode_plain(place: int) -> Event:
        _, id, source, time, expires, themes = fields[place]
        return event(payloads[place], themes=themes, id=id, source=source, time=time, expires=expires)

    return _read(payloads, written, decode_plain, raise_unchanged, fields)


def _read(
    documents: Sequence[Document | None],
    written: list[bytes],
    decode_plain: Callable[[int], Event],
    refuse: Refuse,
    decoded: list[EnvelopeFields] | None = None,
) -> JsonBatch:
    """Decode flat objects into columns and all others by `decode_plain`, in order. None in `documents` means the
    latter.

    Where what stands around them is `decoded`, they are payloads.
    """
    fields = [BARE] * len(documents) if decoded is None else decoded
    few = len(documents) < MANY
    payloads: list[Document | None] = [None] * len(documents) if few else list(documents)
    if decoded is None and not few:
        open_envelopes(payloads, fields)
    alike, involved = _sort_by_keys(payloads)
    made: dict[int, Event] = {}
    refused = False
    for place in sorted(involved):
        try:
            made[place] = one = decode_plain(place)
        except LikewiseError as error:
            raised = refuse(place, error)
            if raised is not None:
                raise raised from error
            refused = True
            continue
        if decoded is not None:
            continue
        document = documents[place]
        if document is None or not is_storable(document):
            written[place] = b""
        fields[place] = _fields_of(one, document or {})
    if refused:
        raise _SomeRefused
    if few:
        return JsonBatch(None, payloads, written, fields, made)
    return JsonBatch(None, payloads, written, fields, made, alike)


def _sort_by_keys(payloads: Sequence[Document | None]) -> tuple[list[ObjectGroup], list[int]]:
    """Group flat objects by their keys; also return the indices of all others."""
    alike: dict[tuple[str, ...], ObjectGroup] = {}
    involved: list[int] = []
    for place, payload in enumerate(payloads):
        if payload is None:
            involved.append(place)
            continue
        keys = tuple(payload)
        group = alike.get(keys)
        if group is None:
            group = alike[keys] = ObjectGroup(keys)
        group.events.append(place)
        group.objects.append(payload)
    involved += remove_complex_objects(alike.values())
    return [group for group in alike.values() if group.events], involved
