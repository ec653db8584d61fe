"""`likewise stream`: its commands."""

from __future__ import annotations

from likewise.cli.stream import lake, run, subscriptions
from likewise.cli.terminal.options import command_group

app = command_group("Match streams and stored events on Spark.", "likewise stream run --help")
app.command()(run.run)
app.command()(lake.compact)
app.command()(lake.expire)
app.command()(lake.view)
app.add_typer(subscriptions.app, name="subscriptions")
