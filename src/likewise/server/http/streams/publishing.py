"""WebSocket `/v1/events/stream`: publish one message after the other, without waiting for answers.

Each message is one event in JSON, or an array of them, all or none. Messages count from 1. The broker says
`{"first": 1, "last": 40}` once all events of these messages are on disk, and with `problem` that they were refused and
why; what is refused leaves the others alone. Messages that came while others were written share the next commit.
A tenant's rate and full queues hold the connection up. Close codes: `long_lived`.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec
from fastapi import APIRouter, WebSocket

from likewise.api.events import PublishProgress
from likewise.broker.tenants.access import Access
from likewise.errors import LikewiseError, RateExceeded
from likewise.formats.json.batches import decode_each
from likewise.server.gateway import Gateway
from likewise.server.http.problems import problem_document
from likewise.server.http.requests import authenticate
from likewise.server.http.streams.websocket_lifecycle import (
    offered_subprotocol,
    receive_message,
    reject,
    run_until_closed,
)
from likewise.server.ingest import publish, publish_events
from likewise.server.media_types import MediaType

router = APIRouter()
MAX_WAITING: Final = 1_000  # messages read ahead of what is written; then the connection has to wait
MAX_WAITING_BYTES: Final = 2**20  # of these messages: a full backlog holds up many connections
_JSON: Final = MediaType.parse(None)
_ENCODE: Final = msgspec.json.Encoder(enc_hook=str).encode


@router.websocket("/v1/events/stream")
async def publish_stream(socket: WebSocket) -> None:
    """Publish what comes until one side ends it."""
    try:
        gateway, access, _ = authenticate(socket, "publish")
    except LikewiseError as error:
        await reject(socket, error)
        return
    await socket.accept(subprotocol=offered_subprotocol(socket))
    messages = PublishSession()
    await run_until_closed(gateway, socket, messages.receive(socket), messages.publish(socket, gateway, access))


class PublishSession:
    """The messages of one connection on their way to disk."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._changed = asyncio.Event()
        self._written = 0  # messages answered so far

    async def receive(self, socket: WebSocket) -> None:
        """Take in what comes, so much ahead of what is written and no more."""
        while True:
            data = await receive_message(socket)
            self._waiting.append(data.encode() if isinstance(data, str) else data)
            self._waiting_bytes += len(self._waiting[-1])
            self._changed.set()
            while len(self._waiting) >= MAX_WAITING or self._waiting_bytes > MAX_WAITING_BYTES:
                await asyncio.sleep(0.001)

    async def publish(self, socket: WebSocket, gateway: Gateway, access: Access) -> None:
        """Write what waits, again and again, and say what came of it."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            most = gateway.broker.config.limits.batch
            bodies, self._waiting = self._waiting[:most], self._waiting[most:]
            self._waiting_bytes = sum(map(len, self._waiting))
            if self._waiting:
                self._changed.set()
            for answer in await self._publish_all(gateway, access, bodies):
                await socket.send_text(_ENCODE(answer).decode())

    async def _publish_all(self, gateway: Gateway, access: Access, bodies: list[bytes]) -> list[PublishProgress]:
        """Publish messages: together where all of them can be, else one by one."""
        first = self._written + 1
        self._written += len(bodies)
        if len(bodies) > 1 and not any(body.lstrip()[:1] == b"[" for body in bodies):
            try:
                await _publish_when_allowed(gateway, access, bodies)
                return [PublishProgress(first, self._written)]
            except LikewiseError:
                pass  # of one of them: each by itself, so that it does not fail the others
        answers: list[PublishProgress] = []
        for number, body in enumerate(bodies, first):
            refused = await _publish_one(gateway, access, body)
            if refused is None and answers and answers[-1].problem is None:
                answers[-1] = PublishProgress(answers[-1].first, number)
            else:
                answers.append(PublishProgress(number, number, refused))
        return answers


async def _publish_when_allowed(gateway: Gateway, access: Access, bodies: list[bytes]) -> None:
    """Publish messages of an event each with one request, as soon as the tenant's rate allows."""
    events = decode_each(bodies)
    while True:
        try:
            await publish_events(gateway, access, events)
            return
        except RateExceeded as wait:
            await asyncio.sleep(min(1.0, wait.retry_after))


async def _publish_one(gateway: Gateway, access: Access, body: bytes) -> dict[str, object] | None:
    """Publish one message; why it was refused, if it was."""
    while True:
        try:
            await publish(gateway, access, body, _JSON)
            return None
        except RateExceeded as wait:
            await asyncio.sleep(min(1.0, wait.retry_after))
        except LikewiseError as error:
            gateway.broker.metrics.refused(access.tenant, error.code)
            return problem_document(error)
