"""Events and subscriptions from files, standard input and arguments; as text or as JSON lines.

A line of text may start with a name and a colon (`s1: {no2 > 40}`), which becomes the id. Empty lines
and lines that start with `#` are passed over. An event as text is the paper's form, `{themes} {attribute:
value, ...}`; as JSON it is a published envelope or any object, which `likewise.event` flattens.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from likewise.defaults import MAX_EVENT_BYTES
from likewise.errors import FormatError, InputError, InvalidEvent, LimitExceeded, ParseError, StateError
from likewise.model import Condition, Event, EventTuple, GraphPattern, Predicate, Quantity, Subscription, TimestampValue

# A name at the start of a line. A graph pattern's prefixed name (`ex:a`) has no blank after its colon.
_NAME: Final = re.compile(r"([\w.-]+):\s+(?=\S)")
# JSON starts with a quoted key and a colon, or is empty; text that quotes its first attribute and uses a colon
# says the same in both forms.
_JSON: Final = re.compile(r'\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)')


_EVENT: Final = "an event such as {temp: 27.1 degC, city: Galway}, its themes in braces before it, or a JSON object"


class InputLine(NamedTuple):
    """One line that holds something, and where it stood."""

    number: int
    raw: bytes


@contextmanager
def open_input(path: str) -> Iterator[BinaryIO]:
    """Open the file with this name; `-` is standard input."""
    if path == "-":
        yield sys.stdin.buffer
    elif path.startswith(("{", "[")) and not os.path.exists(path):
        raise FormatError(
            f"there is no file {path!r}; to give this text itself, pipe it in: echo '{path}' | likewise ..."
        )
    else:
        with Path(path).open("rb") as stream:
            yield stream


@contextmanager
def locate_errors(path: str, line: InputLine | None = None, before: int = 0) -> Iterator[None]:
    """Say where the text stood that an error is about; `before` characters of the line were left out in front."""
    try:
        yield
    except ParseError as error:
        if line is not None:
            text = "\n" * (line.number - 1) + line.raw.decode(errors="replace")
            error = ParseError(
                error.problem,
                text=text,
                line=line.number,
                column=error.column + before,
                expected=error.expected,
                correction=error.correction,
            )
        error.add_note(path)
        raise error from None
    except (InputError, StateError) as error:
        error.add_note(f"{path}, line {line.number}" if line is not None else path)
        raise


def input_lines(stream: BinaryIO) -> Iterator[InputLine]:
    r"""Yield the lines that are not empty and no comment. Of a line longer than the largest event only the start is
    read.

    >>> from io import BytesIO
    >>> list(input_lines(BytesIO(b"# events\n\n{no2: 45}\n")))
    [InputLine(number=3, raw=b'{no2: 45}')]
    """
    number = 0
    while raw := stream.readline(MAX_EVENT_BYTES + 1):
        number += 1
        rest = raw
        while len(rest) > MAX_EVENT_BYTES and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_EVENT_BYTES + 1)
        raw = raw.strip()
        if raw and not raw.startswith(b"#"):
            yield InputLine(number, raw)


def line_text(line: InputLine) -> str:
    r"""Return the text of a line.

    >>> line_text(InputLine(1, b"caf\xe9"))
    Traceback (most recent call last):
    likewise.errors.FormatError: byte 4 is not UTF-8 (unexpected end of data); send UTF-8 text
    """
    if len(line.raw) > MAX_EVENT_BYTES:
        raise LimitExceeded("bytes of a line", allowed=MAX_EVENT_BYTES)
    try:
        return line.raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"byte {error.start + 1} is not UTF-8 ({error.reason}); send UTF-8 text") from None


def read_subscriptions(stream: BinaryIO, path: str) -> Iterator[Subscription]:
    """Read the subscriptions of a file, one a line; PREFIX lines apply to the graph patterns below them."""
    prefixes: tuple[str, ...] = ()
    for line in input_lines(stream):
        with locate_errors(path, line):
            text = line_text(line)
        name, start = _split_name(text)
        with locate_errors(path, line, start):
            subscription = read_subscription(text[start:], name, prefixes)
        if subscription is None:
            prefixes += (text,)
        else:
            yield subscription


def read_subscription(text: str, id: str = "", prefixes: tuple[str, ...] = ()) -> Subscription | None:
    """Parse one subscription, as text below some PREFIX lines or as JSON; return None for a PREFIX line.

    >>> read_subscription("{no2 > 40}", "near").id
    'near'
    """
    from likewise.formats.json.subscriptions import is_json, subscription_from_json
    from likewise.language import read_subscriptions

    if is_json(text):
        return subscription_from_json(text)
    subscriptions = read_subscriptions("\n".join([*prefixes, text]))
    if not subscriptions:
        return None
    return msgspec.structs.replace(subscriptions[0], id=id) if id else subscriptions[0]


def _split_name(text: str) -> tuple[str, int]:
    """Return the name in front of a line ('' if there is none), and the position of the rest."""
    matched = _NAME.match(text)
    return (matched[1], matched.end()) if matched else ("", 0)


def parse_named_subscription(text: str) -> tuple[str, Subscription]:
    """Parse a subscription argument with the name in front of it ('' if there is none); it may have several lines.

    >>> name, subscription = parse_named_subscription("near: {no2 > 40}")
    >>> name, subscription.id
    ('near', 'near')
    """
    from likewise.formats.json.subscriptions import is_json, subscription_from_json
    from likewise.language import parse

    name, start = _split_name(text)
    if is_json(text):
        return "", subscription_from_json(text)
    return name, parse(text[start:], id=name or None)


def read_event(text: str) -> Event:
    """Parse one event from a line of text, or from JSON: an envelope, or any object.

    >>> read_event('e1: {energy, building} {device: computer, usage: 3 kWh}').tuples[1].unit
    'kWh'
    >>> read_event('{"room": {"temp": 21}}').tuples[0].attribute
    'room.temp'
    """
    if _JSON.match(text):
        from likewise.formats.json.events import event_from_json

        return event_from_json(text)
    from likewise.language import parse

    name, start = _split_name(text)
    try:
        conjunction = parse(text[start:])
    except ParseError as error:
        if type(error) is not ParseError:  # about a unit, which an event has, too
            raise
        raise ParseError(error.problem, text=text, column=error.column + start, expected=_EVENT) from None
    return event_from_conjunction(conjunction, name or None)


def event_from_conjunction(conjunction: Subscription, id: str | None = None) -> Event:
    """Return the event that a conjunction of equalities describes: the form in which events are written as text."""
    body = conjunction.body
    if not isinstance(body, Condition) or conjunction.top is not None:
        rdf = "; an RDF document is read with --format" if isinstance(body, GraphPattern) else ""
        raise InvalidEvent(f"this is no event; expected {_EVENT}{rdf}")
    tuples = []
    for item in body.items:
        if not isinstance(item, Predicate) or item.operator != "=" or item.relaxed_parts:
            raise InvalidEvent("an event holds attributes with their values only: {attribute: value, ...}")
        value = item.value
        if isinstance(value, Quantity):
            tuples.append(EventTuple(item.attribute, value.value, value.unit))
        elif isinstance(value, TimestampValue):
            tuples.append(EventTuple(item.attribute, value.text))
        elif isinstance(value, (str, bool, int, float)):
            tuples.append(EventTuple(item.attribute, value))
    return Event(tuple(tuples), conjunction.themes, id)


def collect_subscriptions(arguments: list[str] | None, file: str | None) -> list[Subscription]:
    """Parse the subscriptions of a command that adds some: its arguments, then those of a file; at least one."""
    subscriptions = [subscription for _, subscription in map(parse_named_subscription, arguments or [])]
    if file is not None:
        with open_input(file) as stream:
            subscriptions += read_subscriptions(stream, file)
    if not subscriptions:
        raise InputError("nothing to add: give subscriptions, or a --file with some")
    return subscriptions
