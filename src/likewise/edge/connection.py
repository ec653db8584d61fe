"""One connection to the broker above: what is said over it from hello to its end.

Items go up in the order of their sequences, a few messages ahead of the acknowledgements. What comes down is stored
before it is acknowledged. Who hears nothing for two intervals lets go, and the next address is dialled.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import msgspec
import structlog
from websockets.asyncio.client import ClientConnection

from likewise.api import edge_frames as wire
from likewise.api.sources import Sense
from likewise.broker.broker import Broker
from likewise.broker.log.catalogue.rows import Alias
from likewise.broker.log.edges.outbox import Outgoing
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import EDGE_ITEMS
from likewise.edge.bounds import Bounds
from likewise.edge.delivery_receiver import Receiving
from likewise.edge.outbox import Outbox
from likewise.edge.upstream_subscriptions import OwnSubscriptions
from likewise.errors import FormatError, StateError
from likewise.model.announcements.announcement import Announcement

AHEAD: Final = 4  # messages of items that are sent before the first is acknowledged
ITEM_BYTES: Final = 60  # around an event in its message
_log = structlog.get_logger("likewise.edge")


class RefusedAbove(StateError):
    """The broker above refused the line, and why."""

    code = "refused_above"


class BehindAbove(StateError):
    """The broker above has later items than there ever were here: this store is an older copy."""

    code = "behind_above"


class Line:
    """The connection, once it is open."""

    def __init__(
        self,
        socket: ClientConnection,
        broker: Broker,
        tenant: Tenant,
        here: str,
        outbox: Outbox,
        own: OwnSubscriptions,
        receiving: Receiving,
        senses: dict[str, Sense],
        bounds: Bounds,
    ) -> None:
        self._socket = socket
        self._broker = broker
        self._tenant = tenant
        self._here = here
        self._outbox = outbox
        self._own = own
        self._receiving = receiving
        self._senses = senses
        self._bounds = bounds
        self.changed = asyncio.Event()  # something may be there to be said
        self._room = asyncio.Event()  # an acknowledgement came
        self._announced: dict[str, Announcement] = {}
        self._renamed: dict[str, Alias] = {}  # names of sources that were said, by the name that was given up
        self._renames = False  # whether the broker above takes them
        self._in_flight: list[int] = []  # the last sequence of each message that is not acknowledged
        self._line = ""
        self._cursor = 0
        self.interval = 10.0
        self._items, self._bytes = 1, 1
        self.welcomed = False
        self.sent = 0

    async def _send(self, message: wire.FromEdge) -> None:
        said = wire.written(message)
        self.sent += len(said)
        await self._socket.send(said.decode())

    async def _heard(self, seconds: float) -> wire.FromAbove:
        async with asyncio.timeout(seconds):
            return wire.read_from_above(await self._socket.recv())

    async def greet(self, epoch: str) -> None:
        """Say hello, be welcomed, and say everything that the broker above has to know."""
        outbox = self._outbox
        come = await asyncio.to_thread(self._receiving.come)
        last = await asyncio.to_thread(outbox.last_dealt)
        await self._send(
            wire.Hello(
                id=self._here,
                epoch=epoch,
                demand=outbox.demand.version,
                first=outbox.counts.acknowledged,
                last=last,
                line=come.line,
                received=come.sequence,
                below=self._broker.edges.below(self._tenant),
            )
        )
        match await self._heard(3 * self.interval):
            case wire.Welcome() as said:
                pass
            case wire.Refused(code=code, words=words):
                raise RefusedAbove(f"the broker above says {code}: {words}")
            case other:
                raise FormatError(f"the broker above says {type(other).__name__} before its welcome")
        if said.sequence > last:
            raise BehindAbove(f"the broker above has item {said.sequence}, but only {last} were ever dealt here")
        self._line, self.interval, self._items, self._bytes = said.line, said.interval, said.items, said.bytes
        self._renames = said.renames
        await asyncio.to_thread(outbox.acknowledge, said.sequence)
        self._cursor = max(outbox.counts.acknowledged, said.sequence)
        self.welcomed = True
        await self._announce()
        for told in outbox.words.everything():
            await self._send(told)
        await self._send(self._own.everything())
        for changed in (outbox.sources_changed, outbox.subscriptions_changed):
            changed.set()  # what is not applied yet is said as soon as it is
        await self._health()

    # -- going up ---------------------------------------------------------------------------------

    async def speak(self) -> None:
        """Say what there is to say, as soon as there is something."""
        while True:
            self.changed.clear()
            await self._say_changes()
            if len(self._in_flight) >= AHEAD:
                self._room.clear()
                if len(self._in_flight) >= AHEAD:
                    await self._room.wait()
                continue
            page = await asyncio.to_thread(self._outbox.page, self._cursor, self._items)
            if not page:
                if (
                    not self._in_flight and self._cursor > self._outbox.counts.acknowledged
                ):  # what is over is sent no more
                    await asyncio.to_thread(self._outbox.acknowledge, self._cursor)
                if not self.changed.is_set():
                    await self._quiet()
                continue
            await self._items_up(page)

    async def _quiet(self) -> None:
        """Wait for something to say; a short while if what was seen in the log is not applied, so not said."""
        outbox = self._outbox
        unsaid = outbox.subscriptions_changed.is_set() or outbox.sources_changed.is_set()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.25 if unsaid else None):
                await self.changed.wait()

    def _settled(self) -> bool:
        """Whether every command that was seen is applied: only then what is held is as the log says."""
        return self._tenant.matched >= self._outbox.commanded

    async def _items_up(self, page: list[Outgoing]) -> None:
        items: list[wire.Item] = []
        size = 0
        for item, body, hops, received in page:
            if item.taken is not None:
                if items:
                    await self._events(items)
                    items, size = [], 0
                self._in_flight.append(item.sequence)
                await self._send(wire.Withdrawn(sequence=item.sequence, source=item.taken.source, event=item.taken.id))
            elif body is not None:
                if items and size + len(body) > self._bytes:
                    break
                items.append(wire.Item(item.sequence, msgspec.Raw(body), hops, received))
                size += len(body) + ITEM_BYTES
            self._cursor = item.sequence
            if len(self._in_flight) >= AHEAD:
                break
        if items:
            await self._events(items)

    async def _events(self, items: list[wire.Item]) -> None:
        self._in_flight.append(items[-1].sequence)
        await self._send(wire.Events.of(items))

    async def _say_changes(self) -> None:
        outbox = self._outbox
        if outbox.sources_changed.is_set():
            outbox.sources_changed.clear()
            settled = self._settled()  # before it is looked at
            await self._announce()
            if not settled:
                outbox.sources_changed.set()
        if outbox.subscriptions_changed.is_set():
            outbox.subscriptions_changed.clear()
            settled = self._settled()
            for said in self._own.news():
                await self._send(said)
            if not settled:
                outbox.subscriptions_changed.set()
        for words in outbox.words.news():
            await self._send(words)

    async def _announce(self) -> None:
        """Say which sources were renamed, announced, renewed or revoked since it was last said."""
        if self._renames:
            await self._rename()
        held = dict(self._tenant.known.announcements)
        for source in [source for source in self._announced if source not in held]:
            del self._announced[source]
            self._senses.pop(source, None)
            await self._send(wire.Revoked(source=source))
        for source, each in held.items():
            if self._announced.get(source) is not each.announcement:
                self._announced[source] = each.announcement
                await self._send(wire.Announced(announcement=each.announcement))

    async def _rename(self) -> None:
        """Say which names were given up, before anything comes under what they became."""
        known = self._tenant.known.identities.aliases()
        new = [(name, alias) for name, alias in known.items() if self._renamed.get(name) != alias]
        for start in range(0, len(new), EDGE_ITEMS):
            some = new[start : start + EDGE_ITEMS]
            names = tuple(wire.SourceRenamed(name, alias.sources, alias.label, alias.basis) for name, alias in some)
            await self._send(wire.Renamed(names=names))
            self._renamed.update(some)

    async def live(self) -> None:
        """Give signs of life."""
        while True:
            await asyncio.sleep(self.interval)
            self._outbox.sources_changed.set()  # leases are renewed by what sources say; a lost word is said again
            self._outbox.subscriptions_changed.set()
            self.changed.set()
            await self._health()

    async def _health(self) -> None:
        outbox, tenant = self._outbox, self._tenant
        readings, outbox.readings = outbox.readings, {}
        await self._send(
            wire.Health(
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

    async def leave(self) -> None:
        """Say bye if all that was there is above; else just go."""
        outbox, tenant = self._outbox, self._tenant
        if self.welcomed and not outbox.waiting and outbox.position >= tenant.appended and self._settled():
            await self._send(wire.Bye())

    # -- coming down ------------------------------------------------------------------------------

    async def listen(self) -> None:
        """Take in what comes, until nothing is heard for two intervals."""
        while True:
            match await self._heard(2 * self.interval):
                case wire.EventsStored(sequence=sequence, refused=refused):
                    for each in refused:
                        _log.warning("an event is refused above", sequence=each.sequence, reason=each.words)
                    await asyncio.to_thread(self._outbox.acknowledge, sequence)
                    self._in_flight = [last for last in self._in_flight if last > sequence]
                    self._room.set()
                    self.changed.set()
                case wire.Demanded() as said:
                    taken = await asyncio.to_thread(self._outbox.ask, said)
                    await self._send(wire.DemandTaken(version=said.version, unknown=not taken))
                case wire.Deliveries() as said:
                    reached = await asyncio.to_thread(self._receiving.store, self._line, said)
                    if reached is not None:
                        await self._send(wire.DeliveriesStored(sequence=reached))
                case wire.Senses(sense=sense):
                    self._senses[sense.source] = sense
                case wire.Subscribed(taken=answers):
                    for answer in answers:
                        self._own.answered(answer.id, answer.refused)
                case wire.Refused(code=code, words=words):
                    raise RefusedAbove(f"the broker above says {code}: {words}")
                case wire.Health() | wire.Welcome():
                    pass
