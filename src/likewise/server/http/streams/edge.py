"""WebSocket `/v1/edges/{id}`: the line to a broker at the edge (`likewise.api.edge_frames`, docs/guides/edge.md).

The edge says hello and is welcomed; then it announces its sources, reports their words and subscribes for its own
subscribers, all of them once (`whole`); from then on it is told what is asked of it. Its events are acknowledged when
they are on disk. Close codes: `long_lived`; a newer connection of the same edge takes over (4000).
`EdgeSession.receive` takes in the items of an edge: each once, on disk before it is acknowledged, or refused with a
reason.
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise
from typing import Any, cast

import msgspec
import structlog
from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from likewise.api import edge_frames as wire
from likewise.api.sources import SensingCommand
from likewise.broker.edge_hub.connections import EdgeConnection
from likewise.broker.edge_hub.demands import EdgeDemand, changed, version_of
from likewise.broker.edge_hub.identities import checked_edge, read_name, subscriber_of
from likewise.broker.edge_hub.ingest import EdgeIngest, with_note
from likewise.broker.edge_hub.pages import edge_deliveries, withdrawn_names
from likewise.broker.log.edges.connections import EdgeRow, advance_edge
from likewise.broker.log.entries import Entry, RenameSourceCommand, WithdrawCommand, command_entry
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
from likewise.errors import (
    Conflict,
    FormatError,
    InputError,
    LikewiseError,
    NotAllowed,
    RateExceeded,
    RoutingLoop,
    Unavailable,
    UnknownId,
)
from likewise.formats.json.subscriptions import subscription_from_json
from likewise.server.gateway import Gateway
from likewise.server.http.requests import authenticate
from likewise.server.http.streams.websocket_lifecycle import (
    offered_subprotocol,
    receive_message,
    reject,
    run_until_closed,
)
from likewise.server.streaming import StreamReplaced


class EdgeItemIngest:
    """Events and withdrawals of one connection, in the order of their sequences."""

    def __init__(self, gateway: Gateway, access: Access, tenant: Tenant, line: EdgeConnection, row: EdgeRow) -> None:
        self._gateway = gateway
        self._broker = broker = gateway.broker
        self._access = access
        self._tenant = tenant
        self._line = line
        self._taking = EdgeIngest(
            tenant.number, line.edge, row.epoch, access, broker.edges.here, tenant.sources.identities
        )
        self._sequence = row.sequence  # up to where they are stored

    async def store(self, items: tuple[wire.EdgeItem, ...]) -> wire.EventsAckFrame:
        """Store events; those that are stored already are skipped."""
        if any(one.sequence >= next.sequence for one, next in pairwise(items)):
            raise FormatError("items come in the order of their sequences")
        new = [item for item in items if item.sequence > self._sequence]
        refused: list[wire.RejectedItem] = []
        if new:
            upto = new[-1].sequence
            read = self._taking.read(new, self._broker.expires_at())
            refused = read.refused
            await self._wait_for_capacity(len(read.entries))
            if read.entries:
                refused += await self._append(read.entries, upto)
            if not read.entries or refused:
                await self._record_progress(upto)
            self._sequence = upto
        self._line.refused += len(refused)
        for each in refused:
            _log.warning("edge_event_rejected", edge=self._line.edge, code=each.code, reason=each.words)
        return wire.EventsAckFrame(sequence=self._sequence, refused=tuple(refused))

    async def _append(self, entries: list[tuple[int, Entry]], upto: int) -> list[wire.RejectedItem]:
        """Append entries together; each by itself if the id of one stands for something else already."""
        broker, tenant = self._broker, self._tenant
        try:
            made = with_note(entries, upto, self._taking.noted)
            await self._gateway.wait_committed(broker.store.append, made)
        except Conflict as conflict:
            if len(entries) == 1:
                return [wire.RejectedItem(entries[0][0], conflict.code, str(conflict)[:500])]
            refused = []
            for sequence, entry in entries:
                entry.progress = None
                refused += await self._append([(sequence, entry)], sequence)
            return refused
        broker.metrics.received(tenant.name, len(entries))
        return []

    async def _record_progress(self, sequence: int) -> None:
        noted = self._taking.noted(sequence)
        await self._gateway.wait_committed(self._broker.store.write, lambda tables: advance_edge(tables, noted))

    async def _wait_for_capacity(self, count: int) -> None:
        """Wait while the tenant's rate or a full queue holds publishers up: the edge keeps what it has."""
        while True:
            try:
                self._gateway.check_rate(self._tenant, count)
                await self._gateway.wait_unblocked(self._tenant)
                return
            except RateExceeded as wait:
                await asyncio.sleep(min(1.0, wait.retry_after))

    async def withdraw(self, frame: wire.WithdrawFrame) -> wire.EventsAckFrame:
        """Take an event back that was sent before."""
        if frame.sequence > self._sequence:
            broker, tenant = self._broker, self._tenant
            try:
                self._access.require_source(frame.source)
                position = await self._gateway.read(
                    tenant, lambda: broker.find_event(tenant, frame.event, frame.source)
                )
            except (UnknownId, NotAllowed):  # it is over here, or was refused before
                await self._record_progress(frame.sequence)
            else:
                entry = command_entry(tenant.number, WithdrawCommand(position))
                entry.progress = self._taking.noted(frame.sequence)
                await self._gateway.wait_committed(broker.store.append, [entry])
            self._sequence = frame.sequence
        return wire.EventsAckFrame(sequence=self._sequence)


