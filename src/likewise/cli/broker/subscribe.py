"""`likewise subscribe`: live deliveries, each on one line with the reading that met it."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, Why, grouped

if TYPE_CHECKING:
    from likewise.client import ClientDelivery, Subscriber
    from likewise.model import Explanation, PredicateReport, Subscription

WAITING = 1_000  # deliveries a temporary subscriber may leave unread before the oldest go


@grouped
def subscribe(
    broker: BrokerOptions,
    subscriptions: Annotated[
        list[str] | None, typer.Argument(metavar="SUBSCRIPTION", help="Subscriptions; a name may stand in front.")
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", help="Stay subscribed under this name; what it misses waits there.")
    ] = None,
    count: Annotated[int | None, typer.Option("--count", min=1, help="Leave after so many deliveries.")] = None,
    why: Why = True,
    as_json: AsJson = False,
) -> None:
    """Subscribe, and print deliveries as they come, until Ctrl-C: time, device, reading, score, subscription, the rest.

    Without --id the subscriptions are temporary: they end with the command. With it they stay, and so does what they
    match; what is printed is acknowledged. A broker that is not there is waited for.

    An --address like mqtt://host:1883 is where a broker listens for MQTT; with a topic, as in mqtt://host:1883/home/#,
    its messages are printed, too, or alone, whoever's broker it is.

    Example: `likewise subscribe 'warm: {temperature~ > 25 degC}'`
    """
    from likewise.cli.terminal.reading import given_subscription
    from likewise.errors import InputError

    wanted = [given_subscription(text) for text in subscriptions or []]
    if (broker.address or "").startswith(("mqtt://", "mqtts://")):
        _subscribe_by_mqtt(broker, wanted, id, count, why, as_json)
        return
    if id is None and not subscriptions:
        raise InputError("nothing to wait for: give a subscription, or the --id of a subscriber that has some")
    queue = {} if id is not None else {"policy": "drop-oldest", "limit": WAITING}
    inbox = broker.subscriber(id or f"terminal-{secrets.token_hex(4)}", **queue)
    held = _Holding(inbox, [(name or None, subscription) for name, subscription in wanted], temporary=id is None)
    try:
        held.begin()
        for delivery in islice(held, count):
            if as_json:
                output.print_json(delivery)
            else:
                output.console().print(delivery_line(inbox, delivery, why), soft_wrap=True)
            inbox.acknowledge(delivery)
    finally:
        held.end()


def _subscribe_by_mqtt(
    broker: BrokerOptions,
    wanted: list[tuple[str, Subscription]],
    id: str | None,
    count: int | None,
    why: bool,
    as_json: bool,
) -> None:
    from likewise.cli.broker.mqtt_inbox import SESSION, MqttInbox, print_messages
    from likewise.server.mqtt.subscriber import MqttSubscriber

    line = MqttSubscriber(
        broker.address or "",
        password=broker.token,
        ca=broker.ca,
        client_id=id or f"terminal-{secrets.token_hex(4)}",
        session=SESSION if id is not None else 0,
    )
    print_messages(MqttInbox(line, wanted, lasting=id is not None, why=why), count, as_json)


class _Holding:
    """What the command holds at the broker while it runs, and what stays afterwards."""

    def __init__(self, inbox: Subscriber, wanted: list[tuple[str | None, Subscription]], temporary: bool) -> None:
        self._inbox = inbox
        self._wanted = wanted
        self._temporary = temporary
        self._names: list[str] = []

    def begin(self) -> None:
        """Register and subscribe; wait for a broker that is not there, saying so in one line."""
        from likewise.cli.terminal.reconnect_notice import having_said
        from likewise.client.endpoint import FOREVER, no_such_host
        from likewise.errors import Unavailable

        try:
            self._inbox.connect(patience=0)
        except Unavailable as error:
            if no_such_host(error):
                raise
            with having_said(f"Waiting for a broker at {self._inbox.address}. Ctrl-C ends it."):
                self._inbox.connect(patience=FOREVER)
        self._names = [self._inbox.subscribe(subscription, id=name) for name, subscription in self._wanted]
        if sys.stderr.isatty():  # so that nobody takes silence for a fault
            output.remark(f"Listening for {', '.join(self._names) or self._inbox.id}. Ctrl-C ends it.")

    def __iter__(self) -> Iterator[ClientDelivery]:
        from likewise.client import BrokerRefused
        from likewise.errors import Unavailable

        while True:
            try:
                yield from self._inbox
                return
            except Unavailable:
                self.begin()
            except BrokerRefused as refused:
                if "unknown_id" not in str(refused) or not self._wanted:
                    raise
                output.remark("The broker has started without its memory; subscribing again.")
                self._inbox.start_over()
                self.begin()

    def end(self) -> None:
        """Leave nothing behind, or say what stays."""
        from likewise.errors import LikewiseError

        names = ", ".join(self._names)
        if not self._temporary:
            if self._names:
                output.remark(
                    f"{names} stays subscribed for {self._inbox.id}, and what it matches waits. "
                    f"End it: likewise subscriptions remove {' '.join(self._names)} --for {self._inbox.id}"
                )
        elif self._names:
            try:
                self._inbox.connect(patience=0).unregister()
            except LikewiseError as error:
                output.remark(f"The temporary subscriber {self._inbox.id} could not be removed: {error}")
            else:
                output.remark(f"{names} was temporary and has ended; nothing stays at the broker.")
        self._inbox.close()


def delivery_line(inbox: Subscriber, delivery: ClientDelivery, wanted: bool) -> object:
    """One delivery on one line: time, device, the reading that met it, score, subscription, then the rest."""
    from rich.text import Text

    from likewise.cli.terminal.rendering import score_style
    from likewise.model.rendering import number

    event = delivery.event
    explained = _explained(inbox, delivery) if wanted and delivery.subscriptions else None
    line = Text.assemble((_when(delivery), "dim"), "  ", (event.source or event.id or "", "bold"), "  ")
    fired: set[int] = set()
    if explained is not None:
        line.append(" · ".join(_answer(report) for report in explained.predicates)).append("  ")
        fired = {report.tuple for report in explained.predicates if report.tuple is not None}
    for met in delivery.subscriptions:
        line.append(number(met.score), score_style(met.score)).append(f" {met.id}  ", "cyan")
    if delivery.cause not in ("arrival", "initial"):
        line.append(f"{delivery.cause}  ", "magenta")
    rest = " · ".join(_readings(delivery, fired))
    line.append(rest, "dim")
    if (room := output.width()) is not None:
        line.truncate(room, overflow="ellipsis")
    return line


def _answer(report: PredicateReport) -> str:
    """The reading that met a part; what has none, such as a ranking, in words."""
    from likewise.cli.terminal.rendering import reason

    return f"{report.attribute}: {report.value}" if report.attribute and not report.negated else reason(report)


def _when(delivery: ClientDelivery) -> str:
    """The event's own time, else now for one that has just come; one that waited says nothing."""
    from likewise.cli.terminal.rendering import clock

    if delivery.event.time is not None:
        return clock(delivery.event.time)
    return clock(time.time_ns() // 1000) if delivery.cause == "arrival" else "earlier "


def _readings(delivery: ClientDelivery, fired: set[int]) -> list[str]:
    """What the event says besides what met the subscription."""
    from likewise.model.rendering import event_text, reading_text

    event = delivery.event
    if not event.tuples:
        return [event_text(event)]
    return [reading_text(item) for place, item in enumerate(event.tuples) if place not in fired]


def _explained(inbox: Subscriber, delivery: ClientDelivery) -> Explanation | None:
    """What met each part, as the broker explains it; None if it cannot any more."""
    import msgspec

    from likewise.client import BrokerRefused
    from likewise.formats.json.results import explanation_from_json

    asked = {
        "event_id": delivery.event.id,
        "source": delivery.event.source or "",
        "subscriber": inbox.id,
        "subscription": delivery.subscriptions[0].id,
    }
    try:
        answer = inbox.request("POST", "/v1/explain", msgspec.json.encode(asked))
    except BrokerRefused:
        return None
    return explanation_from_json(answer.content)
