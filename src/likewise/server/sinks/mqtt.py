"""A topic of a broker of MQTT: each match is published with QoS 1, and accepted when that broker acknowledges it.

Score, cause, sequence, the match's id, the event's source and, where asked for, `because` are user properties (MQTT 5).
`likewise.server.mqtt.outgoing` speaks the protocol; what was not acknowledged is sent again on a new connection.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from likewise.api.sinks import MqttTopic
from likewise.extras import require
from likewise.server.mqtt.addresses import parted
from likewise.server.mqtt.client import Address
from likewise.server.mqtt.outgoing import FAILED, SendingLine
from likewise.server.sinks.networks import Network, reachable
from likewise.server.sinks.resolver import Resolve, resolve_alone
from likewise.server.sinks.target import NotNow, Parcel, Refused
from likewise.server.sinks.templates import fill_topic, mqtt_text, values_of

_MAY_PASS: Final = frozenset({0x80, 0x83, 0x91, 0x97})  # unspecified, the broker's own, packet id in use, quota
_LONGEST_TEXT: Final = 65_535  # bytes of a topic, or of a user property


class MqttTarget:
    """Publishes parcels over one connection, which is made when it is needed."""

    def __init__(
        self, wanted: MqttTopic, uid: str, allowed: Sequence[Network], resolve: Resolve = resolve_alone
    ) -> None:
        require("mqtt", "a target of MQTT")
        self._wanted = wanted
        self._name = f"likewise-target-{uid[:16]}"
        self._allowed, self._resolve = allowed, resolve
        self._line: SendingLine | None = None

    async def send(self, parcel: Parcel) -> None:
        """Publish it; returns when that broker has acknowledged it."""
        try:
            async with asyncio.timeout(self._wanted.timeout):
                line = await self._connected()
                message = message_of(parcel, self._wanted)
                check_size(message, line.most_bytes())
                acknowledged = line.publish(message)
                either: set[asyncio.Future[Any]] = {acknowledged, line.lost}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            self._abort()
            raise NotNow(f"no acknowledgement within {self._wanted.timeout:g} s") from None
        except Refused:
            raise
        except BaseException:
            self._abort()
            raise
        if not acknowledged.done():
            self._abort()
            raise NotNow("the connection was lost before the acknowledgement")
        code = acknowledged.result()
        if code >= FAILED:
            words = f"that broker answered with reason code {code:#04x}"
            raise NotNow(words) if code in _MAY_PASS else Refused(words)

    async def _connected(self) -> SendingLine:
        if self._line is not None and not self._line.lost.done():
            return self._line
        await self.close()
        found = parted(self._wanted.url)
        [address, *_] = await reachable(found.host, found.port, self._allowed, self._resolve)
        tls = _named_tls(found.host) if found.scheme == "mqtts" else None
        username = self._wanted.username or found.username
        self._line = line = SendingLine(self._name)  # so that whatever ends this ends the connection
        try:
            await line.connect(Address(address, found.port, tls, username, self._wanted.password or found.password))
        except (OSError, TimeoutError) as error:
            raise NotNow(f"the connection failed: {type(error).__name__}: {error}") from None
        except Exception as refused:  # refused credentials, a broken answer
            said = str(refused) if isinstance(refused, _connect_error()) else type(refused).__name__
            raise NotNow(f"that broker refuses the connection: {said}") from None
        return line

    async def close(self) -> None:
        """End the connection; that broker is told, and not waited for."""
        line, self._line = self._line, None
        if line is not None:
            line.hang_up()

    def _abort(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.abort()


def message_of(parcel: Parcel, wanted: MqttTopic) -> Any:
    """What is published of a match; `Refused` if its topic is longer than MQTT can say."""
    import gmqtt

    topic = fill_topic(wanted.topic, values_of(parcel))
    if len(topic.encode()) > _LONGEST_TEXT:
        raise Refused(f"the topic has {len(topic.encode())} bytes with what the event says; at most {_LONGEST_TEXT}")
    return gmqtt.Message(
        topic,
        parcel.body,
        qos=1,
        retain=wanted.retain,
        content_type=parcel.media_type,
        user_property=properties_of(parcel),
    )


def check_size(message: Any, most: int) -> None:
    """Refuse what that broker has said is too large for it: it would end the connection each time."""
    properties = sum(
        5 + len(name.encode()) + len(value.encode()) for name, value in message.properties["user_property"]
    )
    properties += 3 + len(message.properties["content_type"].encode())
    rest = 2 + len(message.topic) + 2 + _length(properties) + properties + message.payload_size
    size = 1 + _length(rest) + rest
    if size > most:
        raise Refused(f"as a packet of MQTT it has {size} bytes, and that broker takes at most {most}")


def _length(number: int) -> int:
    """How many bytes MQTT writes a length with.

    >>> _length(127), _length(128), _length(16_384)
    (1, 2, 3)
    """
    return max(1, -(-number.bit_length() // 7))


def properties_of(parcel: Parcel) -> list[tuple[str, str]]:
    """What a match says beside its payload; what is too long for a property is left out."""
    match = parcel.match
    said = [
        ("id", match.id),
        ("subscription", match.subscription),
        ("score", f"{match.score:.6g}"),
        ("cause", match.cause),
        ("sequence", str(match.sequence)),
    ]
    if parcel.because:
        said.append(("because", msgspec.json.encode(parcel.because).decode()))
    clean = [(name, mqtt_text(value)) for name, value in said]
    return [(name, value) for name, value in clean if len(value.encode()) <= _LONGEST_TEXT]


def _connect_error() -> type[Exception]:
    """What gmqtt says in words of its own; any other error may quote what came."""
    from gmqtt.mqtt.handler import MQTTConnectError

    found: type[Exception] = MQTTConnectError
    return found


class _Named(ssl.SSLContext):
    """Checks the certificate of a name while connected to one of its addresses."""

    name = ""

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """As ever, for the name."""
        return super().wrap_bio(incoming, outgoing, server_side, self.name, session)


def _named_tls(name: str) -> ssl.SSLContext:
    found = _Named(ssl.PROTOCOL_TLS_CLIENT)
    found.name = name
    found.load_default_certs()
    return found
