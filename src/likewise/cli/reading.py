"""Events and subscriptions from files, standard input and arguments; as text or as JSON lines.

A line of text may start with a name and a colon (`s1: {no2 > 40}`), which becomes the id. Empty lines
and lines that start with `#` are passed over. An event as text is the paper's form, `{themes} {attribute:
value, ...}`; as JSON it is a published envelope or any object, which `likewise.event` flattens.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from likewise.defaults import MAX_EVENT_BYTES
from likewise.errors import FormatError, InvalidEvent, LikewiseError, LimitExceeded
from likewise.model import Condition, Event, EventTuple, Predicate, Quantity, Subscription

# A name at the start of a line. A graph pattern's prefixed name (`ex:a`) has no blank after its colon.
_NAME: Final = re.compile(r"([\w.-]+):\s+(?=\S)")
# JSON starts with a quoted key and a colon, or is empty; text that quotes its first attribute and uses a colon
# says the same in both forms.
_JSON: Final = re.compile(r'\{\s*(?:\}|"(?:[^"\\]|\\.)*+"\s*:)')


class Line(NamedTuple):
    """One line that holds something, and where it stood."""

    number: int
    raw: bytes


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


def lines(stream: BinaryIO) -> Iterator[Line]:
    r"""The lines that hold something, as they arrive; of a line beyond the largest event only the start is kept.

    >>> from io import BytesIO
    >>> list(lines(BytesIO(b"# events\n\n{no2: 45}\n")))
    [Line(number=3, raw=b'{no2: 45}')]
    """
    number = 0
    while raw := stream.readline(MAX_EVENT_BYTES + 1):
        number += 1
        rest = raw
        while len(rest) > MAX_EVENT_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_EVENT_BYTES + 1)
        raw = raw.strip()
        if raw and not raw.startswith(b"#"):
            yield Line(number, raw)


def text_of(line: Line) -> str:
    r"""The text of a line.

    >>> text_of(Line(1, b"caf\xe9"))
    Traceback (most recent call last):
    likewise.errors.FormatError: byte 4 is not UTF-8 (unexpected end of data); send UTF-8 text
    """
    if len(line.raw) > MAX_EVENT_BYTES:
        raise LimitExceeded("bytes of a line", allowed=MAX_EVENT_BYTES)
    try:
        return line.raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"byte {error.start + 1} is not UTF-8 ({error.reason}); send UTF-8 text") from None


def read_subscription(text: str) -> Subscription:
    """One subscription from a line of text, or from its JSON form.

    >>> read_subscription("near: {no2 > 40}").id
    'near'
    """
    from likewise.formats.json_subscriptions import is_json, subscription_from_json
    from likewise.language import parse

    if is_json(text):
        return subscription_from_json(text)
    name = _NAME.match(text)
    return parse(text[name.end() :], id=name[1]) if name else parse(text)


def read_event(text: str) -> Event:
    """One event from a line of text, or from JSON: an envelope, or any object.

    >>> read_event('e1: {energy, building} {device: computer, usage: 3 kWh}').tuples[1].unit
    'kWh'
    >>> read_event('{"room": {"temp": 21}}').tuples[0].attribute
    'room.temp'
    """
    if _JSON.match(text):
        from likewise.formats.json_events import event_from_json

        return event_from_json(text)
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
