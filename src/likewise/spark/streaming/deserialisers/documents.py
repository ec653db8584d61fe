"""CloudEvents, structured and binary (as Kafka's headers have them), SenML and RDF, as events."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from likewise.errors import FormatError
from likewise.formats.cloudevents import event_from_cloudevent, events_from_cloudevents
from likewise.formats.senml import events_from_senml
from likewise.model import Event

RDF: Final = {
    "text/turtle": "ttl",
    "application/n-triples": "nt",
    "application/n-quads": "nq",
    "application/trig": "trig",
    "application/ld+json": "jsonld",
}
TYPES: Final = {
    "application/cloudevents+json": "cloudevent",
    "application/cloudevents-batch+json": "cloudevents",
    "application/senml+json": "senml",
    **RDF,
}
NAMES: Final = ("cloudevents", "senml", *RDF.values())
Headers = Mapping[str, bytes]


def headers_of(pairs: Iterable[tuple[str, bytes | None]] | None) -> dict[str, bytes] | None:
    """The headers of a message by name; one whose value is null is none. None if there are none.

    >>> headers_of([("content-type", None), ("ce_id", b"7")]), headers_of([("content-type", None)])
    ({'ce_id': b'7'}, None)
    """
    return {name: value for name, value in pairs or () if value is not None} or None


def media_type(headers: Headers) -> str:
    """The media type that a message's headers name, without its parameters; '' if they name none.

    >>> media_type({"content-type": b"Application/SenML+JSON; charset=utf-8"})
    'application/senml+json'
    """
    return headers.get("content-type", b"").decode(errors="replace").partition(";")[0].strip().lower()


def document_form(headers: Headers) -> str:
    """The form that headers name; '' if none of these."""
    if "ce_specversion" in headers:
        return "cloudevents"
    return TYPES.get(media_type(headers), "")


def read_document(form: str, payload: bytes, headers: Headers, now: int) -> Sequence[Event]:
    """The events of a payload in one of these forms; `now` (µs) is what relative times of SenML count from.

    >>> [e.id for e in read_document("cloudevents", b'{"t": 1}', {"ce_specversion": b"1.0", "ce_id": b"7",
    ...     "ce_source": b"/lab", "ce_type": b"reading"}, 0)]
    ['7']
    """
    if form in ("cloudevent", "cloudevents"):
        if "ce_specversion" in headers:
            return [event_from_cloudevent(_structured(payload, headers))]
        many = payload.lstrip()[:1] == b"["
        return events_from_cloudevents(payload) if many else [event_from_cloudevent(payload)]
    if form == "senml":
        return list(events_from_senml(payload, now=now))
    from likewise.formats.rdf.reader import events_from_rdf

    found = list(events_from_rdf(payload, form, by_subject=True))
    if not found:
        raise FormatError("the RDF document holds no triple")
    return found


def _structured(payload: bytes, headers: Headers) -> bytes:
    """A CloudEvent whose context stands in headers, as one document."""
    try:
        found: dict[str, object] = {
            name[3:].lower(): value.decode() for name, value in headers.items() if name.startswith("ce_")
        }
    except UnicodeDecodeError:
        raise FormatError("a header of the CloudEvent is no text in UTF-8") from None
    kind = media_type(headers)
    if kind:
        found["datacontenttype"] = kind
    if payload and (not kind or kind == "application/json" or kind.endswith("+json")):
        try:
            found["data"] = msgspec.json.decode(payload)
        except msgspec.MsgspecError as error:
            raise FormatError(f"the data of the CloudEvent is no JSON: {error}") from None
    elif payload:
        found["data_base64"] = base64.b64encode(payload).decode()
    return msgspec.json.encode(found)
