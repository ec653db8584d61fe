"""A WebSocket lasts until part of its work ends: quietly, whatever else ends in the same moment."""

from __future__ import annotations

import asyncio
import gc
from typing import Any, cast

import pytest
from fastapi import WebSocketDisconnect

from likewise.server.http.streams.websocket_lifecycle import run_until_closed

pytestmark = pytest.mark.timeout(30)


class OpenDoor:
    """As much of a door as a connection waits at."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()

    async def wait_revoked(self, token: str | None) -> None:
        await asyncio.Event().wait()


class Socket:
    """A connection whose client is gone."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.query_params: dict[str, str] = {}

    async def close(self, code: int, reason: str) -> None:
        raise RuntimeError("the client is gone")


async def fails(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("turned", [False, True])
def test_a_client_that_goes_while_it_is_answered_leaves_no_error_behind(turned: bool) -> None:
    """Reading and answering fail together then; asyncio logs an error that nobody asked for."""
    left: list[dict[str, Any]] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: left.append(context))
        errors = [WebSocketDisconnect(1006), RuntimeError("Cannot call send once a close message has been sent")]
        for _ in range(20):  # which of the two is asked first differs
            work = [fails(error) for error in (reversed(errors) if turned else errors)]
            await run_until_closed(cast("Any", OpenDoor()), cast("Any", Socket()), *work)
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(run())
    gc.collect()
    assert left == []
