"""The uplink of a broker at the edge: it dials the broker above, the next address when one does not answer, for ever.

While no line is open everything goes on here: events are taken, subscribers served, and what goes up waits in the
outbox. Epoch and sequences stay the same whichever address answers.

One connection to the broker above: what is said over it from hello to its end.

Items go up in the order of their sequences, a few messages ahead of the acknowledgements. What comes down is stored
before it is acknowledged. Who hears nothing for two intervals lets go, and the next address is dialled.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, Literal
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec
import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from likewise.api import edge_frames as wire
from likewise.api.edge_frames import DeliverFrame, EdgeDelivery, UplinkStatus
from likewise.api.sources import SensingCommand
from likewise.broker.broker import Broker
from likewise.broker.edge_hub.demands import EdgeDemand, Key, UpstreamDemand
from likewise.broker.edge_hub.identities import checked_edge, read_name
from likewise.broker.log.catalogue.records import Alias
from likewise.broker.log.commits import wait_for
from likewise.broker.log.edges.hops import ABOVE
from likewise.broker.log.edges.outbox import OutboxEvent
from likewise.broker.log.edges.uplink import (
    RECEIVED,
    ReceivedPosition,
    UplinkPosition,
    advance_uplink,
    read_uplink,
    store_uplink,
)
from likewise.broker.log.entries import Entry, RemoteDecision, WithdrawCommand, batch_entries, command_entry
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import EDGE_ITEMS, EDGE_MESSAGE_BYTES, EDGE_RETRY_SECONDS, TENANT
from likewise.edge.bounds import Bounds
from likewise.edge.outbox import Outbox
from likewise.edge.upstream_subscriptions import UpstreamSubscriptions
from likewise.errors import Conflict, FormatError, InputError, LikewiseError, StateError, UnknownId
from likewise.formats.json.batches import decode_each
from likewise.model.announcements.announcement import Announcement
from likewise.server.gateway import Gateway

SEND_WINDOW: Final = 4  # messages of items that are sent before the first is acknowledged
ITEM_BYTES: Final = 60  # around an event in its message


class DeliveryReceiver:
    """Stores what comes down a line."""

    def __init__(self, broker: Broker, tenant: Tenant, here: str) -> None:
        self._broker = broker
        self._tenant = tenant
        self._edge_id = here

    def progress(self) -> UplinkPosition:
        """Return how far the deliveries of a connection are stored."""
        with self._broker.store.reading() as tables:
            return read_uplink(tables, self._tenant.number, RECEIVED, UplinkPosition) or UplinkPosition("", 0)

    def store(self, line: str, frame: DeliverFrame) -> int | None:
        """Store deliveries of a line; up to which sequence it has them then, on disk, if there were any."""
        for source, id in frame.withdrawn:
            self._withdraw(source, id)
        known = self.progress()
        after = known.sequence if known.line == line else 0
        new = [each for each in frame.deliveries if each.sequence > after]
        if new:
            self._append(new, ReceivedPosition(self._tenant.number, line, new[-1].sequence))
        return frame.deliveries[-1].sequence if frame.deliveries else None

    def _append(self, new: Sequence[EdgeDelivery], noted: ReceivedPosition) -> None:
        store = self._broker.store
        try:
            entries = self._entries(new)
            if not entries:
                store.commit(lambda tables: advance_uplink(tables, noted))
                return
            entries[-1].progress = noted
            wait_for(lambda done: store.append(entries, done))
        except LikewiseError as error:
            if not isinstance(error, Conflict) and len(new) == 1:
                raise
            if len(new) == 1:
                _log.warning("edge_delivery_conflict", id=new[0].id, source=new[0].source)
                store.commit(lambda tables: advance_uplink(tables, noted))
                return
            for each in new:  # so that one cannot fail the others
                self._append([each], ReceivedPosition(noted.tenant, noted.line, each.sequence))

    def _entries(self, new: Sequence[EdgeDelivery]) -> list[Entry]:
        """Return the entries to append: events first, then the decisions about them."""
        with_body = [each for each in new if not isinstance(each.event, msgspec.UnsetType)]
        bodies = [bytes(each.event) for each in with_body if not isinstance(each.event, msgspec.UnsetType)]
        expires = self._broker.expires_at()
        events = batch_entries(self._tenant.number, decode_each(bodies), expires) if bodies else []
        for each, entry in zip(with_body, events, strict=True):
            entry.hops = (*each.hops, ABOVE)
        decided = [command_entry(self._tenant.number, made) for each in new if (made := self._decision_entry(each))]
        return [*events, *decided]

    def _decision_entry(self, each: EdgeDelivery) -> RemoteDecision | None:
        matched = []
        for id, score in each.subscriptions:
            name = read_name(id)
            if name is not None and name.path[-1] == self._edge_id and name.number in self._tenant.subscriptions:
                matched.append((name.number, score))
        if not matched:
            return None
        return RemoteDecision(each.source, each.id, each.cause, tuple(matched), each.alert)

    def _withdraw(self, source: str, id: str) -> None:
        """Take back an event that was withdrawn above; one that is over here, or was withdrawn, is left alone."""
        try:
            position = self._broker.find_event(self._tenant, id, source)
        except (UnknownId, StateError):
            return
        wait_for(lambda done: self._broker.command(self._tenant, WithdrawCommand(position), done))


class HubRefused(StateError):
    """The broker above refused the line, and why."""

    code = "refused_above"


class StaleEdgeStore(StateError):
    """The broker above has later items than there ever were here: this store is an older copy."""

    code = "behind_above"


class UplinkConnection:
    """The connection, once it is open."""

    def __init__(
        self,
        socket: ClientConnection,
        broker: Broker,
        tenant: Tenant,
        here: str,
        outbox: Outbox,
        subscriptions: UpstreamSubscriptions,
        receiving: DeliveryReceiver,
        senses: dict[str, SensingCommand],
        bounds: Bounds,
    ) -> None:
        self._socket = socket
        self._broker = broker
        self._tenant = tenant
        self._edge_id = here
        self._outbox = outbox
        self._subscriptions = subscriptions
        self._receiver = receiving
        self._senses = senses
        self._bounds = bounds
        self.changed = asyncio.Event()  # something may be there to be said
        self._window_open = asyncio.Event()  # an acknowledgement came
        self._announced: dict[str, Announcement] = {}
        self._renamed: dict[str, Alias] = {}  # names of sources that were said, by the name that was given up
        self._renames = False  # whether the broker above takes them
        self._in_flight: list[int] = []  # the last sequence of each message that is not acknowledged
        self._line_id = ""
        self._cursor = 0
        self.interval = 10.0
        self._items, self._bytes = 1, 1
        self.accepted = False
        self.sent = 0

    async def _send(self, message: wire.EdgeFrame) -> None:
        data = wire.encode_frame(message)
        self.sent += len(data)
        await self._socket.send(data.decode())

    async def _receive(self, seconds: float) -> wire.HubFrame:
        async with asyncio.timeout(seconds):
            return wire.decode_hub_frame(await self._socket.recv())

    async def handshake(self, epoch: str) -> None:
        """Say hello, be welcomed, and say everything that the broker above has to know."""
        outbox = self._outbox
        progress = await asyncio.to_thread(self._receiver.progress)
        last = await asyncio.to_thread(outbox.last_sequence)
        await self._send(
            wire.HelloFrame(
                id=self._edge_id,
                epoch=epoch,
                demand=outbox.demand.version,
                first=outbox.counts.acknowledged,
                last=last,
                line=progress.line,
                received=progress.sequence,
                below=self._broker.edges.below(self._tenant),
            )
        )
        match await self._receive(3 * self.interval):
            case wire.HelloAckFrame() as said:
                pass
            case wire.NackFrame(code=code, words=words):
                raise HubRefused(f"the broker above says {code}: {words}")
            case other:
                raise FormatError(f"the broker above says {type(other).__name__} before its welcome")
        if said.sequence > last:
            raise StaleEdgeStore(f"the broker above has item {said.sequence}, but only {last} were ever dealt here")
        self._line_id, self.interval, self._items, self._bytes = said.line, said.interval, said.items, said.bytes
        self._renames = said.renames
        await asyncio.to_thread(outbox.acknowledge, said.sequence)
        self._cursor = max(outbox.counts.acknowledged, said.sequence)
        self.accepted = True
        await self._send_announcements()
        for vocabulary in outbox.vocabulary.snapshot():
            await self._send(vocabulary)
        await self._send(self._subscriptions.snapshot())
        for changed in (outbox.sources_changed, outbox.subscriptions_changed):
            changed.set()  # what is not applied yet is said as soon as it is
        await self._send_health()

    # -- going up ---------------------------------------------------------------------------------

    async def send_loop(self) -> None:
        """Say what there is to say, as soon as there is something."""
        while True:
            self.changed.clear()
            await self._send_updates()
            if len(self._in_flight) >= SEND_WINDOW:
                self._window_open.clear()
                if len(self._in_flight) >= SEND_WINDOW:
                    await self._window_open.wait()
                continue
            page = await asyncio.to_thread(self._outbox.page, self._cursor, self._items)
            if not page:
                # Expired items are not sent.
                if not self._in_flight and self._cursor > self._outbox.counts.acknowledged:
                    await asyncio.to_thread(self._outbox.acknowledge, self._cursor)
                if not self.changed.is_set():
                    await self._wait_for_change()
                continue
            await self._send_items(page)

    async def _wait_for_change(self) -> None:
        """Wait for something to say; a short while if what was seen in the log is not applied, so not said."""
        outbox = self._outbox
        incomplete = outbox.subscriptions_changed.is_set() or outbox.sources_changed.is_set()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.25 if incomplete else None):
                await self.changed.wait()

    def _is_applied(self) -> bool:
        """Return whether every command of the log is applied; only then is the broker's state that of the log."""
        return self._tenant.matched >= self._outbox.last_command

    async def _send_items(self, page: list[OutboxEvent]) -> None:
        items: list[wire.EdgeItem] = []
        size = 0
        for item, body, hops, received in page:
            if item.withdrawn is not None:
                if items:
                    await self._send_events(items)
                    items, size = [], 0
                self._in_flight.append(item.sequence)
                await self._send(
                    wire.WithdrawFrame(sequence=item.sequence, source=item.withdrawn.source, event=item.withdrawn.id)
                )
            elif body is not None:
                if items and size + len(body) > self._bytes:
                    break
                items.append(wire.EdgeItem(item.sequence, msgspec.Raw(body), hops, received))
                size += len(body) + ITEM_BYTES
            self._cursor = item.sequence
            if len(self._in_flight) >= SEND_WINDOW:
                break
        if items:
            await self._send_events(items)

    async def _send_events(self, items: list[wire.EdgeItem]) -> None:
        self._in_flight.append(items[-1].sequence)
        await self._send(wire.EventsFrame.of(items))

    async def _send_updates(self) -> None:
        outbox = self._outbox
        if outbox.sources_changed.is_set():
            outbox.sources_changed.clear()
            settled = self._is_applied()  # before it is looked at
            await self._send_announcements()
            if not settled:
                outbox.sources_changed.set()
        if outbox.subscriptions_changed.is_set():
            outbox.subscriptions_changed.clear()
            settled = self._is_applied()
            for frame in self._subscriptions.diff():
                await self._send(frame)
            if not settled:
                outbox.subscriptions_changed.set()
        for words in outbox.vocabulary.take_pending():
            await self._send(words)

    async def _send_announcements(self) -> None:
        """Say which sources were renamed, announced, renewed or revoked since it was last said."""
        if self._renames:
            await self._send_renames()
        announcements = dict(self._tenant.sources.announcements)
        for source in [source for source in self._announced if source not in announcements]:
            del self._announced[source]
            self._senses.pop(source, None)
            await self._send(wire.RevokeFrame(source=source))
        for source, each in announcements.items():
            if self._announced.get(source) is not each.announcement:
                self._announced[source] = each.announcement
                await self._send(wire.AnnounceFrame(announcement=each.announcement))

    async def _send_renames(self) -> None:
        """Say which names were given up, before anything comes under what they became."""
        known = self._tenant.sources.identities.aliases()
        new = [(name, alias) for name, alias in known.items() if self._renamed.get(name) != alias]
        for start in range(0, len(new), EDGE_ITEMS):
            some = new[start : start + EDGE_ITEMS]
            names = tuple(wire.SourceRename(name, alias.sources, alias.label, alias.basis) for name, alias in some)
            await self._send(wire.RenameFrame(names=names))
            self._renamed.update(some)

    async def heartbeat(self) -> None:
        """Give signs of life."""
        while True:
            await asyncio.sleep(self.interval)
            self._outbox.sources_changed.set()  # leases are renewed by what sources say; a lost word is said again
            self._outbox.subscriptions_changed.set()
            self.changed.set()
            await self._send_health()

    async def _send_health(self) -> None:
        outbox, tenant = self._outbox, self._tenant
        readings, outbox.readings = outbox.readings, {}
        await self._send(
            wire.HealthFrame(
                waiting=outbox.waiting,
                bytes=outbox.bytes,
                oldest=await asyncio.to_thread(outbox.oldest),
                dropped=outbox.counts.dropped,
                policy=self._bounds.policy,
                forwarded=outbox.counts.forwarded,
                passed_over=outbox.counts.passed_over,
                sources=dict(list(readings.items())[:10_000]),
                subscribers=len(tenant.subscribers),
                subscriptions=sum(1 for _ in tenant.live()),
                below=self._broker.edges.below(tenant),
            )
        )

    async def say_bye(self) -> None:
        """Say bye if all that was there is above; else just go."""
        outbox, tenant = self._outbox, self._tenant
        if self.accepted and not outbox.waiting and outbox.position >= tenant.appended and self._is_applied():
            await self._send(wire.ByeFrame())

    # -- coming down ------------------------------------------------------------------------------

    async def receive_loop(self) -> None:
        """Take in what comes, until nothing is heard for two intervals."""
        while True:
            match await self._receive(2 * self.interval):
                case wire.EventsAckFrame(sequence=sequence, refused=refused):
                    for each in refused:
                        _log.warning("edge_event_rejected_by_hub", sequence=each.sequence, reason=each.words)
                    await asyncio.to_thread(self._outbox.acknowledge, sequence)
                    self._in_flight = [last for last in self._in_flight if last > sequence]
                    self._window_open.set()
                    self.changed.set()
                case wire.DemandFrame() as said:
                    applied = await asyncio.to_thread(self._outbox.change_demand, said)
                    await self._send(wire.DemandAckFrame(version=said.version, unknown=not applied))
                case wire.DeliverFrame() as said:
                    reached = await asyncio.to_thread(self._receiver.store, self._line_id, said)
                    if reached is not None:
                        await self._send(wire.DeliverAckFrame(sequence=reached))
                case wire.SenseFrame(sense=sense):
                    self._senses[sense.source] = sense
                case wire.SubscribeAckFrame(taken=answers):
                    for answer in answers:
                        self._subscriptions.acknowledge(answer.id, answer.refused)
                case wire.NackFrame(code=code, words=words):
                    raise HubRefused(f"the broker above says {code}: {words}")
                case wire.HealthFrame() | wire.HelloAckFrame():
                    pass


