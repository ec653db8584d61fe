"""Where sources announce themselves and are told over MQTT: topics of their own, and the message of what is said.

A device publishes its announcement to `likewise/announcements/SOURCE`, an empty one to revoke it, and is told on
`likewise/sense/SOURCE`; that message is retained, so whoever connects later has the newest word. The topics are the
same where it connects to the broker itself and behind a bridge.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

import msgspec

from likewise.api.sources import SensingCommand
from likewise.broker.log.mqtt.messages import StoredMessage

ANNOUNCEMENTS: Final = "likewise/announcements/"
SENSE: Final = "likewise/sense/"
_NOT_IN_TOPICS: Final = {ord(sign): f"%{ord(sign):02X}" for sign in "%+#\0"}
_ENCODE: Final = msgspec.json.Encoder().encode
_DECODE: Final = msgspec.json.Decoder(SensingCommand).decode


def sense_topic(source: str) -> str:
    """Where a source is told; what a topic cannot have is percent-encoded.

    >>> sense_topic("roof/1"), sense_topic("50% + 1")
    ('likewise/sense/roof/1', 'likewise/sense/50%25 %2B 1')
    """
    return SENSE + source.translate(_NOT_IN_TOPICS)


def source_in(topic: str, prefix: str) -> str:
    """The source that a topic below a prefix names; '' if it is not below it.

    >>> source_in("likewise/announcements/roof/1", ANNOUNCEMENTS), source_in("home/attic", ANNOUNCEMENTS)
    ('roof/1', '')
    """
    return unquote(topic[len(prefix) :]) if topic.startswith(prefix) else ""


def sense_message(said: SensingCommand) -> StoredMessage:
    """What a source is told, as a message that is retained.

    >>> sense_message(Sense("roof", True, 7, 60.0)).payload
    b'{"source":"roof","on":true,"version":7,"interval":60.0}'
    """
    return StoredMessage(sense_topic(said.source), _ENCODE(said), 1, retain=True)


def clear_sense_message(source: str) -> StoredMessage:
    """The empty message that ends what was retained: the source is told nothing any more."""
    return StoredMessage(sense_topic(source), b"", 1, retain=True)


def decode_sense_message(message: StoredMessage) -> SensingCommand | None:
    """What a retained message told; None if it is none of ours."""
    try:
        return _DECODE(message.payload) if message.topic.startswith(SENSE) and message.payload else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
