"""Bridge: messages of the user's MQTT broker are published here, and acknowledged when they are on disk.

After a crash that broker sends again what was not acknowledged: nothing is lost, and a message without an id of its own
may then be stored twice. A message that can never be stored (unreadable where the map is strict, too large, an id with
other content) becomes a dead letter and is acknowledged; one that cannot be stored now is tried again.

A bridge that subscribes to `likewise/announcements/` also relays sensing commands: each is published to
`likewise/sense/SOURCE` with QoS 1, retained, and an empty message when there is no command any more. After a lost
connection all of them are published again, since that broker may have forgotten them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import structlog
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.api.operations import ConnectionStatus
from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS, clear_sense_message, sense_message, source_in
from likewise.broker.config import BridgeSettings as BridgeConfig
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import (
    BRIDGE_BATCH,
    BRIDGE_IN_FLIGHT,
    BRIDGE_RETRY_SECONDS,
    BRIDGE_WAITING,
    MAX_DEAD_LETTER_BYTES,
)
from likewise.errors import FormatError, InputError, LikewiseError, RateExceeded, Unavailable
from likewise.model import Event
from likewise.model.hierarchies.topic_filters import filter_matches
from likewise.server.announcements import decode_announcement
from likewise.server.gateway import Gateway
from likewise.server.media_types import UnreadableInput
from likewise.server.mqtt.broker.announcements import apply_announcement
from likewise.server.mqtt.broker_urls import bridge_address, bridge_session, parse_mqtt_url, shown
from likewise.server.mqtt.client import BrokerAddress, MqttClient, MqttRefused, publication
from likewise.server.mqtt.codec import FAILED, FilterRequest
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.publisher import connect_to, publish_all
from likewise.server.mqtt.source_upgrade import rename_former_sources_in_background
from likewise.server.mqtt.topic_maps import load_maps

_log = structlog.get_logger("likewise.mqtt")
DISCOVERY: Final = (
    "homeassistant/+/+/config",
    "homeassistant/+/+/+/config",
    "tasmota/discovery/+/config",
    "+/bridge/devices",
)
CONNECT_TIMEOUT_S: Final = 30.0  # that the broker has to accept the connection and its subscriptions


def relays_sensing(topics: tuple[str, ...]) -> bool:
    """Return whether a bridge with these filters receives announcements, and so relays commands.

    >>> [relays_sensing((topic,)) for topic in ("#", "$share/us/likewise/announcements/+", "zigbee2mqtt/#")]
    [True, True, False]
    """
    plain = (each.split("/", 2)[2] if each.startswith("$share/") else each for each in topics)
    return any(filter_matches(each, f"{ANNOUNCEMENTS}x") for each in plain)


class SensingRelay:
    """Publishes the sensing commands of a tenant's sources to the user's broker, until it is cancelled."""

    def __init__(self, gateway: Gateway, tenant: Tenant, address: BrokerAddress, client_id: str, shown: str) -> None:
        self._activation = gateway.broker.activation
        self._tenant = tenant
        self._address, self._client_id, self._shown = address, client_id, shown
        self._sent: dict[str, int] = {}  # the version of the command that each source was sent

    async def run(self) -> None:
        """Publish changes as they come; try again while that broker does not answer."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(changed.set)

        self._activation.listeners.append(wake)
        changed.set()
        client: MqttClient | None = None
        failing = False
        try:
            while True:
                await changed.wait()
                changed.clear()
                try:
                    before, client = client, await self._publish_changes(client)
                    if client is not None and client is not before:
                        client.closed.add_done_callback(lambda _: changed.set())
                    failing = False
                except Unavailable as error:
                    if not failing:
                        _log.warning("mqtt_sensing_relay_failed", error=str(error))
                    failing = True
                    if client is not None:
                        await client.close()
                    client = None
                    await asyncio.sleep(BRIDGE_RETRY_SECONDS)
                    changed.set()
        finally:
            self._activation.listeners.remove(wake)
            if client is not None:
                await client.close()

    async def _publish_changes(self, client: MqttClient | None) -> MqttClient | None:
        """Publish the commands that changed; return the connection, if one was needed."""
        if client is not None and client.closed.done():
            client = None
        if client is None:
            self._sent.clear()
        commands = self._activation.commands(self._tenant)
        new: list[StoredMessage] = [
            sense_message(each) for each in commands.values() if self._sent.get(each.source) != each.version
        ]
        new += [clear_sense_message(source) for source in self._sent.keys() - commands.keys()]
        if not new:
            return client
        if client is None:
            client = await connect_to(self._address, self._client_id, self._shown)
        await publish_all(
            client, [MqttPublication(each.topic, each.payload, qos=1, retain=True) for each in new], self._shown
        )
        self._sent = {source: each.version for source, each in commands.items()}
        return client


