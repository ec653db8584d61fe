"""WebSocket `/v1/subscribers/{id}/stream`: push with sequence numbers, acknowledgements, resume from a cursor.

The broker sends one JSON text for each delivery. The client sends `{"sequence": 12}` when it has settled
everything up to 12. With `?sequence=12` everything up to 12 counts as acknowledged, and the stream starts after it.
With `because=true` each delivery says which readings met it.
Old clients say `{"acknowledge": 12}` and `?cursor=12`; both are still read.

| close code | meaning |
|---|---|
| 1001 | the broker stops; connect again |
| 1008 | refused: no token, one that is over, no scope, no such subscriber; the reason says which |
| 4000 | a newer stream of this subscriber took over, or it was unregistered |
| 4400 | what the client sent cannot be read |
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import msgspec
from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from likewise.connectors.http.requests import admit_subscriber, door_of, flag, sequence_in, token_in
from likewise.connectors.stream import Replaced, Stream
from likewise.errors import LikewiseError, NotAuthenticated
from likewise.formats.wire.deliveries import Acknowledged

router = APIRouter()
STOPPING, REFUSED, REPLACED, UNREADABLE = 1001, 1008, 4000, 4400


_SETTLED: Final = msgspec.json.Decoder(Acknowledged)


@router.websocket("/v1/subscribers/{id:id}/stream")
async def stream(socket: WebSocket, id: str) -> None:
    """Push deliveries until one side ends it."""
    door = door_of(socket)
    offered = socket.headers.get("sec-websocket-protocol", "").split(",")[0].strip() or None
    try:
        _, tenant = admit_subscriber(socket, id)
        queue = tenant.subscriber(id)
        cursor, because = sequence_in(socket, "cursor"), flag(socket, "because")
        if cursor:
            door.broker.acknowledge(tenant, id, min(cursor, tenant.stored_number))
    except LikewiseError as error:
        await socket.accept(subprotocol=offered)
        await socket.close(REFUSED, f"{error.code}: {error}"[:120])
        return
    await socket.accept(subprotocol=offered)
    begin = max(cursor, queue.acknowledged)
    with Stream(door.broker, tenant, queue, door.bridge, begin, because=because) as pushed:
        sending = asyncio.create_task(_send(socket, pushed))
        receiving = asyncio.create_task(_receive(socket, pushed))
        stopping = asyncio.create_task(door.stopping.wait())
        shut_out = asyncio.create_task(door.shut_out(token_in(socket)))
        ends = {sending, receiving, stopping, shut_out}
        done, rest = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
    code, reason = STOPPING, "the broker stops"
    for task in done:
        error_met = task.exception() if not task.cancelled() else None
        match error_met:
            case Replaced():
                code, reason = REPLACED, "a newer stream serves this subscriber, or it was unregistered"
            case NotAuthenticated() as refused:
                code, reason = REFUSED, f"{refused.code}: {refused}"
            case LikewiseError() as refused:
                code, reason = UNREADABLE, f"{refused.code}: {refused}"
            case WebSocketDisconnect() | RuntimeError():
                return  # the client is gone
            case None:
                pass
            case other:
                raise other
    with suppress(RuntimeError, WebSocketDisconnect):  # the client may be gone by now
        await socket.close(code, reason[:120])


async def _send(socket: WebSocket, pushed: Stream) -> None:
    async for page in pushed.pages():
        for _, frame in page:
            await socket.send_text(frame.decode())


async def _receive(socket: WebSocket, pushed: Stream) -> None:
    from likewise.errors import FormatError

    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1000))
        said = message.get("text")
        try:
            settled = _SETTLED.decode(message.get("bytes") or b"" if said is None else said)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise FormatError(f'expected {{"sequence": NUMBER}}: {error}') from None
        pushed.acknowledge(settled.number)
