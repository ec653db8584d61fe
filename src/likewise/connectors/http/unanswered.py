"""In front of everything at a stop: requests that are not answered when their time is up are told 503.

Whatever they wait for: the rest of their body, a question that takes long, the disk. What has begun to be answered is
left alone; streams end by themselves when the door says that it stops.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.connectors.http.problems import problem_response
from likewise.errors import LikewiseError


class Unanswered:
    """An application in front of another. It knows the requests under way that nothing was said to yet."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._waiting: set[asyncio.Task[object]] = set()
        self._told: LikewiseError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)

        async def answering(message: Message) -> None:
            self._waiting.discard(task)
            await send(message)

        try:
            await self._app(scope, receive, answering)
        except asyncio.CancelledError:
            if self._told is None or task not in self._waiting:
                raise
            task.uncancel()
            await problem_response(self._told, scope)(scope, receive, send)
        finally:
            self._waiting.discard(task)

    def give_up(self, error: LikewiseError) -> None:
        """Tell everybody who waits that no answer comes; on the loop."""
        self._told = error
        for task in list(self._waiting):
            task.cancel()
