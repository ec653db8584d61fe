"""The bridge: what a broker of the user's passes on is published here, and acknowledged when it is on disk.

A crash before that makes the user's broker send it again: nothing acknowledged is lost, and a message without an id of
its own may then stand twice in the log. What is refused for good (unreadable where the map is strict, too large, an id
with other content) becomes a dead letter and is acknowledged; what cannot be stored now is not, and is tried again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import structlog

from likewise.api.operations import ConnectionShown
from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS, source_in
from likewise.broker.config import Bridge as BridgeConfig
from likewise.defaults import BRIDGE_BATCH, BRIDGE_RETRY_SECONDS, BRIDGE_WAITING, MAX_DEAD_LETTER_BYTES
from likewise.errors import FormatError, LikewiseError, RateExceeded, Unavailable
from likewise.extras import require
from likewise.model import Event
from likewise.server.announcements import read_announcement
from likewise.server.gateway import Door
from likewise.server.media_types import Unreadable
from likewise.server.mqtt.addresses import address_of, session_of, shown
from likewise.server.mqtt.client import Client, GmqttClient
from likewise.server.mqtt.messages import Message
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.sensing import Telling, tells
from likewise.server.mqtt.topic_maps import load_maps

_log = structlog.get_logger("likewise.mqtt")


def check(config: BridgeConfig, data: Path | None) -> None:
    """Refuse a bridge whose address, topics, maps or certificates cannot be used, before anything starts."""
    require("mqtt", "a bridge to an MQTT broker")
    address_of(config)
    session_of(config, data)
    load_maps(config.maps)


class BridgeState(msgspec.Struct):
    """What a bridge has done, for metrics and people."""

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

    def shown(self) -> ConnectionShown:
        """The same, for people."""
        own = msgspec.structs.asdict(self)
        del own["unannounced"]  # for metrics only
        return ConnectionShown("mqtt-bridge", own.pop("url"), **own)


class Bridge:
    """One bridge; `run` ends when the door closes."""

    def __init__(self, door: Door, config: BridgeConfig, data: Path | None) -> None:
        self.state = BridgeState(shown(config.url))
        self._door = door
        self._tenant = door.broker.tenant(config.tenant)
        self._name = f"mqtt-bridge {self.state.url} {session_of(config, data).client_id}"
        self._reach = door.broker.reach
        self._reach.down(self._tenant, self._name)
        self._reader = MessageReader(load_maps(config.maps), identities=self._tenant.known.identities)
        self._waiting: deque[tuple[Message, asyncio.Future[None]]] = deque()
        self._something = asyncio.Event()
        address, session = address_of(config), session_of(config, data)
        self._client: Client = GmqttClient(address, session, self._received, self._connected, self._lost)
        self._telling: Telling | None = None
        if tells(session.topics):
            self._telling = Telling(door, self._tenant, address, f"{session.client_id}-sense", self.state.url)

    async def run(self) -> None:
        """Connect, again and again until that broker answers; then publish what comes."""
        storing = asyncio.create_task(self._store_what_comes())
        closing = asyncio.create_task(self._door.stopping.wait())
        connecting = asyncio.create_task(self._connect())
        working: set[asyncio.Task[None]] = {storing}
        if self._telling is not None:
            working.add(asyncio.create_task(self._telling.run()))
        try:
            done, _ = await asyncio.wait({*working, closing, connecting}, return_when=asyncio.FIRST_COMPLETED)
            if connecting in done and not working & done:
                done, _ = await asyncio.wait({*working, closing}, return_when=asyncio.FIRST_COMPLETED)
            for ended in working & done:
                ended.result()  # a mistake of ours: said by who runs this
        finally:
            await self._client.close()
            self.state.connected = False
            for task in (*working, closing, connecting):
                task.cancel()
            await asyncio.gather(*working, closing, connecting, return_exceptions=True)

    async def _connect(self) -> None:
        told = False
        while True:
            try:
                await self._client.connect()
                return
            except OSError as error:
                self.state.trouble = f"cannot be reached: {error}"
                if not told:
                    _log.warning(
                        "the broker of MQTT does not answer; trying again", url=self.state.url, error=str(error)
                    )
                told = True
                await asyncio.sleep(BRIDGE_RETRY_SECONDS)

    def _connected(self, remembered: bool) -> None:
        state = self.state
        state.connected, state.trouble = True, ""
        self._reach.up(self._tenant, self._name)
        state.connections += 1
        if state.connections > 1 and not remembered:
            state.gaps += 1
            _log.warning("that broker had forgotten the session; what came meanwhile is not known", url=state.url)
        else:
            _log.info("connected", url=state.url, session="kept" if remembered else "new")

    def _lost(self) -> None:
        if self.state.connected:
            _log.warning("the connection is lost; trying again", url=self.state.url)
            self.state.trouble = "the connection is lost"
        self.state.connected = False
        self._reach.down(self._tenant, self._name)

    def _received(self, message: Message) -> asyncio.Future[None]:
        """Done when the message is on disk, or refused for good."""
        self.state.received += 1
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if message.qos == 0 and len(self._waiting) >= BRIDGE_WAITING:
            self.state.lost += 1
            stored.set_result(None)
        else:
            self._waiting.append((message, stored))
            self._something.set()
        return stored

    async def _store_what_comes(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(BRIDGE_BATCH, len(self._waiting)))]
                await self._store(batch)

    async def _store(self, batch: list[tuple[Message, asyncio.Future[None]]]) -> None:
        """Store messages together, in order; one that is refused is set aside alone."""
        readable: list[tuple[Message, list[Event], asyncio.Future[None]]] = []
        now = self._door.broker.clock()
        for message, stored in batch:
            if message.topic.startswith(ANNOUNCEMENTS):
                await self._hold(message)
                _settle(stored)
                continue
            try:
                self._door.broker.announcements.identify(self._tenant, self._reader.namings(message))
                events = self._reader.read(message, now)
            except Unreadable as refused:
                await self._set_aside(message, refused.error)
                _settle(stored)
            except Exception as mistake:  # of ours: this message would come again, and end the bridge again
                _log.exception("a message could not be read", topic=message.topic[:200])
                await self._set_aside(message, FormatError(f"the message could not be read: {mistake!r}"))
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
                    await self._set_aside(message, refused)
        for _, _, stored in readable:
            _settle(stored)

    def _announce(self, message: Message) -> None:
        """Hold what a message announces; what is refused is said, and the rest goes on."""
        announced = list(self._reader.announcements(message))
        self._reach.brings(self._tenant, self._name, {each.source for each in announced})
        self._door.broker.announcements.hear(self._tenant, announced)

    async def _hold(self, message: Message) -> None:
        """Hold what a source announces itself, or revoke it; what is refused becomes a dead letter."""
        source, announcements = source_in(message.topic, ANNOUNCEMENTS), self._door.broker.announcements

        async def attempt() -> None:
            if message.payload.strip():
                said = read_announcement(message.payload, source)
                await self._door.answer(lambda done: announcements.start_announce(self._tenant, said, done))
            elif source in self._tenant.known.announcements:
                words = "it said so over MQTT"
                await self._door.answer(lambda done: announcements.start_revoke(self._tenant, source, words, done))

        try:
            await self._patiently(attempt)
        except LikewiseError as refused:
            await self._set_aside(message, refused)

    async def _publish(self, events: list[Event]) -> None:
        """Append events; waits for as long as they cannot be stored for now."""
        door, tenant = self._door, self._tenant

        async def attempt() -> None:
            door.take(tenant, len(events))
            await door.unblocked(tenant)
            self._reach.brings(tenant, self._name, {event.source for event in events})
            await door.publish(tenant, events)
            self.state.stored += len(events)

        if events:
            await self._patiently(attempt)

    async def _set_aside(self, message: Message, error: LikewiseError) -> None:
        self.state.refused += 1
        broker = self._door.broker
        part, kind = message.payload[:MAX_DEAD_LETTER_BYTES], message.content_type or "application/octet-stream"
        _log.warning("a message is refused and kept as a dead letter", topic=message.topic[:200], error=str(error))

        async def attempt() -> None:
            await self._door.answer(lambda done: broker.set_aside(self._tenant, error, part, done, kind))

        await self._patiently(attempt)

    async def _patiently(self, attempt: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await attempt()
                return
            except (Unavailable, RateExceeded) as later:
                _log.warning("messages cannot be stored now; trying again", url=self.state.url, error=str(later))
                await asyncio.sleep(BRIDGE_RETRY_SECONDS)


def _settle(stored: asyncio.Future[None]) -> None:
    """A message is on disk; whoever waited may have gone, and then it comes again."""
    if not stored.done():
        stored.set_result(None)
