"""The packets of MQTT 3.1.1 and 5 as immutable values; one struct a packet for both versions.

What only 5 can say has a default that says nothing, and is left out where a packet is encoded for 3.1.1. Reason codes
are those of 5 (`Reason`); CONNACK's and SUBACK's are translated for 3.1.1.
"""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties

MQTT_3_1_1: Final = 4  # protocol levels
MQTT_5: Final = 5


class Will(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """The message that is published when the connection breaks; its delay is the property `will_delay`."""

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: Properties = NO_PROPERTIES


class Connect(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """A client's first packet. `clean_start` is 3.1.1's clean session, too; `client_id` may be ''."""

    client_id: str
    version: int = MQTT_5
    clean_start: bool = True
    keep_alive: int = 0  # seconds; 0 for none
    username: str | None = None
    password: bytes | None = None
    will: Will | None = None
    properties: Properties = NO_PROPERTIES


class Connack(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """The answer to a Connect."""

    session_present: bool = False
    reason: int = 0
    properties: Properties = NO_PROPERTIES


class Publish(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """A message. `packet_id` is 0 with QoS 0. A decoder fills in the topic that an alias stands for."""

    topic: str
    payload: bytes = b""
    qos: int = 0
    retain: bool = False
    dup: bool = False
    packet_id: int = 0
    properties: Properties = NO_PROPERTIES


class Acknowledgement(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """An answer to a message, or to another answer; one of the four kinds below."""

    packet_id: int
    reason: int = 0
    properties: Properties = NO_PROPERTIES


class Puback(Acknowledgement, frozen=True, gc=False, repr_omit_defaults=True):
    """QoS 1: the message is taken, or refused."""


class Pubrec(Acknowledgement, frozen=True, gc=False, repr_omit_defaults=True):
    """QoS 2, first answer: the message is taken, or refused."""


class Pubrel(Acknowledgement, frozen=True, gc=False, repr_omit_defaults=True):
    """QoS 2: the sender forgets the message and asks for its id to be free again."""


class Pubcomp(Acknowledgement, frozen=True, gc=False, repr_omit_defaults=True):
    """QoS 2, last answer: the id is free again."""


class FilterRequest(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """One filter of a Subscribe with its options; `retain_handling`: 0 send, 1 send if new, 2 send none."""

    filter: str
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    retain_handling: int = 0


class Subscribe(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """Filters that a client asks for, at least one."""

    packet_id: int
    requests: tuple[FilterRequest, ...]
    properties: Properties = NO_PROPERTIES


class Suback(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """The QoS granted to each filter, or why it is refused."""

    packet_id: int
    reasons: tuple[int, ...]
    properties: Properties = NO_PROPERTIES


class Unsubscribe(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """Filters that a client no longer asks for, at least one."""

    packet_id: int
    filters: tuple[str, ...]
    properties: Properties = NO_PROPERTIES


class Unsuback(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """The answer to an Unsubscribe; 3.1.1 says no reasons."""

    packet_id: int
    reasons: tuple[int, ...] = ()
    properties: Properties = NO_PROPERTIES


class Pingreq(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """Are you there?"""


class Pingresp(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """Yes."""


class Disconnect(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """The end of a connection. A server says it in 5 only; to a client of 3.1.1 it just closes."""

    reason: int = 0
    properties: Properties = NO_PROPERTIES


class Auth(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """A step of extended authentication; 5 only."""

    reason: int = 0
    properties: Properties = NO_PROPERTIES


Packet = (
    Connect
    | Connack
    | Publish
    | Acknowledgement
    | Subscribe
    | Suback
    | Unsubscribe
    | Unsuback
    | Pingreq
    | Pingresp
    | Disconnect
    | Auth
)
