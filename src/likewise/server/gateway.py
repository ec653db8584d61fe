"""The gateway between connections and the broker: authentication, rate limits, publishing and queries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar, TypeVarTuple, cast

from likewise.api.events import Receipt
from likewise.api.operations import ConnectionStatus
from likewise.broker.broker import Broker
from likewise.broker.cpu_gate import run_exclusive
from likewise.broker.log.event_log import Done, Request
from likewise.broker.tenants.access import Access, AccessControl
from likewise.broker.tenants.backpressure import check_backlog, is_blocked
from likewise.broker.tenants.rate_limit import TokenBucket
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import BLOCK_SECONDS, MAX_QUESTIONS_WAITING, OFF_LOOP_EVENTS, RECEIVE_SHARE, TENANT
from likewise.errors import BacklogExceeded, Unavailable
from likewise.model import Event
from likewise.server.connection_limits import ConnectionLimits
from likewise.server.executors import ServerExecutors
from likewise.server.loop_bridge import LoopBridge
from likewise.server.paced_reading import ReadingTurns
from likewise.server.receive_buffers import PartialPackets, Receiver, RequestBodies

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
TOKEN_CHECK_SECONDS: Final = 5.0  # how often a stream whose token ends looks at the clock, which may be set meanwhile


class Gateway:
    """The broker as connections reach it; one for all that listens."""

    def __init__(self, broker: Broker, executors: ServerExecutors | None = None) -> None:
        self.broker = broker
        self.executors = executors or ServerExecutors()
        self.authenticator = AccessControl(TENANT, broker.clock)
        self._changed = asyncio.Event()  # whenever tokens do; a new one each time
        self.tokens_version = 0  # another one whenever tokens change
        self.reload_tokens()
        self.connection_limits = ConnectionLimits(broker.config.server)
        self.bodies = RequestBodies(broker.config.server.request_bytes)
        received = broker.config.server.receive_bytes
        self.packets: PartialPackets[Receiver] = PartialPackets(
            received, max(1, received // RECEIVE_SHARE), lambda each: each.tenant_name, lambda each: each.evict()
        )
        self.turns = ReadingTurns()
        self.stopping = asyncio.Event()
        self.connections: list[tuple[str, Callable[[], ConnectionStatus]]] = []  # of connectors, by tenant
        self.connection_lists: list[
            Callable[[str], list[ConnectionStatus]]
        ] = []  # those who list a tenant's connections
        self.mqtt: Awaitable[object] | None = None  # what serves devices, once one may come
        self._rates: dict[str, TokenBucket] = {}
        self._bridge: LoopBridge | None = None
        self._pending: list[Request] = []  # published in this turn of the loop
        self._pending_expires: int | None = None  # until when that is kept

    def reload_tokens(self) -> None:
        """Read the tokens anew."""
        with self.broker.store.reading() as tables:
            self.authenticator.load(tables)
        self._changed.set()
        self._changed = asyncio.Event()
        self.tokens_version += 1

    @property
    def bridge(self) -> LoopBridge:
        """Return the bridge that brings results to the running loop."""
        if self._bridge is None:
            self._bridge = LoopBridge(asyncio.get_running_loop())
        return self._bridge

    def admit(self, token: str | None, scope: str) -> tuple[Access, Tenant]:
        """Authenticate a token; return its access and tenant. Refuse it without the scope."""
        access = self.authenticator.admit(token)
        access.require(scope)
        return access, self.broker.tenant(access.tenant)

    async def wait_revoked(self, token: str | None) -> None:
        """Wait until a token expires or is removed, and raise that."""
        while True:
            ends, changed = self.authenticator.admit(token).expires, self._changed
            left = None if ends is None else min(TOKEN_CHECK_SECONDS, max(0.01, (ends - self.broker.clock()) / 1e6))
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), left)

    async def wait_committed(self, start: Callable[[*Arguments, Done], object], *arguments: *Arguments) -> object:
        """Start something at the broker with these arguments, and return its result once it is on disk.

        Args:
            start: what starts it; its last argument is called with the result, or with the error that is raised here.
        """
        return await self.bridge.wait_for(lambda done: start(*arguments, done))

    async def publish(self, tenant: Tenant, events: Sequence[Event]) -> list[Receipt]:
        """Append events, all or none; returns when they are on disk.

        What is published in one turn of the loop is handed over together: the writer is woken once for all of it.
        """
        if len(events) > OFF_LOOP_EVENTS:
            broker = self.broker
            made = await self.run_off_loop(
                tenant, lambda: run_exclusive(lambda: broker.entries(tenant, events, broker.expires_at()))
            )
            later = await self.wait_committed(lambda done: self.submit(self.broker.received(tenant, made, done)))
            return cast("list[Receipt]", later)
        return cast("list[Receipt]", await self.wait_committed(self._submit_events, tenant, events))

    def _submit_events(self, tenant: Tenant, events: Sequence[Event], done: Done) -> None:
        self.submit(self.request(tenant, events, done))

    def request(self, tenant: Tenant, events: Sequence[Event], done: Done) -> Request:
        """Return the request to append events; `done` gets the receipts or the error, on the writer's thread."""
        if not self._pending:
            self._pending_expires = self.broker.expires_at()
        return self.broker.request(tenant, events, self._pending_expires, done)

    def submit(self, request: Request) -> None:
        """Submit a request, together with the others of this turn of the loop."""
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._flush)
        self._pending.append(request)

    def _flush(self) -> None:
        gathered, self._pending = self._pending, []
        self.broker.store.append_all(gathered)

    async def read(self, tenant: Tenant, work: Callable[[], T]) -> T:
        """Read something from the store for a tenant, beside the loop: a page, an entry, figures.

        Of each tenant a few reads are under way at once and the others wait, so that a slow disk or one tenant's many
        streams leave threads to everybody else. What may take seconds goes through `ask`.
        """
        return await self.executors.reads.run(tenant.name, work)

    async def query(self, tenant: Tenant, question: Callable[[], T]) -> T:
        """Answer a query that may take long, beside the loop and beside the thread that matches.

        Of each tenant `MAX_QUESTIONS` are answered at once and some more wait.

        Raises:
            BacklogExceeded: As many of this tenant wait as may.
        """
        questions = self.executors.queries
        waiting = questions.waiting(tenant.name)
        if waiting >= MAX_QUESTIONS_WAITING:
            raise BacklogExceeded("questions wait", waiting=waiting, allowed=MAX_QUESTIONS_WAITING, retry_after=1.0)
        return await questions.run(tenant.name, question)

    async def run_off_loop(self, tenant: Tenant, work: Callable[[], T]) -> T:
        """Do some work of a tenant that needs the processor alone beside the loop, one piece after the other.

        Threads share one interpreter: who sends many large requests at once gets no more of it than with one.
        """
        return await self.executors.decoding.run(tenant.name, work)

    def check_rate(self, tenant: Tenant, count: int) -> None:
        """Count events against the tenant's rate, and refuse them while too many wait to be matched."""
        check_backlog(tenant, self.broker.config.limits)
        allowed = self.broker.config.limits.rate
        if allowed is not None:
            rate = self._rates.get(tenant.name)
            if rate is None:
                rate = self._rates[tenant.name] = TokenBucket(allowed, time.monotonic)
            rate.take(count)

    async def wait_unblocked(self, tenant: Tenant) -> None:
        """Apply backpressure: wait while a full queue with the policy `block` holds publishers up."""
        if not tenant.blocking:
            return
        deadline = time.monotonic() + BLOCK_SECONDS
        while is_blocked(tenant):
            if time.monotonic() > deadline or self.stopping.is_set():
                raise Unavailable("a subscriber's queue is full and blocks publishers; publish again later")
            await asyncio.sleep(0.01)
