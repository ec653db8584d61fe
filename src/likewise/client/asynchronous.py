"""Clients for asyncio; they promise what those of `synchronous` do."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

import httpx
import stamina
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from likewise.api.events import Receipt
from likewise.api.queries import BacktestResult
from likewise.api.subscribers import QueuePolicy
from likewise.client.connection import AsyncBrokerConnection
from likewise.client.endpoint import ADDRESS, Endpoint, may_connect_again
from likewise.client.following import StreamCursor
from likewise.client.messages import (
    BACKTEST,
    DEFAULT_QUEUE,
    JSON,
    LINES,
    BrokerRefused,
    ClientDelivery,
    Publishable,
    acknowledgement,
    acknowledgement_body,
    backtest_request,
    checked_subscription,
    event_lines,
    event_path,
    pending_path,
    queue_settings,
    read_backtest,
    read_pending,
    read_receipts,
    replay_path,
    subscriber_path,
    subscription_path,
)
from likewise.client.publish_stream import AsyncPublishStream
from likewise.client.sources import AsyncSources
from likewise.client.targets import AsyncSubscriberTargets, TargetSpec
from likewise.defaults import STORED_EVENTS
from likewise.formats.json.subscriptions import subscription_to_json
from likewise.model import Subscription


class AsyncPublisher(AsyncBrokerConnection):
    """Publishes events; each call returns when they are on the broker's disk."""

    def __init__(
        self,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        source: str | None = None,
        ca: str | Path | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(Endpoint(address, token, patience, ca))
        self._source = source

    async def publish(self, event: Publishable) -> Receipt:
        """Publish one event."""
        return (await self.publish_all([event]))[0]

    async def publish_all(self, events: Iterable[Publishable]) -> tuple[Receipt, ...]:
        """Publish several events, all or none."""
        body = event_lines(events, self._source)
        return read_receipts(await self.request("POST", "/v1/events", body, LINES)) if body else ()

    @property
    def sources(self) -> AsyncSources:
        """The broker's catalogue: announce, look, correct."""
        return AsyncSources(self)

    def stream(self) -> AsyncPublishStream:
        """A connection for many events, which are sent without waiting for each to be on disk."""
        return AsyncPublishStream(self._endpoint, self._source)

    async def unpublish(self, id: str) -> None:
        """Take an event back: nobody is given it any more, and it leaves the windows."""
        await self.request("DELETE", event_path(id, self._source))


class AsyncSubscriber(AsyncBrokerConnection):
    """A registered subscriber: `async for` to get deliveries as they come, or hand it a listener."""

    def __init__(
        self,
        id: str,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        cursor: int = 0,
        policy: QueuePolicy | None = None,
        limit: int | None = None,
        because: bool = False,
        ca: str | Path | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(Endpoint(address, token, patience, ca))
        self._because = because
        self._wanted = queue_settings(policy, limit)
        self._following = StreamCursor(id, cursor)
        self._socket: ClientConnection | None = None
        self._registered = False
        self._ended = False

    @property
    def id(self) -> str:
        """The subscriber's name."""
        return self._following.id

    @property
    def cursor(self) -> int:
        """The sequence number of the last delivery given."""
        return self._following.cursor

    @property
    def stopped(self) -> bool:
        """Whether the stream was ended from here."""
        return self._ended

    def start_over(self) -> None:
        """Forget how far deliveries were given, as at a broker that has started without its memory."""
        self._following.cursor = self._following.acknowledged = 0
        self._registered = False

    async def _establish(self, patience: float | None) -> None:
        if not await self._is_registered(patience):
            await self._send("PUT", subscriber_path(self.id), self._wanted, patience=patience)
        self._registered = True

    async def _is_registered(self, patience: float | None) -> bool:
        """Whether the broker has it as it is wanted: registering stands in the log, behind what waits to be matched."""
        if self._wanted != DEFAULT_QUEUE:
            return False
        try:
            await self._send("GET", subscriber_path(self.id), patience=patience)
        except BrokerRefused as refused:
            if refused.status != 404:
                raise
            return False
        return True

    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """A request's answer, after registering if that was not done yet; problems are raised."""
        if not self._registered:
            await self._establish(None)
        return await self._send(method, path, body, headers)

    @property
    def targets(self) -> AsyncSubscriberTargets:
        """Where matches go out by themselves."""
        return AsyncSubscriberTargets(self)

    async def subscribe(
        self, subscription: Subscription | str, id: str | None = None, *, to: TargetSpec | None = None
    ) -> str:
        """Subscribe, in place of what has the same id; the id. `to` is a target: an address, or its settings.

        The target is set first, so that it gets what is delivered first, too; `targets.set` gives its secret.
        """
        made = checked_subscription(subscription, id)
        if to is not None:
            await self.targets.set(made.id, to)
        await self.request("PUT", subscription_path(self.id, made.id), subscription_to_json(made), JSON)
        return made.id

    async def unsubscribe(self, id: str) -> None:
        """End a subscription."""
        await self.request("DELETE", subscription_path(self.id, id))

    async def backtest(
        self, subscription: Subscription | str, *, events: int = STORED_EVENTS, shown: int = 100
    ) -> BacktestResult:
        """Try a subscription on stored events, without subscribing.

        Args:
            subscription: what to try, as text or as a value.
            events: the number of newest stored events to try it on.
            shown: the number of matches to list, the last ones.

        Returns:
            What would have been sent, with cause, key and time, and counts by cause.
        """
        answer = await self.request("POST", BACKTEST, backtest_request(subscription, events, shown), JSON)
        return read_backtest(answer.content)

    async def unregister(self) -> None:
        """Let the broker forget this subscriber, its subscriptions and what waits for it."""
        await self.request("DELETE", subscriber_path(self.id))
        self._registered = False

    async def pending(self, limit: int = 100) -> tuple[ClientDelivery, ...]:
        """What waits after the cursor, without a stream; the cursor stays."""
        answer = await self.request("GET", pending_path(self.id, self.cursor, limit, self._because))
        return read_pending(answer.content)[0]

    async def replay(self, after: int = 0) -> AsyncIterator[ClientDelivery]:
        """What this subscriber was given after a sequence number, acknowledged or not, as far as events are kept.

        Nothing changes by it: neither the cursor nor what is acknowledged.
        """
        while True:
            answer = await self.request("GET", replay_path(self.id, after))
            given, following = read_pending(answer.content)
            for delivery in given:
                yield delivery
            if following == after:
                return
            after = following

    def listen(self, listener: Callable[[ClientDelivery], object], *, acknowledge: bool = True) -> asyncio.Task[None]:
        """Call `listener`, a function or a coroutine function, for each delivery.

        What it returned from is acknowledged. The task ends when it is cancelled, with `disconnect`, or with an error
        of the listener; that delivery is not acknowledged and comes again.
        """
        return asyncio.get_running_loop().create_task(self._call_listener(listener, acknowledge))

    async def _call_listener(self, listener: Callable[[ClientDelivery], object], acknowledge: bool) -> None:
        async for delivery in self:
            said = listener(delivery)
            if inspect.isawaitable(said):
                await said
            if acknowledge:
                await self.acknowledge(delivery)

    async def __aiter__(self) -> AsyncIterator[ClientDelivery]:
        self._ended = False
        if not self._registered:
            await self._establish(None)
        while not self._ended:
            socket = await self._open_stream()
            if socket is None:
                return
            try:
                async for said in socket:
                    for delivery in self._following.take(said):
                        yield delivery
                        if self.stopped:  # the rest of the message waits, and comes again
                            return
            except ConnectionClosed:
                pass
            if not self._ended:
                self._following.ended(socket.close_code, socket.close_reason)

    async def _open_stream(self) -> ClientConnection | None:
        """A stream; None if it was given up while it was being opened."""
        options = self._endpoint.stream_options(self.id, self._following.acknowledged, self._because)

        def again(error: Exception) -> bool:
            return not self._ended and may_connect_again(error)

        try:
            async for attempt in stamina.retry_context(on=again, **self._endpoint.retry_options()):
                with attempt:
                    self._socket = await connect(**options)
        except (OSError, WebSocketException) as error:
            if self._ended:
                return None
            raise self._endpoint.to_unavailable(error) from error
        if self._ended:
            await self.stop_stream()
            return None
        return self._socket

    async def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Everything up to this delivery is dealt with; sent on the stream if it is open."""
        number = self._following.settle(delivery)
        if self._socket is not None and not self._ended:
            with suppress(ConnectionClosed):  # the next connection says it
                await self._socket.send(acknowledgement(number))
        else:
            await self.request("POST", subscriber_path(self.id, "/acknowledgements"), acknowledgement_body(number))

    async def stop_stream(self) -> None:
        """End the iteration that is under way, if any; the subscriber stays registered and connected."""
        self._ended = True
        if self._socket is not None:
            with suppress(ConnectionClosed):  # the broker may be gone
                await self._socket.close()

    async def disconnect(self) -> None:
        """Close the stream and the connection; what was not acknowledged waits, and comes again."""
        await self.stop_stream()
        self._socket = None
        await super().disconnect()

    async def reconnect(self, address: str | None = None, patience: float | None = None) -> Self:
        """Connect anew and register; at another address of the same broker, or of a copy of its store, if one is given.

        The cursor stays, and an iteration or a listener that is under way goes on there, after the last delivery
        given. If nobody answers, nothing changes.
        """
        await super().reconnect(address, patience)
        if self._socket is not None and not self._ended:
            with suppress(ConnectionClosed):
                await self._socket.close()
        return self