OPEN_SECONDS = 5.0  # that an address has to answer
EPOCH = "epoch"
CHOSEN = "chosen"  # the row of the addresses that were chosen while the edge ran
REFUSED = 1008  # how a line is closed whose token opens nothing, or not this
_log = structlog.get_logger("likewise.edge")


class ChosenAddresses(msgspec.Struct, frozen=True):
    """The addresses that were chosen at run time, in place of those that the process was started with."""

    addresses: tuple[str, ...]
    instead_of: tuple[str, ...]


class EdgeEpoch(msgspec.Struct, frozen=True):
    """A name for this store's sequences, and the edge's own name."""

    epoch: str
    id: str


def parse_hub_addresses(text: str) -> list[str]:
    """Parse the addresses of hubs into WebSocket URLs.

    >>> parse_hub_addresses("http://hub:8787,https://other")
    ['ws://hub:8787', 'wss://other']
    """
    addresses = []
    for each in text.split(","):
        parts = urlsplit(each.strip())
        schemes = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
        if parts.scheme not in schemes or not parts.netloc:
            raise InputError(f"{each.strip()[:60]!r} is no address of a broker; say http://host:8787")
        addresses.append(urlunsplit((schemes[parts.scheme], parts.netloc, parts.path.rstrip("/"), "", "")))
    return addresses


