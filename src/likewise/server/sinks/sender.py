"""One target's own task: what waits is sent in order, each match until it is accepted, refused, or given up.

It waits for its own target alone, so a target that stalls delays nobody. It holds a page of matches in memory. Pauses
between attempts double, with chance in them so that many targets of one receiver do not come all at once; a receiver
that says when to come again is heard.

`make_parcel` makes the body of a match: the delivery, the event alone, a CloudEvent, or what a template makes of it.
`TargetSenders` runs one sender for each target while the application runs.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import msgspec
import structlog

from likewise.api.deliveries import MatchReason
from likewise.api.sinks import FORMS_IN_WORDS, EmailSettings, TargetSettings, WebhookSettings
from likewise.backoff import backoff_s
from likewise.broker.log.sink_rows import StoredTarget
from likewise.broker.queries.match_reasons import append_reasons, because
from likewise.broker.queries.select import append_selected, select_of
from likewise.broker.sinks.retry_queue import SinkDelivery
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import TARGET_NOTE_SECONDS, TARGET_RETRY_SECONDS
from likewise.errors import LikewiseError
from likewise.server.executors import RoundRobinQueue
from likewise.server.gateway import Gateway
from likewise.server.sinks.messages import match_message
from likewise.server.sinks.networks import Network, parse_networks
from likewise.server.sinks.resolver import Resolve, Resolver
from likewise.server.sinks.services import service_message
from likewise.server.sinks.target import Parcel, PermanentFailure, Target, TransientFailure
from likewise.server.sinks.templates import fill, match_values
from likewise.server.sinks.webhook import WebhookTarget

MakeTarget = Callable[[StoredTarget, Sequence[Network], Resolve], Target]


MOST_ATTEMPTS: Final = 256  # under way at once, where the process may open files enough
SHARE_OF_FILES: Final = 8  # one in so many file descriptors may be an attempt's, and as many an idle connection's


class TargetLimits:
    """Bound attempts and idle connections. It is used on the event loop alone.

    Args:
        attempts: How many are under way at once; as many idle connections are kept. An eighth of the file descriptors
            that the process may open, and at most `MOST_ATTEMPTS`, if not given.
        per_tenant: How many of one tenant are; a quarter of all if not given.
    """

    def __init__(self, attempts: int | None = None, per_tenant: int | None = None) -> None:
        self.attempts = attempts or max(4, min(MOST_ATTEMPTS, _open_files() // SHARE_OF_FILES))
        self.per_tenant = per_tenant or max(1, self.attempts // 4)
        self._waiting: RoundRobinQueue[asyncio.Future[None]] = RoundRobinQueue(self.per_tenant)
        self._idle: OrderedDict[Target, None] = OrderedDict()  # the one used longest ago comes first

    @asynccontextmanager
    async def attempt(self, tenant: str, target: Target) -> AsyncIterator[None]:
        """Wait for a turn; then the attempt is under way. A connection that it leaves open may be closed later."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(tenant, turn)
        self._start()
        try:
            await turn
        except asyncio.CancelledError:
            if not self._waiting.remove(tenant, turn):  # its turn came in the same moment
                self._finish(tenant)
            raise
        try:
            self._idle.pop(target, None)
            yield
            self._idle[target] = None
        finally:
            self._finish(tenant)
        if len(self._idle) > self.attempts:
            oldest, _ = self._idle.popitem(last=False)
            await oldest.close()  # its next attempt connects again

    def forget(self, target: Target) -> None:
        """Note that a target is closed."""
        self._idle.pop(target, None)

    def _start(self) -> None:
        while self._waiting.under_way < self.attempts and (started := self._waiting.start()) is not None:
            _, turn = started
            if not turn.done():
                turn.set_result(None)

    def _finish(self, tenant: str) -> None:
        self._waiting.finish(tenant)
        self._start()


def _open_files() -> int:
    """Return how many files the process may have open."""
    try:
        configured = os.sysconf("SC_OPEN_MAX")
    except (AttributeError, ValueError, OSError):  # not on every system
        return 1_024
    return configured if configured > 0 else 1_024


