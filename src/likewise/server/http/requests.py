"""Read requests and write responses: the caller, bodies and terms within their limits, parameters."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import msgspec
from fastapi import Request, WebSocket
from fastapi.responses import Response
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from likewise.broker.log.deliveries import recipients_of
from likewise.broker.log.entries import Entry
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.defaults import MAX_TERM_LENGTH, MAX_THEMES
from likewise.errors import FormatError, InputError, LimitExceeded
from likewise.server.gateway import Gateway
from likewise.server.http import path_ids as path_ids  # which teaches routes what an id is

T = TypeVar("T")
TWO_TERMS: Final = {
    "a": ("string", "a term, as a subscription asks"),
    "b": ("string", "another, as an event says"),
    "themes": ("string", "theme tags of the first, repeated"),
    "other_themes": ("string", "theme tags of the second, repeated"),
}


def gateway_of(request: Request | WebSocket) -> Gateway:
    """Return the gateway of the application that serves a request."""
    return gateway_in(request.scope)


def gateway_in(scope: Scope) -> Gateway:
    """Return the gateway from an ASGI scope, where the application's lifespan puts it."""
    gateway: Gateway = scope["state"]["gateway"]
    return gateway


class Caller(NamedTuple):
    """The sender of a request: the gateway it came to, its access and its tenant."""

    gateway: Gateway
    access: Access
    tenant: Tenant

    def stored_event(self, id: str, source: str | None) -> Entry:
        """Return a stored event; a token bound to subscribers needs one that received it."""
        broker = self.gateway.broker
        if self.access.free("subscribe"):
            return broker.stored_event(self.tenant, id, source)
        names = self.access.bound("subscribe")
        queue_numbers = {queue.number for name in names if (queue := self.tenant.subscribers.get(name)) is not None}

        def given(position: int, _: str) -> bool:
            with broker.store.reading() as tables:
                return not queue_numbers.isdisjoint(recipients_of(tables, self.tenant.number, position))

        return broker.stored_event(self.tenant, id, source, given)

    def subscription(self, subscriber: str, id: str) -> StoredSubscription:
        """Return a subscription; refuse a token that is bound to other subscribers."""
        self.access.require_subscriber(subscriber)
        return self.tenant.subscription(subscriber, id)


def authenticate(request: Request | WebSocket, scope: str) -> Caller:
    """Authenticate a request and require a scope."""
    gateway = gateway_of(request)
    access, tenant = gateway.admit(bearer_token(request), scope)
    request.scope["likewise_tenant"] = tenant.name  # whose a problem is counted as
    return Caller(gateway, access, tenant)


def authenticate_reader(request: Request) -> Caller:
    """Authenticate a caller that may read and correct what all of a tenant share: no token bound to one name."""
    caller = authenticate(request, "subscribe")
    caller.access.require_free("subscribe")
    return caller


def authenticate_subscriber(request: Request | WebSocket, id: str) -> tuple[Gateway, Tenant]:
    """Authenticate a request about a subscriber; refuse a token that is bound to others."""
    gateway, access, tenant = authenticate(request, "subscribe")
    access.require_subscriber(id)
    return gateway, tenant


def bearer_token(request: Request | WebSocket) -> str | None:
    """Return the bearer token; a browser's WebSocket, which cannot set headers, may send it as subprotocol."""
    token = parse_bearer(request.headers.get("authorization", ""))
    if token is not None:
        return token
    for offered in request.headers.get("sec-websocket-protocol", "").split(","):
        if offered.strip().startswith("lw_"):
            return offered.strip()
    return None


def parse_bearer(authorization: str) -> str | None:
    """Parse the token of an `Authorization` header."""
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


async def read_body(gateway: Gateway, request: Request) -> bytes:
    """Read the body of a request; refuse it as soon as it is too large."""
    return await receive_body(gateway, request.scope, request.receive, request.headers.get("content-length"))


async def receive_body(gateway: Gateway, scope: Scope, receive: Receive, stated: str | None) -> bytes:
    """Read a body from ASGI messages; `stated` is its `Content-Length`.

    Raises:
        LimitExceeded: It is too large.
        BacklogExceeded: Bodies that are not answered yet have too many bytes together.
    """
    allowed = gateway.broker.config.limits.body
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
        more = message.get("more_body")
        if more or len(parts) > 1:
            gateway.bodies.add(scope, len(parts[-1]))
        if not more:
            return parts[0] if len(parts) == 1 else b"".join(parts)


def decode_body(body: bytes, kind: type[T]) -> T:
    """Decode a JSON body; the error names the field that does not fit."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise FormatError(f"the request does not follow its schema: {error}; see /docs") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"the request is not JSON: {error}") from None
    except RecursionError:
        raise FormatError("the request is nested too deeply") from None


async def read_query(request: Request, kind: type[T]) -> tuple[Caller, T]:
    """Return the caller of a query, who may be a subscriber, and the decoded body."""
    caller = authenticate(request, "subscribe")
    return caller, decode_body(await read_body(caller.gateway, request), kind)


def terms(request: Request, name: str) -> list[str]:
    """Return every value of a query parameter, such as theme tags."""
    values = request.query_params.getlist(name)
    if len(values) > MAX_THEMES:
        raise LimitExceeded("theme tags", allowed=MAX_THEMES, found=len(values))
    for each in values:
        if len(each) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a term", allowed=MAX_TERM_LENGTH, found=len(each))
    return values


def term(request: Request, name: str) -> str:
    """Return the one term of a query parameter."""
    values = terms(request, name)
    if len(values) != 1 or not values[0].strip():
        raise InputError(f"`{name}` is needed, once, with some text")
    return values[0]


def integer_parameter(request: Request | WebSocket, name: str, default: int, low: int = 0, high: int = 2**62) -> int:
    """Return an integer query parameter."""
    text = request.query_params.get(name)
    if text is None:
        return default
    try:
        number = int(text) if len(text) < 20 and text.isascii() else None
    except ValueError:
        number = None
    if number is None or not low <= number <= high:
        raise InputError(f"`{name}` must be a whole number from {low} to {high}, not {text[:40]!r}")
    return number


def flag_parameter(request: Request | WebSocket, name: str) -> bool:
    """Return a Boolean query parameter."""
    match request.query_params.get(name, "false"):
        case "true":
            return True
        case "false":
            return False
        case other:
            raise InputError(f"`{name}` is true or false, not {other[:40]!r}")


def sequence_parameter(request: Request | WebSocket, old: str) -> int:
    """Return the sequence query parameter; `old` is its former name, which is still read."""
    names = [name for name in ("sequence", old) if name in request.query_params]
    if len(names) > 1:
        raise InputError(f"`{old}` is the old name of `sequence`; give `sequence` alone")
    return integer_parameter(request, names[0] if names else "sequence", 0)


def json_response(value: object, status: int = 200) -> Response:
    """Return a value as a JSON response."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def raw_json_response(body: bytes, status: int = 200) -> Response:
    """Return encoded JSON as a response."""
    return Response(body, status, media_type="application/json")
