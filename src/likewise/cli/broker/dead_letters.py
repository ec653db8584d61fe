"""`likewise letters`: what a broker could not read, match or deliver; try again, or forget."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, with_option_groups

app = typer.Typer(
    help="Show dead letters: what could not be read, matched or delivered.\n\nExample: `likewise letters`",
    invoke_without_command=True,
    rich_markup_mode="markdown",
    add_completion=False,
)
Numbers = Annotated[list[int], typer.Argument(metavar="NUMBER", help="Which ones.")]


@app.callback()
@with_option_groups
def letters(
    called: typer.Context,
    broker: BrokerOptions,
    last: Annotated[int, typer.Option("--last", min=1, max=1000, help="How many at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show dead letters, oldest first: number, time, reason, detail, and what it was.

    Example: `likewise letters --json`
    """
    if called.invoked_subcommand is not None:
        return
    from likewise.api.operations import DeadLetterDetails
    from likewise.cli.broker.queries import fetch
    from likewise.cli.terminal.rendering import time_of_day

    with broker.publisher() as client:
        rejected = fetch(client, list[DeadLetterDetails], "/v1/dead-letters", limit=last)
    if as_json:
        output.print_json(rejected)
        return
    if not rejected:
        output.print_line("None: everything could be read and delivered.")
        return
    rows = []
    for each in rejected:
        what = each.body or f"event {each.event} for {each.subscriber}"
        rows.append((each.number, time_of_day(each.at), each.reason.replace("_", " "), f"{each.detail} | {what}"))
    output.print_table(("number", "time", "reason", "detail"), rows)


@app.command()
@with_option_groups
def retry(broker: BrokerOptions, numbers: Numbers) -> None:
    """Try letters again; what goes through leaves the list.

    Example: `likewise letters retry 3`
    """
    with broker.publisher() as client:
        for number in numbers:
            client.request("POST", f"/v1/dead-letters/{number}/retry")
            output.print_line(f"Tried {number} again.")


@app.command()
@with_option_groups
def remove(broker: BrokerOptions, numbers: Numbers) -> None:
    """Forget letters.

    Example: `likewise letters remove 3 4`
    """
    with broker.publisher() as client:
        for number in numbers:
            client.request("DELETE", f"/v1/dead-letters/{number}")
            output.print_line(f"Forgot {number}.")
