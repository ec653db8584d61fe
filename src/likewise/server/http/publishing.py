"""`POST /v1/events` without a framework around it: what publishers send most often is read and answered here.

The address is described with the others (`http_events`), which serves the same function where this is not in
front. Routing, dependencies and the wrapping of errors cost FastAPI about half of what a publish costs in all.

A whole answer in one write: uvicorn writes head and body each by itself, and every write is a call of the system.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from likewise.errors import FormatError, LikewiseError
from likewise.server.gateway import Gateway
from likewise.server.http.problems import internal_error, problem_response
from likewise.server.http.requests import gateway_in, parse_bearer, receive_body
from likewise.server.ingest import publish
from likewise.server.media_types import MediaType


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


PATH: Final = "/v1/events"
_ENCODE: Final = msgspec.json.Encoder().encode
_READ_HEADERS: Final = frozenset((b"authorization", b"content-type", b"content-length", b"content-encoding"))


class PublishMiddleware:
    """An application in front of another: it answers publishers itself and hands everything else on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            body = await publish_request(gateway_in(scope), scope, receive)
        except ClientDisconnect:
            return
        except LikewiseError as error:
            await problem_response(error, scope)(scope, receive, send)
        except Exception as error:
            await internal_error(PATH, error)(scope, receive, send)
        else:
            await send_json(send, body)


async def publish_request(gateway: Gateway, scope: Scope, receive: Receive) -> bytes:
    """Read events, append them, and answer with their receipts when they are on disk."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in _READ_HEADERS}
    access, _ = gateway.admit(parse_bearer(headers.get(b"authorization", "")), "publish")
    scope["likewise_tenant"] = access.tenant  # whose a problem is counted as
    if (encoding := headers.get(b"content-encoding", "identity").strip().lower()) != "identity":
        raise FormatError(f"a body packed as {encoding[:40]!r} is not read here; send it without Content-Encoding")
    body = await receive_body(gateway, scope, receive, headers.get(b"content-length"))
    kind = MediaType.parse(headers.get(b"content-type"))
    if query := scope.get("query_string"):  # what a media type's parameter says may stand in the address
        kind = MediaType(kind.name, {**kind.parameters, **dict(parse_qsl(query.decode("latin-1")))})
    return _ENCODE({"events": await publish(gateway, access, body, kind)})
