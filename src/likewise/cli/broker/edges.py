"""`likewise edges`: the brokers at the edge: which there are, how each stands, and forgetting one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.broker.queries import fetch, quote_segment
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, command_group, with_option_groups

if TYPE_CHECKING:
    from likewise.api.edge_frames import EdgeStatus

app = command_group("Show the brokers at the edge, how each stands, and forget one.", "likewise edges list")
Name = Annotated[str, typer.Argument(metavar="EDGE", help="The edge's name.")]


@app.command("list")
@with_option_groups
def list_edges(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """List the brokers at the edge that ever connected: whether each is there, and what waits or was dropped.

    Example: `likewise edges list`
    """
    from likewise.api.edge_frames import EdgeStatus

    with broker.publisher() as client:
        edges = fetch(client, list[EdgeStatus], "/v1/edges")
    counts = ("sources", "filters", "subscriptions", "sequence", "waiting", "dropped")
    output.print_list(
        edges,
        as_json,
        "No edge has connected yet. One is run by `likewise edge --upstream URL --data DIR`.",
        ("edge", "state", "sources", "filters", "subscriptions", "stored", "waiting", "dropped", "heard"),
        lambda each: (each.id, each.state, *(getattr(each, name) for name in counts), _when(each.seen)),
    )


@app.command()
@with_option_groups
def show(broker: BrokerOptions, edge: Name, as_json: AsJson = False) -> None:
    """Show a broker at the edge: its line, its outbox, and when each of its sources was last read.

    Example: `likewise edges show roof`
    """
    from likewise.api.edge_frames import EdgeStatus

    with broker.publisher() as client:
        status = fetch(client, EdgeStatus, f"/v1/edges/{quote_segment(edge)}")
    output.print_result(status, as_json, "\n".join(describe_edge(status)))


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
        client.request("DELETE", f"/v1/edges/{quote_segment(edge)}")
    output.print_line(f"The edge {edge!r} is forgotten.")


def _when(at: int) -> str:
    from likewise.cli.terminal.rendering import time_of_day

    return time_of_day(at) if at else "never"
