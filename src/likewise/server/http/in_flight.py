"""In front of everything at a stop: requests that are not answered when their time is up are told 503.

Whatever they wait for: the rest of their body, a question that takes long, the disk. What has begun to be answered is
left alone; streams end by themselves when the door says that it stops.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from likewise.errors import LikewiseError
from likewise.server.http.problems import problem_response


class Unanswered:
    """An application in front of another. It knows the requests under way that nothing was said to yet."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way: dict[asyncio.Task[object], RequestResponseCycle] = {}
        self._told: LikewiseError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection; whether it is answered is asked of uvicorn, whose `send` is handed on."""
        cycle, task = getattr(send, "__self__", None), asyncio.current_task()
        if not isinstance(cycle, RequestResponseCycle) or task is None:
            await self._app(scope, receive, send)
            return
        self._under_way[task] = cycle
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if self._told is None or cycle.response_started:
                raise
            task.uncancel()
            await problem_response(self._told, scope)(scope, receive, send)
        finally:
            del self._under_way[task]

    def give_up(self, error: LikewiseError) -> None:
        """Tell everybody who waits that no answer comes; on the loop."""
        self._told = error
        for task, cycle in list(self._under_way.items()):
            if not cycle.response_started:
                task.cancel()
