"""`likewise dead-letters`, formerly `letters`: what a broker could not read, match or deliver; retry or remove it."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli.broker.queries import fetch
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, command_group, with_option_groups

app = command_group(
    "Show dead letters: what could not be read, matched or delivered.", "likewise dead-letters", alone=True
)
Numbers = Annotated[list[int], typer.Argument(metavar="NUMBER", help="Which ones.")]


@app.callback()
@with_option_groups
def dead_letters(
    called: typer.Context,
    broker: BrokerOptions,
    last: Annotated[int, typer.Option("--last", min=1, max=1000, help="How many at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show dead letters, oldest first: number, time, reason, detail, and what it was.

    Example: `likewise dead-letters --json`
    """
    if called.invoked_subcommand is not None:
        return
    from likewise.api.operations import DeadLetterDetails
    from likewise.cli.terminal.rendering import time_of_day

    def row(each: DeadLetterDetails) -> tuple[object, ...]:
        what = each.body or f"event {each.event} for {each.subscriber}"
        return each.number, time_of_day(each.at), each.reason.replace("_", " "), f"{each.detail} | {what}"

    with broker.publisher() as client:
        rejected = fetch(client, list[DeadLetterDetails], "/v1/dead-letters", limit=last)
    heads = ("number", "time", "reason", "detail")
    output.print_list(rejected, as_json, "None: everything could be read and delivered.", heads, row)


@app.command()
@with_option_groups
def retry(broker: BrokerOptions, numbers: Numbers) -> None:
    """Try dead letters again; what goes through leaves the list.

    Example: `likewise dead-letters retry 3`
    """
    with broker.publisher() as client:
        for number in numbers:
            client.request("POST", f"/v1/dead-letters/{number}/retry")
            output.print_line(f"Tried {number} again.")


@app.command()
@with_option_groups
def remove(broker: BrokerOptions, numbers: Numbers) -> None:
    """Remove dead letters.

    Example: `likewise dead-letters remove 3 4`
    """
    with broker.publisher() as client:
        for number in numbers:
            client.request("DELETE", f"/v1/dead-letters/{number}")
            output.print_line(f"Forgot {number}.")
