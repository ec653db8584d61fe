"""`POST /v1/events` without a framework around it: what publishers send most often is read and answered here.

The address is described with the others (`http_events`), which serves the same function where this is not in
front. Routing, dependencies and the wrapping of errors cost FastAPI about half of what a publish costs in all.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from likewise.errors import FormatError, LikewiseError
from likewise.server.gateway import Door
from likewise.server.http.problems import mistake, problem_response
from likewise.server.http.requests import bearer, door_in, received
from likewise.server.http.responses import send_json
from likewise.server.ingest import publish
from likewise.server.media_types import Said

PATH: Final = "/v1/events"
_ENCODE: Final = msgspec.json.Encoder().encode
_READ_HEADERS: Final = frozenset((b"authorization", b"content-type", b"content-length", b"content-encoding"))


class Publishing:
    """An application in front of another: it answers publishers itself and hands everything else on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            body = await publish_request(door_in(scope), scope, receive)
        except ClientDisconnect:
            return
        except LikewiseError as error:
            await problem_response(error, scope)(scope, receive, send)
        except Exception as error:
            await mistake(PATH, error)(scope, receive, send)
        else:
            await send_json(send, body)


async def publish_request(door: Door, scope: Scope, receive: Receive) -> bytes:
    """Read events, append them, and answer with their receipts when they are on disk."""
    said = {name: value.decode("latin-1") for name, value in scope["headers"] if name in _READ_HEADERS}
    access, _ = door.admit(bearer(said.get(b"authorization", "")), "publish")
    scope["likewise_tenant"] = access.tenant  # whose a problem is counted as
    if (encoding := said.get(b"content-encoding", "identity").strip().lower()) != "identity":
        raise FormatError(f"a body packed as {encoding[:40]!r} is not read here; send it without Content-Encoding")
    body = await received(receive, said.get(b"content-length"), door.broker.config.limits.body)
    kind = Said.of(said.get(b"content-type"))
    if query := scope.get("query_string"):  # what a media type's parameter says may stand in the address
        kind = Said(kind.name, {**kind.parameters, **dict(parse_qsl(query.decode("latin-1")))})
    return _ENCODE({"events": await publish(door, access, body, kind)})
