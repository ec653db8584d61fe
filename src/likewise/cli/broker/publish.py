"""`likewise publish`: events from a file or standard input to a broker.

Events of `likewise publish` to a broker of MQTT.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Self

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.event_input import EventReader
from likewise.cli.terminal.options import AsJson, BrokerOptions, FormatOptions, KeepGoing, with_option_groups

if TYPE_CHECKING:
    from likewise.cli.terminal.event_input import InputLocation
    from likewise.client import Publisher
    from likewise.model import Event


class MqttReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The acknowledgement of an MQTT broker: the topic, and the event's id if it has one."""

    topic: str
    id: str | None = None


class MqttEventPublisher:
    """Publishes events as messages of QoS 1, our envelope each, to the topic that the address names."""

    def __init__(self, url: str, source: str | None, password: str | None, ca: str | None) -> None:
        from likewise.errors import InputError
        from likewise.server.mqtt.publisher import MqttPublisher

        self._source = source
        self._publisher = MqttPublisher(url, password=password, ca=ca)
        if not self._publisher.topic:
            raise InputError("the address names no topic; write it like mqtt://host:1883/city/{source}")

    def publish_all(self, events: Iterable[Event]) -> list[MqttReceipt]:
        """Publish events in their order; returns when that broker has acknowledged all of them."""
        from likewise.matching.matcher import system_clock
        from likewise.server.mqtt.publisher import event_message

        now, topic = system_clock(), self._publisher.topic
        complete = [each if each.source else msgspec.structs.replace(each, source=self._source) for each in events]
        messages = [event_message(each, topic, now) for each in complete]
        self._publisher.publish(messages)
        return [MqttReceipt(message.topic, event.id) for message, event in zip(messages, complete, strict=True)]

    def __enter__(self) -> Self:
        self._publisher.__enter__()
        return self

    def __exit__(self, *said: object) -> None:
        self._publisher.__exit__(*said)


BATCH = 200  # events sent together when there is no rate to keep


@with_option_groups
def publish(
    broker: BrokerOptions,
    written: FormatOptions,
    events: Annotated[str, typer.Argument(metavar="FILE", help="Events; - is standard input.")] = "-",
    source: Annotated[str | None, typer.Option("--source", help="The source of events that name none.")] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0.001, help="Events a second; without it, at once.")
    ] = None,
    keep_going: KeepGoing = False,
    as_json: AsJson = False,
) -> None:
    """Publish events; each is on the broker's disk before the next ones are sent.

    They stand one a line, as text or JSON, or the file is RDF (.ttl, .nt, .nq, .trig, .jsonld) or SenML (.senml);
    --format says so where its name does not. What cannot be read ends it, or is reported and counted with
    --keep-going; the exit code is 2 then.

    An --address like mqtt://host:1883/city/{source} is a broker of MQTT and a topic there: each event is a message of
    QoS 1, and `published` means acknowledged by that broker.

    Example: `echo '{no2: 45, city: Zagreb}' | likewise publish`
    """
    reader = EventReader(events, written, keep_going=keep_going, as_json=as_json)
    count, begun = 0, time.monotonic()
    with _publisher(broker, source) as out:
        batch: list[tuple[InputLocation, Event]] = []
        try:
            for place, event in reader:
                batch.append((place, event))
                if rate is not None:
                    time.sleep(max(0.0, begun + count / rate - time.monotonic()))
                if rate is not None or len(batch) >= BATCH or events == "-":
                    count += _publish_batch(out, batch, reader)
                    batch = []
            count += _publish_batch(out, batch, reader)
        except KeyboardInterrupt:
            output.print_note(f"Stopped; {count:,} event{'' if count == 1 else 's'} published until then.")
            raise
    if not as_json:
        bad = f"; {reader.left_out}" if reader.bad else ""
        output.print_line(f"Published {count:,} event{'' if count == 1 else 's'}{bad}.")
    if reader.bad:
        raise typer.Exit(output.BAD_INPUT)


def _publisher(broker: BrokerOptions, source: str | None) -> Publisher | MqttEventPublisher:
    address = broker.address or ""
    if not address.startswith(("mqtt://", "mqtts://")):
        return broker.publisher(source)
    return MqttEventPublisher(address, source, broker.token, broker.ca)


def _publish_batch(
    out: Publisher | MqttEventPublisher, batch: list[tuple[InputLocation, Event]], reader: EventReader
) -> int:
    """Send a batch, which is taken or refused as a whole; one that is refused one by one, if one is to keep going."""
    from likewise.client import BrokerRefused

    try:
        receipts = out.publish_all(event for _, event in batch)
    except BrokerRefused as refused:
        if len(batch) == 1:
            refused.add_note(batch[0][0].text)
            reader.report(refused)
            return 0
        if not reader.keep_going:
            raise
        return sum(_publish_batch(out, [each], reader) for each in batch)
    if reader.as_json:
        for receipt in receipts:
            output.print_json(receipt)
    return len(receipts)
