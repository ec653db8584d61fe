"""Serve the dashboard.

`SecurityMiddleware` lets the dashboard's own pages alone speak to it, and lets them load nothing from elsewhere.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from likewise.api.origins import OriginPolicy
from likewise.extras import require

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


# NiceGUI's pages hold inline scripts and compile templates in the browser; everything else is shut.
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'; object-src 'none'"
)


def security_headers(tiles: str = "") -> list[tuple[bytes, bytes]]:
    """Return the security headers of every response; images may be loaded from the tile server only.

    >>> b"img-src 'self' data: blob: https://tiles.example.org;" in security_headers("https://tiles.example.org/{z}/{x}/{y}")[0][1]
    True
    """
    parts = urlsplit(tiles)
    policy = POLICY
    if parts.netloc:
        policy = policy.replace(
            "img-src 'self' data: blob:", f"img-src 'self' data: blob: {parts.scheme}://{parts.netloc}"
        )
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]


class SecurityMiddleware:
    """An application in front of another. `host` is where it listens; beyond this machine any name may lead to it."""

    def __init__(self, app: ASGIApp, host: str, tiles: str = "") -> None:
        self._app = app
        self._headers = security_headers(tiles)
        self._origins = OriginPolicy(frozenset({host.lower()} if host not in ("0.0.0.0", "::") else {"*"}))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        # What the page's own connection posts as text is judged by its origin, so every method counts as GET.
        refused = self._origins.refusal_of("GET", scope["headers"])

        async def with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *self._headers]}
            await send(message)

        if refused is None:
            await self._app(scope, receive, with_policy)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused.code})
        else:
            body = msgspec.json.encode({"code": refused.code, "detail": refused.detail})
            headers = [(b"content-type", b"application/problem+json"), (b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": refused.status, "headers": headers})
            await send({"type": "http.response.body", "body": body})


def make_dashboard(broker: str, ca: str | None = None, tiles: str = "", credit: str = "") -> FastAPI:
    """Make the dashboard of the broker at an address, as an ASGI application; one for each process."""
    require("dashboard", "the dashboard")
    from fastapi import FastAPI
    from nicegui import ui

    from likewise.dashboard.feed import FeedRegistry
    from likewise.dashboard.page import register_pages

    feeds = FeedRegistry(broker, ca, tiles, credit)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await feeds.close()

    application = FastAPI(lifespan=lifespan, openapi_url=None)
    register_pages(feeds)
    ui.run_with(application, title="Likewise", dark=None, favicon="≈", reconnect_timeout=30, show_welcome_message=False)
    return application


def serve_dashboard(
    broker: str, host: str, port: int, ca: str | None = None, tiles: str = "", credit: str = ""
) -> None:
    """Serve the dashboard until SIGINT or SIGTERM."""
    import uvicorn

    application = SecurityMiddleware(make_dashboard(broker, ca, tiles, credit), host, tiles)
    uvicorn.run(application, host=host, port=port, log_level="warning", access_log=False, ws="websockets-sansio")
