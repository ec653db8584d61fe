"""In front of everything while there are no tokens: only our own pages, only by our own names (`wire.origins`)."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from likewise.api.origins import Origins
from likewise.broker.config import Server
from likewise.server.http.problems import plain_problem
from likewise.server.http.requests import door_in


class Guard:
    """An application in front of another. Where tokens are in force it looks at nothing: they decide."""

    def __init__(self, app: ASGIApp, server: Server) -> None:
        self._app = app
        listening = {server.host.lower()} - {"0.0.0.0", "::"}  # these are no names; who listens there has tokens
        self._origins = Origins(frozenset(name.lower() for name in server.hosts) | listening, frozenset(server.origins))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "lifespan" or not door_in(scope).keeper.open:
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
            await plain_problem(*refused)(scope, receive, send)
