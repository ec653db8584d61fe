"""The kinds of packets by their numbers (MQTT 5.0, section 2.1.2), and a will, which has properties of its own."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class PacketType(IntEnum):
    """The number of a kind of packet, in the first half of its first byte."""

    WILL = 0  # stands in a CONNECT; 0 is no packet's number
    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14
    AUTH = 15


PUBLISH: Final = 3  # a plain number, which every message that comes or goes is compared with
NAMES: Final = ("will", *(kind.name for kind in PacketType if kind))
_WITH_FLAGS: Final = (PacketType.PUBREL, PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE)
FLAGS: Final = tuple(2 if kind in _WITH_FLAGS else 0 for kind in PacketType)  # but a PUBLISH's
# Packets that one side alone may send.
BY_A_SERVER: Final = frozenset((PacketType.CONNACK, PacketType.SUBACK, PacketType.UNSUBACK, PacketType.PINGRESP))
BY_A_CLIENT: Final = frozenset((PacketType.CONNECT, PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE, PacketType.PINGREQ))
