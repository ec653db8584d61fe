"""Clients for asyncio; they promise what those of `synchronous` do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import stamina
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from likewise.client.endpoint import ADDRESS, Endpoint, may_connect_again, may_request_again
from likewise.client.following import Following
from likewise.client.messages import (
    JSON,
    LINES,
    ClientDelivery,
    Publishable,
    Receipt,
    acknowledgement,
    checked,
    event_lines,
    event_path,
    path_of,
    queue_wanted,
    raise_problem,
    read_next,
    read_pending,
    read_receipts,
    replay_path,
    settled,
    subscription_path,
)
from likewise.formats.json_subscriptions import subscription_to_json
from likewise.model import Subscription


class _AsyncConnection:
    """Requests that are sent again when the connection broke."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._http = httpx.AsyncClient(**endpoint.http_options())

    @property
    def address(self) -> str:
        """Where the broker is."""
        return self._endpoint.address

    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """A request's answer; problems are raised."""
        try:
            async for attempt in stamina.retry_context(on=may_request_again, **self._endpoint.retrying):
                with attempt:
                    return raise_problem(await self._http.request(method, path, content=body, headers=headers))
        except httpx.TransportError as error:
            raise self._endpoint.said(error) from error
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
        self,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        source: str | None = None,
        ca: str | Path | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(Endpoint(address, token, patience, ca))
        self._source = source

    async def publish(self, event: Publishable) -> Receipt:
        """Publish one event."""
        return (await self.publish_all([event]))[0]

    async def publish_all(self, events: Iterable[Publishable]) -> tuple[Receipt, ...]:
        """Publish several events, all or none."""
        body = event_lines(events, self._source)
        return read_receipts(await self.request("POST", "/v1/events", body, LINES)) if body else ()

    async def withdraw(self, id: str) -> None:
        """Take an event back."""
        await self.request("DELETE", event_path(id, self._source))


class AsyncSubscriber(_AsyncConnection):
    """A registered subscriber: `async with`, then `async for` to get deliveries as they come."""

    def __init__(
        self,
        id: str,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        cursor: int = 0,
        policy: str | None = None,
        limit: int | None = None,
        ca: str | Path | None = None,
        patience: float = 30.0,
    ) -> None:
        super().__init__(Endpoint(address, token, patience, ca))
        self._wanted = queue_wanted(policy, limit)
        self._following = Following(id, cursor)
        self._socket: ClientConnection | None = None

    @property
    def id(self) -> str:
        """The subscriber's name."""
        return self._following.id

    @property
    def cursor(self) -> int:
        """The sequence number of the last delivery given."""
        return self._following.cursor

    async def __aenter__(self) -> Self:
        await self.request("PUT", path_of(self.id), self._wanted)
        return self

    async def subscribe(self, subscription: Subscription | str, id: str | None = None) -> str:
        """Subscribe, in place of what has the same id; the id."""
        made = checked(subscription, id)
        await self.request("PUT", subscription_path(self.id, made.id), subscription_to_json(made), JSON)
        return made.id

    async def unsubscribe(self, id: str) -> None:
        """End a subscription."""
        await self.request("DELETE", subscription_path(self.id, id))

    async def unregister(self) -> None:
        """Let the broker forget this subscriber, its subscriptions and what waits for it."""
        await self.request("DELETE", path_of(self.id))

    async def pending(self, limit: int = 100) -> tuple[ClientDelivery, ...]:
        """What waits after the cursor, without a stream; the cursor stays."""
        return read_pending(
            await self.request("GET", path_of(self.id, f"/deliveries?after={self.cursor}&limit={limit}"))
        )

    async def replay(self, after: int = 0) -> AsyncIterator[ClientDelivery]:
        """What this subscriber was given after a sequence number, acknowledged or not, as far as events are kept.

        Nothing changes by it: neither the cursor nor what is acknowledged.
        """
        while True:
            answer = await self.request("GET", replay_path(self.id, after))
            for delivery in read_pending(answer):
                yield delivery
            if (following := read_next(answer)) == after:
                return
            after = following

    async def __aiter__(self) -> AsyncIterator[ClientDelivery]:
        while True:
            socket = await self._connect()
            try:
                async for said in socket:
                    if (delivery := self._following.take(said)) is not None:
                        yield delivery
            except ConnectionClosed:
                pass
            self._following.ended(socket.close_code, socket.close_reason)
            if self._socket is None:
                return  # closed by us

    async def _connect(self) -> ClientConnection:
        options = self._endpoint.stream_options(self.id, self._following.acknowledged)
        try:
            async for attempt in stamina.retry_context(on=may_connect_again, **self._endpoint.retrying):
                with attempt:
                    self._socket = await connect(**options)
        except (OSError, WebSocketException) as error:
            raise self._endpoint.said(error) from error
        assert self._socket is not None  # stamina ends with an error or a connection
        return self._socket

    async def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Everything up to this delivery is dealt with; sent on the stream if it is open."""
        number = self._following.settle(delivery)
        if self._socket is not None:
            try:
                await self._socket.send(acknowledgement(number))
            except ConnectionClosed:
                return  # the next connection says it
        else:
            await self.request("POST", path_of(self.id, "/acknowledgements"), settled(number))

    async def close(self) -> None:
        """Close the stream and the connection; what was not acknowledged comes again."""
        if self._socket is not None:
            socket, self._socket = self._socket, None
            with suppress(ConnectionClosed):  # the broker may be gone
                await socket.close()
        await super().close()
