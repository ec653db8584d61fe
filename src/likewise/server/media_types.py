"""Registry of media types that may be published, for every protocol alike.

A media type is read by a function from a body to events. `register` adds one; `read_events` finds the one that a
publisher names, `by_name` the one that a short name or the ending of a file means. RDF is read one event a subject, or
with the parameter `graph=whole` one event a document; what a JSON-LD context would fetch is never fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from likewise.defaults import MAX_DEAD_LETTER_BYTES, MAX_TERM_LENGTH
from likewise.errors import FormatError, InputError, LikewiseError, LimitExceeded
from likewise.formats.cloudevents import event_from_cloudevent, events_from_cloudevents
from likewise.formats.json.batches import JsonBatch, decode_array, decode_each, decode_one
from likewise.formats.senml import events_from_senml
from likewise.formats.strict_json import decode_items
from likewise.model import Event

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"
LINE_TYPES: Final = (LINES, "application/jsonl", "application/json-lines")
CLOUDEVENT: Final = "application/cloudevents+json"
CLOUDEVENTS: Final = "application/cloudevents-batch+json"
SENML: Final = "application/senml+json"
RDF: Final = {
    "text/turtle": "ttl",
    "application/n-triples": "nt",
    "application/n-quads": "nq",
    "application/trig": "trig",
    "application/ld+json": "jsonld",
}


class MediaType(NamedTuple):
    """A media type as a publisher names it: its name, and its parameters.

    >>> MediaType.parse("text/turtle; charset=utf-8; graph=whole")
    MediaType(name='text/turtle', parameters={'charset': 'utf-8', 'graph': 'whole'})
    >>> MediaType.parse(None).name
    'application/json'
    """

    name: str
    parameters: Mapping[str, str]

    def __str__(self) -> str:
        """Return it as a header has it.

        >>> str(MediaType.parse("text/turtle;graph=whole"))
        'text/turtle; graph=whole'
        """
        return "; ".join([self.name, *(f"{key}={value}" for key, value in self.parameters.items())])[:MAX_TERM_LENGTH]

    @classmethod
    def parse(cls, text: str | None) -> MediaType:
        """Read a `Content-Type`; JSON if none is said."""
        if text is None or text == JSON:  # nearly always
            return _PLAIN_JSON
        name, *rest = (text or JSON).split(";")
        pairs = (part.partition("=") for part in rest)
        return cls(
            name.strip().lower() or JSON,
            {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs if key.strip()},
        )


_PLAIN_JSON: Final = MediaType(JSON, MappingProxyType({}))


class TooManyEvents(Exception):
    """More events than one request may hold."""


class UnreadableInput(Exception):
    """Input that is refused, the part of it at fault, and why."""

    def __init__(self, error: LikewiseError, part: bytes) -> None:
        super().__init__(str(error))
        self.error = error
        self.part = part[:MAX_DEAD_LETTER_BYTES]


Clock = Callable[[], int]  # what time it is, in µs; asked only where a reader is told
Reader = Callable[[bytes, Mapping[str, str], int], Iterable[Event]]


class BatchReader(NamedTuple):
    """A reader of many events at once: gets the body, and how many events to read at most."""

    read: Callable[[bytes, int | None], JsonBatch]


_READERS: dict[str, Reader | BatchReader] = {}
_SHORT: dict[str, str] = {}


def register(name: str, reader: Reader, *short: str) -> None:
    """Let bodies of a media type be published; `reader` gets the body, the type's parameters and the time (µs).

    `short` are names by which people call it, and with which files of it end.
    """
    if "/" not in name or name != name.strip().lower():
        raise InputError(f"a media type is written like {JSON}, in small letters, not {name!r}")
    _READERS[name] = reader
    _SHORT.update(dict.fromkeys(short, name))


def media_types() -> tuple[str, ...]:
    """Return the media types that are read, in the order in which they were registered.

    >>> "text/turtle" in media_types()
    True
    """
    return tuple(_READERS)


def short_names() -> tuple[str, ...]:
    """Return the short names of media types.

    >>> "ttl" in short_names()
    True
    """
    return tuple(_SHORT)


def parse_media_type(text: str) -> MediaType | None:
    """Return a media type by its name and parameters, or by a short name; None if it is neither.

    >>> parse_media_type("ttl").name, parse_media_type("text/turtle; graph=whole").parameters, parse_media_type("wav")
    ('text/turtle', {'graph': 'whole'}, None)
    """
    kind = MediaType.parse(_SHORT.get(text.lower(), text))
    return kind if kind.name in _READERS else None


def read_events(body: bytes, kind: MediaType, now: Clock, most: int | None = None) -> Sequence[Event]:
    """Return the events of a body. The error names the part that cannot be read; more than `most` are refused.

    >>> body = b'{"v": 1, "id": "e1", "payload": {"no2": 4}}'
    >>> [e.id for e in read_events(body, MediaType.parse(None), now=lambda: 0)]
    ['e1']
    """
    try:
        reader = _READERS.get(kind.name)
        if reader is None:
            known = ", ".join(media_types())
            raise FormatError(f"events of the type {kind.name[:60]!r} are not read here; send one of {known}")
        if isinstance(reader, BatchReader):
            batch = reader.read(body, None if most is None else most + 1)
            if most is not None and len(batch) > most:
                raise TooManyEvents
            return batch
        events: list[Event] = []
        for each in reader(body, kind.parameters, now()):
            if most is not None and len(events) == most:
                raise TooManyEvents
            events.append(each)
        return events
    except TooManyEvents:
        assert most is not None
        raise LimitExceeded("events of one request", allowed=most) from None
    except LikewiseError as error:
        raise UnreadableInput(error, body) from error


def _read_json(body: bytes, most: int | None) -> JsonBatch:
    """Read one event, or an array of them."""
    if body.lstrip()[:1] != b"[":
        return decode_one(body)

    def refused(place: int, error: LikewiseError) -> Exception:
        error.args = (f"event {place + 1}: {error}",)
        return UnreadableInput(error, msgspec.json.encode(decode_items(body, "array of events")[place]))

    return decode_array(body, most, refused)


def _read_lines(body: bytes, most: int | None) -> JsonBatch:
    """Read an event on each line that is not blank."""
    lines = [(number, line) for number, line in enumerate(body.splitlines(), 1) if line.strip()]

    def refused(place: int, error: LikewiseError) -> Exception:
        error.args = (f"line {lines[place][0]}: {error}",)
        return UnreadableInput(error, lines[place][1])

    return decode_each([line for _, line in lines[:most]], refused)


def _rdf_reader(format: str) -> Reader:
    def read(body: bytes, parameters: Mapping[str, str], now: int) -> list[Event]:
        from likewise.formats.rdf.reader import events_from_rdf

        graph = parameters.get("graph", "subjects")
        if graph not in ("subjects", "whole"):
            raise InputError(f"`graph` is subjects (one event for each) or whole (one for all), not {graph[:40]!r}")
        events = list(events_from_rdf(body, format, by_subject=graph == "subjects"))
        if not events:
            raise FormatError("the RDF document holds no triple; there is nothing to publish")
        return events

    return read


_READERS[JSON], _SHORT["json"] = BatchReader(_read_json), JSON
for _name in LINE_TYPES:
    _READERS[_name] = BatchReader(_read_lines)
register(CLOUDEVENT, lambda body, parameters, now: [event_from_cloudevent(body)], "cloudevent")
register(CLOUDEVENTS, lambda body, parameters, now: list(events_from_cloudevents(body)), "cloudevents")
register(SENML, lambda body, parameters, now: list(events_from_senml(body, now=now)), "senml")
for _name, _format in RDF.items():
    register(_name, _rdf_reader(_format), _format, _name.rpartition("/")[2])  # ttl and turtle, nt and n-triples
