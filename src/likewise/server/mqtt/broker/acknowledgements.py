"""What a client is told about its messages: taken, when they are on disk; or refused, and why.

Who speaks MQTT 5 is told the reason; who speaks 3.1.1 can only be told that it was taken, so what is refused is kept
as a dead letter. What cannot be stored now is not acknowledged: the connection ends, and the client repeats it.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_DEAD_LETTER_BYTES
from likewise.errors import (
    AccessError,
    FormatError,
    InvalidEvent,
    LikewiseError,
    LimitExceeded,
    RateExceeded,
    Unavailable,
)
from likewise.server.mqtt.broker.connection import Connection
from likewise.server.mqtt.broker.delivery.context import Home
from likewise.server.mqtt.codec import MQTT_5, Puback, Publish, Pubrec, Pubrel, Reason, encode

_log = structlog.get_logger("likewise.mqtt")
Acknowledge = Callable[[Connection, Publish], None]


class Answers:
    """Acknowledges and refuses messages."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def acknowledge(self, connection: Connection, packet: Publish) -> None:
        """Tell a client that a message of QoS 1 or 2 was taken."""
        if packet.qos == 2:
            self.received(connection, packet)
        else:
            connection.taken -= 1
            connection.say(Puback(packet.packet_id))

    def received(self, connection: Connection, packet: Publish) -> None:
        """A message of QoS 2 is on disk."""
        session = connection.session
        assert session is not None
        hasty = session.received.get(packet.packet_id, False) is None
        session.received[packet.packet_id] = True
        line = session.connection or connection  # the client may have come back meanwhile, and waits there
        line.send(encode(Pubrec(packet.packet_id), line.version))
        if hasty:
            connection.server.acknowledge(connection, Pubrel(packet.packet_id))

    def refuse(self, connection: Connection, packet: Publish, error: BaseException) -> None:
        """Say why a message is refused; who cannot be told has it kept as a dead letter."""
        tenant, session = connection.tenant, connection.session
        assert tenant is not None
        assert session is not None
        counters, broker = self._home.counters(tenant), self._home.broker
        counters.refused += 1
        later = connection.version != MQTT_5 and isinstance(error, LikewiseError) and not isinstance(error, Unavailable)
        if packet.qos == 2 and later:  # taken, and to be released, once it is set aside
            session.received.setdefault(packet.packet_id, False)
        elif packet.qos == 2:
            session.received.pop(packet.packet_id, None)
        if not isinstance(error, LikewiseError) or isinstance(error, Unavailable):
            if not isinstance(error, LikewiseError):
                _log.error("a message could not be stored", topic=packet.topic[:200], exc_info=error)
            connection.end(Reason.SERVER_BUSY, f"what was sent is not stored: {error}")
            return
        broker.metrics.refused(tenant.name, error.code)
        if not packet.qos:
            self.set_aside(tenant, packet, error, lambda: None)
        elif connection.version == MQTT_5:
            made = Puback if packet.qos == 1 else Pubrec
            answer = made(packet.packet_id, reason_of(error), connection.told(str(error)))

            def told() -> None:
                connection.taken -= 1
                connection.say(answer)

            if isinstance(error, AccessError):
                told()
            else:
                self.set_aside(tenant, packet, error, told)
        else:
            self.set_aside(tenant, packet, error, lambda: self.acknowledge(connection, packet))

    def set_aside(self, tenant: Tenant, packet: Publish, error: LikewiseError, then: Callable[[], None]) -> None:
        """Keep a refused message as a dead letter, then go on."""
        kind = packet.properties.content_type or "application/octet-stream"
        said = FormatError(f"published to {packet.topic[:200]!r}: {error}")
        self._home.broker.set_aside(
            tenant, said, packet.payload[:MAX_DEAD_LETTER_BYTES], lambda result: self._home.bridge.call(then), kind
        )


def reason_of(error: LikewiseError) -> Reason:
    """The reason code that an error is said with.

    >>> from likewise.errors import NotAllowed
    >>> reason_of(NotAllowed("publish")).name, reason_of(FormatError("no JSON")).name
    ('NOT_AUTHORIZED', 'PAYLOAD_FORMAT_INVALID')
    """
    match error:
        case RateExceeded() | LimitExceeded():
            return Reason.QUOTA_EXCEEDED
        case AccessError():
            return Reason.NOT_AUTHORIZED
        case FormatError() | InvalidEvent():
            return Reason.PAYLOAD_FORMAT_INVALID
        case _:
            return Reason.IMPLEMENTATION_SPECIFIC_ERROR


__all__ = ["Acknowledge", "Answers", "reason_of"]
