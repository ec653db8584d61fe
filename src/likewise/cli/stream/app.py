"""`likewise stream`: its commands."""

from __future__ import annotations

import typer

from likewise.cli.stream import lake, run, subscriptions

app = typer.Typer(
    help="Match streams and stored events on Spark.\n\nExample: `likewise stream run --help`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
)
app.command()(run.run)
app.command()(lake.compact)
app.command()(lake.expire)
app.command()(lake.view)
app.add_typer(subscriptions.app, name="subscriptions")
