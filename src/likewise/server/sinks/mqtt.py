"""MQTT target: each match is published with QoS 1, and accepted when the broker acknowledges it.

Score, cause, sequence, the match's id, the event's source and, where requested, `because` are user properties (MQTT 5).
A match that was not acknowledged is sent again on a new connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from likewise.api.sinks import MqttTargetSettings
from likewise.server.mqtt.broker_urls import parse_mqtt_url
from likewise.server.mqtt.client import BrokerAddress, MessageTooLarge, MqttClient, MqttRefused
from likewise.server.mqtt.codec import FAILED
from likewise.server.mqtt.messages import MqttPublication, mqtt_text
from likewise.server.mqtt.publisher import TRANSIENT
from likewise.server.sinks.bounded_tls import allow_exchange
from likewise.server.sinks.networks import Network, default_tls_context, reachable
from likewise.server.sinks.resolver import Resolve, resolve_untenanted
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure
from likewise.server.sinks.templates import fill_topic, match_values

_LONGEST_TEXT: Final = 65_535  # bytes of a topic, or of a user property
_MAX_RECEIVED: Final = 65_536  # bytes between two acknowledgements: a broker has nothing else to send to a publisher


class MqttTarget:
    """Publishes parcels over one connection, which is made when it is needed."""

    def __init__(
        self,
        settings: MqttTargetSettings,
        uid: str,
        allowed: Sequence[Network],
        resolve: Resolve = resolve_untenanted,
    ) -> None:
        self._settings = settings
        self._name = f"likewise-target-{uid[:16]}"
        self._allowed, self._resolve = allowed, resolve
        self._client: MqttClient | None = None

    async def send(self, parcel: Parcel) -> None:
        """Publish a parcel; return when the broker has acknowledged it."""
        try:
            async with asyncio.timeout(self._settings.timeout):
                client = await self._connected()
                allow_exchange(client.transport)
                acknowledgement = client.publish(mqtt_message(parcel, self._settings))
                either: set[asyncio.Future[Any]] = {acknowledgement, client.closed}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            self._abort()
            raise TransientFailure(f"no acknowledgement within {self._settings.timeout:g} s") from None
        except MessageTooLarge as error:
            raise PermanentFailure(str(error)) from None
        except PermanentFailure:
            raise
        except BaseException:
            self._abort()
            raise
        if not acknowledgement.done():
            self._abort()
            raise TransientFailure("the connection was lost before the acknowledgement")
        reason = acknowledgement.result()
        if reason >= FAILED:
            text = f"that broker answered with reason code {reason:#04x}"
            raise TransientFailure(text) if reason in TRANSIENT else PermanentFailure(text)

    async def _connected(self) -> MqttClient:
        if self._client is not None and not self._client.closed.done():
            return self._client
        await self.close()
        url = parse_mqtt_url(self._settings.url)
        [host, *_] = await reachable(url.host, url.port, self._allowed, self._resolve)
        tls = default_tls_context() if url.scheme == "mqtts" else None
        username, password = self._settings.username or url.username, self._settings.password or url.password
        # Set before it connects, so that whatever ends this attempt ends the connection.
        self._client = client = MqttClient(
            self._name, max_packet_bytes=_MAX_RECEIVED, max_unanswered_bytes=_MAX_RECEIVED
        )
        try:
            await client.connect(BrokerAddress(host, url.port, tls, username, password, server_name=url.host))
        except MqttRefused as error:
            raise TransientFailure(f"that broker refuses the connection: {error}") from None
        except (OSError, TimeoutError) as error:
            raise TransientFailure(f"the connection failed: {type(error).__name__}: {error}") from None
        return client

    async def close(self) -> None:
        """Disconnect from the broker without waiting for it."""
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()

    def _abort(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.abort()


def mqtt_message(parcel: Parcel, settings: MqttTargetSettings) -> MqttPublication:
    """Return the message of a match. Raises `PermanentFailure` if its topic is longer than MQTT allows."""
    topic = fill_topic(settings.topic, match_values(parcel))
    if (size := len(topic.encode())) > _LONGEST_TEXT:
        raise PermanentFailure(f"the topic has {size} bytes with what the event says; at most {_LONGEST_TEXT}")
    properties = tuple(user_properties(parcel))
    return MqttPublication(topic, parcel.body, parcel.media_type, properties, qos=1, retain=settings.retain)


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
