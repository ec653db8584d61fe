"""`likewise subscribe`: live deliveries, each with one line why it matched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import Address, AsJson, Ca, Token

if TYPE_CHECKING:
    from likewise.client import ClientDelivery, Subscriber


def subscribe(
    subscriptions: Annotated[list[str] | None, typer.Argument(help="Subscriptions; a name may stand in front.")] = None,
    id: Annotated[str, typer.Option("--id", help="The subscriber's name; what it misses waits under it.")] = "terminal",
    address: Address = None,
    token: Token = None,
    ca: Ca = None,
    count: Annotated[int | None, typer.Option("--count", min=1, help="Leave after so many deliveries.")] = None,
    why: Annotated[bool, typer.Option(help="Say what met each part.")] = True,
    as_json: AsJson = False,
) -> None:
    """Subscribe, and print deliveries as they come, until Ctrl-C. What is printed is acknowledged.

    Example: `likewise subscribe 'warm: {temperature~ > 25 degC}'`
    """
    from itertools import islice

    from likewise.broker.config import Logging
    from likewise.broker.reporting.logging import log_to_stderr
    from likewise.cli.terminal.reading import given_subscription
    from likewise.client import Subscriber
    from likewise.client.endpoint import ADDRESS

    log_to_stderr(Logging(level="warning", format="text"))  # says when a connection is tried again
    with Subscriber(id, address or ADDRESS, token=token, ca=ca) as inbox:
        for text in subscriptions or []:
            name, subscription = given_subscription(text)
            inbox.subscribe(subscription, id=name or None)
        screen = None if as_json else output.console()
        for delivery in islice(inbox, count):
            if screen is None:
                output.print_json(delivery)
            else:
                screen.print(_line(inbox, delivery, why), soft_wrap=True)
            inbox.acknowledge(delivery)


def _line(inbox: Subscriber, delivery: ClientDelivery, wanted: bool) -> object:
    """One delivery on one line: its number, what met it, the event, and why."""
    from rich.text import Text

    from likewise.cli.terminal.rendering import event_text, number, score_style

    line = Text.assemble((f"{delivery.sequence}", "bold"), "  ")
    for met in delivery.subscriptions:
        line.append(met.id, "cyan").append(f" {number(met.score)}  ", score_style(met.score))
    if delivery.cause != "arrival":
        line.append(f"{delivery.cause}  ", "magenta")
    line.append(event_text(delivery.event))
    said = _why(inbox, delivery) if wanted and delivery.subscriptions else ""
    return line.append(f"  because {said}", "dim") if said else line


def _why(inbox: Subscriber, delivery: ClientDelivery) -> str:
    """What met each part, as the broker explains it; '' if it cannot any more."""
    import msgspec

    from likewise.cli.terminal.rendering import why
    from likewise.client.messages import BrokerRefused
    from likewise.formats.json.answers import explanation_from_json

    asked = {
        "event_id": delivery.event.id, "source": delivery.event.source or "",
        "subscriber": inbox.id, "subscription": delivery.subscriptions[0].id,
    }  # fmt: skip
    try:
        answer = inbox.request("POST", "/v1/explain", msgspec.json.encode(asked))
    except BrokerRefused:
        return ""
    return why(explanation_from_json(answer.content))
