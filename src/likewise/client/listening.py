"""Listeners: a function that is called for each delivery, on a thread or in a task of its own."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Protocol, Self

from likewise.client.messages import ClientDelivery

_LOG = logging.getLogger("likewise.client")

ListeningTask = asyncio.Task[None]


class Inbox(Protocol):
    """Methods of a subscriber that a listener uses."""

    @property
    def id(self) -> str:
        """The subscriber's name."""
        ...

    def __iter__(self) -> Iterator[ClientDelivery]:
        """Yield the deliveries as they come."""
        ...

    def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Acknowledge a delivery and all before it."""
        ...

    def stop_stream(self) -> None:
        """End the iteration."""
        ...


class AsyncInbox(Protocol):
    """The same of an asyncio subscriber."""

    def __aiter__(self) -> AsyncIterator[ClientDelivery]:
        """Yield the deliveries as they come."""
        ...

    async def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Acknowledge a delivery and all before it."""
        ...


class Listening:
    """Deliveries passed to a listener as they come, until `stop`; also as `with inbox.listen(...)`.

    A delivery that the listener returned from is acknowledged. An error of the listener ends the listening and is
    logged; that delivery is not acknowledged and comes again. `stop` and `wait` raise the error, too.
    """

    def __init__(self, inbox: Inbox, listener: Callable[[ClientDelivery], object], acknowledge: bool) -> None:
        self._inbox = inbox
        self._listener = listener
        self._acknowledge = acknowledge
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"listener of {inbox.id}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for delivery in self._inbox:
                self._listener(delivery)
                if self._acknowledge:
                    self._inbox.acknowledge(delivery)
        except Exception as error:
            self.error = error
            _LOG.exception("listener_failed subscriber=%s", self._inbox.id)

    @property
    def active(self) -> bool:
        """Return whether the listener still runs."""
        return self._thread.is_alive()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the listening ends by itself, and raise its error."""
        self._thread.join(timeout)
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """End the listening after the delivery that is under way, and raise its error.

        The listener may call it: it returns at once then, and the delivery that the listener has counts.
        """
        self._inbox.stop_stream()
        if threading.current_thread() is not self._thread:
            self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.stop()
        else:
            self._inbox.stop_stream()


def start_listening(inbox: Inbox, listener: Callable[[ClientDelivery], object], acknowledge: bool) -> Listening:
    """Call a listener for each delivery, on a thread of its own."""
    return Listening(inbox, listener, acknowledge)


def start_listening_async(
    inbox: AsyncInbox, listener: Callable[[ClientDelivery], object], acknowledge: bool
) -> ListeningTask:
    """Call a listener, a function or a coroutine function, for each delivery, in a task of its own.

    The task ends when it is cancelled, with `disconnect`, or with an error of the listener.
    """

    async def run() -> None:
        async for delivery in inbox:
            result = listener(delivery)
            if inspect.isawaitable(result):
                await result
            if acknowledge:
                await inbox.acknowledge(delivery)

    return asyncio.get_running_loop().create_task(run())
