"""What `likewise subscribe` prints of a broker of MQTT: matches by meaning of Likewise, plain topics of any."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from likewise.api.deliveries import Because, Met
from likewise.cli.terminal import output

if TYPE_CHECKING:
    from likewise.model import Subscription
    from likewise.server.mqtt.codec import Publish
    from likewise.server.mqtt.subscriber import MqttSubscriber

SESSION: Final = 7 * 24 * 3600  # seconds that a name's session is kept
AGAIN: Final = 1.0  # seconds between two attempts to reach a broker


class MqttMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message as it is printed as JSON: JSON and text as they are, other bytes in Base64."""

    topic: str
    payload: msgspec.Raw | str = ""
    base64: str = ""
    subscriptions: tuple[Met, ...] = ()
    cause: str = ""
    sequence: int | None = None
    because: tuple[Because, ...] = ()
    retained: bool = False


def read_message(message: Publish) -> MqttMessage:
    """A message with what a broker of Likewise says of it, if it is by meaning.

    >>> from likewise.server.mqtt.codec import Properties, Publish
    >>> said = (("subscriptions", '[{"id":"warm","score":0.9}]'), ("topic", "home/attic"), ("cause", "arrival"))
    >>> read_message(Publish("$likewise/warm", b"21.5", properties=Properties(user=said))).topic
    'home/attic'
    """
    said = dict(message.properties.user)  # ours stand last, so they count
    found: dict[str, Any] = {"topic": message.topic}
    if message.topic.startswith("$likewise/"):
        found["topic"] = said.get("topic") or message.topic
        found["subscriptions"] = msgspec.json.decode(said.get("subscriptions", "[]"), type=tuple[Met, ...])
        found["because"] = msgspec.json.decode(said.get("because", "[]"), type=tuple[Because, ...])
        found["cause"] = said.get("cause", "")
        found["sequence"] = int(said["sequence"]) if "sequence" in said else None
    try:
        text = message.payload.decode()
    except UnicodeDecodeError:
        return MqttMessage(base64=base64.b64encode(message.payload).decode(), retained=message.retain, **found)
    try:
        msgspec.json.decode(message.payload)
    except msgspec.DecodeError:
        return MqttMessage(payload=text, retained=message.retain, **found)
    return MqttMessage(payload=msgspec.Raw(message.payload), retained=message.retain, **found)


class MqttInbox:
    """Subscribes at a broker of MQTT and gives its messages; a broker that goes away is waited for."""

    def __init__(
        self, subscriber: MqttSubscriber, wanted: list[tuple[str, Subscription]], *, lasting: bool, why: bool
    ) -> None:
        from likewise.errors import InputError

        self._subscriber, self._why = subscriber, why
        self._qos = 1 if lasting else 0
        names = [name or f"s{place}" for place, (name, _) in enumerate(wanted, 1)]
        self._wanted = list(zip(names, [each for _, each in wanted], strict=True))
        if not wanted and not subscriber.topic:
            raise InputError("nothing to wait for: give a subscription, or a topic like mqtt://host:1883/home/#")

    def read(self, show: Callable[[MqttMessage], bool]) -> None:
        """Show messages and acknowledge each, until `show` says that it was the last."""
        from likewise.errors import Unavailable

        said = False
        while True:
            try:
                with self._subscriber as line:
                    self._subscribe(line)
                    said = False
                    for message in line:
                        more = show(read_message(message))
                        line.acknowledge(message)
                        if not more:
                            return
            except Unavailable as error:
                if not said:
                    output.remark(f"{error} Waiting for it; Ctrl-C ends it.")
                said = True
                time.sleep(AGAIN)

    def _subscribe(self, line: MqttSubscriber) -> None:
        from likewise.language import subscription_text
        from likewise.server.mqtt.subscriber import BY_MEANING

        if line.topic:
            line.subscribe(line.topic, self._qos)
        for name, subscription in self._wanted:
            line.subscribe(BY_MEANING + name, self._qos, meaning=subscription_text(subscription), explain=self._why)


def message_line(message: MqttMessage) -> object:
    """One message on one line: time, topic, what met the subscription and how well, then the payload."""
    from rich.text import Text

    from likewise.cli.terminal.rendering import clock, score_style
    from likewise.model.rendering import number

    earlier = message.cause == "initial" or message.retained
    line = Text.assemble(("earlier " if earlier else clock(time.time_ns() // 1000), "dim"), "  ")
    line.append(message.topic, "bold").append("  ")
    for part in (each for found in message.because[:1] for each in found.parts):
        line.append(f"{part.attribute}: {part.value}  " if part.attribute else f"{part.part}  ")
    for met in message.subscriptions:
        line.append(number(met.score), score_style(met.score)).append(f" {met.id}  ", "cyan")
    if message.cause not in ("", "arrival", "initial"):
        line.append(f"{message.cause}  ", "magenta")
    payload = message.payload if isinstance(message.payload, str) else bytes(message.payload).decode()
    shown = payload or (f"({message.base64[:24]}… in Base64)" if message.base64 else "(empty)")
    line.append(" ".join(shown.split()), "dim")
    if (room := output.width()) is not None:
        line.truncate(room, overflow="ellipsis")
    return line


def print_messages(inbox: MqttInbox, count: int | None, as_json: bool) -> None:
    """Print what comes until so many were printed."""
    printed = 0

    def show(message: MqttMessage) -> bool:
        nonlocal printed
        if as_json:
            output.print_json(message)
        else:
            output.console().print(message_line(message), soft_wrap=True)
        printed += 1
        return printed != count

    inbox.read(show)
