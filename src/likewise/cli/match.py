"""`likewise match`: a stream of events against subscriptions."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, cast

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.compiling import report_compilation
from likewise.cli.terminal.event_input import EventReader
from likewise.cli.terminal.options import AsJson, FormatOptions, KeepGoing, MeaningOptions, Why, with_option_groups

if TYPE_CHECKING:
    from likewise.matching.matcher import Matcher
    from likewise.matching.registry import Choice
    from likewise.model import Kind


@with_option_groups
def match(
    meaning: MeaningOptions,
    written: FormatOptions,
    subscriptions: Annotated[
        str, typer.Option("--subscriptions", "-s", metavar="FILE", help="Subscriptions, one a line, as text or JSON.")
    ],
    events: Annotated[
        str, typer.Option("--events", "-e", metavar="FILE", help="Events, one a line, or RDF; - is stdin.")
    ] = "-",
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", metavar="KIND=NAME", help="Another engine for a kind: interest=sgim; repeat it."),
    ] = None,
    why: Why = True,
    keep_going: KeepGoing = False,
    as_json: AsJson = False,
) -> None:
    """Match a stream of events against subscriptions, and print one line a match: event, subscription, score, why.

    Events stand one a line, as text or JSON, and are matched as they arrive; or the file is RDF (.ttl, .nt, .nq,
    .trig, .jsonld), one event for each subject. An event without an id is called by its number. The exit code is 0 if
    anything matched, 1 if nothing did, 2 if something handed in is wrong. With --json each match is one JSON object.

    Example: `echo 'e1: {no2: 45, city: Zagreb}' | likewise match --subscriptions wanted.txt`
    """
    import msgspec

    from likewise.cli.terminal.rendering import match_line
    from likewise.errors import FormatError
    from likewise.formats.json.results import match_to_json
    from likewise.matching.registry import parse_engines

    if subscriptions == events == "-":
        raise FormatError("subscriptions and events cannot both come from standard input; put one of them in a file")
    matcher = meaning.matcher(cast("dict[Kind, Choice]", parse_engines(engine or ())))
    with report_compilation():
        add_all(matcher, subscriptions)
    screen = None if as_json else output.console()
    matched, first = False, True
    reader = EventReader(events, written, keep_going=keep_going, as_json=as_json)
    for place, parsed in reader:
        event = parsed if parsed.id is not None else msgspec.structs.replace(parsed, id=str(place.number))
        with report_compilation() if first else nullcontext():
            matches = matcher.match(event)
        first = False
        for each in matches:
            matched = True
            if screen is None:
                output.print_line(match_to_json(each, mapping=why))
            else:
                same = each.event_id == event.id  # a promoted event is an earlier one
                explanation = matcher.explain(event, each.subscription_id) if why and same else None
                screen.print(match_line(each, explanation), soft_wrap=True)
    if reader.bad:
        output.print_note(f"{reader.left_out}.")
        raise typer.Exit(output.BAD_INPUT)
    if not matched:
        raise typer.Exit(output.NO)


def add_all(matcher: Matcher, path: str) -> None:
    """Add every subscription of a file."""
    from likewise.cli.terminal.text_input import locate_errors, open_input, read_subscriptions

    with open_input(path) as stream:
        for subscription in read_subscriptions(stream, path):
            with locate_errors(path):
                matcher.add(subscription)
