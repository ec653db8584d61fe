"""A topic of a broker of MQTT: each match is published with QoS 1, and accepted when that broker acknowledges it.

Score, cause, sequence, the match's id, the event's source and, where asked for, `because` are user properties (MQTT 5).
gmqtt (extra `mqtt`) speaks the protocol; its own keeping and repeating is not used: what was not acknowledged is sent
again on a new connection.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import structlog

from likewise.connectors.mqtt.addresses import parted
from likewise.connectors.targets.networks import Network, reachable
from likewise.connectors.targets.target import NotNow, Parcel, Refused
from likewise.connectors.targets.templates import fill_topic, values_of
from likewise.extras import require
from likewise.formats.wire.targets import MqttTopic

_log = structlog.get_logger("likewise.targets")
_MAY_PASS: Final = frozenset({0x80, 0x83, 0x91, 0x97})  # unspecified, the broker's own, packet id in use, quota
_FAILED: Final = 0x80  # reason codes from here on say that it was not taken
_LONGEST_PROPERTY: Final = 65_535  # bytes of a user property


class MqttTarget:
    """Publishes parcels over one connection, which is made when it is needed."""

    def __init__(self, wanted: MqttTopic, uid: str, allowed: Sequence[Network]) -> None:
        require("mqtt", "a target of MQTT")
        self._wanted = wanted
        self._name = f"likewise-target-{uid[:16]}"
        self._allowed = allowed
        self._client: Any = None
        self._lost: asyncio.Future[str] | None = None

    async def send(self, parcel: Parcel) -> None:
        """Publish it; returns when that broker has acknowledged it."""
        try:
            async with asyncio.timeout(self._wanted.timeout):
                client, lost = await self._connected()
                acknowledged: asyncio.Future[int] = asyncio.get_running_loop().create_future()
                client.acknowledged = acknowledged
                topic = fill_topic(self._wanted.topic, values_of(parcel))
                client.publish(
                    topic, parcel.body, qos=1, retain=self._wanted.retain, content_type=parcel.media_type,
                    user_property=properties_of(parcel),
                )  # fmt: skip
                either: set[asyncio.Future[Any]] = {acknowledged, lost}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            await self.close()
            raise NotNow(f"no acknowledgement within {self._wanted.timeout:g} s") from None
        except BaseException:
            await self.close()
            raise
        if not acknowledged.done():
            await self.close()
            raise NotNow("the connection was lost before the acknowledgement")
        code = acknowledged.result()
        if code >= _FAILED:
            words = f"that broker answered with reason code {code:#04x}"
            raise NotNow(words) if code in _MAY_PASS else Refused(words)

    async def _connected(self) -> tuple[Any, asyncio.Future[str]]:
        if self._client is not None and self._lost is not None and not self._lost.done():
            return self._client, self._lost
        await self.close()
        found = parted(self._wanted.url)
        [address, *_] = await reachable(found.host, found.port, self._allowed)
        lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        client = _client_of(self._name, lost)
        username = self._wanted.username or found.username
        if username is not None:
            client.set_auth_credentials(username, self._wanted.password or found.password)
        try:
            tls = _named_tls(found.host) if found.scheme == "mqtts" else False
            await client.connect(address, found.port, ssl=tls, keepalive=30)
        except (OSError, TimeoutError) as error:
            raise NotNow(f"the connection failed: {type(error).__name__}: {error}") from None
        except Exception as refused:  # gmqtt raises what it likes: refused credentials, a broken answer
            await _disconnect(client)
            raise NotNow(f"that broker refuses the connection: {refused}") from None
        self._client, self._lost = client, lost
        return client, lost

    async def close(self) -> None:
        """End the connection."""
        client, self._client, self._lost = self._client, None, None
        if client is not None:
            await _disconnect(client)


def properties_of(parcel: Parcel) -> list[tuple[str, str]]:
    """What a match says beside its payload; what is too long for a property is left out."""
    match = parcel.match
    said = [
        ("id", match.id), ("subscription", match.subscription), ("score", f"{match.score:.6g}"),
        ("cause", match.cause), ("sequence", str(match.sequence)),
    ]  # fmt: skip
    if parcel.because:
        said.append(("because", msgspec.json.encode(parcel.because).decode()))
    return [(name, value) for name, value in said if len(value.encode()) <= _LONGEST_PROPERTY]


def _client_of(name: str, lost: asyncio.Future[str]) -> Any:
    """A client that never connects again by itself, and tells what an acknowledgement says."""
    import gmqtt

    class Publishing(gmqtt.Client):  # type: ignore[misc]
        acknowledged: asyncio.Future[int] | None = None

    client = Publishing(name, clean_session=True)
    client.set_config({"reconnect_delay": 0, "reconnect_retries": 0})

    def on_disconnect(*_: object) -> None:
        if not lost.done():
            lost.set_result("lost")

    handler = client._package_handler
    before = handler._handle_puback_packet

    def on_puback(command: int, packet: bytes) -> None:
        before(command, packet)
        waiting = client.acknowledged
        if waiting is not None and not waiting.done():
            waiting.set_result(packet[2] if len(packet) > 2 else 0)

    handler._handle_puback_packet = on_puback
    client.on_disconnect = on_disconnect
    return client


async def _disconnect(client: Any) -> None:
    try:
        async with asyncio.timeout(5):
            await client.disconnect()
    except Exception as error:  # whatever it says: the connection is not used again
        _log.debug("the connection had ended", error=str(error))


class _Named(ssl.SSLContext):
    """Checks the certificate of a name while connected to one of its addresses."""

    name = ""

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_side: bool = False,
        server_hostname: str | bytes | None = None, session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:  # fmt: skip
        """As ever, for the name."""
        return super().wrap_bio(incoming, outgoing, server_side, self.name, session)


def _named_tls(name: str) -> ssl.SSLContext:
    found = _Named(ssl.PROTOCOL_TLS_CLIENT)
    found.name = name
    found.load_default_certs()
    return found
