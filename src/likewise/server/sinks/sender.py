"""One target's own task: what waits is sent in order, each match until it is accepted, refused, or given up.

It waits for its own target alone, so a target that stalls delays nobody. It holds a page of matches in memory. Pauses
between attempts double, with chance in them so that many targets of one receiver do not come all at once; a receiver
that says when to come again is heard.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from functools import partial

import structlog

from likewise.api.deliveries import Because
from likewise.broker.queries.match_reasons import because
from likewise.broker.queries.select import append_selected, select_of
from likewise.broker.sinks.retry_queue import Outgoing
from likewise.broker.tenants.sink_queues import TargetFeed
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import TARGET_RETRY_SECONDS
from likewise.errors import LikewiseError
from likewise.server.gateway import Door
from likewise.server.sinks.kinds import MakeTarget, make_target
from likewise.server.sinks.limits import TargetLimits
from likewise.server.sinks.networks import Network
from likewise.server.sinks.payloads import pack_parcel
from likewise.server.sinks.resolver import Resolve
from likewise.server.sinks.target import NotNow, Parcel, Refused, Target

_log = structlog.get_logger("likewise.targets")


class Gone(Exception):
    """The target was removed."""


class Sender:
    """Brings what waits for a target to it; `run` ends when the target is removed."""

    def __init__(
        self,
        door: Door,
        tenant: Tenant,
        feed: TargetFeed,
        allowed: Sequence[Network],
        resolve: Resolve,
        limits: TargetLimits,
        make: MakeTarget = make_target,
        pauses: tuple[float, float] = TARGET_RETRY_SECONDS,
    ) -> None:
        self._door, self._tenant, self._feed = door, tenant, feed
        self._targets = door.broker.targets
        self._allowed, self._resolve, self._limits = allowed, resolve, limits
        self._make, self._pauses = make, pauses
        self._changed = asyncio.Event()
        self._setting = feed.setting
        self._target: Target = make(feed.setting, allowed, resolve)
        self._log = _log.bind(
            tenant=tenant.name, subscription=feed.subscription, target=feed.id, kind=type(feed.setting.wanted).__name__
        )

    async def run(self) -> None:
        """Send what waits, as it comes."""
        feed = self._feed
        feed.wake = lambda: self._door.bridge.call(self._changed.set)
        try:
            while not feed.gone:
                self._changed.clear()
                await self._follow_settings()
                if feed.redo:
                    await self._send_again()
                    continue
                page = await self._door.read(self._tenant, lambda: self._targets.waiting(self._tenant, feed))
                for match in page:
                    await self._bring(match)
                if not page:
                    await self._changed.wait()
        except Gone:
            pass
        finally:
            feed.wake = None
            feed.trying_again_at = None
            await self._close()

    async def _close(self) -> None:
        self._limits.forget(self._target)
        await self._target.close()

    async def _follow_settings(self) -> None:
        if self._setting is not self._feed.setting:
            self._setting = self._feed.setting
            await self._close()
            self._target = self._make(self._setting, self._allowed, self._resolve)

    async def _parcel(self, match: Outgoing) -> Parcel:
        wanted, tenant, broker = self._setting.wanted, self._tenant, self._door.broker
        reasons: tuple[Because, ...] = ()
        if wanted.because or wanted.form == "text":
            met = [(match.number, match.subscription, match.score)]
            reasons = await self._door.read(
                tenant, lambda: because(broker.store, tenant, match.position, met, broker.clock())
            )
        queue = tenant.by_number.get(self._feed.subscriber)
        if match.number in tenant.selecting and (held := tenant.held.get(match.number)) is not None:
            select = partial(select_of, broker.store, tenant, match.position, [(held, match.score)])
            delivery = match.delivery
            chosen = await self._door.read(tenant, lambda: select(broker.clock(), delivery))
            match = match._replace(delivery=append_selected(match.delivery, chosen))
        return pack_parcel(match, wanted, reasons, tenant.name, queue.id if queue is not None else "")

    async def _bring(self, match: Outgoing) -> None:
        """Send a match until it is accepted, refused or over, or its time is up."""
        feed, attempt = self._feed, 0
        since = self._targets.tried_since(feed, match.sequence)
        begun = time.monotonic() - (self._door.broker.clock() - since) / 1e6
        while True:
            if feed.gone:
                raise Gone
            await self._follow_settings()
            try:
                parcel = await self._parcel(match)
                async with self._limits.attempt(self._tenant.name, self._target):
                    if feed.gone or self._setting is not feed.setting:  # since it waits for its turn
                        continue
                    if self._targets.let_go_if_over(self._tenant, feed, match):
                        feed.trying_again_at = None
                        return
                    await self._target.send(parcel)
            except Refused as refused:
                await self._set_aside(match, str(refused))
                return
            except Exception as error:
                failed = self._not_now(error, attempt)
            else:
                self._accepted(match)
                return
            self._failed(str(failed), attempt)
            patience = self._setting.wanted.patience
            if time.monotonic() - begun >= patience:
                await self._set_aside(match, f"not accepted within {patience:g} s: {failed}")
                return
            self._targets.note_tried(feed, match.sequence, since)
            await self._pause(self._pause_after(attempt, failed.after))
            attempt += 1

    def _not_now(self, error: Exception, attempt: int) -> NotNow:
        """What was not taken this time; a mistake of ours is such, too, so that no match is tried for ever."""
        if isinstance(error, NotNow):
            return error
        if attempt == 0:
            self._log.error("a match met a mistake of ours; trying again", exc_info=error)
        return NotNow(f"{type(error).__name__}; look at the broker's log")

    def _accepted(self, match: Outgoing) -> None:
        if self._feed.trying_again_at is not None:
            self._log.info("the target takes matches again", sequence=match.sequence)
        self._feed.trying_again_at = None
        self._targets.accepted(self._feed, match.sequence)

    def _failed(self, why: str, attempt: int) -> None:
        feed = self._feed
        feed.failed += 1
        feed.last_error, feed.last_error_at = why, self._door.broker.clock()
        if attempt == 0:
            self._log.warning("a match was not accepted; trying again", error=why)

    def _pause_after(self, attempt: int, told: float | None) -> float:
        first, longest = self._pauses
        pause = min(longest, first * 2.0 ** min(attempt, 30)) * random.uniform(0.5, 1.0)
        return pause if told is None else max(pause, told)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt; other settings end it, and dead letters may be tried meanwhile."""
        feed = self._feed
        deadline = time.monotonic() + seconds
        feed.trying_again_at = self._door.broker.clock() + int(seconds * 1e6)
        while (left := deadline - time.monotonic()) > 0:
            self._changed.clear()
            if feed.gone:
                raise Gone
            if self._setting is not feed.setting:
                return
            if feed.redo:
                await self._send_again()
                continue
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                return

    async def _set_aside(self, match: Outgoing, why: str) -> None:
        """Make a dead letter of a match; waits for as long as that cannot be stored."""
        feed = self._feed
        feed.last_error, feed.last_error_at, feed.trying_again_at = why, self._door.broker.clock(), None
        self._log.warning("a match is refused and kept as a dead letter", sequence=match.sequence, error=why)
        self._door.broker.metrics.set_aside(self._tenant.name, 1)
        while True:
            try:
                await self._door.answer(lambda done: self._targets.set_aside(self._tenant, feed, match, why, done))
                return
            except (LikewiseError, OSError) as error:
                self._log.warning("a dead letter cannot be kept now; trying again", error=str(error))
                await asyncio.sleep(self._pauses[0])
                if feed.gone:
                    raise Gone from None

    async def _send_again(self) -> None:
        """Try the dead letters that were asked for; one that is not taken now ends it, and they stay dead letters."""
        feed, tenant = self._feed, self._tenant
        while feed.redo and not feed.gone:
            letter = feed.redo.popleft()
            match = await self._door.read(tenant, partial(self._targets.letter, tenant, feed, letter))
            if match is not None:
                try:
                    parcel = await self._parcel(match)
                    async with self._limits.attempt(tenant.name, self._target):
                        await self._target.send(parcel)
                except Refused as refused:
                    self._failed(str(refused), 0)
                    continue
                except NotNow as failed:
                    self._failed(str(failed), 0)
                    feed.redo.clear()
                    return
                except Exception as mistake:
                    self._failed(str(self._not_now(mistake, 0)), 0)
                    continue
                feed.sent += 1
                feed.succeeded = self._door.broker.clock() // 1_000_000
            await self._door.answer(lambda done, gone=letter: self._targets.start_forget(tenant, gone, done))  # type: ignore[misc]
