"""A message as MQTT brings it, whoever received it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

NORMALIZED: Final = ("normalized-by", "likewise")  # the user property of what a normaliser publishes
_NEVER: Final = "\x00-\x1f\x7f-\x9f\ufdd0-\ufdef" + "".join(  # in texts of MQTT: control, and what is no character
    chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)
)
_NOT_IN_MQTT: Final = re.compile(f"[{_NEVER}]")
_NOT_IN_TOPICS: Final = re.compile(f"[/+#{_NEVER}]")


def mqtt_text(text: str) -> str:
    """Return a text with `_` for each character that MQTT brokers may refuse (MQTT 5, 1.5.4).

    >>> mqtt_text("a\\x00b\\x85c\\uffff d")
    'a_b_c_ d'
    """
    return _NOT_IN_MQTT.sub("_", text)


def topic_level(text: str) -> str:
    """Return a text as one level of a topic: without `/`, wildcards and what brokers may refuse, and never empty.

    >>> topic_level("hall/+"), topic_level("")
    ('hall__', '_')
    """
    return _NOT_IN_TOPICS.sub("_", text) or "_"


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

    @property
    def is_normalized(self) -> bool:
        """Whether a normaliser published it, this one or another."""
        return NORMALIZED in self.properties
