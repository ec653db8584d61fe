"""A subscriber's stream: what is pushed, how far ahead of the acknowledgements, and who serves it.

Each stream has its own task, which waits for its own consumer alone: a slow one fills its own window and
then its own queue. A newer stream of the same subscriber takes the place of an older one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial

from likewise.broker.broker import Broker
from likewise.broker.queries.match_reasons import with_reasons
from likewise.broker.queries.select import selects, with_selected
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import SEND_PAGE, SEND_PAGE_BYTES, SEND_WINDOW
from likewise.server.executors import TenantExecutor
from likewise.server.loop_bridge import LoopBridge

Page = list[tuple[int, bytes]]


class StreamReplaced(Exception):
    """A newer stream of the same subscriber serves it now, or the subscriber was unregistered."""


def clamp_sequence(tenant: Tenant, number: int) -> int:
    """Return the sequence number that a client states, or 0 if the broker has not reached it.

    A client may be ahead of a broker that was restored from an older copy: what has its numbers now is something else.
    """
    return number if number <= tenant.stored_number else 0


def resume_stream(broker: Broker, tenant: Tenant, queue: SubscriberQueue, number: int) -> int:
    """Acknowledge what a client says it has up to, as far as that is known; where its stream starts."""
    if reached := clamp_sequence(tenant, number):
        broker.acknowledge(tenant, queue.id, reached)
    return queue.acknowledged


class DeliveryStream:
    """The deliveries of one subscriber as they come, from a cursor on."""

    def __init__(
        self,
        broker: Broker,
        tenant: Tenant,
        queue: SubscriberQueue,
        bridge: LoopBridge,
        reads: TenantExecutor,
        cursor: int,
        *,
        because: bool = False,
    ) -> None:
        self._because = because
        self._reads = reads
        self._broker = broker
        self._tenant = tenant
        self._queue = queue
        self._bridge = bridge
        self._cursor = cursor
        self._unacknowledged = 0
        self._changed = asyncio.Event()
        self.closing = asyncio.Event()

    def __enter__(self) -> DeliveryStream:
        older = self._queue.served_by
        self._queue.served_by = self
        self._queue.wake = lambda: self._bridge.call(self._changed.set)
        if isinstance(older, DeliveryStream):
            older._changed.set()
        return self

    def __exit__(self, *_: object) -> None:
        if self._queue.served_by is self:
            self._queue.served_by = None
            self._queue.wake = None

    def acknowledge(self, number: int) -> None:
        """Acknowledge everything up to a sequence number."""
        self._broker.acknowledge(self._tenant, self._queue.id, number)
        self._changed.set()

    def close(self) -> None:
        """End the stream."""
        self.closing.set()
        self._changed.set()

    async def pages(self, window: int = SEND_WINDOW) -> AsyncIterator[Page]:
        """Pages of deliveries, as soon as there are any and no more than `window` are unacknowledged.

        A page is the caller's: who has sent it clears it, so that an idle stream keeps nothing.
        """
        while not self.closing.is_set():
            if self._queue.served_by is not self or self._queue.unregistered:
                raise StreamReplaced
            self._changed.clear()
            following, whole = self._next_sequences(window)
            page = await self._page(following) if following else []
            more = bool(page) and (not whole or page[-1][0] < following[-1])
            if page:
                self._cursor = page[-1][0]
                self._broker.sent(self._tenant, self._queue, page)
                with_reasons = self._because or selects(self._tenant, self._queue)
                yield await self._read(partial(self._with_reasons, page)) if with_reasons else page
            if more:
                await asyncio.sleep(0)  # others first: a stream far behind has many pages
            else:
                await self._changed.wait()

    def _with_reasons(self, page: Page) -> Page:
        store, tenant, now = self._broker.store, self._tenant, self._broker.clock()
        if selects(tenant, self._queue):
            page = with_selected(store, tenant, self._queue, page, now)
        return with_reasons(store, tenant, self._queue, page, now) if self._because else page

    def _next_sequences(self, window: int) -> tuple[list[int], bool]:
        """Return the sequence numbers to send next, within the window, and whether these are all."""
        with self._broker.lock:
            pending = self._queue.pending
            sent = pending.rank(self._cursor) if pending else 0  # and not acknowledged
            limit = min(SEND_PAGE, window - sent)
            following = self._queue.following(self._cursor, limit) if limit > 0 else []
        return following, len(following) < limit

    async def _page(self, following: list[int]) -> Page:
        """Return the next deliveries; read on another thread only if they are not in memory."""
        recent, after, limit = self._tenant.recent, self._cursor, len(following)
        if all(number in recent for number in following):
            return self._next_page(after, limit)
        return await self._read(lambda: self._next_page(after, limit))

    def _next_page(self, after: int, limit: int) -> Page:
        return self._broker.page(self._tenant, self._queue, after=after, limit=limit, most_bytes=SEND_PAGE_BYTES)

    async def _read(self, work: Callable[[], Page]) -> Page:
        return await self._reads.run(self._tenant.name, work)