router = APIRouter()
_log = structlog.get_logger("likewise.edges")


@router.websocket("/v1/edges/{id}")
async def edge(socket: WebSocket, id: str) -> None:
    """Serve an edge until one side ends it."""
    try:
        gateway, access, tenant = authenticate(socket, "edge")
        access.require_edge(checked_edge(id))
    except LikewiseError as error:
        await reject(socket, error)
        return
    await socket.accept(subprotocol=offered_subprotocol(socket))
    try:
        hello = wire.decode_edge_frame(await receive_message(socket, EDGE_MESSAGE_BYTES))
        if not isinstance(hello, wire.HelloFrame) or hello.id != id:
            raise FormatError(f"the first message of {id!r} is its hello")
        if gateway.broker.edges.here and gateway.broker.edges.here in (id, *hello.below):
            raise RoutingLoop(
                f"{id!r} is dialled by {gateway.broker.edges.here!r} itself; let no two brokers dial each other"
            )
        session = await EdgeSession.open(gateway, access, tenant, socket, hello)
    except (WebSocketDisconnect, RuntimeError):
        return
    except LikewiseError as error:
        await socket.send_text(wire.encode_frame(wire.NackFrame(code=error.code, words=str(error)[:1000])).decode())
        await socket.close(1008, error.code)
        return
    try:
        await run_until_closed(
            gateway,
            socket,
            session.receive(),
            session.send_demand(),
            session.send_deliveries(),
            session.heartbeat(),
            session.replaced(),
        )
    finally:
        gateway.broker.edges.disconnect(tenant, session.line)


