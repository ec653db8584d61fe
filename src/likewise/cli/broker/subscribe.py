"""`likewise subscribe`: live deliveries, each on one line with the reading that met it.

What `likewise subscribe` prints of a broker of MQTT: matches by meaning of Likewise, plain topics of any.
"""

from __future__ import annotations

import base64
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import typer

from likewise.api.deliveries import MatchReason, SubscriptionScore
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, Subscriptions, Why, with_option_groups

if TYPE_CHECKING:
    from rich.text import Text

    from likewise.client import ClientDelivery, Subscriber
    from likewise.model import Explanation, PredicateReport, Subscription
    from likewise.server.mqtt.codec import Publish
    from likewise.server.mqtt.subscriber import MqttSubscriber


SESSION: Final = 7 * 24 * 3600  # seconds that a name's session is kept
AGAIN: Final = 1.0  # seconds between two attempts to reach a broker


class MqttMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message as it is printed as JSON: JSON and text as they are, other bytes in Base64."""

    topic: str
    payload: msgspec.Raw | str = ""
    base64: str = ""
    subscriptions: tuple[SubscriptionScore, ...] = ()
    cause: str = ""
    sequence: int | None = None
    because: tuple[MatchReason, ...] = ()
    retained: bool = False


def read_message(message: Publish) -> MqttMessage:
    """Return a message with its match, if it comes from a semantic subscription of Likewise.

    >>> from likewise.server.mqtt.codec import Properties, Publish
    >>> said = (("subscriptions", '[{"id":"warm","score":0.9}]'), ("topic", "home/attic"), ("cause", "arrival"))
    >>> read_message(Publish("$likewise/warm", b"21.5", properties=Properties(user=said))).topic
    'home/attic'
    """
    properties = dict(message.properties.user)  # ours stand last, so they count
    fields: dict[str, Any] = {"topic": message.topic}
    if message.topic.startswith("$likewise/"):
        fields["topic"] = properties.get("topic") or message.topic
        fields["subscriptions"] = msgspec.json.decode(
            properties.get("subscriptions", "[]"), type=tuple[SubscriptionScore, ...]
        )
        fields["because"] = msgspec.json.decode(properties.get("because", "[]"), type=tuple[MatchReason, ...])
        fields["cause"] = properties.get("cause", "")
        fields["sequence"] = int(properties["sequence"]) if "sequence" in properties else None
    try:
        text = message.payload.decode()
    except UnicodeDecodeError:
        return MqttMessage(base64=base64.b64encode(message.payload).decode(), retained=message.retain, **fields)
    try:
        msgspec.json.decode(message.payload)
    except msgspec.DecodeError:
        return MqttMessage(payload=text, retained=message.retain, **fields)
    return MqttMessage(payload=msgspec.Raw(message.payload), retained=message.retain, **fields)


class MqttInbox:
    """Subscribes at a broker of MQTT and gives its messages; a broker that goes away is waited for."""

    def __init__(
        self, subscriber: MqttSubscriber, subscriptions: list[tuple[str, Subscription]], *, lasting: bool, why: bool
    ) -> None:
        from likewise.errors import InputError

        self._subscriber, self._why = subscriber, why
        self._qos = 1 if lasting else 0
        names = [name or f"s{place}" for place, (name, _) in enumerate(subscriptions, 1)]
        self._wanted = list(zip(names, [each for _, each in subscriptions], strict=True))
        if not subscriptions and not subscriber.topic:
            raise InputError("nothing to wait for: give a subscription, or a topic like mqtt://host:1883/home/#")

    def read(self, show: Callable[[MqttMessage], bool]) -> None:
        """Show messages and acknowledge each, until `show` says that it was the last."""
        from likewise.errors import Unavailable

        notified = False
        while True:
            try:
                with self._subscriber as line:
                    self._subscribe(line)
                    notified = False
                    for message in line:
                        more = show(read_message(message))
                        line.acknowledge(message)
                        if not more:
                            return
            except Unavailable as error:
                if not notified:
                    output.print_note(f"{error} Waiting for it; Ctrl-C ends it.")
                notified = True
                time.sleep(AGAIN)

    def _subscribe(self, line: MqttSubscriber) -> None:
        from likewise.language import subscription_text
        from likewise.server.mqtt.subscriber import SEMANTIC_FILTER

        if line.topic:
            line.subscribe(line.topic, self._qos)
        for name, subscription in self._wanted:
            line.subscribe(
                SEMANTIC_FILTER + name, self._qos, meaning=subscription_text(subscription), explain=self._why
            )


def format_message(message: MqttMessage) -> Text:
    """Format a message as one line: time, topic, matched readings, score, payload."""
    from rich.text import Text

    from likewise.cli.terminal.rendering import score_style, time_of_day
    from likewise.model.rendering import number

    earlier = message.cause == "initial" or message.retained
    line = Text.assemble(("earlier " if earlier else time_of_day(time.time_ns() // 1000), "dim"), "  ")
    line.append(message.topic, "bold").append("  ")
    for part in (each for cause in message.because[:1] for each in cause.parts):
        line.append(f"{part.attribute}: {part.value}  " if part.attribute else f"{part.part}  ")
    for match in message.subscriptions:
        line.append(number(match.score), score_style(match.score)).append(f" {match.id}  ", "cyan")
    if message.cause not in ("", "arrival", "initial"):
        line.append(f"{message.cause}  ", "magenta")
    payload = message.payload if isinstance(message.payload, str) else bytes(message.payload).decode()
    shown = payload or (f"({message.base64[:24]}… in Base64)" if message.base64 else "(empty)")
    line.append(" ".join(shown.split()), "dim")
    return output.truncated(line)


def print_messages(inbox: MqttInbox, count: int | None, as_json: bool) -> None:
    """Print what comes until so many were printed."""
    printed = 0

    def show(message: MqttMessage) -> bool:
        nonlocal printed
        if as_json:
            output.print_json(message)
        else:
            output.console().print(format_message(message), soft_wrap=True)
        printed += 1
        return printed != count

    inbox.read(show)


WAITING = 1_000  # deliveries a temporary subscriber may leave unread before the oldest go


@with_option_groups
def subscribe(
    broker: BrokerOptions,
    subscriptions: Subscriptions = None,
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
    from likewise.cli.terminal.text_input import parse_named_subscription
    from likewise.errors import InputError

    parsed = [parse_named_subscription(text) for text in subscriptions or []]
    if (broker.address or "").startswith(("mqtt://", "mqtts://")):
        _subscribe_by_mqtt(broker, parsed, id, count, why, as_json)
        return
    if id is None and not subscriptions:
        raise InputError("nothing to wait for: give a subscription, or the --id of a subscriber that has some")
    queue = {} if id is not None else {"policy": "drop-oldest", "limit": WAITING}
    inbox = broker.subscriber(id or f"terminal-{secrets.token_hex(4)}", **queue)
    session = _SubscribeSession(
        inbox, [(name or None, subscription) for name, subscription in parsed], temporary=id is None
    )
    try:
        session.begin()
        for delivery in islice(session, count):
            if as_json:
                output.print_json(delivery)
            else:
                output.console().print(format_delivery(inbox, delivery, why), soft_wrap=True)
            inbox.acknowledge(delivery)
    finally:
        session.end()


def _subscribe_by_mqtt(
    broker: BrokerOptions,
    subscriptions: list[tuple[str, Subscription]],
    id: str | None,
    count: int | None,
    why: bool,
    as_json: bool,
) -> None:
    from likewise.server.mqtt.subscriber import MqttSubscriber

    line = MqttSubscriber(
        broker.address or "",
        password=broker.token,
        ca=broker.ca,
        client_id=id or f"terminal-{secrets.token_hex(4)}",
        session=SESSION if id is not None else 0,
    )
    print_messages(MqttInbox(line, subscriptions, lasting=id is not None, why=why), count, as_json)


class _SubscribeSession:
    """The subscriptions of the command while it runs; temporary ones end with it."""

    def __init__(
        self, inbox: Subscriber, subscriptions: list[tuple[str | None, Subscription]], temporary: bool
    ) -> None:
        self._inbox = inbox
        self._wanted = subscriptions
        self._temporary = temporary
        self._names: list[str] = []

    def begin(self) -> None:
        """Register and subscribe; wait for a broker that is not there, saying so in one line."""
        from likewise.cli.terminal.reconnect_notice import replace_retry_notice
        from likewise.client.endpoint import FOREVER, is_unknown_host
        from likewise.errors import Unavailable

        try:
            self._inbox.connect(patience=0)
        except Unavailable as error:
            if is_unknown_host(error):
                raise
            with replace_retry_notice(f"Waiting for a broker at {self._inbox.address}. Ctrl-C ends it."):
                self._inbox.connect(patience=FOREVER)
        self._names = [self._inbox.subscribe(subscription, id=name) for name, subscription in self._wanted]
        if sys.stderr.isatty():  # so that nobody takes silence for a fault
            output.print_note(f"Listening for {', '.join(self._names) or self._inbox.id}. Ctrl-C ends it.")

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
                output.print_note("The broker has started without its memory; subscribing again.")
                self._inbox.start_over()
                self.begin()

    def end(self) -> None:
        """Leave nothing behind, or say what stays."""
        from likewise.errors import LikewiseError

        names = ", ".join(self._names)
        if not self._temporary:
            if self._names:
                output.print_note(
                    f"{names} stays subscribed for {self._inbox.id}, and what it matches waits. "
                    f"End it: likewise subscriptions remove {' '.join(self._names)} --for {self._inbox.id}"
                )
        elif self._names:
            try:
                self._inbox.connect(patience=0).unregister()
            except LikewiseError as error:
                output.print_note(f"The temporary subscriber {self._inbox.id} could not be removed: {error}")
            else:
                output.print_note(f"{names} was temporary and has ended; nothing stays at the broker.")
        self._inbox.close()


def format_delivery(inbox: Subscriber, delivery: ClientDelivery, explain: bool) -> Text:
    """Format a delivery as one line: time, device, matched readings, score, subscription, the other readings."""
    from rich.text import Text

    from likewise.cli.terminal.rendering import score_style
    from likewise.model.rendering import number

    event = delivery.event
    explained = _explain(inbox, delivery) if explain and delivery.subscriptions else None
    line = Text.assemble((_delivery_time(delivery), "dim"), "  ", (event.source or event.id or "", "bold"), "  ")
    fired: set[int] = set()
    if explained is not None:
        line.append(" · ".join(_matched_reading(report) for report in explained.predicates)).append("  ")
        fired = {report.tuple for report in explained.predicates if report.tuple is not None}
    for match in delivery.subscriptions:
        line.append(number(match.score), score_style(match.score)).append(f" {match.id}  ", "cyan")
    if delivery.cause not in ("arrival", "initial"):
        line.append(f"{delivery.cause}  ", "magenta")
    line.append(" · ".join(_other_readings(delivery, fired)), "dim")
    return output.truncated(line)


def _matched_reading(report: PredicateReport) -> str:
    """Return the reading that matched a predicate; for a clause without one, such as a ranking, its text."""
    from likewise.cli.terminal.rendering import predicate_result

    return (
        f"{report.attribute}: {report.value}" if report.attribute and not report.negated else predicate_result(report)
    )


def _delivery_time(delivery: ClientDelivery) -> str:
    """Return the event's time, else the current time; "earlier" for a delivery that was queued."""
    from likewise.cli.terminal.rendering import time_of_day

    if delivery.event.time is not None:
        return time_of_day(delivery.event.time)
    return time_of_day(time.time_ns() // 1000) if delivery.cause == "arrival" else "earlier "


def _other_readings(delivery: ClientDelivery, fired: set[int]) -> list[str]:
    """Return the readings of an event that did not match the subscription."""
    from likewise.model.rendering import event_text, reading_text

    event = delivery.event
    if not event.tuples:
        return [event_text(event)]
    return [reading_text(item) for place, item in enumerate(event.tuples) if place not in fired]


def _explain(inbox: Subscriber, delivery: ClientDelivery) -> Explanation | None:
    """Request the explanation of a delivery; return None if the broker has none any more."""
    from likewise.client import BrokerRefused
    from likewise.formats.json.results import explanation_from_json

    query = {
        "event_id": delivery.event.id,
        "source": delivery.event.source or "",
        "subscriber": inbox.id,
        "subscription": delivery.subscriptions[0].id,
    }
    try:
        answer = inbox.request("POST", "/v1/explain", msgspec.json.encode(query))
    except BrokerRefused:
        return None
    return explanation_from_json(answer.content)