def make_target(setting: StoredTarget, allowed: Sequence[Network], resolve: Resolve) -> Target:
    """Return the target of some settings; nothing is connected yet."""
    settings = setting.wanted
    if isinstance(settings, WebhookSettings):
        return WebhookTarget(settings, allowed, resolve=resolve)
    if isinstance(settings, EmailSettings):
        from likewise.server.sinks.email import EmailTarget

        return EmailTarget(settings, allowed, resolve=resolve)
    from likewise.server.sinks.mqtt import MqttTarget

    return MqttTarget(settings, setting.uid, allowed, resolve)


JSON: Final = "application/json"
CLOUDEVENTS: Final = "application/cloudevents+json"
TYPE: Final = "likewise.match"
TEXT: Final = "text/plain; charset=utf-8"


def make_parcel(
    match: SinkDelivery, settings: TargetSettings, because: tuple[MatchReason, ...], tenant: str, subscriber: str
) -> Parcel:
    """Return a match in the form that a target is set to."""
    bare = Parcel(match, b"", "", because)
    delivery = append_reasons(match.delivery, because) if settings.because else match.delivery
    match settings.form:
        case "event":
            return bare._replace(body=match.event, media_type=JSON)
        case "json":
            return bare._replace(body=delivery, media_type=JSON)
        case "cloudevents":
            return bare._replace(body=cloud_event(match, delivery, tenant, subscriber), media_type=CLOUDEVENTS)
        case "text":
            return bare._replace(body=match_message(bare).text.encode(), media_type=TEXT)
        case "plain" | "slack" | "discord" | "ntfy" | "telegram" | "home-assistant" as service:
            body, media_type = service_message(service, bare._replace(match=match._replace(delivery=delivery)))
            return bare._replace(body=body, media_type=media_type)
        case "template":
            body, media_type = fill(settings.template, match_values(bare))
            return bare._replace(body=body, media_type=media_type)


def cloud_event(match: SinkDelivery, delivery: bytes, tenant: str, subscriber: str) -> bytes:
    """Return a match as a structured CloudEvent 1.0: the delivery is its data, the subscription its subject.

    >>> match = SinkDelivery("msg_1", 7, "arrival", "warm", 3, 1.0, 1, b'{"v":1,"id":"e1","time":0}', b'{"v":1}')
    >>> cloud_event(match, match.delivery, "default", "ann")
    b'{"specversion":"1.0","id":"msg_1","source":"/likewise/default/ann","type":"likewise.match","subject":"warm",...
    """
    event: dict[str, Any] = msgspec.json.decode(match.event)
    source = f"/likewise/{quote(tenant, safe='')}/{quote(subscriber, safe='')}"
    attributes: dict[str, object] = {
        "specversion": "1.0",
        "id": match.id,
        "source": source,
        "type": TYPE,
        "subject": match.subscription,
        "datacontenttype": JSON,
    }
    if isinstance(event.get("time"), str):
        attributes["time"] = event["time"]
    attributes["data"] = msgspec.Raw(delivery)
    return msgspec.json.encode(attributes)


_log = structlog.get_logger("likewise.targets")


class TargetRemoved(Exception):
    """The target was removed."""


