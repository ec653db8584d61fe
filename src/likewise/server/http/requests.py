"""What requests bring and get: the door they came to, who asks, bodies within their limit, numbers, answers."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from fastapi import Request, WebSocket
from fastapi.responses import Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import FormatError, InputError, LimitExceeded
from likewise.server.gateway import Gateway
from likewise.server.http import path_ids as path_ids  # teaches routes what an id is

T = TypeVar("T")


def gateway_of(request: Request | WebSocket) -> Gateway:
    """The door of the application a request reached."""
    return gateway_in(request.scope)


def gateway_in(scope: Scope) -> Gateway:
    """The same from a request's bare scope: the application's lifespan puts it there."""
    door: Gateway = scope["state"]["door"]
    return door


def authenticate(door: Gateway, request: Request | WebSocket, scope: str) -> tuple[Access, Tenant]:
    """Who asks, for which tenant; refused without the scope."""
    found = door.admit(bearer_token(request), scope)
    request.scope["likewise_tenant"] = found[1].name  # whose a problem is counted as
    return found


def authenticate_subscriber(request: Request | WebSocket, id: str) -> tuple[Gateway, Tenant]:
    """Where a request about a subscriber goes and for which tenant; refused to whom it does not belong."""
    door = gateway_of(request)
    access, tenant = authenticate(door, request, "subscribe")
    access.require_subscriber(id)
    return door, tenant


def bearer_token(request: Request | WebSocket) -> str | None:
    """The bearer's token; a WebSocket of a browser, which cannot set headers, may send it as a subprotocol."""
    token = parse_bearer(request.headers.get("authorization", ""))
    if token is not None:
        return token
    for offered in request.headers.get("sec-websocket-protocol", "").split(","):
        if offered.strip().startswith("lw_"):
            return offered.strip()
    return None


def parse_bearer(authorization: str) -> str | None:
    """The token of a header `Authorization`."""
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() == "parse_bearer" else None


async def read_body(door: Gateway, request: Request) -> bytes:
    """The body of a request, refused as soon as it is too large."""
    stated = request.headers.get("content-length")
    return await receive_body(request.receive, stated, door.broker.config.limits.body)


async def receive_body(receive: Receive, stated: str | None, allowed: int) -> bytes:
    """The same from a bare connection; `stated` is how long the body says it is."""
    if stated is not None and stated.isascii() and stated.isdigit() and (len(stated) > 18 or int(stated) > allowed):
        raise LimitExceeded("bytes of a request", allowed=allowed, found=int(stated) if len(stated) < 19 else None)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > allowed:
            raise LimitExceeded("bytes of a request", allowed=allowed)
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def decode_body(body: bytes, kind: type[T]) -> T:
    """A JSON body as a value; what does not fit is said."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise FormatError(f"the request does not follow its schema: {error}; see /docs") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"the request is not JSON: {error}") from None
    except RecursionError:
        raise FormatError("the request is nested too deeply") from None


def integer_parameter(request: Request | WebSocket, name: str, default: int, low: int = 0, high: int = 2**62) -> int:
    """A whole number in the query of a request."""
    said = request.query_params.get(name)
    if said is None:
        return default
    try:
        found = int(said) if len(said) < 20 and said.isascii() else None
    except ValueError:
        found = None
    if found is None or not low <= found <= high:
        raise InputError(f"`{name}` must be a whole number from {low} to {high}, not {said[:40]!r}")
    return found


def flag_parameter(request: Request | WebSocket, name: str) -> bool:
    """Whether something is asked for in the query of a request."""
    match request.query_params.get(name, "false"):
        case "true":
            return True
        case "false":
            return False
        case other:
            raise InputError(f"`{name}` is true or false, not {other[:40]!r}")


def sequence_parameter(request: Request | WebSocket, old: str) -> int:
    """The sequence number in the query of a request; `old` is what it was called before, and is still read."""
    said = [name for name in ("sequence", old) if name in request.query_params]
    if len(said) > 1:
        raise InputError(f"`{old}` is the old name of `sequence`; give `sequence` alone")
    return integer_parameter(request, said[0] if said else "sequence", 0)


def json_response(value: object, status: int = 200) -> Response:
    """A value as a JSON answer."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def raw_json_response(body: bytes, status: int = 200) -> Response:
    """JSON as it is."""
    return Response(body, status, media_type="application/json")
