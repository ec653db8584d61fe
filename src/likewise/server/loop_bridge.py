"""Answers from the broker's threads to the event loop, many for the price of one wake-up."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

from likewise.broker.log.event_log import Done


class LoopBridge:
    """Runs what other threads hand it on the loop it was made on, in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[Callable[..., None], tuple[object, ...]]] = deque()
        self._lock = threading.Lock()
        self._under_way = False
        self._answers: set[asyncio.Future[object]] = set()

    def call(self, function: Callable[..., None], *arguments: object) -> None:
        """Run a function on the loop soon; safe from any thread, also when the loop is closed (then not at all)."""
        with self._lock:
            self._waiting.append((function, arguments))
            if self._under_way:
                return
            self._under_way = True
        try:
            self._loop.call_soon_threadsafe(self._run)
        except RuntimeError:  # the loop is closed: nobody waits any more
            with self._lock:
                self._under_way = False
                self._waiting.clear()

    def _run(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
            self._under_way = False
        for function, arguments in waiting:
            function(*arguments)

    async def wait_for(self, start: Callable[[Done], object]) -> object:
        """Return the broker's result of something started here; raise its error."""
        future: asyncio.Future[object] = self._loop.create_future()
        start(lambda result: self.call(_settle, future, result))
        self._answers.add(future)
        try:
            reply = await future
        finally:
            self._answers.discard(future)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def fail_all(self, error: BaseException) -> None:
        """Fail all pending results, on the loop."""
        for future in list(self._answers):
            _settle(future, error)


def _settle(future: asyncio.Future[object], result: object) -> None:
    if not future.done():
        future.set_result(result)
