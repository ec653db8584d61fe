"""`likewise alerts`: the alerts of a broker, and the state of each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from likewise.cli.broker.queries import fetch, of_subscriber, quote_segment
from likewise.cli.terminal import output
from likewise.cli.terminal.completion import complete_subscribers
from likewise.cli.terminal.options import AsJson, BrokerOptions, with_option_groups
from likewise.errors import UnknownId

if TYPE_CHECKING:
    from likewise.api.mobile import AlertKeyDetails
    from likewise.client import Publisher

NO_ALERT: Final = (
    "There is no alert. A subscription with `for`, `absent for`, `once until` or `at most every` is one: "
    "likewise subscriptions add 'door: {door~ = open~} for 5 min once until false'"
)
FIRING: Final = ("on", "absent")  # states of a key that was notified of


class AlertKey(NamedTuple):
    """One key of an alert, with the subscription that it belongs to."""

    subscriber: str
    subscription: str
    key: AlertKeyDetails

    @property
    def is_firing(self) -> bool:
        """Whether somebody was notified of it, and it is not over."""
        return self.key.state in FIRING

    @property
    def name(self) -> str:
        """The values of the key: the source, or those of the attributes after `per`."""
        return " · ".join(filter(None, self.key.key)) or "no source"


@with_option_groups
def alerts(
    broker: BrokerOptions,
    owner: Annotated[
        str | None,
        typer.Option("--for", help="Only those of this subscriber.", autocompletion=complete_subscribers),
    ] = None,
    firing: Annotated[bool, typer.Option("--firing", help="Only the keys that are firing.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Keys of each alert at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the keys of every alert: firing or not, since when, and how far the others are.

    The exit code is 1 with --firing if nothing fires.

    Example: `likewise alerts --firing`
    """
    from likewise.api.subscriptions import SubscriptionDetails

    with broker.publisher() as client:
        keys = alert_keys(client, owner, limit)
        every = fetch(client, list[SubscriptionDetails], "/v1/subscriptions")
    shown = [each for each in keys if each.is_firing or not firing]
    if as_json:
        output.print_json([{"subscriber": a, "subscription": s, "key": key} for a, s, key in shown])
    else:
        none = "Nothing fires." if firing else "No event has concerned an alert yet."
        none = none if any(each.kind == "alert" for each in every) else NO_ALERT
        heads = ("state", "for", "alert", "key", "")
        output.print_list(
            shown,
            False,
            none,
            heads,
            lambda e: ("firing" if e.is_firing else e.key.state, e.subscriber, e.subscription, e.name, e.key.words),
        )
    if firing and not shown:
        raise typer.Exit(output.NO)


def alert_keys(client: Publisher, owner: str | None = None, limit: int = 100) -> list[AlertKey]:
    """Return the keys of every alert that the token may see, firing ones first.

    Args:
        client: the connection to the broker.
        owner: only the alerts of this subscriber.
        limit: keys of each alert at most.
    """
    from likewise.api.mobile import AlertDetails
    from likewise.api.subscriptions import SubscriptionDetails

    every = fetch(client, list[SubscriptionDetails], "/v1/subscriptions")
    keys = []
    for each in of_subscriber(every, owner):
        if each.kind != "alert":
            continue
        path = f"/v1/subscribers/{quote_segment(each.subscriber)}/subscriptions/{quote_segment(each.id)}/keys"
        try:
            details = fetch(client, AlertDetails, path, limit=limit)
        except UnknownId:
            continue  # it has just ended
        keys += [AlertKey(each.subscriber, each.id, key) for key in details.keys]
    return sorted(keys, key=lambda each: not each.is_firing)
