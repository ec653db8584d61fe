"""All senders of a broker: one for each target, while its application runs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from likewise.broker.tenants.sink_queues import TargetFeed
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import TARGET_NOTE_SECONDS, TARGET_RETRY_SECONDS
from likewise.server.gateway import Door
from likewise.server.sinks.kinds import MakeTarget, make_target
from likewise.server.sinks.limits import TargetLimits
from likewise.server.sinks.networks import read_networks
from likewise.server.sinks.resolver import Resolver
from likewise.server.sinks.sender import Sender

_log = structlog.get_logger("likewise.targets")
_REST_SECONDS: Final = 30.0  # how often cursors of idle targets are moved


class Senders:
    """Starts a sender for each target there is, ends those of removed ones, and writes down how far they have come."""

    def __init__(
        self,
        door: Door,
        make: MakeTarget = make_target,
        pauses: tuple[float, float] = TARGET_RETRY_SECONDS,
        resolver: Resolver | None = None,
        limits: TargetLimits | None = None,
    ) -> None:
        self._door, self._make, self._pauses = door, make, pauses
        self._resolver, self._limits = resolver or Resolver(), limits or TargetLimits()
        self._allowed = read_networks(door.broker.config.targets.allow)
        self._running: dict[int, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled; what was accepted by then is written down."""
        broker, bridge = self._door.broker, self._door.bridge
        broker.targets.changed = lambda: bridge.call(self._changed.set)
        loop = asyncio.get_running_loop()
        rested = loop.time()
        try:
            while True:
                self._changed.clear()
                self._start_new()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_REST_SECONDS):
                        await self._changed.wait()
                await asyncio.sleep(TARGET_NOTE_SECONDS)  # for what else is accepted by then
                broker.targets.flush()
                if loop.time() - rested >= _REST_SECONDS:
                    rested = loop.time()
                    await self._rest()
        finally:
            broker.targets.changed = lambda: None
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)
            broker.targets.flush()

    def _start_new(self) -> None:
        tenants = list(self._door.broker.tenants.values())
        feeds = {feed.number: (tenant, feed) for tenant in tenants for feed in tenant.feeds}
        for number, (tenant, feed) in feeds.items():
            if number not in self._running:
                task = asyncio.create_task(self._keep_running(tenant, feed))
                self._running[number] = task
        for number in [number for number, task in self._running.items() if task.done()]:
            del self._running[number]

    async def _keep_running(self, tenant: Tenant, feed: TargetFeed) -> None:
        """A mistake of ours ends one attempt, not the target."""
        while not feed.gone:
            try:
                resolve = self._resolver.of(tenant.name)
                await Sender(
                    self._door, tenant, feed, self._allowed, resolve, self._limits, self._make, self._pauses
                ).run()
            except Exception as mistake:
                feed.failed += 1
                words = f"{type(mistake).__name__}; look at the broker's log"
                feed.last_error, feed.last_error_at = words, self._door.broker.clock()
                _log.exception("a target failed; trying again", tenant=tenant.name, target=feed.id)
                await asyncio.sleep(self._pauses[1])

    async def _rest(self) -> None:
        targets = self._door.broker.targets
        for tenant in list(self._door.broker.tenants.values()):
            if not len(tenant.feeds):
                continue
            for feed in targets.rest(tenant):
                _log.info("a target whose subscription never came is removed", tenant=tenant.name, target=feed.id)
                targets.start_remove(tenant, feed, lambda result: None)
