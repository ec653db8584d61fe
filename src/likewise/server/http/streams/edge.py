"""WebSocket `/v1/edges/{id}`: the line to a broker at the edge (`likewise.api.edge_frames`, docs/guides/edge.md).

The edge says hello and is welcomed; then it announces its sources, reports their words and subscribes for its own
subscribers, all of them once (`whole`); from then on it is told what is asked of it. Its events are acknowledged when
they are on disk. Close codes: `long_lived`; a newer connection of the same edge takes over (4000).
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

import msgspec
import structlog
from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from likewise.api import edge_frames as wire
from likewise.api.sources import Sense
from likewise.broker.edge_hub.connections import Connected
from likewise.broker.edge_hub.demands import EdgeDemand, changed, version_of
from likewise.broker.edge_hub.identities import checked_edge, read_name, subscriber_of
from likewise.broker.edge_hub.pages import delivered, taken_back
from likewise.broker.log.edges.connections import LineRow
from likewise.broker.log.entries import RenameSource
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import (
    EDGE_BYTES,
    EDGE_DEMAND_LASTS,
    EDGE_DEMAND_SECONDS,
    EDGE_ITEMS,
    EDGE_MESSAGE_BYTES,
    EDGE_WINDOW,
    SEND_PAGE,
    SEND_PAGE_BYTES,
)
from likewise.errors import Circle, FormatError, InputError, LikewiseError, Unavailable
from likewise.formats.json.subscriptions import subscription_from_json
from likewise.server.gateway import Door
from likewise.server.http.requests import admit, door_of
from likewise.server.http.streams.edge_items import EdgeItems
from likewise.server.http.streams.long_lived import last, message_of, offered, refuse
from likewise.server.streaming import Replaced

router = APIRouter()
_log = structlog.get_logger("likewise.edges")


@router.websocket("/v1/edges/{id}")
async def edge(socket: WebSocket, id: str) -> None:
    """Serve an edge until one side ends it."""
    door = door_of(socket)
    try:
        access, tenant = admit(door, socket, "edge")
        access.require_edge(checked_edge(id))
    except LikewiseError as error:
        await refuse(socket, error)
        return
    await socket.accept(subprotocol=offered(socket))
    try:
        said = wire.read_from_edge(await message_of(socket, EDGE_MESSAGE_BYTES))
        if not isinstance(said, wire.Hello) or said.id != id:
            raise FormatError(f"the first message of {id!r} is its hello")
        if door.broker.edges.here and door.broker.edges.here in (id, *said.below):
            raise Circle(f"{id!r} is dialled by {door.broker.edges.here!r} itself; let no two brokers dial each other")
        session = await EdgeSession.begin(door, access, tenant, socket, said)
    except (WebSocketDisconnect, RuntimeError):
        return
    except LikewiseError as error:
        await socket.send_text(wire.written(wire.Refused(code=error.code, words=str(error)[:1000])).decode())
        await socket.close(1008, error.code)
        return
    try:
        await last(door, socket, session.receive(), session.ask(), session.give(), session.live(), session.replaced())
    finally:
        door.broker.edges.disconnect(tenant, session.line)


class EdgeSession:
    """The connection of one edge."""

    def __init__(
        self,
        door: Door,
        access: Access,
        tenant: Tenant,
        socket: WebSocket,
        hello: wire.Hello,
        row: LineRow,
        queue: SubscriberQueue,
    ) -> None:
        self._door = door
        self._broker = broker = door.broker
        self._tenant = tenant
        self._access = access
        self._socket = socket
        self._queue = queue
        self._known = asyncio.Event()  # once the edge has said all that it has
        self._demand = EdgeDemand({}, {})
        self._sent = ""  # the version that was sent last
        self._has = hello.demand
        self._told: dict[str, int] = {}  # versions of what sources were told
        self._cursor = queue.acknowledged  # up to where deliveries were looked at
        self._last = 0  # the last one that was sent
        self._changed = asyncio.Event()
        self._replaced = asyncio.Event()
        address = "" if socket.client is None else f"{socket.client.host}:{socket.client.port}"
        self.line = Connected(hello.id, address, broker.clock(), self._replaced.set)
        self.line.health = wire.Health(below=hello.below)
        self._items = EdgeItems(door, access, tenant, self.line, row)
        self.line.wake = lambda: door.bridge.call(self._changed.set)
        self._served = object()

    @classmethod
    async def begin(
        cls, door: Door, access: Access, tenant: Tenant, socket: WebSocket, hello: wire.Hello
    ) -> EdgeSession:
        """Welcome an edge."""
        broker = door.broker
        row = cast(
            "LineRow", await door.answer(lambda done: broker.edges.start_open(tenant, hello.id, hello.epoch, done))
        )
        limit = broker.config.limits.queue
        queue = cast(
            "SubscriberQueue",
            await door.answer(
                lambda done: broker.start_register(tenant, subscriber_of(hello.id), "drop-oldest", limit, done)
            ),
        )
        if hello.line == row.known.line and queue.acknowledged < hello.received <= tenant.stored_number:
            broker.acknowledge(tenant, queue.id, hello.received)
        made = cls(door, access, tenant, socket, hello, row, queue)
        broker.edges.connect(tenant, made.line)
        queue.wake = made.line.wake
        queue.served_by = made._served
        await made._send(
            wire.Welcome(
                sequence=row.sequence,
                line=row.known.line,
                interval=broker.config.edges.interval,
                items=EDGE_ITEMS,
                bytes=EDGE_BYTES,
                renames=True,
            )
        )
        return made

    async def _send(self, message: wire.FromAbove) -> None:
        said = wire.written(message)
        self.line.sent += len(said)
        await self._socket.send_text(said.decode())

    async def replaced(self) -> None:
        """Wait until a newer connection takes over."""
        await self._replaced.wait()
        raise Replaced

    # -- what the edge says -----------------------------------------------------------------------

    async def receive(self) -> None:
        """Take in what comes, one message after the other."""
        while True:
            async with asyncio.timeout(2 * self._broker.config.edges.interval):
                said = await message_of(self._socket, EDGE_MESSAGE_BYTES)
            self.line.received += len(said)
            self.line.seen = self._broker.clock()
            match wire.read_from_edge(said):
                case wire.Events() as events:
                    await self._send(await self._items.store(events.numbered()))
                case wire.Withdrawn() as taken:
                    await self._send(await self._items.withdraw(taken))
                case wire.Announced() | wire.Revoked() | wire.Renamed() | wire.Vocabulary() as about:
                    try:
                        await self._about_source(about)
                    except LikewiseError as error:  # said again it would be refused again: the line goes on
                        self.line.refused += 1
                        _log.warning("what an edge says of a source is refused", edge=self.line.edge, reason=str(error))
                case wire.Subscribes(wanted=wanted, whole=whole):
                    await self._subscribe(wanted, whole)
                case wire.Unsubscribes(ids=ids):
                    for id in ids:
                        await self._unsubscribe(id)
                case wire.DemandTaken(version=version, unknown=unknown):
                    if unknown:
                        self._sent = ""
                    else:
                        self.line.demand = version
                case wire.DeliveriesStored(sequence=sequence):
                    self._settle(sequence)
                case wire.Health() as health:
                    self.line.health = health
                    self.line.readings |= health.sources
                case wire.Bye():
                    for source in list(self.line.sources):
                        await self._revoke(source, "its edge leaves")
                    await self._socket.close(1000, "bye")
                    raise WebSocketDisconnect(1000)
                case wire.Hello():
                    raise FormatError("hello is said once, at the beginning")

    async def _about_source(self, said: wire.Announced | wire.Revoked | wire.Renamed | wire.Vocabulary) -> None:
        match said:
            case wire.Announced(announcement=announcement):
                await self._announce(announcement)
            case wire.Revoked(source=source, reason=reason):
                await self._revoke(source, reason)
            case wire.Renamed(names=names):
                for each in names:
                    await self._rename(each)
            case wire.Vocabulary():
                self._access.require_source(said.source)
                demands = self._broker.edges.demands(self._tenant)
                await self._door.read(self._tenant, lambda: demands.see(self.line.edge, said))

    async def _announce(self, announcement: Any) -> None:
        self._access.require_source(announcement.source)
        broker, tenant = self._broker, self._tenant
        self.line.sources.add(announcement.source)
        await self._door.answer(lambda done: broker.announcements.start_announce(tenant, announcement, done))
        demands = broker.edges.demands(tenant)
        await self._door.read(tenant, lambda: demands.announce(self.line.edge, announcement))

    async def _rename(self, said: wire.SourceRenamed) -> None:
        """Take over that a name of the edge's was given up; what is known is passed over."""
        known, learnt = self._tenant.known.identities, self._broker.catalogue.learnt(self._tenant)
        command = RenameSource(said.before, said.sources, said.label, said.basis)
        if known.says(command):
            return
        self._access.require_source(said.before)
        for source in said.sources:
            if source in learnt:  # nobody takes the name of another's source
                self._access.require_source(source)
        announcements = self._broker.announcements
        await self._door.answer(lambda done: announcements.start_rename(self._tenant, command, done))

    async def _revoke(self, source: str, reason: str) -> None:
        broker, tenant = self._broker, self._tenant
        self._access.require_source(source)
        self.line.sources.discard(source)
        self._told.pop(source, None)
        demands = broker.edges.demands(tenant)
        await self._door.read(tenant, lambda: demands.revoke(self.line.edge, source))
        if source in tenant.known.announcements:
            await self._door.answer(lambda done: broker.announcements.start_revoke(tenant, source, reason, done))

    # -- subscriptions of its own -----------------------------------------------------------------

    async def _subscribe(self, wanted: tuple[wire.Wanted, ...], whole: bool) -> None:
        taken = []
        if whole:
            ids = {each.id for each in wanted}
            for id in [id for id in self._queue.subscriptions if id not in ids]:
                await self._unsubscribe(id)
        for each in wanted:
            try:
                await self._hold(each)
                taken.append(wire.Taken(each.id))
            except LikewiseError as error:
                taken.append(wire.Taken(each.id, str(error)[:1000]))
        if whole:
            self._known.set()
        await self._send(wire.Subscribed(taken=tuple(taken)))

    async def _hold(self, wanted: wire.Wanted) -> None:
        broker, tenant = self._broker, self._tenant
        name = read_name(wanted.id)
        if name is None or name.path[-1] != self.line.edge:
            raise InputError(f"{wanted.id[:60]!r} is no name of a subscription of {self.line.edge!r}")
        if broker.edges.here in name.path:
            raise Circle("the subscription went out from here; let no two brokers dial each other")
        made = msgspec.structs.replace(subscription_from_json(bytes(wanted.subscription)), id=wanted.id)
        held = tenant.held.get(self._queue.subscriptions.get(wanted.id, -1))
        if held is None or held.subscription != made:
            await self._door.answer(lambda done: broker.start_subscribe(tenant, self._queue.id, [made], True, done))

    async def _unsubscribe(self, id: str) -> None:
        broker, tenant = self._broker, self._tenant
        if id in self._queue.subscriptions:
            await self._door.answer(lambda done: broker.start_unsubscribe(tenant, self._queue.id, id, done))

    # -- what the edge is told --------------------------------------------------------------------

    async def ask(self) -> None:
        """Tell it what is asked for, whenever that changes, and what its sources are told."""
        await self._known.wait()
        broker, tenant = self._broker, self._tenant
        demands = broker.edges.demands(tenant)
        while True:
            now = await self._door.read(tenant, lambda: demands.of(self.line.edge, broker.edges.above))
            version = version_of(now)
            if version != self._sent:
                base, before = self._sent, self._demand
                self._sent, self._demand = version, now
                self.line.filters = len(now.filters)
                if not base and version == self._has:
                    self.line.demand = version
                else:
                    until = broker.clock() + EDGE_DEMAND_LASTS * 1_000_000
                    await self._send(changed(before if base else EdgeDemand({}, {}), now, version, base, until))
            for source in list(self.line.sources):
                await self._tell(broker.activation.told_one(tenant, source))
            await asyncio.sleep(EDGE_DEMAND_SECONDS)

    async def _tell(self, sense: Sense | None) -> None:
        if sense is not None and self._told.get(sense.source) != sense.version:
            self._told[sense.source] = sense.version
            await self._send(wire.Senses(sense=sense))

    def _settle(self, sequence: int) -> None:
        """The edge has everything up to a sequence; what was looked at since and says nothing to it is settled, too."""
        reached = self._cursor if sequence >= self._last else sequence
        if self._queue.acknowledged < reached <= self._tenant.stored_number:
            self._broker.acknowledge(self._tenant, self._queue.id, reached)
        self._changed.set()

    async def give(self) -> None:
        """Send what its subscribers are given, so many ahead of its acknowledgements, and what was taken back."""
        broker, tenant, queue = self._broker, self._tenant, self._queue
        await self._known.wait()
        withdrawn = await self._door.read(
            tenant, lambda: taken_back(broker.store, tenant, queue, sorted(tenant.withdrawn))
        )
        if withdrawn:
            await self._send(wire.Deliveries(withdrawn=tuple(withdrawn)))
        while True:
            if queue.gone or queue.served_by is not self._served:
                raise Replaced
            self._changed.clear()
            gone, self.line.withdrawn = self.line.withdrawn, []
            if gone:
                await self._matched()
                said = await self._door.read(tenant, partial(taken_back, broker.store, tenant, queue, gone))
                if said:
                    await self._send(wire.Deliveries(withdrawn=tuple(said)))
            page = await self._door.read(tenant, self._page)
            if page:
                made = await self._door.read(
                    tenant, partial(delivered, broker.store, tenant, queue, self.line.edge, page)
                )
                self._cursor = page[-1].number
                if made:
                    self._last = made[-1].sequence
                for part in _parts(made):
                    await self._send(wire.Deliveries(deliveries=tuple(part)))
                self._settle(queue.acknowledged)
            else:
                await self._changed.wait()

    async def _matched(self) -> None:
        """Wait until what is appended by now is matched; on the loop, for that may take as long as a backlog does."""
        broker = self._broker
        appended = broker.store.position
        while broker.worker.position < appended:
            if broker.worker.failure is not None:
                raise Unavailable(f"matching has stopped: {broker.worker.failure}")
            await asyncio.sleep(0.01)

    def _page(self) -> list[Any]:
        with self._broker.lock:
            ahead = self._queue.pending.rank(self._cursor) if self._queue.pending else 0
        room = EDGE_WINDOW - ahead
        if room <= 0:
            return []
        return self._broker.deliveries(
            self._tenant, self._queue, after=self._cursor, limit=min(SEND_PAGE, room), most_bytes=SEND_PAGE_BYTES
        )

    async def live(self) -> None:
        """Give signs of life."""
        while True:
            await asyncio.sleep(self._broker.config.edges.interval)
            await self._send(wire.Health())


def _parts(made: list[wire.Delivered]) -> list[list[wire.Delivered]]:
    """Deliveries in messages of a size."""
    parts: list[list[wire.Delivered]] = []
    size = 0
    for each in made:
        own = 0 if isinstance(each.event, msgspec.UnsetType) else len(bytes(each.event))
        if not parts or size + own > EDGE_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += own
    return parts
