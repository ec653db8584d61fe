"""Clients for asyncio; they promise what those of `synchronous` do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

import httpx
import msgspec
import stamina
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from likewise.client.messages import (
    LINES,
    BrokerRefused,
    ClientDelivery,
    Publishable,
    Receipt,
    acknowledgement,
    checked,
    event_lines,
    headers_of,
    may_retry,
    path_of,
    raise_problem,
    read_delivery,
    read_receipts,
    stream_address,
    subscription_path,
)
from likewise.client.synchronous import ADDRESS, REFUSED
from likewise.errors import LikewiseError
from likewise.formats.json_subscriptions import subscription_to_json
from likewise.model import Subscription


class _AsyncConnection:
    """Requests that are sent again when the connection broke."""

    def __init__(self, address: str, token: str | None, patience: float) -> None:
        self.address = address.rstrip("/")
        self._token = token
        self._patience = patience
        self._http = httpx.AsyncClient(base_url=self.address, headers=headers_of(token), timeout=60)

    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """A request's answer; problems are raised."""
        async for attempt in stamina.retry_context(on=may_retry, attempts=None, timeout=self._patience, wait_max=5.0):
            with attempt:
                return raise_problem(await self._http.request(method, path, content=body, headers=headers))
        raise AssertionError("stamina ends with an error or an answer")

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


class AsyncPublisher(_AsyncConnection):
    """Publishes events; each call returns when they are on the broker's disk."""

    def __init__(
        self, address: str = ADDRESS, *, token: str | None = None, source: str | None = None, patience: float = 30.0
    ) -> None:
        super().__init__(address, token, patience)
        self._source = source

    async def publish(self, event: Publishable) -> Receipt:
        """Publish one event."""
        return (await self.publish_all([event]))[0]

    async def publish_all(self, events: Iterable[Publishable]) -> tuple[Receipt, ...]:
        """Publish several events, all or none."""
        body = event_lines(events, self._source)
        return read_receipts(await self.request("POST", "/v1/events", body, LINES)) if body else ()


class AsyncSubscriber(_AsyncConnection):
    """A registered subscriber: `async with`, then `async for` to get deliveries as they come."""

    def __init__(
        self, id: str, address: str = ADDRESS, *, token: str | None = None, cursor: int = 0, patience: float = 30.0
    ) -> None:
        super().__init__(address, token, patience)
        self.id = id
        self.cursor = cursor
        self._acknowledged = cursor
        self._socket: ClientConnection | None = None

    async def __aenter__(self) -> Self:
        await self.request("PUT", path_of(self.id), b"{}")
        return self

    async def subscribe(self, subscription: Subscription | str, id: str | None = None) -> str:
        """Subscribe, in place of what has the same id; the id."""
        made = checked(subscription, id)
        kind = {"content-type": "application/json"}
        await self.request("PUT", subscription_path(self.id, made.id), subscription_to_json(made), kind)
        return made.id

    async def unregister(self) -> None:
        """Let the broker forget this subscriber, its subscriptions and what waits for it."""
        await self.request("DELETE", path_of(self.id))

    async def __aiter__(self) -> AsyncIterator[ClientDelivery]:
        while True:
            socket = await self._connect()
            try:
                async for said in socket:
                    delivery = read_delivery(said)
                    if delivery.sequence > self.cursor:
                        self.cursor = delivery.sequence
                        yield delivery
            except ConnectionClosed:
                pass
            if socket.close_code in REFUSED:
                raise BrokerRefused(socket.close_code, {"detail": socket.close_reason})
            if self._socket is None:
                return  # closed by us

    async def _connect(self) -> ClientConnection:
        async for attempt in stamina.retry_context(
            on=(OSError, InvalidHandshake, TimeoutError), attempts=None, timeout=self._patience, wait_max=5.0
        ):
            with attempt:
                address = stream_address(self.address, self.id, self._acknowledged)
                self._socket = await connect(address, additional_headers=headers_of(self._token), max_size=None)
        if self._socket is None:
            raise LikewiseError("no connection was made")
        return self._socket

    async def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Everything up to this delivery is dealt with; sent on the stream if it is open."""
        number = delivery if isinstance(delivery, int) else delivery.sequence
        self._acknowledged = max(self._acknowledged, number)
        if self._socket is not None:
            try:
                await self._socket.send(acknowledgement(number))
            except ConnectionClosed:
                return  # the next connection says it
        else:
            await self.request("POST", path_of(self.id, "/acknowledgements"), msgspec.json.encode({"sequence": number}))

    async def close(self) -> None:
        """Close the stream and the connection; what was not acknowledged comes again."""
        if self._socket is not None:
            socket, self._socket = self._socket, None
            with suppress(ConnectionClosed):  # the broker may be gone
                await socket.close()
        await super().close()
