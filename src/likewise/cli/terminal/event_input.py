"""The events of a file or of standard input: one a line, or a document of a media type, such as RDF.

What cannot be read is reported with its place, and ends it or is counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from likewise.cli.terminal import output

if TYPE_CHECKING:
    from likewise.cli.terminal.options import FormatOptions
    from likewise.model import Event
    from likewise.server.media_types import MediaType


class InputLocation(NamedTuple):
    """The number of an event in its input, and its location in words."""

    number: int
    text: str


class EventReader:
    """Events with their places.

    What the file is follows from `written`, or from the ending of its name; any other holds one event a line.
    With `keep_going` what is bad is reported and counted, else the first ends it.
    """

    def __init__(self, path: str, written: FormatOptions, *, keep_going: bool = False, as_json: bool = False) -> None:
        self.path = path
        self.keep_going = keep_going
        self.as_json = as_json
        self.bad = 0
        self._kind = document_kind(path, written.format, whole=written.whole)

    def __iter__(self) -> Iterator[tuple[InputLocation, Event]]:
        return self._lines() if self._kind is None else self._document(self._kind)

    def _lines(self) -> Iterator[tuple[InputLocation, Event]]:
        from likewise.cli.terminal.text_input import input_lines, line_text, locate_errors, open_input, read_event
        from likewise.errors import InputError

        with open_input(self.path) as stream:
            for line in input_lines(stream):
                try:
                    with locate_errors(self.path, line):
                        event = read_event(line_text(line))
                except InputError as error:
                    self.report(error)
                    continue
                yield InputLocation(line.number, f"{self.path}, line {line.number}"), event

    def _document(self, kind: MediaType) -> Iterator[tuple[InputLocation, Event]]:
        from likewise.cli.terminal.text_input import open_input
        from likewise.defaults import MAX_DOCUMENT_BYTES
        from likewise.errors import InputError

        with open_input(self.path) as stream:
            body = stream.read(MAX_DOCUMENT_BYTES + 1)
        try:
            events = decode_document(body, kind, self.path)
        except InputError as error:
            self.report(error)
            return
        for number, event in enumerate(events, 1):
            yield InputLocation(number, f"{self.path}, event {number}"), event

    def report(self, error: Exception) -> None:
        """Report and count an error about an event, or raise it."""
        from likewise.errors import LikewiseError

        if not self.keep_going or not isinstance(error, LikewiseError):
            raise error
        self.bad += 1
        output.print_error(error, as_json=self.as_json)

    @property
    def left_out(self) -> str:
        """The number of bad lines or parts that were skipped, in words; '' if none was."""
        what = "line" if self._kind is None else "part"
        return f"{self.bad:,} bad {what}{'s' if self.bad > 1 else ''} left out" if self.bad else ""


def decode_document(body: bytes, kind: MediaType, called: str) -> list[Event]:
    """Decode the events of a document; `called` names it in errors."""
    from likewise.defaults import MAX_DOCUMENT_BYTES
    from likewise.errors import LimitExceeded
    from likewise.server.media_types import UnreadableInput, read_events

    if len(body) > MAX_DOCUMENT_BYTES:
        raise LimitExceeded(f"bytes of {called}", allowed=MAX_DOCUMENT_BYTES)
    try:
        return list(read_events(body, kind, lambda: time.time_ns() // 1000))
    except UnreadableInput as refused:
        refused.error.add_note(called)
        raise refused.error from None


def document_kind(path: str, format: str | None = None, *, whole: bool = False) -> MediaType | None:
    """Return the media type of a document by its format or file ending; None if it holds one event a line.

    >>> document_kind("readings.ttl").name, document_kind("events.txt")
    ('text/turtle', None)
    >>> document_kind("readings.ttl", "lines"), document_kind("-", "nt", whole=True).parameters
    (None, {'graph': 'whole'})
    """
    from likewise.errors import InputError
    from likewise.server.media_types import RDF, parse_media_type, short_names

    if format is None:
        ending = PurePath(path).suffix[1:].lower()
        kind = parse_media_type(ending) if ending in (*RDF.values(), "senml") else None  # .json holds one event a line
    elif format == "lines":
        kind = None
    elif (kind := parse_media_type(format)) is None:
        known = ", ".join(("lines", *short_names()))
        raise InputError(f"there is no format {format[:60]!r}; write one of {known}, or a media type")
    if not whole:
        return kind
    if kind is None or kind.name not in RDF:
        raise InputError("only an RDF document can be taken as a whole; name its --format, such as ttl")
    return kind._replace(parameters={**kind.parameters, "graph": "whole"})
