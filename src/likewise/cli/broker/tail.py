"""`likewise tail`: the events of a broker as they come, after those of a span of time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from likewise.cli.broker.events import format_event
from likewise.cli.broker.queries import fetch
from likewise.cli.terminal import output
from likewise.cli.terminal.completion import complete_sources
from likewise.cli.terminal.options import AsJson, BrokerOptions, with_option_groups

if TYPE_CHECKING:
    from likewise.api.history import StoredEvent
    from likewise.api.live_views import Arrival
    from likewise.client import Publisher

PAUSE_S: Final = 1.0  # between two requests for what came
PAGE: Final = 1_000  # events of one request
MOST: Final = 10_000  # stored events that are printed before the new ones


@with_option_groups
def tail(
    broker: BrokerOptions,
    source: Annotated[
        str | None, typer.Option("--source", help="Only what this source sends.", autocompletion=complete_sources)
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="SPAN", help='Begin so long ago, such as "5 min", or at a time with its offset.'
        ),
    ] = None,
    last: Annotated[
        int, typer.Option("--last", min=0, max=MOST, help="Begin with so many events, without --since.")
    ] = 10,
    follow: Annotated[bool, typer.Option("--follow/--no-follow", help="Go on as events come, until Ctrl-C.")] = True,
    as_json: AsJson = False,
) -> None:
    """Print events as they come: time, source, id, what they matched, what they hold. Nothing is consumed.

    Example: `likewise tail --source kitchen/1 --since "5 min"`
    """
    from likewise.api.live_views import Activity

    with broker.publisher() as client:
        now = fetch(client, Activity, "/v1/activity", limit=1)
        for stored in _stored(client, source, since, last):
            if stored.position <= now.position:
                _print(stored.arrived, [each.subscription for each in stored.met], as_json)
        position, sequence = now.position, now.sequence
        while follow:
            time.sleep(PAUSE_S)
            activity = fetch(client, Activity, "/v1/activity", position=position, sequence=sequence, limit=PAGE)
            matched: dict[int, list[str]] = {}
            for match in activity.matches:
                matched.setdefault(match.position, []).extend(each.subscription for each in match.met)
            for event in activity.events:
                if source in (None, event.source):
                    _print(event, matched.get(event.position, []), as_json)
            position, sequence = activity.position, activity.sequence


def _stored(client: Publisher, source: str | None, since: str | None, last: int) -> list[StoredEvent]:
    """Return the stored events to begin with, the oldest first."""
    from itertools import islice

    query: dict[str, object] = {"source": source} if source else {}
    if since is not None:
        query["since"] = _begin(since)
    if since is None and last == 0:
        return []
    newest = islice(_newest_first(client, query), MOST if since is not None else last)
    return list(newest)[::-1]


def _newest_first(client: Publisher, query: dict[str, object]) -> Iterator[StoredEvent]:
    from urllib.parse import urlencode

    from likewise.api.history import StoredEvents

    while True:
        page = fetch(client, StoredEvents, f"/v1/events?{urlencode({**query, 'limit': PAGE})}")
        yield from page.events
        if page.before is None:
            return
        query = {**query, "before": page.before}


def _begin(since: str) -> int:
    """Return the time (µs) that a span before now, or a time, names.

    >>> _begin("1970-01-01T00:00:01Z")
    1000000
    """
    from likewise.matching.matcher import system_clock
    from likewise.model.time import duration, microseconds

    return microseconds(since) if "T" in since else system_clock() - duration(since)


def _print(event: Arrival, matched: list[str], as_json: bool) -> None:
    if as_json:
        output.print_json({**event.event, "arrival": event.arrival, "met": matched})
    else:
        output.console().print(format_event(event, matched), soft_wrap=True)
