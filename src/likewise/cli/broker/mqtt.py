"""Events of `likewise publish` to a broker of MQTT."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

import msgspec

if TYPE_CHECKING:
    from likewise.model import Event


class Taken(msgspec.Struct, frozen=True, omit_defaults=True):
    """What that broker acknowledged: to which topic, and the event's id if it has one."""

    topic: str
    id: str | None = None


class MqttEvents:
    """Publishes events as messages of QoS 1, our envelope each, to the topic that the address names."""

    def __init__(self, url: str, source: str | None, password: str | None, ca: str | None) -> None:
        from likewise.errors import InputError
        from likewise.server.mqtt.publisher import MqttPublisher

        self._source = source
        self._publisher = MqttPublisher(url, password=password, ca=ca)
        if not self._publisher.topic:
            raise InputError("the address names no topic; write it like mqtt://host:1883/city/{source}")

    def publish_all(self, events: Iterable[Event]) -> list[Taken]:
        """Publish events in their order; returns when that broker has acknowledged all of them."""
        from likewise.matching.matcher import system_clock
        from likewise.server.mqtt.publisher import event_message

        now, topic = system_clock(), self._publisher.topic
        given = [each if each.source else msgspec.structs.replace(each, source=self._source) for each in events]
        messages = [event_message(each, topic, now) for each in given]
        self._publisher.publish(messages)
        return [Taken(message.topic, event.id) for message, event in zip(messages, given, strict=True)]

    def __enter__(self) -> Self:
        self._publisher.__enter__()
        return self

    def __exit__(self, *said: object) -> None:
        self._publisher.__exit__(*said)
