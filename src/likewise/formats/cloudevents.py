"""CloudEvents 1.0 in JSON, structured and batch mode (https://github.com/cloudevents/spec, JSON event format).

`id`, `source` and `time` are the event's own. The fields of `data` are its attributes. Every other
context attribute (`type`, `subject`, `dataschema`, `datacontenttype`, extensions) is kept as a tuple
named as the HTTP binding names its header: `ce-type`, `ce-subject`. The event's themes and end of
validity travel as the extensions `themes` (a JSON array in text) and `expires`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from likewise.defaults import MAX_DOCUMENT_BYTES, MAX_EVENT_BYTES
from likewise.errors import FormatError, InvalidEvent
from likewise.formats.json.events import Data, event_from_document, event_to_json, is_envelope
from likewise.formats.payload import Json, content_of
from likewise.formats.strict_json import as_bytes, decode_items, decode_object, encode
from likewise.model import Event, EventTuple, event
from likewise.model.time import microseconds

PREFIX: Final = "ce-"
DEFAULT_TYPE: Final = "likewise.event"
_MAPPED_ATTRIBUTES: Final = frozenset(
    {"specversion", "id", "source", "time", "data", "data_base64", "themes", "expires"}
)
_JSON: Final = re.compile(r"[\w.+-]+/(?:json|[\w.-]+\+json)(?:\s*;.*)?", re.IGNORECASE)
_NAME: Final = re.compile(r"[a-z0-9]+")
_DEFAULTS: Final = {"type": DEFAULT_TYPE, "datacontenttype": "application/json"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def event_from_cloudevent(data: Data) -> Event:
    """Decode one CloudEvent in structured mode.

    >>> text = '{"specversion": "1.0", "id": "1", "source": "/lab", "type": "reading", "data": {"temp": 21}}'
    >>> [(t.attribute, t.value) for t in event_from_cloudevent(text).tuples]
    [('temp', 21), ('ce-type', 'reading')]
    """
    return _event(decode_object(as_bytes(data, "CloudEvent", MAX_EVENT_BYTES), "CloudEvent"))


def events_from_cloudevents(data: Data) -> tuple[Event, ...]:
    """Decode a batch: a JSON array of CloudEvents, possibly empty."""
    what = "CloudEvents batch"
    return tuple(map(_event, decode_items(as_bytes(data, what, MAX_DOCUMENT_BYTES), what)))


def _event(document: Json) -> Event:
    if document.get("specversion") != "1.0":
        raise FormatError(f"a CloudEvent of specversion {document.get('specversion')!r} cannot be read here; send 1.0")
    for name in ("id", "source", "type"):
        if not isinstance(document.get(name), str) or not document[name]:
            raise FormatError(f"a CloudEvent needs `{name}`, a text that is not empty")
    content = _content(document)
    context = [EventTuple(PREFIX + name, value) for name, value in _context(document)]
    return Event(
        content.tuples + tuple(context) if content is not None else tuple(context),
        _themes(document.get("themes")),
        str(document["id"]),
        str(document["source"]),
        _time(document, "time"),
        _time(document, "expires"),
        content.graph if content is not None else (),
        content.vector if content is not None else "",
    )


def _content(document: Json) -> Event | None:
    """Return the content of `data`; None if it is empty."""
    if "data_base64" in document:
        if "data" in document:
            raise FormatError("the CloudEvent has both `data` and `data_base64`; send one of them")
        value = _decoded(document)
    else:
        value = document.get("data")
    if isinstance(value, dict) and is_envelope(value):
        return event_from_document(value)
    if value is None or value == {} or value == []:
        return None
    return event(value if isinstance(value, dict) else {"data": value})


def _decoded(document: Json) -> object:
    """Decode binary data: JSON if its content type is JSON, else keep the base64 text."""
    text, kind = document["data_base64"], document.get("datacontenttype", "application/json")
    if not isinstance(text, str):
        raise FormatError("`data_base64` must be text")
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise FormatError(f"`data_base64` is not base64: {error}") from None
    if isinstance(kind, str) and _JSON.fullmatch(kind):
        return decode_object(raw, "CloudEvent's data")
    return {"data_base64": text}


def _context(document: Json) -> Iterable[tuple[str, str | int | bool]]:
    """Yield the context attributes that are stored as tuples; defaults are left out."""
    for name, value in document.items():
        if name in _MAPPED_ATTRIBUTES or value is None or value == _DEFAULTS.get(name):
            continue
        if _NAME.fullmatch(name) is None:
            raise FormatError(f"{name[:40]!r} is no name of a CloudEvents attribute; use a-z and 0-9")
        if not isinstance(value, (str, int, bool)):
            raise FormatError(f"the CloudEvents attribute {name!r} must be text, a whole number or a Boolean")
        yield name, value


def _themes(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    try:
        return msgspec.json.decode(str(value), type=tuple[str, ...])
    except msgspec.MsgspecError:
        raise FormatError("the extension `themes` must be a JSON array of texts, written as text") from None


def _time(document: Json, name: str) -> int | None:
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise FormatError(f"the CloudEvents attribute `{name}` must be a text like 2024-05-01T12:00:00Z")
    return microseconds(value.upper() if value[-1:] == "z" else value)


def event_to_cloudevent(event: Event, *, type: str = DEFAULT_TYPE, source: str = "/likewise") -> bytes:
    """Encode an event as a CloudEvent in structured mode; `type` and `source` are defaults.

    `data` is an object that flattens to the event's tuples, or, if there is none, the event's envelope.
    Reading the result gives an equal event (with `source` filled in).

    Args:
        event: The event.
        type: `type` of the CloudEvent if the event has none of its own.
        source: `source` of the CloudEvent if the event has none of its own.

    >>> event_to_cloudevent(Event((EventTuple("temp", 21),), id="1"))
    b'{"specversion":"1.0","id":"1","source":"/likewise","type":"likewise.event","data":{"temp":21}}'
    """
    return encode(_document(event, type, source), "CloudEvent")


def events_to_cloudevents(events: Iterable[Event], *, type: str = DEFAULT_TYPE, source: str = "/likewise") -> bytes:
    """Encode events as a batch."""
    return encode([_document(event, type, source) for event in events], "CloudEvents batch")


def _document(event: Event, type: str, source: str) -> Json:
    if not event.id:
        raise InvalidEvent("a CloudEvent needs an id and this event has none; give it one")
    context = {t.attribute[len(PREFIX) :]: t.value for t in event.tuples if _is_context(t)}
    content_tuples = tuple(t for t in event.tuples if not _is_context(t))
    document: Json = {"specversion": "1.0", "id": event.id, "source": event.source or source, "type": type, **context}
    if event.time is not None:
        document["time"] = rfc3339(event.time)
    if event.expires is not None:
        document["expires"] = rfc3339(event.expires)
    if event.themes:
        document["themes"] = msgspec.json.encode(event.themes).decode()
    if content_tuples or event.graph or event.vector:
        rest = Event(content_tuples, graph=event.graph, vector=event.vector)
        content = content_of(rest)
        if content is None or is_envelope(content):
            content = msgspec.json.decode(event_to_json(rest))
        document["data"] = content
    return document


def _is_context(item: EventTuple) -> bool:
    name = item.attribute.removeprefix(PREFIX)
    return (
        name != item.attribute
        and _NAME.fullmatch(name) is not None
        and name not in _MAPPED_ATTRIBUTES
        and isinstance(item.value, (str, int))
        and not (item.unit or item.group)
    )


def rfc3339(time: int) -> str:
    """Return a time in µs as RFC 3339 writes it.

    >>> rfc3339(1_700_000_000_000_000)
    '2023-11-14T22:13:20Z'
    """
    try:
        return (_EPOCH + timedelta(microseconds=time)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise FormatError(f"the time {time} µs lies outside the years 1 to 9999, which CloudEvents can say") from None
