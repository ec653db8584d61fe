"""The events and subscriptions of a request, by its content type."""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.defaults import MAX_DEAD_LETTER_BYTES
from likewise.errors import FormatError, LikewiseError
from likewise.formats.cloudevents import event_from_cloudevent, events_from_cloudevents
from likewise.formats.json.events import event_from_document, event_from_json, is_envelope
from likewise.formats.json.subscriptions import subscription_from_json, with_default_id
from likewise.formats.senml import events_from_senml
from likewise.formats.strict_json import decode_items
from likewise.model import Event, Subscription, event

JSON: Final = "application/json"
LINES: Final = ("application/x-ndjson", "application/jsonl", "application/json-lines")
CLOUDEVENT: Final = "application/cloudevents+json"
CLOUDEVENTS: Final = "application/cloudevents-batch+json"
SENML: Final = "application/senml+json"


class Unreadable(Exception):
    """Input that is refused, the part of it at fault, and why."""

    def __init__(self, error: LikewiseError, part: bytes) -> None:
        super().__init__(str(error))
        self.error = error
        self.part = part[:MAX_DEAD_LETTER_BYTES]


def media_type(said: str | None) -> str:
    """The media type alone, JSON if none is said.

    >>> media_type("application/json; charset=utf-8")
    'application/json'
    """
    return (said or JSON).partition(";")[0].strip().lower() or JSON


def read_events(body: bytes, kind: str, now: int) -> list[Event]:
    """The events of a request; the part that cannot be read is named."""
    try:
        if kind in LINES:
            return _lines(body)
        if kind == CLOUDEVENT:
            return [event_from_cloudevent(body)]
        if kind == CLOUDEVENTS:
            return list(events_from_cloudevents(body))
        if kind == SENML:
            return list(events_from_senml(body, now=now))
        if kind == JSON:
            return _json(body)
        raise FormatError(
            f"events of the type {kind[:60]!r} are not read here; send {JSON}, {LINES[0]}, {CLOUDEVENT}, "
            f"{CLOUDEVENTS} or {SENML}"
        )
    except LikewiseError as error:
        raise Unreadable(error, body) from error


def _json(body: bytes) -> list[Event]:
    """One event, or an array of them."""
    if body.lstrip()[:1] != b"[":
        return [event_from_json(body)]
    found = []
    for number, item in enumerate(decode_items(body, "array of events"), 1):
        try:
            found.append(event_from_document(item) if is_envelope(item) else event(item))
        except LikewiseError as error:
            error.args = (f"event {number}: {error}",)
            raise Unreadable(error, msgspec.json.encode(item)) from error
    return found


def _lines(body: bytes) -> list[Event]:
    found = []
    for number, line in enumerate(body.splitlines(), 1):
        if line.strip():
            try:
                found.append(event_from_json(line))
            except LikewiseError as error:
                error.args = (f"line {number}: {error}",)
                raise Unreadable(error, line) from error
    return found


def read_subscriptions(body: bytes, kind: str) -> list[Subscription]:
    """The subscriptions of a request: text of the language, one a line; or JSON, one or an array.

    >>> [s.id for s in read_subscriptions(b"{no2 > 40}", "text/plain")]
    ['...']
    """
    if kind == "text/plain":
        from likewise.language import read_subscriptions as read_text

        try:
            found = list(read_text(body.decode()))
        except UnicodeDecodeError as error:
            raise FormatError(f"byte {error.start + 1} is not UTF-8; send UTF-8 text") from None
        return [with_default_id(subscription) for subscription in found]
    if kind in LINES:
        return [subscription_from_json(line) for line in body.splitlines() if line.strip()]
    if kind != JSON:
        raise FormatError(f"subscriptions of the type {kind[:60]!r} are not read here; send {JSON} or text/plain")
    if body.lstrip()[:1] != b"[":
        return [subscription_from_json(body)]
    try:
        items = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"the request is not a JSON array of subscriptions: {error}") from None
    return [subscription_from_json(bytes(item)) for item in items]
