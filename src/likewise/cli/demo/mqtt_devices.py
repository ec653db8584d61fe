"""The devices of the city that speak MQTT: their reports go to Mosquitto, and a bridge brings them to the broker."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

from likewise.cli.demo.mosquitto import Mosquitto
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from likewise.demo import Report
    from likewise.server.mqtt.messages import Message
    from likewise.server.mqtt.publisher import MqttPublisher

VENDORS: Final = frozenset(("Wastely", "Velodock", "Portico", "Railboard", "Pumpwright", "Kilowise"))


class DeviceLine:
    """A connection to Mosquitto, or none: then every device uses HTTP. `broken` says once that it was lost."""

    def __init__(self, mosquitto: Mosquitto) -> None:
        self.broken = ""
        self._mosquitto = mosquitto
        self._publisher: MqttPublisher | None = None
        self._open = ExitStack()

    @property
    def said(self) -> str:
        """Where it goes, for people."""
        if self._publisher is None:
            return self._mosquitto.absent or self.broken
        return f"{self._mosquitto.url}/city/#  (six vendors' devices speak it; the broker has a bridge there)"

    def publish(self, reports: Sequence[Report], seconds: int) -> list[Report]:
        """Publish what comes from devices that speak MQTT, valid for some seconds; the others are returned."""
        self.broken = ""
        own = [each for each in reports if each.device.dialect.vendor in VENDORS]
        if self._publisher is None or not own:
            return list(reports)
        try:
            self._publisher.publish(report_message(each, seconds) for each in own)
        except LikewiseError as error:
            self._open.close()
            self._publisher = None
            self.broken = f"Mosquitto is gone ({error})"
            return list(reports)
        return [each for each in reports if each.device.dialect.vendor not in VENDORS]

    def __enter__(self) -> Self:
        if self._mosquitto.url:
            from likewise.server.mqtt.publisher import MqttPublisher

            self._publisher = self._open.enter_context(MqttPublisher(self._mosquitto.url))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def report_message(report: Report, seconds: int) -> Message:
    """A report as its device sends it: the vendor's own payload to the device's topic, and the id beside it.

    >>> from likewise.demo import City
    >>> made = report_message(City(seed=3).between(0, 1)[0], 600)
    >>> made.topic.startswith("city/"), made.payload[:1], made.qos, made.expiry
    (True, b'{', 1, 600)
    """
    import msgspec

    from likewise.server.mqtt.messages import Message

    body = msgspec.json.encode(report.payload)
    return Message(report.source, body, "application/json", (("id", report.id),), seconds, qos=1)
