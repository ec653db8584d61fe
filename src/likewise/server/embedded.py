"""A broker inside a program: `likewise.Broker` (docs/guides/embed.md).

It is the broker that `likewise serve` runs, without a server: publishing returns when an event is on disk,
subscriptions call a function, and `app` mounts the HTTP interface in an ASGI application.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import msgspec
import structlog
from fastapi import WebSocket

from likewise.backoff import backoff_s
from likewise.broker.broker import Broker as DurableBroker
from likewise.broker.config import Config
from likewise.broker.queries.dry_run import explain_text
from likewise.broker.queries.select import selects, with_selected
from likewise.client.messages import ClientDelivery, read_delivery
from likewise.defaults import TENANT
from likewise.errors import InputError, StateError, Unavailable
from likewise.matching.coercion import GivenEvent, GivenSubscription, as_event, as_subscription
from likewise.model import Event
from likewise.server.gateway import Gateway
from likewise.server.http.problems import simple_problem
from likewise.server.http.publishing import PublishMiddleware
from likewise.server.http.server import RunningGateway, make_app
from likewise.server.http.streams.websocket_lifecycle import STOPPING, reject

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from likewise.api.events import Receipt
    from likewise.model import Explanation

_log = structlog.get_logger(__name__)
PAGE: Final = 100  # deliveries that a callback is given before the next ones are read
Callback = Callable[[ClientDelivery], object]
RETRY_S: Final = 1.0  # first pause after a callback failed; it doubles up to RETRY_LONGEST_S
RETRY_LONGEST_S: Final = 60.0
STOP_S: Final = 5.0  # how long closing waits for a callback


class CallbackConsumer:
    """A thread that gives the deliveries of one subscriber to a function, and acknowledges each after it returned."""

    def __init__(self, broker: DurableBroker, name: str, callback: Callback) -> None:
        self._broker = broker
        self._tenant = broker.tenant(TENANT)
        self._queue = self._tenant.subscriber(name)
        self._callback = callback
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._queue.wake = self._changed.set
        self._thread = threading.Thread(target=self._run, name=f"likewise-{name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the delivery under way; the following ones wait in the queue. May be called by the callback."""
        self._stopped.set()
        self._changed.set()
        self._queue.wake = None
        if self._thread is not threading.current_thread():
            self._thread.join(STOP_S)

    def is_current(self) -> bool:
        """Return whether the callback itself is what runs."""
        return self._thread is threading.current_thread()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._changed.clear()
            page = self._broker.page(self._tenant, self._queue, after=self._queue.acknowledged, limit=PAGE)
            if selects(self._tenant, self._queue):
                page = with_selected(self._broker.store, self._tenant, self._queue, page, self._broker.clock())
            for number, frame in page:
                if not self._delivered(read_delivery(frame)) or self._queue.unregistered:
                    return
                self._broker.acknowledge(self._tenant, self._queue.id, number)
            if not page:
                self._changed.wait()

    def _delivered(self, delivery: ClientDelivery) -> bool:
        """Call the function until it returns; False if the consumer was stopped before."""
        failures = 0
        while not self._stopped.is_set():
            try:
                if inspect.isawaitable(answer := self._callback(delivery)):
                    if inspect.iscoroutine(answer):
                        answer.close()
                    raise InputError("a callback is a plain function; what it returned was never awaited")
            except BaseException:  # also SystemExit: without this thread the queue has no reader
                failures += 1
                pause = backoff_s(failures, RETRY_S, RETRY_LONGEST_S)
                _log.exception("callback_failed", subscriber=self._queue.id, retry_in_s=pause)
                self._stopped.wait(pause)
            else:
                return True
        return False


