"""Reason codes of MQTT 5 (section 2.4), and the return codes of MQTT 3.1.1 in their place."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from likewise.server.mqtt.codec.packet_types import PacketType


class Reason(IntEnum):
    """A reason code; from 0x80 on it says that something failed. The names are the standard's.

    >>> Reason.QUOTA_EXCEEDED, Reason.QUOTA_EXCEEDED >= FAILED
    (<Reason.QUOTA_EXCEEDED: 151>, True)
    """

    SUCCESS = 0x00
    GRANTED_QOS_1 = 0x01
    GRANTED_QOS_2 = 0x02
    DISCONNECT_WITH_WILL = 0x04
    NO_MATCHING_SUBSCRIBERS = 0x10
    NO_SUBSCRIPTION_EXISTED = 0x11
    CONTINUE_AUTHENTICATION = 0x18
    RE_AUTHENTICATE = 0x19
    UNSPECIFIED_ERROR = 0x80
    MALFORMED_PACKET = 0x81
    PROTOCOL_ERROR = 0x82
    IMPLEMENTATION_SPECIFIC_ERROR = 0x83
    UNSUPPORTED_PROTOCOL_VERSION = 0x84
    CLIENT_IDENTIFIER_NOT_VALID = 0x85
    BAD_USER_NAME_OR_PASSWORD = 0x86
    NOT_AUTHORIZED = 0x87
    SERVER_UNAVAILABLE = 0x88
    SERVER_BUSY = 0x89
    BANNED = 0x8A
    SERVER_SHUTTING_DOWN = 0x8B
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    SESSION_TAKEN_OVER = 0x8E
    TOPIC_FILTER_INVALID = 0x8F
    TOPIC_NAME_INVALID = 0x90
    PACKET_IDENTIFIER_IN_USE = 0x91
    PACKET_IDENTIFIER_NOT_FOUND = 0x92
    RECEIVE_MAXIMUM_EXCEEDED = 0x93
    TOPIC_ALIAS_INVALID = 0x94
    PACKET_TOO_LARGE = 0x95
    MESSAGE_RATE_TOO_HIGH = 0x96
    QUOTA_EXCEEDED = 0x97
    ADMINISTRATIVE_ACTION = 0x98
    PAYLOAD_FORMAT_INVALID = 0x99
    RETAIN_NOT_SUPPORTED = 0x9A
    QOS_NOT_SUPPORTED = 0x9B
    USE_ANOTHER_SERVER = 0x9C
    SERVER_MOVED = 0x9D
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E
    CONNECTION_RATE_EXCEEDED = 0x9F
    MAXIMUM_CONNECT_TIME = 0xA0
    SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED = 0xA1
    WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED = 0xA2


FAILED: Final = 0x80  # reason codes from here on say that something failed

_TAKING: Final = frozenset({0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99})
_RELEASING: Final = frozenset({0x00, 0x92})
REASONS: Final[dict[int, frozenset[int]]] = {  # which packet may say which
    PacketType.CONNACK: frozenset(
        {0x00, *range(0x80, 0x8B), 0x8C, 0x90, 0x95, 0x97, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9F}
    ),
    PacketType.PUBACK: _TAKING,
    PacketType.PUBREC: _TAKING,
    PacketType.PUBREL: _RELEASING,
    PacketType.PUBCOMP: _RELEASING,
    PacketType.SUBACK: frozenset({0x00, 0x01, 0x02, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2}),
    PacketType.UNSUBACK: frozenset({0x00, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91}),
    PacketType.DISCONNECT: frozenset(
        {0x00, 0x04, *range(0x80, 0x84), 0x87, 0x89, 0x8B, *range(0x8D, 0x91), *range(0x93, 0xA3)}
    ),
    PacketType.AUTH: frozenset({0x00, 0x18, 0x19}),
}
_RETURN_CODES: Final = {  # of MQTT 3.1.1's CONNACK (section 3.2.2.3)
    Reason.SUCCESS: 0,
    Reason.UNSUPPORTED_PROTOCOL_VERSION: 1,
    Reason.CLIENT_IDENTIFIER_NOT_VALID: 2,
    Reason.BAD_USER_NAME_OR_PASSWORD: 4,
    Reason.NOT_AUTHORIZED: 5,
    Reason.BANNED: 5,
    Reason.BAD_AUTHENTICATION_METHOD: 5,
}
_RETURNED: Final = {
    1: Reason.UNSUPPORTED_PROTOCOL_VERSION,
    2: Reason.CLIENT_IDENTIFIER_NOT_VALID,
    3: Reason.SERVER_UNAVAILABLE,
    4: Reason.BAD_USER_NAME_OR_PASSWORD,
    5: Reason.NOT_AUTHORIZED,
    0: Reason.SUCCESS,
}


def return_code(reason: int) -> int:
    """Return the CONNACK code of MQTT 3.1.1 for a reason code; 3 (unavailable) where it has none.

    >>> return_code(Reason.BAD_USER_NAME_OR_PASSWORD), return_code(Reason.QUOTA_EXCEEDED)
    (4, 3)
    """
    return _RETURN_CODES.get(reason, 3)  # type: ignore[call-overload,no-any-return]


def reason_of_return_code(code: int) -> Reason | None:
    """Return the reason code for a CONNACK code of MQTT 3.1.1; None if it is unknown."""
    return _RETURNED.get(code)
