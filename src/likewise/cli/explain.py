"""`likewise explain`: why an event matches a subscription, or what keeps it from doing so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.compiling import report_compilation
from likewise.cli.terminal.options import AsJson, FormatOptions, MeaningOptions, with_option_groups

if TYPE_CHECKING:
    from likewise.model import Event


@with_option_groups
def explain(
    meaning: MeaningOptions,
    written: FormatOptions,
    event: Annotated[
        str, typer.Option("--event", "-e", help="The event, as text, JSON or RDF, or @FILE for a file's first.")
    ],
    subscription: Annotated[str, typer.Option("--subscription", "-s", help="The subscription, likewise, or @FILE.")],
    details: Annotated[
        bool, typer.Option("--details", help="Show each part with its scores, and what is behind them.")
    ] = False,
    mappings: Annotated[
        int | None,
        typer.Option("--mappings", min=1, metavar="K", help="List the K best mappings, too, with the details."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say why an event matches a subscription, or why not and what would make it match.

    Two sentences say it; --details shows every part. The exit code is 0 if it matches, 1 if it does not.

    Example: `likewise explain --event '{air_temp_f: 81.2}' --subscription '{temperature~ > 25 degC}'`
    """
    from likewise.cli.terminal.rendering import explanation_summary, explanation_table
    from likewise.cli.terminal.text_input import locate_errors, parse_named_subscription
    from likewise.formats.json.results import explanation_to_json

    matcher = meaning.matcher()
    parsed_event = _event(event, written)
    with locate_errors("the subscription"):
        name, parsed = parse_named_subscription(_read_argument(subscription))
        matcher.add(parsed)
    with report_compilation():
        matcher.match(parsed_event)  # a top-k subscription ranks what has arrived
        explanation = matcher.explain(parsed_event, parsed.id)
        if mappings is not None:
            best = tuple(matcher.mappings(parsed_event, parsed.id, mappings))
            explanation = msgspec.structs.replace(explanation, mappings=best)
    if as_json:
        output.print_line(explanation_to_json(explanation))
    elif details or mappings is not None:
        output.console().print(
            explanation_table(explanation, matcher.annotated(parsed_event), name or "the subscription")
        )
    else:
        output.console().print(explanation_summary(explanation))
    if explanation.verdict != "match":
        raise typer.Exit(output.NO)


def _event(text: str, written: FormatOptions) -> Event:
    """Parse the event that is given, or the first one of the file after `@`."""
    from likewise.cli.terminal.event_input import EventReader, decode_document, document_kind
    from likewise.cli.terminal.text_input import locate_errors, read_event
    from likewise.errors import FormatError

    if text.startswith("@") and not text.startswith(("@prefix ", "@base ")):  # as Turtle does
        for _, event in EventReader(text[1:], written):
            return event
        raise FormatError(f"{text[1:]} holds nothing; give it at least one event")
    kind = document_kind("", written.format, whole=written.whole)
    if kind is not None:
        return decode_document(text.encode(), kind, "the event")[0]
    with locate_errors("the event"):
        return read_event(text.strip())


def _read_argument(text: str) -> str:
    """Return the text itself, or the first line of the file after `@`."""
    if not text.startswith("@"):
        return text.strip()
    from likewise.cli.terminal.text_input import input_lines, line_text, open_input
    from likewise.errors import FormatError

    with open_input(text[1:]) as stream:
        for line in input_lines(stream):
            return line_text(line)
    raise FormatError(f"{text[1:]} holds nothing; give it at least one line")