def check_bridge(config: BridgeConfig, data: Path | None) -> None:
    """Refuse a bridge whose address, topics, maps or certificates cannot be used, before anything starts."""
    bridge_address(config)
    bridge_session(config, data)
    load_maps(config.maps)


class BridgeState(msgspec.Struct):
    """Counters of a bridge, for metrics and the list of connections."""

    url: str
    connected: bool = False
    received: int = 0
    stored: int = 0  # events
    passed_over: int = 0  # messages that are no readings
    refused: int = 0  # messages that became dead letters
    lost: int = 0  # messages of QoS 0 for which there was no room
    connections: int = 0
    gaps: int = 0  # times that broker had forgotten the session
    unannounced: int = 0  # metrics of Sparkplug B whose alias no BIRTH had announced
    trouble: str = "not connected yet"

    def shown(self) -> ConnectionStatus:
        """Return the status for the list of connections."""
        fields = msgspec.structs.asdict(self)
        del fields["unannounced"]  # for metrics only
        return ConnectionStatus("mqtt-bridge", fields.pop("url"), **fields)


class MqttBridge:
    """One bridge; `run` ends when the gateway stops."""

    def __init__(self, gateway: Gateway, config: BridgeConfig, data: Path | None) -> None:
        self.state = BridgeState(shown(config.url))
        self._gateway = gateway
        self._tenant = gateway.broker.tenant(config.tenant)
        self._name = f"mqtt-bridge {self.state.url} {bridge_session(config, data).client_id}"
        self._visibility = gateway.broker.visibility
        self._visibility.down(self._tenant, self._name)
        self._reader = MessageReader(load_maps(config.maps), identities=self._tenant.sources.identities)
        self._waiting: deque[tuple[MqttPublication, asyncio.Future[None]]] = deque()
        self._arrived = asyncio.Event()
        self._address, self._session = address, session = bridge_address(config), bridge_session(config, data)
        self._client: MqttClient | None = None
        if self._tenant.normalized is not None:
            self._tenant.normalized.discovered.append(self._reader.is_discovered)
        self._relay: SensingRelay | None = None
        if relays_sensing(session.topics):
            self._relay = SensingRelay(gateway, self._tenant, address, f"{session.client_id}-sense", self.state.url)

    async def run(self) -> None:
        """Keep a connection to the broker and store its messages, until the gateway stops."""
        closing = asyncio.create_task(self._gateway.stopping.wait())
        working: set[asyncio.Task[None]] = {
            asyncio.create_task(self._store_loop()),
            asyncio.create_task(self._connect_loop()),
        }
        if self._relay is not None:
            working.add(asyncio.create_task(self._relay.run()))
        try:
            done, _ = await asyncio.wait({*working, closing}, return_when=asyncio.FIRST_COMPLETED)
            for ended in working & done:
                ended.result()  # a bug of ours: logged by the caller
        finally:
            for task in (*working, closing):
                task.cancel()
            await asyncio.gather(*working, closing, return_exceptions=True)
            if self._client is not None:
                await self._client.close()
            self.state.connected = False

    async def _connect_loop(self) -> None:
        """Keep a connection to the broker: connect, wait until it is lost, connect again."""
        failing = False
        while True:
            try:
                client = await self._connect()
            except OSError as error:
                fault = "refuses the connection" if isinstance(error, MqttRefused) else "cannot be reached"
                self.state.trouble = f"{fault}: {error}"
                if not failing:  # once, however often it is tried
                    _log.warning("mqtt_bridge_connect_failed", url=self.state.url, error=str(error))
                failing = True
            else:
                failing = False
                await asyncio.wait([client.closed])
                self._lost()
            await asyncio.sleep(BRIDGE_RETRY_SECONDS)

    async def _connect(self) -> MqttClient:
        session = self._session
        self._client = client = MqttClient(
            session.client_id,
            session_expiry=session.expiry,
            receive_maximum=BRIDGE_IN_FLIGHT,
            on_message=lambda packet: self._received(publication(packet)),
        )
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                remembered = await client.connect(self._address)
                # Retained messages only where the subscription is new: what the session has stored comes anyway.
                suback = await client.subscribe(
                    [
                        FilterRequest(topic, session.qos, retain_as_published=True, retain_handling=1)
                        for topic in session.topics
                    ]
                )
        except BaseException:
            client.abort()
            raise
        for topic, reason in zip(session.topics, suback.reasons, strict=False):
            if reason >= FAILED:
                _log.warning("mqtt_bridge_subscription_refused", url=self.state.url, topic=topic, reason=reason)
        await self._hear_discovery(client, remembered)
        self._connected(remembered)
        return client

    async def _hear_discovery(self, client: MqttClient, remembered: bool) -> None:
        """Ask for what was announced, after a start with a session that was kept: it is retained there."""
        topics = [each for each in self._session.topics if not each.startswith("$share/")]
        again = [each for each in DISCOVERY if any(filter_matches(t, each.replace("+", "x")) for t in topics)]
        if remembered and not self.state.connections and again:
            await client.subscribe([FilterRequest(each, self._session.qos, retain_as_published=True) for each in again])

    def _connected(self, remembered: bool) -> None:
        state = self.state
        state.connected, state.trouble = True, ""
        self._visibility.up(self._tenant, self._name)
        state.connections += 1
        if state.connections > 1 and not remembered:
            state.gaps += 1
            _log.warning("mqtt_bridge_session_lost", url=state.url)
        else:
            _log.info("mqtt_bridge_connected", url=state.url, session="kept" if remembered else "new")

    def _lost(self) -> None:
        if self.state.connected:
            _log.warning("mqtt_bridge_connection_lost", url=self.state.url)
            self.state.trouble = "the connection is lost"
        self.state.connected = False
        self._visibility.down(self._tenant, self._name)

    def _received(self, message: MqttPublication) -> asyncio.Future[None]:
        """Queue a message. The future is done when it is on disk, or refused for good."""
        self.state.received += 1
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        normalized = self._tenant.normalized
        if normalized is not None and (message.is_normalized or message.topic.startswith(normalized.prefix)):
            self.state.passed_over += 1  # a normaliser's own output is never read back
            stored.set_result(None)
        elif message.qos == 0 and len(self._waiting) >= BRIDGE_WAITING:
            self.state.lost += 1
            stored.set_result(None)
        else:
            self._waiting.append((message, stored))
            self._arrived.set()
        return stored

    async def _store_loop(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(BRIDGE_BATCH, len(self._waiting)))]
                await self._store_batch(batch)

    async def _store_batch(self, batch: list[tuple[MqttPublication, asyncio.Future[None]]]) -> None:
        """Store messages together, in order; one that is refused is set aside alone."""
        readable: list[tuple[MqttPublication, list[Event], asyncio.Future[None]]] = []
        now = self._gateway.broker.clock()
        self._note_for_normalizer(batch)
        for message, stored in batch:
            if message.topic.startswith(ANNOUNCEMENTS):
                await self._apply_announcement(message)
                _settle(stored)
                continue
            try:
                self._gateway.broker.announcements.identify(self._tenant, self._reader.identities(message))
                events = self._reader.read(message, now)
            except UnreadableInput as refused:
                await self._dead_letter(message, refused.error)
                _settle(stored)
            except Exception as mistake:  # of ours: this message would come again, and end the bridge again
                _log.exception("mqtt_bridge_message_unreadable", topic=message.topic[:200])
                await self._dead_letter(message, FormatError(f"the message could not be read: {mistake!r}"))
                _settle(stored)
            else:
                self.state.passed_over += not events
                if not events:
                    self._announce(message)
                readable.append((message, events, stored))
        self.state.unannounced = self._reader.unannounced
        every = [event for _, events, _ in readable for event in events]
        try:
            await self._publish(every)
        except LikewiseError:
            for message, events, _ in readable:
                try:
                    await self._publish(events)
                except LikewiseError as refused:
                    await self._dead_letter(message, refused)
        for _, _, stored in readable:
            _settle(stored)

    def _note_for_normalizer(self, batch: list[tuple[MqttPublication, asyncio.Future[None]]]) -> None:
        """Note payloads and retained topics for a normaliser; the topics are on disk before their messages."""
        known, tenant = self._tenant.normalized, self._tenant.number
        if known is None:
            return
        for message, _ in batch:
            known.note_payload(message.topic, message.payload)
        if known.learn_retained(message.topic for message, _ in batch if message.retain):
            self._gateway.broker.store.write(lambda tables: known.save_retained(tables, tenant), lambda result: None)

    def _announce(self, message: MqttPublication) -> None:
        """Apply what a message announces; what is refused is logged, and the rest goes on."""
        announced = list(self._reader.announcements(message))
        self._visibility.record_route(self._tenant, self._name, {each.source for each in announced})
        self._gateway.broker.announcements.announce_all(self._tenant, announced)

    async def _apply_announcement(self, message: MqttPublication) -> None:
        """Apply or revoke a source's own announcement; a refused one becomes a dead letter."""
        gateway, source = self._gateway, source_in(message.topic, ANNOUNCEMENTS)

        async def attempt() -> None:
            announcement = decode_announcement(message.payload, source) if message.payload.strip() else None
            await gateway.wait_committed(apply_announcement, gateway.broker, self._tenant, source, announcement)

        try:
            await self._retry_until_stored(attempt)
        except LikewiseError as refused:
            await self._dead_letter(message, refused)

    async def _publish(self, events: list[Event]) -> None:
        """Append events; waits for as long as they cannot be stored for now."""
        gateway, tenant = self._gateway, self._tenant

        async def attempt() -> None:
            gateway.check_rate(tenant, len(events))
            await gateway.wait_unblocked(tenant)
            self._visibility.record_route(tenant, self._name, {event.source for event in events})
            await gateway.publish(tenant, events)
            self.state.stored += len(events)

        if events:
            await self._retry_until_stored(attempt)

    async def _dead_letter(self, message: MqttPublication, error: LikewiseError) -> None:
        self.state.refused += 1
        broker = self._gateway.broker
        part, kind = message.payload[:MAX_DEAD_LETTER_BYTES], message.content_type or "application/octet-stream"
        _log.warning("mqtt_bridge_message_dead_lettered", topic=message.topic[:200], error=str(error))

        async def attempt() -> None:
            await self._gateway.wait_committed(
                lambda done: broker.add_dead_letter(self._tenant, error, part, done, kind)
            )

        await self._retry_until_stored(attempt)

    async def _retry_until_stored(self, attempt: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await attempt()
                return
            except (Unavailable, RateExceeded) as later:
                _log.warning("mqtt_bridge_store_failed", url=self.state.url, error=str(later))
                await asyncio.sleep(BRIDGE_RETRY_SECONDS)


_COUNTED: Final = {
    "received": "Messages received over a bridge",
    "stored": "Events of a bridge on disk",
    "passed_over": "Messages of a bridge that are no readings",
    "refused": "Messages of a bridge that became dead letters",
    "lost": "Messages of QoS 0 for which a bridge had no room",
    "connections": "Connections of a bridge",
    "gaps": "Times a bridge's session was forgotten",
    "unannounced": "Metrics of Sparkplug B whose alias no BIRTH had announced",
}


class _BridgeCounters(Collector):
    """The counters of all bridges, read at each scrape."""

    def __init__(self, states: Sequence[BridgeState]) -> None:
        self._states = states

    def collect(self) -> Iterator[Metric]:
        """Yield the counters, by the bridge's URL."""
        up = GaugeMetricFamily("likewise_mqtt_bridge_connected", "Whether a bridge is connected", labels=["url"])
        for state in self._states:
            up.add_metric([state.url], float(state.connected))
        yield up
        for name, words in _COUNTED.items():
            family = CounterMetricFamily(f"likewise_mqtt_bridge_{name}", words, labels=["url"])
            for state in self._states:
                family.add_metric([state.url], float(getattr(state, name)))
            yield family


def bridge_connectors(
    configs: Sequence[BridgeConfig], data: Path | None
) -> list[partial[Coroutine[object, object, None]]]:
    """Return what runs the bridges beside a server, if there are any; refuse invalid ones at once."""
    for config in configs:
        check_bridge(config, data)
    sessions = [(parse_mqtt_url(config.url)[1:3], bridge_session(config, data).client_id) for config in configs]
    for config, session in zip(configs, sessions, strict=True):
        if sessions.count(session) > 1:
            raise InputError(f"the bridge {shown(config.url)} stands twice; each would end the other's connection")
    return [partial(_run_bridges, configs=configs, data=data)] if configs else []


async def _run_bridges(gateway: Gateway, *, configs: Sequence[BridgeConfig], data: Path | None) -> None:
    await rename_former_sources_in_background(gateway.broker)
    every = [MqttBridge(gateway, config, data) for config in configs]
    for each, config in zip(every, configs, strict=True):
        gateway.connections.append((config.tenant, each.state.shown))
    gateway.broker.metrics.registry.register(_BridgeCounters([each.state for each in every]))
    await asyncio.gather(*(each.run() for each in every))


def _settle(stored: asyncio.Future[None]) -> None:
    """Note that a message is on disk. Its client may be gone; then the message comes again."""
    if not stored.done():
        stored.set_result(None)