class EdgeSession:
    """The connection of one edge."""

    def __init__(
        self,
        gateway: Gateway,
        access: Access,
        tenant: Tenant,
        socket: WebSocket,
        hello: wire.HelloFrame,
        row: EdgeRow,
        queue: SubscriberQueue,
    ) -> None:
        self._gateway = gateway
        self._broker = broker = gateway.broker
        self._tenant = tenant
        self._access = access
        self._socket = socket
        self._queue = queue
        self._known = asyncio.Event()  # once the edge has said all that it has
        self._demand = EdgeDemand({}, {})
        self._sent = ""  # the version that was sent last
        self._has = hello.demand
        self._sensing_sent: dict[str, int] = {}  # versions of what sources were told
        self._cursor = queue.acknowledged  # up to where deliveries were looked at
        self._last = 0  # the last one that was sent
        self._changed = asyncio.Event()
        self._replaced = asyncio.Event()
        address = "" if socket.client is None else f"{socket.client.host}:{socket.client.port}"
        self.line = EdgeConnection(hello.id, address, broker.clock(), self._replaced.set)
        self.line.health = wire.HealthFrame(below=hello.below)
        self._items = EdgeItemIngest(gateway, access, tenant, self.line, row)
        self.line.wake = lambda: gateway.bridge.call(self._changed.set)
        self._served = object()

    @classmethod
    async def open(
        cls, gateway: Gateway, access: Access, tenant: Tenant, socket: WebSocket, hello: wire.HelloFrame
    ) -> EdgeSession:
        """Welcome an edge."""
        broker = gateway.broker
        row = cast(
            "EdgeRow",
            await gateway.wait_committed(broker.edges.start_open, tenant, hello.id, hello.epoch),
        )
        limit = broker.config.limits.queue
        queue = cast(
            "SubscriberQueue",
            await gateway.wait_committed(broker.start_register, tenant, subscriber_of(hello.id), "drop-oldest", limit),
        )
        if hello.line == row.known.line and queue.acknowledged < hello.received <= tenant.stored_number:
            broker.acknowledge(tenant, queue.id, hello.received)
        made = cls(gateway, access, tenant, socket, hello, row, queue)
        broker.edges.connect(tenant, made.line)
        queue.wake = made.line.wake
        queue.served_by = made._served
        await made._send(
            wire.HelloAckFrame(
                sequence=row.sequence,
                line=row.known.line,
                interval=broker.config.edges.interval,
                items=EDGE_ITEMS,
                bytes=EDGE_BYTES,
                renames=True,
            )
        )
        return made

    async def _send(self, message: wire.HubFrame) -> None:
        data = wire.encode_frame(message)
        self.line.sent += len(data)
        await self._socket.send_text(data.decode())

    async def replaced(self) -> None:
        """Wait until a newer connection takes over."""
        await self._replaced.wait()
        raise StreamReplaced

    # -- what the edge says -----------------------------------------------------------------------

    async def receive(self) -> None:
        """Take in what comes, one message after the other."""
        while True:
            async with asyncio.timeout(2 * self._broker.config.edges.interval):
                data = await receive_message(self._socket, EDGE_MESSAGE_BYTES)
            self.line.received += len(data)
            self.line.last_seen = self._broker.clock()
            match wire.decode_edge_frame(data):
                case wire.EventsFrame() as events:
                    await self._send(await self._items.store(events.items_with_sequences()))
                case wire.WithdrawFrame() as taken:
                    await self._send(await self._items.withdraw(taken))
                case wire.AnnounceFrame() | wire.RevokeFrame() | wire.RenameFrame() | wire.VocabularyFrame() as about:
                    try:
                        await self._apply_source_frame(about)
                    except LikewiseError as error:  # said again it would be refused again: the line goes on
                        self.line.refused += 1
                        _log.warning("edge_source_frame_rejected", edge=self.line.edge, reason=str(error))
                case wire.SubscribeFrame(wanted=wanted, whole=whole):
                    await self._subscribe(wanted, whole)
                case wire.UnsubscribeFrame(ids=ids):
                    for id in ids:
                        await self._unsubscribe(id)
                case wire.DemandAckFrame(version=version, unknown=unknown):
                    if unknown:
                        self._sent = ""
                    else:
                        self.line.demand = version
                case wire.DeliverAckFrame(sequence=sequence):
                    self._acknowledge(sequence)
                case wire.HealthFrame() as health:
                    self.line.report(health)
                case wire.ByeFrame():
                    for source in list(self.line.sources):
                        await self._revoke(source, "its edge leaves")
                    await self._socket.close(1000, "bye")
                    raise WebSocketDisconnect(1000)
                case wire.HelloFrame():
                    raise FormatError("hello is said once, at the beginning")

    async def _apply_source_frame(
        self, frame: wire.AnnounceFrame | wire.RevokeFrame | wire.RenameFrame | wire.VocabularyFrame
    ) -> None:
        match frame:
            case wire.AnnounceFrame(announcement=announcement):
                await self._announce(announcement)
            case wire.RevokeFrame(source=source, reason=reason):
                await self._revoke(source, reason)
            case wire.RenameFrame(names=names):
                for each in names:
                    await self._rename(each)
            case wire.VocabularyFrame():
                self._access.require_source(frame.source)
                demands = self._broker.edges.demands(self._tenant)
                await self._gateway.read(self._tenant, lambda: demands.see(self.line.edge, frame))

    async def _announce(self, announcement: Any) -> None:
        self._access.require_source(announcement.source)
        broker, tenant = self._broker, self._tenant
        self.line.sources.add(announcement.source)
        await self._gateway.wait_committed(broker.announcements.start_announce, tenant, announcement)
        demands = broker.edges.demands(tenant)
        await self._gateway.read(tenant, lambda: demands.announce(self.line.edge, announcement))

    async def _rename(self, rename: wire.SourceRename) -> None:
        """Take over that a name of the edge's was given up; what is known is passed over."""
        known, learnt = self._tenant.sources.identities, self._broker.catalogue.learnt(self._tenant)
        command = RenameSourceCommand(rename.before, rename.sources, rename.label, rename.basis)
        if known.is_recorded(command):
            return
        self._access.require_source(rename.before)
        for source in rename.sources:
            if source in learnt:  # nobody takes the name of another's source
                self._access.require_source(source)
        announcements = self._broker.announcements
        await self._gateway.wait_committed(announcements.start_rename, self._tenant, command)

    async def _revoke(self, source: str, reason: str) -> None:
        broker, tenant = self._broker, self._tenant
        self._access.require_source(source)
        self.line.sources.discard(source)
        self._sensing_sent.pop(source, None)
        demands = broker.edges.demands(tenant)
        await self._gateway.read(tenant, lambda: demands.revoke(self.line.edge, source))
        if source in tenant.sources.announcements:
            await self._gateway.wait_committed(broker.announcements.start_revoke, tenant, source, reason)

    # -- subscriptions of its own -----------------------------------------------------------------

    async def _subscribe(self, requests: tuple[wire.EdgeSubscriptionRequest, ...], whole: bool) -> None:
        results = []
        if whole:
            ids = {each.id for each in requests}
            for id in [id for id in self._queue.subscriptions if id not in ids]:
                await self._unsubscribe(id)
        for each in requests:
            try:
                await self._add_subscription(each)
                results.append(wire.EdgeSubscriptionResult(each.id))
            except LikewiseError as error:
                results.append(wire.EdgeSubscriptionResult(each.id, str(error)[:1000]))
        if whole:
            self._known.set()
        await self._send(wire.SubscribeAckFrame(taken=tuple(results)))

    async def _add_subscription(self, request: wire.EdgeSubscriptionRequest) -> None:
        broker, tenant = self._broker, self._tenant
        name = read_name(request.id)
        if name is None or name.path[-1] != self.line.edge:
            raise InputError(f"{request.id[:60]!r} is no name of a subscription of {self.line.edge!r}")
        if broker.edges.here in name.path:
            raise RoutingLoop("the subscription went out from here; let no two brokers dial each other")
        made = msgspec.structs.replace(subscription_from_json(bytes(request.subscription)), id=request.id)
        stored = tenant.subscriptions.get(self._queue.subscriptions.get(request.id, -1))
        if stored is None or stored.subscription != made:
            await self._gateway.wait_committed(broker.start_subscribe, tenant, self._queue.id, [made], True)

    async def _unsubscribe(self, id: str) -> None:
        broker, tenant = self._broker, self._tenant
        if id in self._queue.subscriptions:
            await self._gateway.wait_committed(broker.start_unsubscribe, tenant, self._queue.id, id)

    # -- what the edge is told --------------------------------------------------------------------

    async def send_demand(self) -> None:
        """Tell it what is asked for, whenever that changes, and what its sources are told."""
        await self._known.wait()
        broker, tenant = self._broker, self._tenant
        demands = broker.edges.demands(tenant)
        while True:
            now = await self._gateway.read(tenant, lambda: demands.of(self.line.edge, broker.edges.above))
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
                await self._send_sensing(broker.activation.command(tenant, source))
            await asyncio.sleep(EDGE_DEMAND_SECONDS)

    async def _send_sensing(self, sense: SensingCommand | None) -> None:
        if sense is not None and self._sensing_sent.get(sense.source) != sense.version:
            self._sensing_sent[sense.source] = sense.version
            await self._send(wire.SenseFrame(sense=sense))

    def _acknowledge(self, sequence: int) -> None:
        """Acknowledge the edge's queue up to a sequence, and entries after it that were not for the edge."""
        reached = self._cursor if sequence >= self._last else sequence
        if self._queue.acknowledged < reached <= self._tenant.stored_number:
            self._broker.acknowledge(self._tenant, self._queue.id, reached)
        self._changed.set()

    async def send_deliveries(self) -> None:
        """Send what its subscribers are given, so many ahead of its acknowledgements, and what was taken back."""
        broker, tenant, queue = self._broker, self._tenant, self._queue
        await self._known.wait()
        withdrawn = await self._gateway.read(
            tenant, lambda: withdrawn_names(broker.store, tenant, queue, sorted(tenant.withdrawn))
        )
        if withdrawn:
            await self._send(wire.DeliverFrame(withdrawn=tuple(withdrawn)))
        while True:
            if queue.unregistered or queue.served_by is not self._served:
                raise StreamReplaced
            self._changed.clear()
            to_withdraw, self.line.withdrawn = self.line.withdrawn, []
            if to_withdraw:
                await self._wait_matched()
                pairs = await self._gateway.read(
                    tenant, partial(withdrawn_names, broker.store, tenant, queue, to_withdraw)
                )
                if pairs:
                    await self._send(wire.DeliverFrame(withdrawn=tuple(pairs)))
            page = await self._gateway.read(tenant, self._page)
            if page:
                made = await self._gateway.read(
                    tenant, partial(edge_deliveries, broker.store, tenant, queue, self.line.edge, page)
                )
                self._cursor = page[-1].number
                if made:
                    self._last = made[-1].sequence
                for part in _split_deliveries(made):
                    await self._send(wire.DeliverFrame(deliveries=tuple(part)))
                self._acknowledge(queue.acknowledged)
            else:
                await self._changed.wait()

    async def _wait_matched(self) -> None:
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

    async def heartbeat(self) -> None:
        """Give signs of life."""
        while True:
            await asyncio.sleep(self._broker.config.edges.interval)
            await self._send(wire.HealthFrame())


def _split_deliveries(made: list[wire.EdgeDelivery]) -> list[list[wire.EdgeDelivery]]:
    """Deliveries in messages of a size."""
    parts: list[list[wire.EdgeDelivery]] = []
    size = 0
    for each in made:
        event_bytes = 0 if isinstance(each.event, msgspec.UnsetType) else len(bytes(each.event))
        if not parts or size + event_bytes > EDGE_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += event_bytes
    return parts
