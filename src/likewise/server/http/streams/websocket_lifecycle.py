"""The lifecycle of every WebSocket of the broker, and its close codes.

| close code | meaning |
|---|---|
| 1001 | the broker stops; connect again |
| 1008 | refused: no token, one that is over, no scope, no such subscriber; the reason says which |
| 1009 | what the client sent is too large |
| 4000 | a newer stream of this subscriber took over, or it was unregistered |
| 4400 | what the client sent cannot be read |
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from contextlib import suppress
from typing import Any, Final

from fastapi import WebSocket, WebSocketDisconnect

from likewise.errors import LikewiseError, LimitExceeded, NotAuthenticated
from likewise.server.gateway import Gateway
from likewise.server.http.requests import bearer_token
from likewise.server.streaming import StreamReplaced

STOPPING, REFUSED, TOO_LARGE, REPLACED, UNREADABLE = 1001, 1008, 1009, 4000, 4400
LARGEST_MESSAGE: Final = 65_536  # bytes or characters of what a client says


def offered_subprotocol(socket: WebSocket) -> str | None:
    """Return the subprotocol that a browser offers, which may be a token."""
    return socket.headers.get("sec-websocket-protocol", "").split(",")[0].strip() or None


async def reject(socket: WebSocket, error: LikewiseError, code: int = REFUSED) -> None:
    """Open a connection only to say why it is closed."""
    await socket.accept(subprotocol=offered_subprotocol(socket))
    await socket.close(code, f"{error.code}: {error}"[:120])


async def receive_message(socket: WebSocket, most: int = LARGEST_MESSAGE) -> bytes | str:
    """Receive the next message, as text or bytes, within a size."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    data: bytes | str = message.get("bytes") or b"" if message.get("text") is None else message["text"]
    if len(data) > most:
        raise LimitExceeded("bytes of a message", allowed=most, found=len(data))
    return data


async def end_tasks(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait for their ends.

    The application around a mounted broker may cancel the connection meanwhile. `asyncio.gather` would replace that
    cancellation by another, which a cancel scope of anyio does not know as its own and lets out.
    """
    for task in tasks:
        task.add_done_callback(_retrieve_exception)
        task.cancel()
    await asyncio.wait(tasks)


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # one that nobody retrieves is logged


async def run_until_closed(gateway: Gateway, socket: WebSocket, *work: Coroutine[Any, Any, None]) -> None:
    """Do some work until part of it ends, the broker stops or the token opens nothing any more; then say why."""
    ends: set[asyncio.Task[Any]] = {
        *(asyncio.create_task(each) for each in work),
        asyncio.create_task(gateway.stopping.wait()),
        asyncio.create_task(gateway.wait_revoked(bearer_token(socket))),
    }
    try:
        done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end_tasks(ends)
    code, reason = STOPPING, "the broker stops"
    errors = [task.exception() for task in done if not task.cancelled()]
    for error in errors:
        match error:
            case StreamReplaced():
                code, reason = REPLACED, "a newer stream serves this subscriber, or it was unregistered"
            case LimitExceeded() as refused:
                code, reason = TOO_LARGE, f"{refused.code}: {refused}"
            case NotAuthenticated() as refused:
                code, reason = REFUSED, f"{refused.code}: {refused}"
            case LikewiseError() as refused:
                code, reason = UNREADABLE, f"{refused.code}: {refused}"
            case TimeoutError():
                code, reason = STOPPING, "nothing was heard for too long"
            case WebSocketDisconnect() | RuntimeError():
                return  # the client is gone
            case None:
                pass
            case other:
                raise other
    with suppress(RuntimeError, WebSocketDisconnect):  # the client may be gone by now
        await socket.close(code, reason[:120])
