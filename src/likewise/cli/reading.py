"""Events and subscriptions from files, standard input and arguments; as text or as JSON lines.

A line of text may start with a name and a colon (`s1: {no2 > 40}`), which becomes the id. Empty lines
and lines that start with `#` are passed over. An event as text is the paper's form, `{themes} {attribute:
value, ...}`; as JSON it is any object (`likewise.event` flattens it) or our own published form.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from likewise.defaults import MAX_EVENT_BYTES
from likewise.errors import FormatError, InvalidEvent, LikewiseError, LimitExceeded
from likewise.model import Condition, Event, EventTuple, Predicate, Quantity, Subscription, event

# A name at the start of a line. A graph pattern's prefixed name (`ex:a`) has no blank after its colon.
_NAME: Final = re.compile(r"([\w.-]+):\s+(?=\S)")


class Line(NamedTuple):
    """One line that holds something, and where it stood."""

    number: int
    text: str


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The file with this name, `-` being standard input."""
    if path == "-":
        yield sys.stdin.buffer
    else:
        with Path(path).open("rb") as stream:
            yield stream


@contextmanager
def located(where: str) -> Iterator[None]:
    """Say where the text stood that an error is about."""
    try:
        yield
    except LikewiseError as error:
        error.add_note(where)
        raise


def lines(stream: BinaryIO, name: str) -> Iterator[Line]:
    """The lines that hold something, as they arrive; no line is read beyond the largest event allowed.

    >>> from io import BytesIO
    >>> list(lines(BytesIO(b"# events\\n\\n{no2: 45}\\n"), "events"))
    [Line(number=3, text='{no2: 45}')]
    """
    number = 0
    while raw := stream.readline(MAX_EVENT_BYTES + 1):
        number += 1
        with located(f"{name}, line {number}"):
            if len(raw) > MAX_EVENT_BYTES:
                raise LimitExceeded("bytes of a line", allowed=MAX_EVENT_BYTES)
            try:
                text = raw.decode().strip()
            except UnicodeDecodeError as error:
                raise FormatError(f"byte {error.start + 1} is not UTF-8 ({error.reason}); send UTF-8 text") from None
        if text and not text.startswith("#"):
            yield Line(number, text)


def read_subscription(text: str) -> Subscription:
    """One subscription from a line of text, or from its JSON form.

    >>> read_subscription("near: {no2 > 40}").id
    'near'
    """
    from likewise import parse

    value = _json(text)
    if isinstance(value, dict) and "body" in value:
        try:
            return msgspec.convert(value, Subscription)
        except msgspec.ValidationError as error:
            raise FormatError(f"this is no subscription: {error}") from None
    name = _NAME.match(text)
    return parse(text[name.end() :], id=name[1]) if name else parse(text)


def read_event(text: str) -> Event:
    """One event from a line of text, or from JSON.

    >>> read_event('e1: {energy, building} {device: computer, usage: 3 kWh}').tuples[1].unit
    'kWh'
    >>> read_event('{"room": {"temp": 21}}').tuples[0].attribute
    'room.temp'
    """
    value = _json(text)
    if isinstance(value, dict):
        return event(value)
    if isinstance(value, msgspec.DecodeError) and re.match(r'\{\s*"[^"]*"\s*:', text):
        raise FormatError(f"the JSON does not end well: {value}")
    name = _NAME.match(text)
    return event_of(read_subscription(text), name[1] if name else None)


def event_of(said: Subscription, id: str | None = None) -> Event:
    """The event a conjunction of equalities describes: how events are written as text."""
    body = said.body
    if not isinstance(body, Condition) or said.top is not None:
        raise InvalidEvent("an event as text is written {attribute: value, ...}, with its themes in braces before it")
    tuples = []
    for item in body.items:
        if not isinstance(item, Predicate) or item.operator != "=" or item.relaxed_parts:
            raise InvalidEvent("an event holds attributes with their values only: {attribute: value, ...}")
        value = item.value
        if isinstance(value, Quantity):
            tuples.append(EventTuple(item.attribute, value.value, value.unit))
        elif isinstance(value, (str, bool, int, float)):
            tuples.append(EventTuple(item.attribute, value))
    return Event(tuple(tuples), said.themes, id)


def _json(text: str) -> object:
    """What the text says as JSON, or the error that it is none."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        return error
    except RecursionError:
        raise FormatError("the JSON is nested too deeply; flatten it") from None
