"""Server-sent events `/v1/subscribers/{id}/events`: the same stream for what reads HTTP alone.

Each delivery is one `data:` line with its sequence number as `id:`. A browser that connects again sends
`Last-Event-ID`, which acknowledges everything up to it; others acknowledge with a request of their own. What stands in
the address acknowledges nothing: any page can point at an address.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate_subscriber, bearer_token, flag_parameter, sequence_parameter
from likewise.server.streaming import DeliveryStream, StreamReplaced, clamp_sequence, resume_stream

router = APIRouter(tags=["subscribers"])
_BREAKS = bytes.maketrans(b"\r\n", b"  ")
KEEP_ALIVE_S = 15.0  # seconds after which a comment shows that the stream lives


def _one_line_json(frame: bytes) -> bytes:
    """JSON on one line: a payload comes with the breaks it was sent with, which stand between tokens alone."""
    return frame.translate(_BREAKS) if b"\n" in frame or b"\r" in frame else frame


@router.get(
    "/v1/subscribers/{id:id}/events",
    **route_options(
        "Deliveries as server-sent events, after a sequence number (`sequence`, or the header `Last-Event-ID`).",
        query={
            "sequence": ("integer", "where to start, which acknowledges nothing; `cursor` is its old name"),
            "because": ("boolean", "`true` for the readings that met each delivery"),
        },
    ),
)
async def events(request: Request, id: str) -> StreamingResponse:
    """Push deliveries as server-sent events."""
    gateway, tenant = authenticate_subscriber(request, id)
    queue = tenant.subscriber(id)
    last = request.headers.get("last-event-id", "")
    because = flag_parameter(request, "because")
    if last.isascii() and last.isdigit() and len(last) < 19:
        begin = resume_stream(gateway.broker, tenant, queue, int(last))
    else:
        begin = max(clamp_sequence(tenant, sequence_parameter(request, "cursor")), queue.acknowledged)

    async def pushed() -> AsyncIterator[bytes]:
        with DeliveryStream(
            gateway.broker, tenant, queue, gateway.bridge, gateway.executors.reads, begin, because=because
        ) as stream:
            yield b": connected\n\n"
            pages = stream.pages(window=queue.limit)
            stopping = asyncio.create_task(gateway.stopping.wait())
            shut_out = asyncio.create_task(gateway.wait_revoked(bearer_token(request)))
            following: asyncio.Task[list[tuple[int, bytes]]] | None = None
            try:
                while True:
                    following = following or asyncio.ensure_future(anext(pages))
                    ends = {following, stopping, shut_out}
                    await asyncio.wait(ends, timeout=KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
                    if stopping.done() or shut_out.done():
                        return
                    if not following.done():
                        yield b": still here\n\n"
                        continue
                    page = following.result()
                    following = None
                    yield b"".join(b"id: %d\ndata: %s\n\n" % (number, _one_line_json(frame)) for number, frame in page)
                    page.clear()
            except (StreamReplaced, StopAsyncIteration):
                return
            finally:
                stopping.cancel()
                shut_out.cancel()
                if following is not None:
                    following.cancel()

    return StreamingResponse(pushed(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
