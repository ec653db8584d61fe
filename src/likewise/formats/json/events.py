"""Events as JSON: a versioned envelope, or a plain object that is the payload itself (docs/formats.md).

The envelope holds what is known about the event beside what it says:

    {"v": 1, "payload": {...}, "themes": [...], "id": ..., "source": ..., "time": ..., "expires": ...,
     "graph": [[s, p, o], ...], "vector": [0, 1, ...]}

`payload` is any JSON object; it is flattened as `likewise.event` does. Instead of it, `tuples` gives the
flat tuples exactly; that is what is written. Fields of the envelope that this version does not know
are kept as further tuples, after the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from likewise.defaults import MAX_EVENT_BYTES
from likewise.errors import FormatError, LikewiseError
from likewise.formats.strict_json import as_bytes, decode_object, encode
from likewise.formats.version import JSON_VERSION, check_version
from likewise.model import Event, EventTuple, Triple, event
from likewise.model.time import microseconds

Data = bytes | bytearray | memoryview | str
T = TypeVar("T")


class EventDocument(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Envelope of an event in JSON; `schema("event")` publishes this."""

    v: int
    payload: dict[str, Any] | UnsetType = UNSET
    tuples: tuple[EventTuple, ...] | UnsetType = UNSET
    themes: tuple[str, ...] = ()
    id: str | None = None
    source: str | None = None
    time: int | str | None = None
    expires: int | str | None = None
    graph: tuple[Triple, ...] = ()
    vector: str | tuple[int, ...] = ""


_KNOWN: Final = frozenset(EventDocument.__struct_fields__)
_CONTENT: Final[dict[str, type | tuple[type, ...]]] = {
    "payload": dict,
    "tuples": list,
    "graph": list,
    "vector": (list, str),
}


def event_from_json(data: Data, *, bare: bool | None = None) -> Event:
    """Decode an event: an envelope, or with `bare=True` a payload; if `bare` is None, whichever it is.

    It is an envelope if `v` is a whole number and `payload` is an object (or `tuples` or `graph` is an
    array, or `vector` is there).

    Args:
        data: The JSON document, as bytes or text.
        bare: True for a payload, False for an envelope, None to detect which.

    Raises:
        FormatError: The document is no JSON object, repeats a key, or has another version.
        InvalidEvent: The event is impossible.

    >>> event_from_json('{"v": 1, "payload": {"t": {"value": 21, "unit": "C"}}, "id": "e1"}').id
    'e1'
    >>> event_from_json('{"t": 21, "v": 3.3}').tuples[1]
    EventTuple(attribute='v', value=3.3, unit='', group=0)
    """
    document = decode_object(as_bytes(data, "event", MAX_EVENT_BYTES), "event")
    if bare is None:
        bare = not is_envelope(document)
    return event(document) if bare else event_from_document(document)


def is_envelope(document: dict[str, object]) -> bool:
    """Return whether a decoded object is an envelope rather than a payload.

    >>> is_envelope({"v": 1, "payload": {}}), is_envelope({"v": 3.3, "payload": "0a0b"})
    (True, False)
    """
    return type(document.get("v")) is int and any(isinstance(document.get(k), kind) for k, kind in _CONTENT.items())


def event_from_mapping(mapping: Mapping[str, Any]) -> Event:
    """Create an event from a mapping: a payload, or an envelope with a payload.

    >>> event_from_mapping({"t": 21}).tuples == event_from_mapping({"v": 1, "payload": {"t": 21}}).tuples
    True
    """
    document = dict(mapping)
    return event_from_document(document) if is_envelope(document) else event(document)


def event_from_document(mapping: dict[str, object]) -> Event:
    """Create an event from a decoded envelope.

    >>> event_from_document({"v": 1, "payload": {"t": 21}, "priority": "high"}).tuples[1].attribute
    'priority'
    """
    check_version(mapping.get("v"), "event")
    try:
        document = msgspec.convert(mapping, EventDocument)
    except msgspec.ValidationError as error:
        raise FormatError(f"the event does not follow its schema: {error}; see docs/formats.md") from None
    unknown = {key: value for key, value in mapping.items() if key not in _KNOWN}
    return _assemble(document, unknown)


def _assemble(document: EventDocument, unknown: dict[str, object]) -> Event:
    if document.payload is not UNSET and document.tuples is not UNSET:
        raise FormatError("the event has both `payload` and `tuples`; give one of them")
    tuples = () if document.tuples is UNSET else document.tuples
    vector = _vector(document.vector)
    if document.payload is not UNSET and document.payload:
        flat = event(document.payload, graph=document.graph)
        tuples, vector = flat.tuples, vector or flat.vector
    if unknown and any(value is not None for value in unknown.values()):
        start = max((t.group for t in tuples), default=0)
        extra_tuples = event({k: v for k, v in unknown.items() if v is not None}).tuples
        tuples += tuple(msgspec.structs.replace(t, group=t.group + start) if t.group else t for t in extra_tuples)
    if document.graph:
        from likewise.formats.rdf.terms import canonical_triples

        graph = canonical_triples(document.graph)
    else:
        graph = ()
    return Event(
        tuples,
        document.themes,
        document.id,
        document.source,
        None if document.time is None else microseconds(document.time),
        None if document.expires is None else microseconds(document.expires),
        graph,
        vector,
    )


def _vector(vector: str | tuple[int, ...]) -> str:
    if isinstance(vector, str):
        return vector
    if any(bit not in (0, 1) for bit in vector):
        raise FormatError("an event's vector holds 0 and 1 only: [0, 1, 1]")
    return "".join(map(str, vector))


def event_to_json(event: Event) -> bytes:
    """Encode an event's envelope with its exact tuples; decoding it gives an equal event.

    >>> event_to_json(event_from_json('{"room": {"temp": 21}}'))
    b'{"v":1,"tuples":[{"attribute":"room.temp","value":21}]}'
    """
    return versioned(encode(event, "event"))


def versioned(document: bytes) -> bytes:
    """Return a JSON object with the current version as its first field.

    >>> versioned(b'{"a":1}')
    b'{"v":1,"a":1}'
    """
    return b'{"v":%d%s%s' % (JSON_VERSION, b"" if document == b"{}" else b",", document[1:])


def read_events(
    lines: Iterable[bytes | str],
    *,
    bare: bool | None = None,
    on_error: Callable[[LikewiseError], None] | None = None,
) -> Iterator[Event]:
    """Decode JSON lines; blank lines are skipped.

    An error names the line, counted from 1, and carries it as `input_line`. With `on_error` it is
    handed over and reading goes on with the next line; without, it is raised.

    >>> [e.tuples[0].value for e in read_events(['{"a": 1}', "", '{"a": 2}'])]
    [1, 2]
    """
    return read_lines(lines, lambda line: event_from_json(line, bare=bare), on_error)


def read_lines(
    lines: Iterable[bytes | str], read: Callable[[bytes | str], T], on_error: Callable[[LikewiseError], None] | None
) -> Iterator[T]:
    """Apply `read` to every line that is not blank; errors name the line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = read(line)
        except LikewiseError as error:
            error.args = (f"line {number}: {error}",)
            error.input_line = number  # type: ignore[attr-defined]
            if on_error is None:
                raise
            on_error(error)
        else:
            yield value
