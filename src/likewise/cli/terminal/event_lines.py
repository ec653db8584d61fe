"""The events of a file or of standard input, line by line; a bad line is reported, and ends it or is counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from likewise.cli.terminal import output

if TYPE_CHECKING:
    from likewise.cli.terminal.reading import Line
    from likewise.model import Event


class EventLines:
    """Events with the lines they stand on.

    With `keep_going` bad lines are reported and counted, else the first ends it.
    """

    def __init__(self, path: str, *, keep_going: bool, as_json: bool) -> None:
        self.path = path
        self.keep_going = keep_going
        self.as_json = as_json
        self.bad = 0

    def __iter__(self) -> Iterator[tuple[Line, Event]]:
        from likewise.cli.terminal.reading import lines, located, opened, read_event, text_of
        from likewise.errors import InputError

        with opened(self.path) as stream:
            for line in lines(stream):
                try:
                    with located(self.path, line):
                        event = read_event(text_of(line))
                except InputError as error:
                    self.report(error)
                    continue
                yield line, event

    def report(self, error: Exception) -> None:
        """Report and count an error about a line, or raise it."""
        from likewise.errors import LikewiseError

        if not self.keep_going or not isinstance(error, LikewiseError):
            raise error
        self.bad += 1
        output.print_error(error, as_json=self.as_json)
