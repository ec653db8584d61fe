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

from likewise.api.sinks import MqttTargetSettings
from likewise.extras import require
from likewise.server.mqtt.broker_urls import parse_mqtt_url
from likewise.server.mqtt.client import BrokerAddress
from likewise.server.mqtt.outgoing import FAILED, PublishConnection
from likewise.server.sinks.networks import Network, reachable
from likewise.server.sinks.resolver import Resolve, resolve_untenanted
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure
from likewise.server.sinks.templates import fill_topic, match_values, mqtt_text

_MAY_PASS: Final = frozenset({0x80, 0x83, 0x91, 0x97})  # unspecified, the broker's own, packet id in use, quota
_LONGEST_TEXT: Final = 65_535  # bytes of a topic, or of a user property


class MqttTarget:
    """Publishes parcels over one connection, which is made when it is needed."""

    def __init__(
        self, settings: MqttTargetSettings, uid: str, allowed: Sequence[Network], resolve: Resolve = resolve_untenanted
    ) -> None:
        require("mqtt", "a target of MQTT")
        self._settings = settings
        self._name = f"likewise-target-{uid[:16]}"
        self._allowed, self._resolve = allowed, resolve
        self._connection: PublishConnection | None = None

    async def send(self, parcel: Parcel) -> None:
        """Publish it; returns when that broker has acknowledged it."""
        try:
            async with asyncio.timeout(self._settings.timeout):
                line = await self._connected()
                message = mqtt_message(parcel, self._settings)
                check_size(message, line.most_bytes())
                acknowledged = line.publish(message)
                either: set[asyncio.Future[Any]] = {acknowledged, line.lost}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            self._abort()
            raise TransientFailure(f"no acknowledgement within {self._settings.timeout:g} s") from None
        except PermanentFailure:
            raise
        except BaseException:
            self._abort()
            raise
        if not acknowledged.done():
            self._abort()
            raise TransientFailure("the connection was lost before the acknowledgement")
        code = acknowledged.result()
        if code >= FAILED:
            words = f"that broker answered with reason code {code:#04x}"
            raise TransientFailure(words) if code in _MAY_PASS else PermanentFailure(words)

    async def _connected(self) -> PublishConnection:
        if self._connection is not None and not self._connection.lost.done():
            return self._connection
        await self.close()
        url = parse_mqtt_url(self._settings.url)
        [address, *_] = await reachable(url.host, url.port, self._allowed, self._resolve)
        tls = _make_tls_context(url.host) if url.scheme == "mqtts" else None
        username = self._settings.username or url.username
        self._connection = line = PublishConnection(self._name)  # so that whatever ends this ends the connection
        try:
            await line.connect(BrokerAddress(address, url.port, tls, username, self._settings.password or url.password))
        except (OSError, TimeoutError) as error:
            raise TransientFailure(f"the connection failed: {type(error).__name__}: {error}") from None
        except Exception as refused:  # refused credentials, a broken answer
            said = str(refused) if isinstance(refused, _connect_error()) else type(refused).__name__
            raise TransientFailure(f"that broker refuses the connection: {said}") from None
        return line

    async def close(self) -> None:
        """End the connection; that broker is told, and not waited for."""
        line, self._connection = self._connection, None
        if line is not None:
            line.hang_up()

    def _abort(self) -> None:
        line, self._connection = self._connection, None
        if line is not None:
            line.abort()


def mqtt_message(parcel: Parcel, settings: MqttTargetSettings) -> Any:
    """Return the message of a match. Raises `PermanentFailure` if its topic is longer than MQTT allows."""
    import gmqtt

    topic = fill_topic(settings.topic, match_values(parcel))
    if len(topic.encode()) > _LONGEST_TEXT:
        raise PermanentFailure(
            f"the topic has {len(topic.encode())} bytes with what the event says; at most {_LONGEST_TEXT}"
        )
    return gmqtt.Message(
        topic,
        parcel.body,
        qos=1,
        retain=settings.retain,
        content_type=parcel.media_type,
        user_property=user_properties(parcel),
    )


def check_size(message: Any, most: int) -> None:
    """Refuse what that broker has said is too large for it: it would end the connection each time."""
    properties = sum(
        5 + len(name.encode()) + len(value.encode()) for name, value in message.properties["user_property"]
    )
    properties += 3 + len(message.properties["content_type"].encode())
    rest = 2 + len(message.topic) + 2 + _length_bytes(properties) + properties + message.payload_size
    size = 1 + _length_bytes(rest) + rest
    if size > most:
        raise PermanentFailure(f"as a packet of MQTT it has {size} bytes, and that broker takes at most {most}")


def _length_bytes(number: int) -> int:
    """Return how many bytes MQTT writes a length with.

    >>> _length(127), _length(128), _length(16_384)
    (1, 2, 3)
    """
    return max(1, -(-number.bit_length() // 7))


def user_properties(parcel: Parcel) -> list[tuple[str, str]]:
    """Return the user properties of a match; a value too long for one is left out."""
    match = parcel.match
    values = [
        ("id", match.id),
        ("subscription", match.subscription),
        ("score", f"{match.score:.6g}"),
        ("cause", match.cause),
        ("sequence", str(match.sequence)),
    ]
    if parcel.because:
        values.append(("because", msgspec.json.encode(parcel.because).decode()))
    clean = [(name, mqtt_text(value)) for name, value in values]
    return [(name, value) for name, value in clean if len(value.encode()) <= _LONGEST_TEXT]


def _connect_error() -> type[Exception]:
    """What gmqtt says in words of its own; any other error may quote what came."""
    from gmqtt.mqtt.handler import MQTTConnectError

    found: type[Exception] = MQTTConnectError
    return found


class _NamedTlsContext(ssl.SSLContext):
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


def _make_tls_context(name: str) -> ssl.SSLContext:
    found = _NamedTlsContext(ssl.PROTOCOL_TLS_CLIENT)
    found.name = name
    found.load_default_certs()
    return found
