"""`likewise explain`: why an event matches a subscription, or what keeps it from doing so."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, MeaningOptions, grouped


@grouped
def explain(
    meaning: MeaningOptions,
    event: Annotated[
        str, typer.Option("--event", "-e", help="The event, as text or JSON, or @FILE for the first one of a file.")
    ],
    subscription: Annotated[str, typer.Option("--subscription", "-s", help="The subscription, likewise, or @FILE.")],
    as_json: AsJson = False,
) -> None:
    """Say why an event matches a subscription, or why not and what would make it match.

    The exit code is 0 if it matches, 1 if it does not.

    Example: `likewise explain --event '{air_temp_f: 81.2}' --subscription '{temperature~ > 25 degC}'`
    """
    from likewise.cli.terminal.reading import given_subscription, located, read_event
    from likewise.cli.terminal.rendering import explained
    from likewise.formats.json.answers import explanation_to_json

    matcher = meaning.matcher()
    with located("the event"):
        seen = read_event(_given(event))
    with located("the subscription"):
        name, wanted = given_subscription(_given(subscription))
        matcher.add(wanted)
    matcher.match(seen)  # a top-k subscription ranks what has arrived
    explanation = matcher.explain(seen, wanted.id)
    if as_json:
        output.print_line(explanation_to_json(explanation))
    else:
        output.console().print(explained(explanation, seen, name or "the subscription"))
    if explanation.verdict != "match":
        raise typer.Exit(output.NO)


def _given(text: str) -> str:
    """The text itself, or the first line of the file after `@`."""
    if not text.startswith("@"):
        return text.strip()
    from likewise.cli.terminal.reading import lines, opened, text_of
    from likewise.errors import FormatError

    with opened(text[1:]) as stream:
        for line in lines(stream):
            return text_of(line)
    raise FormatError(f"{text[1:]} holds nothing; give it at least one line")
