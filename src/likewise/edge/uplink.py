"""The uplink of a broker at the edge: it dials the broker above, the next address when one does not answer, for ever.

While no line is open everything goes on here: events are taken, subscribers served, and what goes up waits in the
outbox. Epoch and sequences stay the same whichever address answers.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec
import structlog
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from likewise.api.sources import Sense
from likewise.broker.broker import Broker
from likewise.broker.edge_hub.demands import Above, EdgeDemand, Key
from likewise.broker.edge_hub.identities import checked_edge
from likewise.broker.log.edges.uplink import remember, remembered
from likewise.defaults import EDGE_MESSAGE_BYTES, EDGE_RETRY_SECONDS, TENANT
from likewise.edge.bounds import Bounds
from likewise.edge.connection import BehindAbove, Line, RefusedAbove
from likewise.edge.delivery_receiver import Receiving
from likewise.edge.outbox import Outbox
from likewise.edge.upstream_subscriptions import OwnSubscriptions
from likewise.errors import InputError, LikewiseError
from likewise.server.gateway import Door

OPEN_SECONDS = 5.0  # that an address has to answer
EPOCH = "epoch"
REFUSED = 1008  # how a line is closed whose token opens nothing, or not this
_log = structlog.get_logger("likewise.edge")


class Epoch(msgspec.Struct, frozen=True):
    """A name for this store's sequences, and the edge's own name."""

    epoch: str
    id: str


def addresses_of(said: str) -> list[str]:
    """The addresses of brokers above, as they are dialled.

    >>> addresses_of("http://hub:8787,https://other")
    ['ws://hub:8787', 'wss://other']
    """
    found = []
    for each in said.split(","):
        parts = urlsplit(each.strip())
        schemes = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
        if parts.scheme not in schemes or not parts.netloc:
            raise InputError(f"{each.strip()[:60]!r} is no address of a broker; say http://host:8787")
        found.append(urlunsplit((schemes[parts.scheme], parts.netloc, parts.path.rstrip("/"), "", "")))
    return found


def refusal(error: Exception) -> str | None:
    """Why the broker above does not want this edge, in words; None if it only does not answer.

    >>> refusal(RefusedAbove("the broker above says circle: no")), refusal(TimeoutError())
    ('the broker above says circle: no', None)
    """
    if isinstance(error, RefusedAbove):
        return str(error)
    if isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code == REFUSED:
        return error.rcvd.reason
    return None


class Uplink:
    """What a broker at the edge has beside it. `id` is its name above; it is kept with the store."""

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
        self._addresses = list(addresses)
        self._token = token
        self.bounds = bounds or Bounds()
        self.tenant = tenant = broker.tenant(TENANT)
        self.epoch = self._epoch(checked_edge(id))
        self.id = id
        broker.edges.here = id
        broker.edges.above = Above(self._asks, lambda: self.trouble)
        broker.activation.above = self._sense
        self._senses: dict[str, Sense] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.line: Line | None = None
        self.state: Literal["connected", "away"] = "away"
        self.address = ""
        self.dialled = 0  # how often a line was opened
        self.trouble: str | None = None  # why the broker above refuses the line: nobody mends that by waiting
        self.outbox = Outbox(broker, tenant, self.bounds, self._changed)
        self.own = OwnSubscriptions(tenant, id)
        tenant.held_above = self.own.held
        self._receiving = Receiving(broker, tenant, id)

    def _epoch(self, id: str, anew: bool = False) -> str:
        with self._broker.store.reading() as tables:
            known = remembered(tables, self.tenant.number, EPOCH, Epoch)
        if known is None or known.id != id or anew:
            made = Epoch(secrets.token_hex(8), id)
            self._broker.store.commit(lambda tables: remember(tables, self.tenant.number, EPOCH, made))
            return made.epoch
        return known.epoch

    def _asks(self, keys: Sequence[Key]) -> EdgeDemand | None:
        return self.outbox.demand.asks(keys, self._broker.clock())

    def _sense(self, source: str) -> Sense | None:
        return self._senses.get(source)

    def _changed(self) -> None:
        """Something may be there to be said; called on any thread."""
        loop, line = self._loop, self.line
        if loop is not None and line is not None and not loop.is_closed():
            with suppress(RuntimeError):  # the loop ends
                loop.call_soon_threadsafe(line.changed.set)

    async def run(self, door: Door) -> None:
        """Dial, until the broker stops."""
        self._loop = asyncio.get_running_loop()
        self.outbox.start()
        dialling = asyncio.create_task(self._dial(door))
        stopping = asyncio.create_task(door.stopping.wait())
        try:
            await asyncio.wait({dialling, stopping}, return_when=asyncio.FIRST_COMPLETED)
            line = self.line
            if line is not None:
                with suppress(WebSocketException, OSError, TimeoutError):
                    async with asyncio.timeout(1.0):
                        await line.leave()
        finally:
            dialling.cancel()
            stopping.cancel()
            await asyncio.gather(dialling, stopping, return_exceptions=True)
            await asyncio.to_thread(self.outbox.stop)

    async def _dial(self, door: Door) -> None:
        place, failed, said = 0, 0, ""
        while True:
            address = self._addresses[place % len(self._addresses)]
            place += 1
            try:
                await self._hold(address)
            except BehindAbove as behind:
                _log.warning("this store is an older copy: its items are numbered anew", reason=str(behind))
                self.epoch = await asyncio.to_thread(self._epoch, self.id, True)
                place -= 1
            except (WebSocketException, OSError, TimeoutError, LikewiseError) as error:
                reason = f"{type(error).__name__}: {error}"
                if self.state == "connected" or reason != said:  # once, however often it is dialled
                    _log.warning("the line to the broker above is broken", address=address, reason=reason)
                said = reason
                if (why := refusal(error)) is not None:
                    self.trouble = f"the broker at {address} refuses this edge: {why}"
            failed = 0 if self.state == "connected" else failed + 1
            self.state, self.line = "away", None
            self.own.lost()
            if failed >= len(self._addresses) or len(self._addresses) == 1:
                await asyncio.sleep(EDGE_RETRY_SECONDS * (0.5 + 0.5 * secrets.randbelow(1000) / 1000))

    async def _hold(self, address: str) -> None:
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
            line = Line(
                socket,
                self._broker,
                self.tenant,
                self.id,
                self.outbox,
                self.own,
                self._receiving,
                self._senses,
                self.bounds,
            )
            await line.greet(self.epoch)
            self.line, self.state, self.address = line, "connected", address
            self.dialled += 1
            self.trouble = None
            _log.info("the line to the broker above is open", address=address)
            tasks = [asyncio.create_task(work) for work in (line.speak(), line.listen(), line.live())]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
