"""WebSocket `/v1/subscribers/{id}/stream`: push with sequence numbers, acknowledgements, resume from a cursor.

The broker sends one JSON text for each delivery, or with `?together=true` an array of those that are there. The client
sends `{"sequence": 12}` when it has settled everything up to 12. With `?sequence=12` everything up to 12 counts as
acknowledged, and the stream starts after it; a number that the broker has not reached counts as none. With
`because=true` each delivery says which readings met it. Old clients say `{"acknowledge": 12}` and `?cursor=12`; both
are still read. Close codes: `long_lived`.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec
from fastapi import APIRouter, WebSocket

from likewise.api.deliveries import DeliveryAck
from likewise.errors import FormatError, LikewiseError
from likewise.server.http.requests import authenticate_subscriber, flag_parameter, sequence_parameter
from likewise.server.http.streams.websocket_lifecycle import (
    offered_subprotocol,
    receive_message,
    reject,
    run_until_closed,
)
from likewise.server.streaming import DeliveryStream, resume_stream

router = APIRouter()
YIELD_AFTER: Final = 16  # messages after which others have their turn
_SETTLED: Final = msgspec.json.Decoder(DeliveryAck)


@router.websocket("/v1/subscribers/{id:id}/stream")
async def stream(socket: WebSocket, id: str) -> None:
    """Push deliveries until one side ends it."""
    try:
        gateway, tenant = authenticate_subscriber(socket, id)
        queue = tenant.subscriber(id)
        because, together = flag_parameter(socket, "because"), flag_parameter(socket, "together")
        begin = resume_stream(gateway.broker, tenant, queue, sequence_parameter(socket, "cursor"))
    except LikewiseError as error:
        await reject(socket, error)
        return
    await socket.accept(subprotocol=offered_subprotocol(socket))
    with DeliveryStream(
        gateway.broker, tenant, queue, gateway.bridge, gateway.executors.reads, begin, because=because
    ) as pushed:
        await run_until_closed(gateway, socket, _send(socket, pushed, together), _receive(socket, pushed))


async def _send(socket: WebSocket, pushed: DeliveryStream, together: bool) -> None:
    async for page in pushed.pages():
        if together and len(page) > 1:
            await socket.send_text((b"[%s]" % b",".join([frame for _, frame in page])).decode())
            page.clear()
            continue
        for number, (_, frame) in enumerate(page, 1):
            await socket.send_text(frame.decode())
            if number % YIELD_AFTER == 0:
                await asyncio.sleep(0)
        page.clear()


async def _receive(socket: WebSocket, pushed: DeliveryStream) -> None:
    while True:
        data = await receive_message(socket)
        try:
            settled = _SETTLED.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise FormatError(f'expected {{"sequence": NUMBER}}: {error}') from None
        pushed.acknowledge(settled.number)
