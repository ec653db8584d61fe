"""`likewise events`: the newest events of a broker and what they met; take one back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.broker.queries import fetch
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, command_group, with_option_groups

if TYPE_CHECKING:
    from rich.text import Text

    from likewise.api.live_views import Arrival

app = command_group(
    "Show the newest events, and what they met; take events back.", "likewise events --last 20", alone=True
)
PAUSE = 1.0  # seconds between two looks


@app.callback()
@with_option_groups
def events(
    called: typer.Context,
    broker: BrokerOptions,
    last: Annotated[int, typer.Option("--last", min=1, max=1000, help="How many.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", help="Go on as they come, until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the newest events: time, device, id, what they met, what they say. Nothing is consumed by it.

    Example: `likewise events --last 20 --follow`
    """
    if called.invoked_subcommand is not None:
        return
    from likewise.api.live_views import Activity

    position = sequence = 0
    with broker.publisher() as client:
        while True:
            activity = fetch(client, Activity, "/v1/activity", position=position, sequence=sequence, limit=1000)
            matched: dict[int, list[str]] = {}
            for match in activity.matches:
                matched.setdefault(match.position, []).extend(each.subscription for each in match.met)
            for event in activity.events if position else activity.events[-last:]:
                if as_json:
                    output.print_json({**event.event, "arrival": event.arrival, "met": matched.get(event.position, [])})
                else:
                    output.console().print(format_event(event, matched.get(event.position, [])), soft_wrap=True)
            position, sequence = activity.position, activity.sequence
            if not follow:
                return
            time.sleep(PAUSE)


@app.command()
@with_option_groups
def withdraw(
    broker: BrokerOptions,
    id: Annotated[str, typer.Argument(metavar="ID", help="The event's id.")],
    source: Annotated[str | None, typer.Option("--source", help="Its source, where several share the id.")] = None,
) -> None:
    """Take an event back: nobody is given it any more, and it leaves the windows.

    Example: `likewise events withdraw e1 --source roof`
    """
    with broker.publisher(source) as client:
        client.unpublish(id)
    output.print_line(f"Took {id} back.")


def format_event(event: Arrival, matched: list[str]) -> Text:
    """Return an event as one line: time, source, id, the subscriptions that it matched, its content.

    Args:
        event: the event as it came in.
        matched: the names of the subscriptions.
    """
    from rich.text import Text

    from likewise.cli.terminal.rendering import time_of_day
    from likewise.formats.json.events import event_from_document
    from likewise.model.rendering import event_text

    line = Text.assemble((time_of_day(event.arrival), "dim"), "  ", (event.source or "–", "bold"), f"  {event.id}  ")
    if matched:
        line.append(f"✓ {', '.join(matched)}  ", "green")
    line.append(event_text(event_from_document(event.event)))
    return output.truncated(line)
