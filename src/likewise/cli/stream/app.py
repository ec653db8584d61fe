"""`likewise stream`: its commands."""

from __future__ import annotations

import typer

from likewise.cli.stream import subscriptions

app = typer.Typer(
    help="Match streams and stored events on Spark.\n\nExample: `likewise stream subscriptions list subscriptions/`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
)
app.add_typer(subscriptions.app, name="subscriptions")
