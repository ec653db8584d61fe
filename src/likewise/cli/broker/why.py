"""`likewise why`, `why-not` and `feedback`: questions about one event and one subscription of a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from likewise.cli.broker.queries import fetch, quote_segment
from likewise.cli.terminal import output
from likewise.cli.terminal.completion import complete_sources, complete_subscribers, complete_subscriptions
from likewise.cli.terminal.options import AsJson, BrokerOptions, with_option_groups

if TYPE_CHECKING:
    from likewise.api.subscriptions import SubscriptionDetails
    from likewise.client import Publisher
    from likewise.model import Event

EventId = Annotated[
    str,
    typer.Argument(metavar="EVENT", help="The id of a stored event (`likewise tail` shows it), or an event as text."),
]
SubscriptionName = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTION",
        help="The name of a subscription, or a subscription as text.",
        autocompletion=complete_subscriptions,
    ),
]
Owner = Annotated[
    str | None,
    typer.Option("--for", help="Its subscriber, where several have that name.", autocompletion=complete_subscribers),
]
Source = Annotated[
    str | None,
    typer.Option("--source", help="The event's source, where several share the id.", autocompletion=complete_sources),
]
Details = Annotated[bool, typer.Option("--details", help="Show each part with its scores.")]


@with_option_groups
def why(
    broker: BrokerOptions,
    event: EventId,
    subscription: SubscriptionName,
    owner: Owner = None,
    source: Source = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Say why an event of a broker matches a subscription, with the broker's own vocabulary and feedback.

    The exit code is 0 if it matches, 1 if it does not. `likewise explain` does the same without a broker.

    Example: `likewise why e17 warm`
    """
    with broker.publisher() as client:
        content = _explain(client, event, subscription, owner, source)
        shown = _read_event(client, event, source) if details and not as_json else None
    _print_explanation(content, shown, as_json)


