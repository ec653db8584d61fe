"""`likewise subscriptions`: those a broker holds; list, add, remove; and what one would have sent."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli.broker.queries import fetch, of_subscriber, quote_segment
from likewise.cli.terminal import output
from likewise.cli.terminal.completion import complete_subscribers, complete_subscriptions
from likewise.cli.terminal.options import (
    AsJson,
    BrokerOptions,
    Subscriptions,
    SubscriptionsFile,
    command_group,
    with_option_groups,
)

app = command_group("List, add, remove and backtest the subscriptions of a broker.", "likewise subscriptions list")


@app.command("list")
@with_option_groups
def list_subscriptions(
    broker: BrokerOptions,
    owner: Annotated[
        str | None, typer.Option("--for", help="Only those of this subscriber.", autocompletion=complete_subscribers)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List subscriptions: whose, their name, their kind, their text.

    Example: `likewise subscriptions list --for ann`
    """
    from likewise.api.subscriptions import SubscriptionDetails
    from likewise.model.rendering import KINDS

    with broker.publisher() as client:
        every = fetch(client, list[SubscriptionDetails], "/v1/subscriptions")
    listed = of_subscriber(every, owner)
    output.print_list(
        listed,
        as_json,
        f"No subscription{f' for {owner}' if owner else ''}.",
        ("for", "name", "kind", "subscription"),
        lambda each: (each.subscriber, each.id, KINDS[each.kind], each.text),
    )


@app.command()
@with_option_groups
def add(
    broker: BrokerOptions,
    subscriptions: Subscriptions = None,
    owner: Annotated[
        str, typer.Option("--for", help="The subscriber, registered if it is new.", autocompletion=complete_subscribers)
    ] = "me",
    file: SubscriptionsFile = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="ADDRESS", help="Send matches there: https://host/path or mqtt://host/topic."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hold subscriptions, in place of those with the same name; what they match waits for their subscriber.

    With --to it also goes out by itself (`likewise targets` says more).

    Example: `likewise subscriptions add 'warm: {temperature~ > 25 degC}' --for ann`
    """
    from likewise.cli.terminal.text_input import collect_subscriptions
    from likewise.formats.json.subscriptions import with_default_id

    parsed = collect_subscriptions(subscriptions, file)
    with broker.subscriber(owner) as client:
        client.connect(patience=0)
        made = [client.targets.set(with_default_id(each).id, to) for each in parsed] if to is not None else []
        names = [client.subscribe(each) for each in parsed]
    if as_json:
        shown = [{"subscriber": owner, "id": name} for name in names]
        output.print_json([each | {"target": t} for each, t in zip(shown, made, strict=True)] if made else shown)
        return
    output.print_line(f"Added for {owner}: {', '.join(names)}.")
    for each in made:
        output.print_line(f"{each.subscription} goes to {each.address} ({each.id}).")
        if each.secret:
            output.print_line(f"It signs with {each.secret}, which is shown this once.")


@app.command()
@with_option_groups
def backtest(
    broker: BrokerOptions,
    subscription: Annotated[str, typer.Argument(metavar="SUBSCRIPTION", help="The subscription to try.")],
    events: Annotated[int, typer.Option("--events", min=0, help="The number of newest stored events.")] = 10_000,
    shown: Annotated[int, typer.Option("--show", min=0, help="The number of matches to list, the last ones.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List what a subscription would have sent, up to now, without subscribing.

    Example: `likewise subscriptions backtest '{door = open} for 5 min'`
    """
    from datetime import datetime

    from likewise.client.messages import BACKTEST, JSON, backtest_request, read_backtest

    with broker.publisher() as client:
        answer = client.request("POST", BACKTEST, backtest_request(subscription, events, shown), JSON)
    result = read_backtest(answer.content)
    if as_json:
        output.print_json(result)
        return
    counts = ", ".join(f"{count:,} {cause}" for cause, count in result.causes.items())
    output.print_line(f"{result.matched:,} matches in {result.events:,} events{f' ({counts})' if counts else ''}.")
    if result.matches:
        rows = [
            (
                datetime.fromtimestamp(each.time // 1_000_000).isoformat(" "),
                each.cause,
                ", ".join(each.key),
                each.source,
                each.event,
            )
            for each in result.matches
        ]
        output.print_table(("time", "cause", "key", "source", "event"), rows)


@app.command()
@with_option_groups
def remove(
    broker: BrokerOptions,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Which ones.", autocompletion=complete_subscriptions)
    ] = None,
    owner: Annotated[str, typer.Option("--for", help="Whose.", autocompletion=complete_subscribers)] = "me",
    remove_all: Annotated[
        bool, typer.Option("--all", help="All of them, what waits for them, and the subscriber itself.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """End subscriptions.

    Example: `likewise subscriptions remove warm --for ann`
    """
    from likewise.errors import InputError

    if remove_all == bool(names):
        raise InputError("say which ones to end, or --all")
    with broker.publisher() as client:
        path = f"/v1/subscribers/{quote_segment(owner)}"
        if remove_all:
            client.request("DELETE", path)
        for name in names or []:
            client.request("DELETE", f"{path}/subscriptions/{quote_segment(name)}")
    text = f"Ended for {owner}: {', '.join(names or ['everything'])}."
    output.print_result({"subscriber": owner, "removed": names or "all"}, as_json, text)
