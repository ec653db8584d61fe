"""A message as MQTT brings it, whoever received it."""

from __future__ import annotations

from typing import NamedTuple


class MqttPublication(NamedTuple):
    """A publication: `properties` are MQTT 5's user properties, `expiry` its Message Expiry in seconds."""

    topic: str
    payload: bytes
    content_type: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    expiry: int | None = None
    qos: int = 0
    retain: bool = False
    client: str = ""

    def user_property(self, name: str) -> str:
        """Return the first user property of a name; '' if there is none.

        >>> MqttPublication("a", b"1", properties=(("id", "m-1"),)).user_property("id")
        'm-1'
        """
        return next((value for key, value in self.properties if key == name), "")
