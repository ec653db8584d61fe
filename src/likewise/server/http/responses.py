"""A whole answer in one write: uvicorn writes head and body each by itself, and every write is a call of the system."""

from __future__ import annotations

from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle


async def send_json(send: Send, body: bytes) -> None:
    """Answer with 200 and JSON; where `send` is not uvicorn's own, by the two messages of ASGI."""
    headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
    cycle = getattr(send, "__self__", None)
    if not isinstance(cycle, RequestResponseCycle):
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    if not cycle.keep_alive:
        headers.append((b"connection", b"close"))
    lines = b"".join(b"%b: %b\r\n" % header for header in (*cycle.default_headers, *headers))
    cycle.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[200], lines, body))
    cycle.response_started = cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
