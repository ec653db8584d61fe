"""Serving the dashboard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from likewise.extras import require

if TYPE_CHECKING:
    from fastapi import FastAPI


def make_dashboard(broker: str, ca: str | None = None, tiles: str = "", credit: str = "") -> FastAPI:
    """The dashboard of the broker at an address, as an application of its own; one for each process."""
    require("dashboard", "the dashboard")
    from fastapi import FastAPI
    from nicegui import ui

    from likewise.dashboard.feed import Feeds
    from likewise.dashboard.page import define_page

    feeds = Feeds(broker, ca, tiles, credit)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await feeds.close()

    application = FastAPI(lifespan=lifespan, openapi_url=None)
    define_page(feeds)
    ui.run_with(application, title="Likewise", dark=None, favicon="≈", reconnect_timeout=30, show_welcome_message=False)
    return application


def serve_dashboard(
    broker: str, host: str, port: int, ca: str | None = None, tiles: str = "", credit: str = ""
) -> None:
    """Serve the dashboard until SIGINT or SIGTERM."""
    import uvicorn

    from likewise.dashboard.guard import Guard

    application = Guard(make_dashboard(broker, ca, tiles, credit), host, tiles)
    uvicorn.run(application, host=host, port=port, log_level="warning", access_log=False, ws="websockets-sansio")
