"""MQTT topics for announcements and sensing commands, and the messages on them.

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
    """Return the topic of a source's sensing commands, percent-encoded where a topic needs it.

    >>> sense_topic("roof/1"), sense_topic("50% + 1")
    ('likewise/sense/roof/1', 'likewise/sense/50%25 %2B 1')
    """
    return SENSE + source.translate(_NOT_IN_TOPICS)


def source_in(topic: str, prefix: str) -> str:
    """Return the source that a topic below a prefix names; '' if it is not below it.

    >>> source_in("likewise/announcements/roof/1", ANNOUNCEMENTS), source_in("home/attic", ANNOUNCEMENTS)
    ('roof/1', '')
    """
    return unquote(topic[len(prefix) :]) if topic.startswith(prefix) else ""


def sense_message(command: SensingCommand) -> StoredMessage:
    """Return a sensing command as a retained message.

    >>> sense_message(SensingCommand("roof", True, 7, 60.0)).payload
    b'{"source":"roof","on":true,"version":7,"interval":60.0}'
    """
    return StoredMessage(sense_topic(command.source), _ENCODE(command), 1, retain=True)


def clear_sense_message(source: str) -> StoredMessage:
    """Return the empty message that removes a source's retained sensing command."""
    return StoredMessage(sense_topic(source), b"", 1, retain=True)


def decode_sense_message(message: StoredMessage) -> SensingCommand | None:
    """Decode a sensing command from a retained message; None if the message is none."""
    try:
        return _DECODE(message.payload) if message.topic.startswith(SENSE) and message.payload else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