class EmbeddedApp:
    """The HTTP and WebSocket interface of an embedded broker as an ASGI application, which may be mounted in another.

    It starts with its lifespan, or with its first request where it is mounted and gets none.
    """

    def __init__(self, broker: DurableBroker) -> None:
        self._broker = broker
        self._served: ASGIApp = PublishMiddleware(make_app(broker))
        self._running: RunningGateway | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, a WebSocket or the lifespan."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if self._closed:
            await self._reject(scope, receive, send)
            return
        gateway = self._started()
        root = scope.get("root_path", "")
        path = scope["path"].removeprefix(root) or "/" if root else scope["path"]
        await self._served({**scope, "path": path, "root_path": "", "state": {"gateway": gateway}}, receive, send)

    async def _reject(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer who comes after the broker was closed, while the application around it goes on."""
        error = Unavailable("the broker is closed")
        if scope["type"] == "websocket":
            await reject(WebSocket(scope, receive, send), error, STOPPING)
        else:
            await simple_problem(503, error.code, str(error))(scope, receive, send)

    def _started(self) -> Gateway:
        loop = asyncio.get_running_loop()
        if self._running is None or self._loop is not loop:
            if self._running is not None:  # the loop that it ran on is over
                self._running.unregister()
            self._loop, self._running = loop, RunningGateway(self._broker)
        return self._running.gateway

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self._started()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._end()
        await send({"type": "lifespan.shutdown.complete"})

    async def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.close()

    def stop(self) -> None:
        """End streams and the senders to targets, from any thread, and refuse what comes later."""
        self._closed = True
        loop = self._loop
        if self._running is None or loop is None or loop.is_closed() or not loop.is_running():
            return
        ended = asyncio.run_coroutine_threadsafe(self._end(), loop)
        try:
            on_loop = asyncio.get_running_loop() is loop
        except RuntimeError:
            on_loop = False
        if not on_loop:  # on the loop itself there is nobody else to run what would be waited for
            ended.result(STOP_S)


class EmbeddedBroker:
    """A durable broker inside a program, without a server.

    Args:
        data: Folder of its store, created if it is missing; None keeps everything in memory.
        config: A configuration as `likewise serve` reads it, by section and name.

    >>> import likewise as lw
    >>> received = []
    >>> with lw.Broker() as broker:
    ...     id = broker.subscribe("{temperature~ > 25 degC}", received.append)
    ...     _ = broker.publish({"air_temp_f": 81.2})
    ...     broker.wait()
    >>> received[0].event.tuples[0].attribute
    'air_temp_f'
    """

    def __init__(self, data: str | Path | None = None, config: Config | Mapping[str, object] | None = None) -> None:
        if config is not None and not isinstance(config, Config):
            try:
                config = msgspec.convert(config, Config)
            except msgspec.ValidationError as error:
                raise InputError(f"the configuration cannot be read: {error}") from None
        self._broker = DurableBroker(None if data is None else Path(data), config)
        self._broker.note_listening()
        self._consumers: dict[str, CallbackConsumer] = {}
        self._app: EmbeddedApp | None = None
        self._lock = threading.RLock()  # of the consumers, which callbacks may change
        self._process = os.getpid()
        self._closed = False

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StateError("a broker does not survive a fork; open one in the process that uses it")

    @property
    def app(self) -> EmbeddedApp:
        """Return the HTTP interface, to be mounted: `app.mount("/likewise", broker.app)`.

        Who may reach it is for the application around it to say; tokens of the broker are in force where there are any.
        """
        if self._app is None:
            self._app = EmbeddedApp(self._broker)
        return self._app

    def publish(self, events: GivenEvent | Iterable[GivenEvent]) -> list[Receipt]:
        """Publish one event or several, all or none.

        Args:
            events: An event, a mapping, JSON, or several of them.

        Returns:
            The receipt of each event, once all of them are on disk.

        Raises:
            InvalidEvent: An event is impossible; nothing was stored.
        """
        self._check_process()
        if not isinstance(events, (Event, str, bytes, Iterable)):
            raise InputError(f"events are an Event, a mapping, JSON or several of them, not {type(events).__name__}")
        given = [events] if isinstance(events, (Event, str, bytes, Mapping)) else list(events)
        return self._broker.publish(self._broker.tenant(TENANT), [as_event(each) for each in given])

    def subscribe(self, subscription: GivenSubscription, callback: Callback, *, name: str | None = None) -> str:
        """Call a function with each delivery of a subscription, on a thread of its own.

        A delivery is acknowledged when the function has returned. If it raises, the error is logged and the same
        delivery is given again after a pause. Deliveries that nobody received wait in the store: after a restart,
        subscribe again under the same name.

        Args:
            subscription: A subscription or its text.
            callback: Function that is called with a `ClientDelivery`.
            name: Name of the subscriber, which keeps its queue. Default: the id of the subscription.

        Returns:
            The name, which ends the subscription with `unsubscribe`.

        Raises:
            ParseError: The text is not in the language.
            InputError: A function is called under this name already, the name is no text or has control characters,
                or the callback is no plain function.
        """
        self._check_process()
        if not callable(callback) or inspect.iscoroutinefunction(callback):
            raise InputError(f"a callback is a plain function of one delivery, not {callback!r:.80}")
        parsed = as_subscription(subscription)
        name = parsed.id if name is None else name
        if not isinstance(name, str) or not name or not name.isprintable():
            raise InputError(f"the name of a subscriber is text without control characters, not {name!r:.80}")
        with self._lock:
            if name in self._consumers:
                raise InputError(f"{name!r} has a callback already; unsubscribe it, or give another name")
            tenant = self._broker.tenant(TENANT)
            if name not in tenant.subscribers:
                self._broker.register(tenant, name)
            self._broker.subscribe(tenant, name, [parsed], replace=True)
            for id in set(tenant.subscriber(name).subscriptions) - {parsed.id}:  # of an earlier text under this name
                self._broker.unsubscribe(tenant, name, id)
            self._consumers[name] = CallbackConsumer(self._broker, name, callback)
        return name

    def unsubscribe(self, name: str) -> None:
        """End a subscription, and forget what waits for it.

        Args:
            name: What `subscribe` returned.

        Raises:
            UnknownId: There is no such subscriber.
        """
        self._check_process()
        with self._lock:
            consumer = self._consumers.pop(name, None)
        if consumer is not None:
            consumer.stop()
        self._broker.unregister(self._broker.tenant(TENANT), name)

    def explain(self, event: GivenEvent, subscription: GivenSubscription) -> Explanation:
        """Explain why an event matches a subscription, or why not, with the broker's annotations and feedback.

        Args:
            event: An event, a mapping or JSON.
            subscription: A subscription or its text.
        """
        tenant = self._broker.tenant(TENANT)
        return explain_text(tenant, as_subscription(subscription), as_event(event), self._broker.clock())

    def wait(self, timeout: float = 60.0) -> None:
        """Wait until all published events are matched, and every callback has had its deliveries.

        Args:
            timeout: Seconds to wait at most.

        Raises:
            Unavailable: The time is over.
            InputError: A callback calls it, which would wait for itself.
        """
        self._check_process()
        consumers = dict(self._consumers)  # a copy at once: callbacks may subscribe and unsubscribe meanwhile
        if any(each.is_current() for each in consumers.values()):
            raise InputError("a callback cannot wait for the callbacks; it would wait for itself")
        deadline = time.monotonic() + timeout
        self._broker.wait_until_matched(timeout)
        tenant = self._broker.tenant(TENANT)
        for name in consumers:
            while (queue := tenant.subscribers.get(name)) is not None and queue.pending:
                if time.monotonic() > deadline:
                    raise Unavailable(f"the callback of {name!r} still has deliveries after {timeout:g} s")
                time.sleep(0.002)

    def close(self) -> None:
        """Stop the callbacks, end the mounted application, match what is stored, and close the store."""
        if self._closed or os.getpid() != self._process:  # the store is the first process's to close
            return
        self._closed = True
        for consumer in list(self._consumers.values()):
            consumer.stop()
        if self._app is not None:
            self._app.stop()
        self._broker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


Broker = EmbeddedBroker  # the name of it in `likewise`
