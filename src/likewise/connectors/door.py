"""What every request passes: who asks, how large a body may be, and the broker it reaches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec
from fastapi import Request, WebSocket
from fastapi.responses import Response
from starlette.types import Scope

from likewise.broker.broker import Broker
from likewise.broker.store.event_log import Done
from likewise.broker.store.tokens import Access, Doorkeeper
from likewise.broker.tenants.rates import Rate
from likewise.broker.tenants.tenant import Tenant
from likewise.connectors.loop_bridge import LoopBridge
from likewise.defaults import BLOCK_SECONDS, TENANT
from likewise.errors import FormatError, InputError, LimitExceeded, Unavailable

T = TypeVar("T")


class Door:
    """The broker as requests reach it; one for each application."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.door = Doorkeeper(TENANT)
        self.reload()
        self.stopping = asyncio.Event()
        self._rates: dict[str, Rate] = {}
        self._bridge: LoopBridge | None = None

    def reload(self) -> None:
        """Read the tokens anew."""
        with self.broker.store.reading() as connection:
            self.door.load(connection)

    @property
    def bridge(self) -> LoopBridge:
        """What brings answers to the running loop."""
        if self._bridge is None:
            self._bridge = LoopBridge(asyncio.get_running_loop())
        return self._bridge

    def admit(self, request: Request | WebSocket, scope: str) -> tuple[Access, Tenant]:
        """Who asks, for which tenant; refused without the scope."""
        return self._admit(_token(request), scope)

    def admit_bearer(self, authorization: str, scope: str) -> tuple[Access, Tenant]:
        """The same by the header `Authorization` alone."""
        return self._admit(_bearer(authorization), scope)

    def _admit(self, token: str | None, scope: str) -> tuple[Access, Tenant]:
        access = self.door.admit(token)
        access.require(scope)
        return access, self.broker.tenant(access.tenant)

    async def body(self, request: Request) -> bytes:
        """The body of a request, refused as soon as it is too large."""
        allowed = self.broker.config.limits.body
        stated = request.headers.get("content-length")
        if stated is not None and stated.isdigit() and int(stated) > allowed:
            raise LimitExceeded("bytes of a request", allowed=allowed, found=int(stated))
        if stated is not None:
            return await request.body()
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > allowed:
                raise LimitExceeded("bytes of a request", allowed=allowed)
            parts.append(part)
        return b"".join(parts)

    async def answer(self, start: Callable[[Done], None]) -> object:
        """What the broker answers once that is on disk."""
        return await self.bridge.answer(start)

    async def ask(self, question: Callable[[], T]) -> T:
        """Ask the matchers on their own thread."""
        return await asyncio.wrap_future(self.broker.worker.ask(question))

    def take(self, tenant: Tenant, count: int) -> None:
        """Count events against the tenant's rate."""
        allowed = self.broker.config.limits.rate
        if allowed is not None:
            rate = self._rates.get(tenant.name)
            if rate is None:
                rate = self._rates[tenant.name] = Rate(allowed, time.monotonic)
            rate.take(count)

    async def unblocked(self, tenant: Tenant) -> None:
        """Wait while a full queue with the policy `block` holds publishers up."""
        if not tenant.blocking:
            return
        deadline = time.monotonic() + BLOCK_SECONDS
        while tenant.blocked:
            if time.monotonic() > deadline or self.stopping.is_set():
                raise Unavailable("a subscriber's queue is full and blocks publishers; publish again later")
            await asyncio.sleep(0.01)


def door_of(request: Request | WebSocket) -> Door:
    """The door of the application a request reached."""
    return door_in(request.scope)


def door_in(scope: Scope) -> Door:
    """The same from a request's bare scope: the application's lifespan puts it there."""
    door: Door = scope["state"]["door"]
    return door


def _token(request: Request | WebSocket) -> str | None:
    """The bearer's token; a WebSocket of a browser, which cannot set headers, may send it as a subprotocol."""
    token = _bearer(request.headers.get("authorization", ""))
    if token is not None:
        return token
    for offered in request.headers.get("sec-websocket-protocol", "").split(","):
        if offered.strip().startswith("lw_"):
            return offered.strip()
    return None


def _bearer(authorization: str) -> str | None:
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def read(body: bytes, kind: type[T]) -> T:
    """A JSON body as a value; what does not fit is said."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise FormatError(f"the request does not follow its schema: {error}; see /docs") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"the request is not JSON: {error}") from None
    except RecursionError:
        raise FormatError("the request is nested too deeply") from None


def whole(request: Request | WebSocket, name: str, default: int, low: int = 0, high: int = 2**62) -> int:
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


def sequence_in(request: Request | WebSocket, old: str) -> int:
    """The sequence number in the query of a request; `old` is what it was called before, and is still read."""
    said = [name for name in ("sequence", old) if name in request.query_params]
    if len(said) > 1:
        raise InputError(f"`{old}` is the old name of `sequence`; give `sequence` alone")
    return whole(request, said[0] if said else "sequence", 0)


def answer(value: object, status: int = 200) -> Response:
    """A value as a JSON answer."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def raw_answer(body: bytes, status: int = 200) -> Response:
    """JSON as it is."""
    return Response(body, status, media_type="application/json")
