"""The little that a bridge asks of an MQTT client, and gmqtt behind it (extra `mqtt`).

gmqtt takes 20 µs of CPU a message and lets its PUBACK follow the handler, so that it can follow the sync; what else was
tried is slower or acknowledges by itself. Nothing else here knows its names.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import structlog

from likewise.defaults import BRIDGE_IN_FLIGHT, BRIDGE_RETRY_SECONDS
from likewise.extras import require
from likewise.server.mqtt.messages import MqttPublication

_log = structlog.get_logger("likewise.mqtt")
logging.getLogger("gmqtt.mqtt.protocol").setLevel(logging.ERROR)  # a lost line is said here, without a traceback
Received = Callable[[MqttPublication], asyncio.Future[None]]


class BrokerAddress(NamedTuple):
    """Where a broker of the user's listens."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    username: str | None = None
    password: str | None = None


class ClientSession(NamedTuple):
    """What a connection is to the broker: its fixed name, how long (s) it is remembered, what it asks for."""

    client_id: str
    expiry: int
    topics: tuple[str, ...]
    qos: int = 1


class MqttClient(Protocol):
    """A connection that reconnects by itself. What `received` gives is awaited before a message is acknowledged."""

    async def connect(self) -> None:
        """Connect for the first time; an `OSError` if nobody answers."""

    async def close(self) -> None:
        """End the connection, acknowledging nothing more."""


class GmqttClient:
    """gmqtt as a `Client`. `connected` is told whether the broker remembered the session, `lost` of a lost line."""

    def __init__(
        self,
        address: BrokerAddress,
        session: ClientSession,
        received: Received,
        connected: Callable[[bool], None],
        lost: Callable[[], None],
    ) -> None:
        require("mqtt", "a bridge to an MQTT broker")
        import gmqtt

        outer = self

        class Quiet(gmqtt.Client):  # type: ignore[misc]
            """Acknowledges nothing once it is being closed: what is under way then may not be on disk."""

            def _send_command_with_mid(self, *said: object, **more: object) -> None:
                if not outer._closing and self._connection is not None and not self._connection.is_closing():
                    super()._send_command_with_mid(*said, **more)

        self._closing = False
        self._accepted = False  # once: from then on it connects again by itself
        self._reconnecting: asyncio.Future[None] | None = None
        self._address, self._session = address, session
        self._received = received
        self._on_connected, self._on_lost = connected, lost
        self._under_way: set[asyncio.Future[None]] = set()
        self._subscription = gmqtt.Subscription
        self._client = Quiet(
            session.client_id,
            clean_session=False,
            optimistic_acknowledgement=False,
            session_expiry_interval=session.expiry,
            receive_maximum=BRIDGE_IN_FLIGHT,
        )
        self._client.set_config({"reconnect_delay": BRIDGE_RETRY_SECONDS, "reconnect_retries": -1})
        if address.username is not None:
            self._client.set_auth_credentials(address.username, address.password)
        self._client.on_connect = self._on_connect
        self._client.on_message = self._on_message
        self._client.on_disconnect = self._on_disconnect

    async def connect(self) -> None:
        """Connect for the first time; an `OSError` if nobody answers or the broker refuses."""
        try:
            await self._client.connect(
                self._address.host, self._address.port, ssl=self._address.tls or False, keepalive=30
            )
        except OSError:
            raise
        except Exception as refused:  # gmqtt raises what it likes: refused credentials, a broken answer
            raise ConnectionError(str(refused)) from refused
        self._accepted = True

    async def close(self) -> None:
        """End the connection; what is not acknowledged comes again."""
        self._closing = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
        for stored in self._under_way:
            if not stored.done():
                stored.set_result(None)
        try:
            await self._client.disconnect()
        except (OSError, RuntimeError) as error:
            _log.debug("the connection had ended", error=str(error))

    def _on_connect(self, client: object, flags: int, code: int, properties: object) -> None:
        if code != 0:
            return
        for topic in self._session.topics:
            wanted = self._subscription(topic, qos=self._session.qos, retain_handling_options=1)
            self._client.subscribe(wanted)
        self._on_connected(bool(flags & 1))

    def _on_disconnect(self, *_: object) -> None:
        if self._closing:
            return
        self._on_lost()
        refused = self._client._package_handler._permanent_failure  # gmqtt does not try again then
        if self._accepted and refused and self._reconnecting is None:
            self._reconnecting = asyncio.ensure_future(self._reconnect_loop())

    async def _reconnect_loop(self) -> None:
        """Connect to a broker that knew us and refuses us now: it may know us again when its accounts are back."""
        _log.warning("that broker refuses the bridge; trying again", host=self._address.host)
        try:
            while True:
                await asyncio.sleep(BRIDGE_RETRY_SECONDS)
                try:
                    return await self.connect()
                except OSError as error:
                    _log.debug("still refused", error=str(error))
        finally:
            self._reconnecting = None

    async def _on_message(self, client: object, topic: object, payload: bytes, qos: int, said: dict[str, Any]) -> int:
        message = MqttPublication(
            topic if isinstance(topic, str) else bytes(topic).decode(errors="replace"),  # type: ignore[call-overload]
            bytes(payload),
            str(_first(said, "content_type") or ""),
            tuple(said.get("user_property", ())),
            _first(said, "message_expiry_interval"),
            qos,
            bool(said.get("retain")),
        )
        stored = self._received(message)
        self._under_way.add(stored)
        try:
            await stored
        finally:
            self._under_way.discard(stored)
        return 0


def _first(said: dict[str, Any], name: str) -> Any:
    values = said.get(name)
    return values[0] if isinstance(values, list) and values else values
