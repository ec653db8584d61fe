"""The kinds of packets by their numbers (MQTT 5.0, section 2.1.2), and a will, which has properties of its own."""

from __future__ import annotations

from typing import Final

WILL: Final = 0  # stands in a CONNECT; 0 is no packet's number
CONNECT: Final = 1
CONNACK: Final = 2
PUBLISH: Final = 3
PUBACK: Final = 4
PUBREC: Final = 5
PUBREL: Final = 6
PUBCOMP: Final = 7
SUBSCRIBE: Final = 8
SUBACK: Final = 9
UNSUBSCRIBE: Final = 10
UNSUBACK: Final = 11
PINGREQ: Final = 12
PINGRESP: Final = 13
DISCONNECT: Final = 14
AUTH: Final = 15

NAMES: Final = (
    "will",
    "CONNECT",
    "CONNACK",
    "PUBLISH",
    "PUBACK",
    "PUBREC",
    "PUBREL",
    "PUBCOMP",
    "SUBSCRIBE",
    "SUBACK",
    "UNSUBSCRIBE",
    "UNSUBACK",
    "PINGREQ",
    "PINGRESP",
    "DISCONNECT",
    "AUTH",
)
FLAGS: Final = tuple(2 if kind in (PUBREL, SUBSCRIBE, UNSUBSCRIBE) else 0 for kind in range(16))  # but a PUBLISH's
BY_A_SERVER: Final = frozenset({CONNACK, SUBACK, UNSUBACK, PINGRESP})  # and never by a client
BY_A_CLIENT: Final = frozenset({CONNECT, SUBSCRIBE, UNSUBSCRIBE, PINGREQ})