@with_option_groups
def why_not(
    broker: BrokerOptions,
    event: EventId,
    subscription: SubscriptionName,
    owner: Owner = None,
    source: Source = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Say why an event was not delivered for a subscription: what became of it then, and what would have to change.

    The exit code is 0 if it matches now, 1 if it does not.

    Example: `likewise why-not e17 warm`
    """
    from likewise.api.history import Trace
    from likewise.cli.terminal.rendering import time_of_day

    with broker.publisher() as client:
        content = _explain(client, event, subscription, owner, source)
        shown, trace = _read_event(client, event, source) if details and not as_json else None, None
        if not _is_text(event) and not _is_text(subscription):
            found = _find_subscription(client, subscription, owner)
            query = {"event": event, "subscriber": found.subscriber, "subscription": found.id}
            trace = fetch(client, Trace, "/v1/trace", **query, **({"source": source} if source else {}))
    if as_json:
        output.print_json({"explanation": msgspec.Raw(content), "trace": trace})
        _exit(content)
        return
    for step in trace.steps if trace is not None else ():
        output.print_line(f"{time_of_day(step.at) if step.at is not None else '        '}  {step.said}")
    _print_explanation(content, shown, False)


@with_option_groups
def feedback(
    broker: BrokerOptions,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The id of a stored event.")],
    subscription: SubscriptionName,
    relevant: Annotated[bool, typer.Option("--yes/--no", help="Whether the event is what the subscription asks for.")],
    owner: Owner = None,
    source: Source = None,
    as_json: AsJson = False,
) -> None:
    """Tell a broker whether an event is what a subscription asks for; the similarity of the terms involved changes.

    Example: `likewise feedback e17 warm --no`
    """
    from likewise.api.queries import JudgementReceipt, JudgementRequest

    with broker.publisher() as client:
        found = _find_subscription(client, subscription, owner)
        request = JudgementRequest(found.subscriber, found.id, relevant, event_id=event, source=source)
        body = _without_unset(request)
        response = client.request("POST", "/v1/feedback", msgspec.json.encode(body))
        receipt = msgspec.json.decode(response.content, type=JudgementReceipt)
    if as_json:
        output.print_json(receipt)
        return
    pairs = ", ".join(f"{each.asked} and {each.seen}" for each in receipt.pairs)
    direction = "more" if relevant else "less"
    output.print_line(
        f"Recorded. {pairs} count as {direction} similar from now on."
        if pairs
        else "Recorded. No pair of terms changed."
    )


def _is_text(argument: str) -> bool:
    """Return whether an argument is an event or a subscription itself, not the name of one.

    >>> _is_text("{temp: 27}"), _is_text("e17")
    (True, False)
    """
    return "{" in argument or argument.lstrip().startswith(("[", "?"))


def _explain(client: Publisher, event: str, subscription: str, owner: str | None, source: str | None) -> bytes:
    """Return the broker's explanation as JSON."""
    from likewise.cli.terminal.text_input import locate_errors, parse_named_subscription, read_event
    from likewise.formats.json.events import event_to_json

    body: dict[str, Any] = {"source": source} if source else {}
    if _is_text(event):
        with locate_errors("the event"):
            body["event"] = msgspec.Raw(event_to_json(read_event(event.strip())))
    else:
        body["event_id"] = event
    if _is_text(subscription):
        with locate_errors("the subscription"):
            _, parsed = parse_named_subscription(subscription.strip())
        body["text"] = str(parsed)
    else:
        found = _find_subscription(client, subscription, owner)
        body |= {"subscriber": found.subscriber, "subscription": found.id}
    return client.request("POST", "/v1/explain", msgspec.json.encode(body)).content


def _find_subscription(client: Publisher, name: str, owner: str | None) -> SubscriptionDetails:
    """Return the subscription of this name.

    Raises:
        UnknownId: no subscription has it.
        InputError: those of several subscribers have it.
    """
    from likewise.api.subscriptions import SubscriptionDetails
    from likewise.errors import InputError, UnknownId

    every = fetch(client, list[SubscriptionDetails], "/v1/subscriptions")
    named = [each for each in every if each.id == name and owner in (None, each.subscriber)]
    if not named:
        raise UnknownId(name, known={each.id for each in every if owner in (None, each.subscriber)})
    if len(named) > 1:
        owners = ", ".join(sorted(each.subscriber for each in named))
        raise InputError(f"{owners} each have a subscription named {name!r}; choose one with --for")
    return named[0]


def _print_explanation(content: bytes, event: Event | None, as_json: bool) -> None:
    """Print an explanation: as JSON, in two sentences, or part by part for an event; then end with its exit code."""
    from likewise.cli.terminal.rendering import explanation_summary, explanation_table
    from likewise.formats.json.results import explanation_from_json

    explanation = explanation_from_json(content)
    if as_json:
        output.print_line(content)
    elif event is not None:
        output.console().print(explanation_table(explanation, event))
    else:
        output.console().print(explanation_summary(explanation))
    _exit(content)


def _read_event(client: Publisher, event: str, source: str | None) -> Event:
    """Return the event that is given as text, or the stored one of this id."""
    from likewise.cli.terminal.text_input import read_event
    from likewise.formats.json.events import event_from_document

    if _is_text(event):
        return read_event(event.strip())
    query = {"source": source} if source else {}
    stored = fetch(client, dict[str, Any], f"/v1/events/{quote_segment(event)}", **query)
    return event_from_document(dict(stored["event"]))


def _exit(content: bytes) -> None:
    """End with the exit code of the verdict."""
    from likewise.formats.json.results import explanation_from_json

    if explanation_from_json(content).verdict != "match":
        raise typer.Exit(output.NO)


def _without_unset(request: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a request that have a value."""
    every = {name: getattr(request, name) for name in request.__struct_fields__}
    return {name: value for name, value in every.items() if value is not None and not isinstance(value, msgspec.Raw)}
