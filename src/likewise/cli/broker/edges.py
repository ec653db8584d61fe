"""`likewise edges`: the brokers at the edge: which there are, how each stands, and forgetting one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, with_option_groups

if TYPE_CHECKING:
    from likewise.api.edge_frames import EdgeStatus

app = typer.Typer(
    help="Show the brokers at the edge, how each stands, and forget one.\n\nExample: `likewise edges list`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
)
Name = Annotated[str, typer.Argument(metavar="EDGE", help="The edge's name.")]


@app.command("list")
@with_option_groups
def list_edges(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """List the brokers at the edge that ever connected: whether each is there, and what waits or was dropped.

    Example: `likewise edges list`
    """
    from likewise.api.edge_frames import EdgeStatus

    with broker.publisher() as client:
        edges = msgspec.json.decode(client.request("GET", "/v1/edges").content, type=list[EdgeStatus])
    if as_json:
        output.print_json(edges)
        return
    if not edges:
        output.print_line("No edge has connected yet. One is run by `likewise edge --upstream URL --data DIR`.")
        return
    rows = [
        (
            each.id,
            each.state,
            each.sources,
            each.filters,
            each.subscriptions,
            each.sequence,
            each.waiting,
            each.dropped,
            _when(each.seen),
        )
        for each in edges
    ]
    output.print_table(
        ("edge", "state", "sources", "filters", "subscriptions", "stored", "waiting", "dropped", "heard"), rows
    )


@app.command()
@with_option_groups
def show(broker: BrokerOptions, edge: Name, as_json: AsJson = False) -> None:
    """Show a broker at the edge: its line, its outbox, and when each of its sources was last read.

    Example: `likewise edges show roof`
    """
    from likewise.api.edge_frames import EdgeStatus

    with broker.publisher() as client:
        status = msgspec.json.decode(client.request("GET", f"/v1/edges/{quote(edge)}").content, type=EdgeStatus)
    if as_json:
        output.print_json(status)
        return
    for line in describe_edge(status):
        output.print_line(line)


def describe_edge(shown: EdgeStatus) -> list[str]:
    """Describe the state of an edge broker, a sentence a line.

    >>> from likewise.api.edge_frames import EdgeStatus
    >>> describe_edge(EdgeStatus("roof", "away", "e1", 40, 0, dropped=2, policy="thin"))[0]
    'roof is away: 40 items are stored here.'
    """
    lines = [f"{shown.id} is {shown.state}: {shown.sequence:,} items are stored here."]
    if shown.state == "connected":
        lines.append(f"It is asked for by {shown.filters:,} filters, and has {shown.sources:,} announced sources.")
        lines.append(f"Its outbox holds {shown.waiting:,} items ({shown.waiting_bytes:,} bytes).")
    if shown.dropped:
        lines.append(f"It let go of {shown.dropped:,} events ({shown.policy}): more waited than may.")
    if shown.refused:
        lines.append(f"{shown.refused:,} of its events were refused here; the log says why.")
    lines.append(f"It has {shown.subscriptions:,} subscriptions here; {shown.queued:,} deliveries wait for it.")
    if shown.below:
        lines.append(f"Below it: {', '.join(shown.below)}.")
    lines += [f"  {source}, last read {_when(at)}" for source, at in sorted(shown.readings.items())]
    return lines


@app.command()
@with_option_groups
def remove(broker: BrokerOptions, edge: Name) -> None:
    """Forget a broker at the edge, its subscriptions and what waits for it; if it comes again, it begins anew.

    Example: `likewise edges remove roof`
    """
    with broker.publisher() as client:
        client.request("DELETE", f"/v1/edges/{quote(edge)}")
    output.print_line(f"The edge {edge!r} is forgotten.")


def _when(at: int) -> str:
    from likewise.cli.terminal.rendering import time_of_day

    return time_of_day(at) if at else "never"
