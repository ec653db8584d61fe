"""In front of everything while there are no tokens: only our own pages, only by our own names (`wire.origins`).

In front of everything at a stop: requests that are not answered when their time is up are told 503.

Whatever they wait for: the rest of their body, a question that takes long, the disk. What has begun to be answered is
left alone; streams end by themselves when the door says that it stops.
"""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from likewise.api.origins import OriginPolicy
from likewise.broker.config import ServerSettings
from likewise.errors import LikewiseError
from likewise.server.http.problems import problem_response, simple_problem
from likewise.server.http.requests import gateway_in


class InFlightRequests:
    """An application in front of another. It knows the requests under way that nothing was said to yet."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way: dict[asyncio.Task[object], RequestResponseCycle] = {}
        self._failed: LikewiseError | None = None

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
            if self._failed is None or cycle.response_started:
                raise
            task.uncancel()
            await problem_response(self._failed, scope)(scope, receive, send)
        finally:
            del self._under_way[task]

    def fail_all(self, error: LikewiseError) -> None:
        """Tell everybody who waits that no answer comes; on the loop."""
        self._failed = error
        for task, cycle in list(self._under_way.items()):
            if not cycle.response_started:
                task.cancel()


class OriginGuard:
    """An application in front of another. Where tokens are in force it looks at nothing: they decide."""

    def __init__(self, app: ASGIApp, server: ServerSettings) -> None:
        self._app = app
        listening = {server.host.lower()} - {"0.0.0.0", "::"}  # these are no names; who listens there has tokens
        self._origins = OriginPolicy(
            frozenset(name.lower() for name in server.hosts) | listening, frozenset(server.origins)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "lifespan" or not gateway_in(scope).authenticator.open:
            await self._app(scope, receive, send)
            return
        refused = self._origins.refusal_of(
            scope.get("method", "GET"), scope["headers"], path=scope["path"], scheme=scope["scheme"]
        )
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused.code})
        else:
            await simple_problem(*refused)(scope, receive, send)