def refusal_reason(error: Exception) -> str | None:
    """Return why the hub refuses this edge; None if it only does not answer.

    >>> refusal_reason(HubRefused("the broker above says circle: no")), refusal_reason(TimeoutError())
    ('the broker above says circle: no', None)
    """
    if isinstance(error, HubRefused):
        return str(error)
    if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code == REFUSED:
        return error.rcvd.reason
    return None


class Uplink:
    """The connection of an edge broker to its hub. `id` is its name there; it is stored."""

    def __init__(
        self,
        broker: Broker,
        id: str,
        addresses: Sequence[str],
        *,
        token: str | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self._broker = broker
        self._given = list(addresses)  # what the process was started with
        self._addresses = self._given
        self._token = token
        self._switched = asyncio.Event()  # the addresses are others than those dialled
        self.bounds = bounds or Bounds()
        self.tenant = tenant = broker.tenant(TENANT)
        self.epoch = self._epoch(checked_edge(id))
        self.id = id
        broker.edges.here = id
        broker.edges.above = UpstreamDemand(self._demand_for, lambda: self.trouble)
        broker.activation.above = self._sensing_command
        self._senses: dict[str, SensingCommand] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.connection: UplinkConnection | None = None
        self.state: Literal["connected", "away", "disconnected"] = "away"
        self.address = ""
        self.trouble: str | None = None  # why the broker above refuses the line: nobody mends that by waiting
        self.outbox = Outbox(broker, tenant, self.bounds, self._changed)
        self.subscriptions = UpstreamSubscriptions(tenant, id)
        tenant.upstream_subscriptions = self.subscriptions.accepted
        self._receiver = DeliveryReceiver(broker, tenant, id)
        with broker.store.reading() as tables:
            chosen = read_uplink(tables, tenant.number, CHOSEN, ChosenAddresses)
        if chosen is not None and list(chosen.instead_of) == self._given:
            self._addresses = list(chosen.addresses)
        if not self._addresses:
            self.state = "disconnected"
        broker.edges.uplink = self

    def status(self) -> UplinkStatus:
        """Return where this edge connects, and how its connection stands."""
        return UplinkStatus(
            self.id,
            tuple(self._addresses),
            self.state,
            self.address if self.state == "connected" else "",
            self.outbox.waiting,
            self.trouble or "",
        )

    async def switch(self, upstream: str | None, token: str | None = None) -> UplinkStatus:
        """Connect to another broker, or (None) to none; what waits in the outbox waits on.

        The choice is stored, and holds until the process is started with another address. A token is not stored.

        Args:
            upstream: addresses as `--upstream` takes them.
            token: what is shown there; the one of before if None.
        """
        addresses = [] if upstream is None else parse_hub_addresses(upstream)
        chosen = ChosenAddresses(tuple(addresses), tuple(self._given))
        number = self.tenant.number
        await asyncio.to_thread(self._broker.store.commit, lambda tables: store_uplink(tables, number, CHOSEN, chosen))
        self._addresses, self._token = addresses, token or self._token
        self.trouble = None
        if not addresses:
            self.state = "disconnected"
        self._switched.set()
        return self.status()

    def _epoch(self, id: str, anew: bool = False) -> str:
        with self._broker.store.reading() as tables:
            known = read_uplink(tables, self.tenant.number, EPOCH, EdgeEpoch)
        if known is None or known.id != id or anew:
            made = EdgeEpoch(secrets.token_hex(8), id)
            self._broker.store.commit(lambda tables: store_uplink(tables, self.tenant.number, EPOCH, made))
            return made.epoch
        return known.epoch

    def _demand_for(self, keys: Sequence[Key]) -> EdgeDemand | None:
        return self.outbox.demand.demand_for(keys, self._broker.clock())

    def _sensing_command(self, source: str) -> SensingCommand | None:
        return self._senses.get(source)

    def _changed(self) -> None:
        """Something may be there to be said; called on any thread."""
        loop, line = self._loop, self.connection
        if loop is not None and line is not None and not loop.is_closed():
            with suppress(RuntimeError):  # the loop ends
                loop.call_soon_threadsafe(line.changed.set)

    async def run(self, gateway: Gateway) -> None:
        """Dial, until the broker stops."""
        self._loop = asyncio.get_running_loop()
        self.outbox.start()
        dialling = asyncio.create_task(self._reconnect_loop(gateway))
        stopping = asyncio.create_task(gateway.stopping.wait())
        try:
            await asyncio.wait({dialling, stopping}, return_when=asyncio.FIRST_COMPLETED)
            line = self.connection
            if line is not None:
                with suppress(WebSocketException, OSError, TimeoutError):
                    async with asyncio.timeout(1.0):
                        await line.say_bye()
        finally:
            dialling.cancel()
            stopping.cancel()
            await asyncio.gather(dialling, stopping, return_exceptions=True)
            await asyncio.to_thread(self.outbox.stop)

    async def _reconnect_loop(self, gateway: Gateway) -> None:
        place, failed, last_reason = 0, 0, ""
        while True:
            if self._switched.is_set():
                self._switched.clear()
                place, failed, last_reason = 0, 0, ""
            if not self._addresses:
                self.state = "disconnected"
                await self._switched.wait()
                continue
            address = self._addresses[place % len(self._addresses)]
            place += 1
            try:
                await self._until_switched(self._run_connection(address))
            except StaleEdgeStore as behind:
                _log.warning("edge_store_is_older_copy", reason=str(behind))
                self.epoch = await asyncio.to_thread(self._epoch, self.id, True)
                place -= 1
            except (WebSocketException, OSError, TimeoutError, LikewiseError) as error:
                reason = f"{type(error).__name__}: {error}"
                if self.state == "connected" or reason != last_reason:  # once, however often it is dialled
                    _log.warning("edge_connection_lost", address=address, reason=reason)
                last_reason = reason
                if (why := refusal_reason(error)) is not None:
                    self.trouble = f"the broker at {address} refuses this edge: {why}"
            failed = 0 if self.state == "connected" else failed + 1
            self.state, self.connection = "away", None
            self.subscriptions.reset()
            if (failed >= len(self._addresses) or len(self._addresses) == 1) and not self._switched.is_set():
                pause = EDGE_RETRY_SECONDS * (0.5 + 0.5 * secrets.randbelow(1000) / 1000)
                await self._until_switched(asyncio.sleep(pause))

    async def _until_switched(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work until it ends or other addresses are chosen; a connection that is given up says bye."""
        task, switched = asyncio.create_task(work), asyncio.create_task(self._switched.wait())
        try:
            await asyncio.wait({task, switched}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            elif (line := self.connection) is not None:
                with suppress(WebSocketException, OSError, TimeoutError):
                    async with asyncio.timeout(1.0):
                        await line.say_bye()
        finally:
            task.cancel()
            switched.cancel()
            await asyncio.gather(task, switched, return_exceptions=True)

    async def _run_connection(self, address: str) -> None:
        """Open a line and hold it until it breaks."""
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else None
        async with connect(
            f"{address}/v1/edges/{quote(self.id)}",
            additional_headers=headers,
            max_size=EDGE_MESSAGE_BYTES * 4,
            open_timeout=OPEN_SECONDS,
            close_timeout=1.0,
            ping_interval=None,
            compression=None,
        ) as socket:
            line = UplinkConnection(
                socket,
                self._broker,
                self.tenant,
                self.id,
                self.outbox,
                self.subscriptions,
                self._receiver,
                self._senses,
                self.bounds,
            )
            await line.handshake(self.epoch)
            self.connection, self.state, self.address = line, "connected", address
            self.trouble = None
            _log.info("edge_connected", address=address)
            tasks = [asyncio.create_task(work) for work in (line.send_loop(), line.receive_loop(), line.heartbeat())]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
