"""`likewise match`: a stream of events against subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, MeasureName, SpaceName, Threshold

if TYPE_CHECKING:
    from likewise.matching.matcher import Matcher
    from likewise.model import Event


def match(
    subscriptions: Annotated[
        str, typer.Option("--subscriptions", "-s", metavar="FILE", help="Subscriptions, one a line, as text or JSON.")
    ],
    events: Annotated[
        str, typer.Option("--events", "-e", metavar="FILE", help="Events, one a line, as text or JSON; - is stdin.")
    ] = "-",
    threshold: Threshold = None,
    measure: MeasureName = None,
    space: SpaceName = None,
    why: Annotated[bool, typer.Option(help="Say what met each part; --no-why is faster.")] = True,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Report a bad event and go on.")] = False,
    as_json: AsJson = False,
) -> None:
    """Match a stream of events against subscriptions, and print one line a match: event, subscription, score, why.

    Events are matched as they arrive. An event without an id is called by its line number. The exit code
    is 0 if anything matched, 1 if nothing did, 2 if something handed in is wrong. With --json each match is
    one JSON object.

    Example: `echo 'e1: {no2: 45, city: Zagreb}' | likewise match --subscriptions wanted.txt`
    """
    from likewise.cli.terminal.matchers import matcher_for
    from likewise.cli.terminal.rendering import match_line
    from likewise.errors import FormatError
    from likewise.formats.json.answers import match_to_json

    if subscriptions == events == "-":
        raise FormatError("subscriptions and events cannot both come from standard input; put one of them in a file")
    matcher = matcher_for(space, measure, threshold)
    add_all(matcher, subscriptions)
    screen = None if as_json else output.console()
    matched = False
    reader = _Reader(events, keep_going, as_json)
    for event in reader:
        for found in matcher.match(event):
            matched = True
            if screen is None:
                output.print_line(match_to_json(found, mapping=why))
            else:
                same = found.event_id == event.id  # a promoted event is an earlier one
                explanation = matcher.explain(event, found.subscription_id) if why and same else None
                screen.print(match_line(found, explanation), soft_wrap=True)
    if reader.bad:
        raise typer.Exit(output.BAD_INPUT)
    if not matched:
        raise typer.Exit(output.NO)


def add_all(matcher: Matcher, path: str) -> None:
    """Add every subscription of a file."""
    from likewise.cli.terminal.reading import located, opened, read_subscriptions

    with opened(path) as stream:
        for subscription in read_subscriptions(stream, path):
            with located(path):
                matcher.add(subscription)


class _Reader:
    """The events of a file; with `keep_going` bad ones are reported and counted, else the first one ends it."""

    def __init__(self, path: str, keep_going: bool, as_json: bool) -> None:
        self.path = path
        self.keep_going = keep_going
        self.as_json = as_json
        self.bad = 0

    def __iter__(self) -> Iterator[Event]:
        import msgspec

        from likewise.cli.terminal.reading import lines, located, opened, read_event, text_of
        from likewise.errors import InputError

        with opened(self.path) as stream:
            for line in lines(stream):
                try:
                    with located(self.path, line):
                        event = read_event(text_of(line))
                except InputError as error:
                    if not self.keep_going:
                        raise
                    self.bad += 1
                    output.print_error(error, as_json=self.as_json)
                    continue
                yield event if event.id is not None else msgspec.structs.replace(event, id=str(line.number))