class TargetSender:
    """Brings what waits for a target to it; `run` ends when the target is removed."""

    def __init__(
        self,
        gateway: Gateway,
        tenant: Tenant,
        feed: SinkQueue,
        allowed: Sequence[Network],
        resolve: Resolve,
        limits: TargetLimits,
        make: MakeTarget = make_target,
        pauses: tuple[float, float] = TARGET_RETRY_SECONDS,
    ) -> None:
        self._gateway, self._tenant, self._feed = gateway, tenant, feed
        self._targets = gateway.broker.targets
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
        feed.wake = lambda: self._gateway.bridge.call(self._changed.set)
        try:
            while not feed.removed:
                self._changed.clear()
                await self._follow_settings()
                if feed.redo:
                    await self._retry_dead_letters()
                    continue
                page = await self._gateway.read(self._tenant, lambda: self._targets.waiting(self._tenant, feed))
                for match in page:
                    await self._deliver(match)
                if not page:
                    await self._changed.wait()
        except TargetRemoved:
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

    async def _parcel(self, match: SinkDelivery) -> Parcel:
        settings, tenant, broker = self._setting.wanted, self._tenant, self._gateway.broker
        reasons: tuple[MatchReason, ...] = ()
        if settings.because or settings.form in FORMS_IN_WORDS or "@sentence" in str(settings.template):
            matched = [(match.number, match.subscription, match.score)]
            reasons = await self._gateway.read(
                tenant, lambda: because(broker.store, tenant, match.position, matched, broker.clock())
            )
        queue = tenant.by_number.get(self._feed.subscriber)
        if match.number in tenant.selecting and (subscription := tenant.subscriptions.get(match.number)) is not None:
            select = partial(select_of, broker.store, tenant, match.position, [(subscription, match.score)])
            delivery = match.delivery
            chosen = await self._gateway.read(tenant, lambda: select(broker.clock(), delivery))
            match = match._replace(delivery=append_selected(match.delivery, chosen))
        return make_parcel(match, settings, reasons, tenant.name, queue.id if queue is not None else "")

    async def _deliver(self, match: SinkDelivery) -> None:
        """Send a match until it is accepted, refused or over, or its time is up."""
        feed, attempt = self._feed, 0
        since = self._targets.tried_since(feed, match.sequence)
        begun = time.monotonic() - (self._gateway.broker.clock() - since) / 1e6
        while True:
            if feed.removed:
                raise TargetRemoved
            await self._follow_settings()
            try:
                parcel = await self._parcel(match)
                async with self._limits.attempt(self._tenant.name, self._target):
                    if feed.removed or self._setting is not feed.setting:  # since it waits for its turn
                        continue
                    if self._targets.expire_if_over(self._tenant, feed, match):
                        feed.trying_again_at = None
                        return
                    await self._target.send(parcel)
            except PermanentFailure as refused:
                await self._dead_letter(match, str(refused))
                return
            except Exception as error:
                failed = self._retryable(error, attempt)
            else:
                self._record_success(match)
                return
            self._record_failure(str(failed), attempt)
            give_up_after = self._setting.wanted.patience
            if time.monotonic() - begun >= give_up_after:
                await self._dead_letter(match, f"not accepted within {give_up_after:g} s: {failed}")
                return
            self._targets.note_tried(feed, match.sequence, since)
            await self._pause(self._backoff_s(attempt, failed.after))
            attempt += 1

    def _retryable(self, error: Exception, attempt: int) -> TransientFailure:
        """Return an error as a transient failure; a bug of ours counts as one, so that no match is retried forever."""
        if isinstance(error, TransientFailure):
            return error
        if attempt == 0:
            self._log.error("target_attempt_crashed", exc_info=error)
        return TransientFailure(f"{type(error).__name__}; look at the broker's log")

    def _record_success(self, match: SinkDelivery) -> None:
        if self._feed.trying_again_at is not None:
            self._log.info("target_recovered", sequence=match.sequence)
        self._feed.trying_again_at = None
        self._targets.accepted(self._feed, match.sequence)

    def _record_failure(self, why: str, attempt: int) -> None:
        feed = self._feed
        feed.failed += 1
        feed.last_error, feed.last_error_at = why, self._gateway.broker.clock()
        if attempt == 0:
            self._log.warning("target_attempt_failed", error=why)

    def _backoff_s(self, attempt: int, retry_after: float | None) -> float:
        pause = backoff_s(attempt + 1, *self._pauses) * random.uniform(0.5, 1.0)
        return pause if retry_after is None else max(pause, retry_after)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt; other settings end it, and dead letters may be tried meanwhile."""
        feed = self._feed
        deadline = time.monotonic() + seconds
        feed.trying_again_at = self._gateway.broker.clock() + int(seconds * 1e6)
        while (left := deadline - time.monotonic()) > 0:
            self._changed.clear()
            if feed.removed:
                raise TargetRemoved
            if self._setting is not feed.setting:
                return
            if feed.redo:
                await self._retry_dead_letters()
                continue
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                return

    async def _dead_letter(self, match: SinkDelivery, why: str) -> None:
        """Make a dead letter of a match; waits for as long as that cannot be stored."""
        feed = self._feed
        feed.last_error, feed.last_error_at, feed.trying_again_at = why, self._gateway.broker.clock(), None
        self._log.warning("target_match_dead_lettered", sequence=match.sequence, error=why)
        self._gateway.broker.metrics.dead_letters(self._tenant.name, 1)
        while True:
            try:
                await self._gateway.wait_committed(self._targets.add_dead_letter, self._tenant, feed, match, why)
                return
            except (LikewiseError, OSError) as error:
                self._log.warning("target_dead_letter_store_failed", error=str(error))
                await asyncio.sleep(self._pauses[0])
                if feed.removed:
                    raise TargetRemoved from None

    async def _retry_dead_letters(self) -> None:
        """Try the dead letters that were asked for; one that is not taken now ends it, and they stay dead letters."""
        feed, tenant = self._feed, self._tenant
        while feed.redo and not feed.removed:
            letter = feed.redo.popleft()
            match = await self._gateway.read(tenant, partial(self._targets.letter, tenant, feed, letter))
            if match is not None:
                try:
                    parcel = await self._parcel(match)
                    async with self._limits.attempt(tenant.name, self._target):
                        await self._target.send(parcel)
                except PermanentFailure as refused:
                    self._record_failure(str(refused), 0)
                    continue
                except TransientFailure as failed:
                    self._record_failure(str(failed), 0)
                    feed.redo.clear()
                    return
                except Exception as mistake:
                    self._record_failure(str(self._retryable(mistake, 0)), 0)
                    continue
                feed.sent += 1
                feed.succeeded = self._gateway.broker.clock() // 1_000_000
            await self._gateway.wait_committed(lambda done, gone=letter: self._targets.start_forget(tenant, gone, done))  # type: ignore[misc]


_REST_SECONDS: Final = 30.0  # how often cursors of idle targets are moved


class TargetSenders:
    """Starts a sender for each target there is, ends those of removed ones, and writes down how far they have come."""

    def __init__(
        self,
        gateway: Gateway,
        make: MakeTarget = make_target,
        pauses: tuple[float, float] = TARGET_RETRY_SECONDS,
        resolver: Resolver | None = None,
        limits: TargetLimits | None = None,
    ) -> None:
        self._gateway, self._make, self._pauses = gateway, make, pauses
        self._resolver, self._limits = resolver or Resolver(), limits or TargetLimits()
        self._allowed = parse_networks(gateway.broker.config.targets.allow)
        self._running: dict[int, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled; what was accepted by then is written down."""
        broker, bridge = self._gateway.broker, self._gateway.bridge
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
                    await self._wait_for_change()
        finally:
            broker.targets.changed = lambda: None
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)
            broker.targets.flush()

    def _start_new(self) -> None:
        tenants = list(self._gateway.broker.tenants.values())
        feeds = {feed.number: (tenant, feed) for tenant in tenants for feed in tenant.sinks}
        for number, (tenant, feed) in feeds.items():
            if number not in self._running:
                task = asyncio.create_task(self._keep_running(tenant, feed))
                self._running[number] = task
        for number in [number for number, task in self._running.items() if task.done()]:
            del self._running[number]

    async def _keep_running(self, tenant: Tenant, feed: SinkQueue) -> None:
        """Restart the sender after a bug of ours: it ends one attempt, not the target."""
        while not feed.removed:
            try:
                resolve = self._resolver.of(tenant.name)
                await TargetSender(
                    self._gateway, tenant, feed, self._allowed, resolve, self._limits, self._make, self._pauses
                ).run()
            except Exception as mistake:
                feed.failed += 1
                words = f"{type(mistake).__name__}; look at the broker's log"
                feed.last_error, feed.last_error_at = words, self._gateway.broker.clock()
                _log.exception("target_sender_failed", tenant=tenant.name, target=feed.id)
                await asyncio.sleep(self._pauses[1])

    async def _wait_for_change(self) -> None:
        targets = self._gateway.broker.targets
        for tenant in list(self._gateway.broker.tenants.values()):
            if not len(tenant.sinks):
                continue
            for feed in targets.rest(tenant):
                _log.info("target_orphan_removed", tenant=tenant.name, target=feed.id)
                targets.start_remove(tenant, feed, lambda result: None)
