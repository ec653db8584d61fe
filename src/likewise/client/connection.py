"""A connection to a broker, of either kind: connect, disconnect, reconnect, and requests that are sent again."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx
import stamina

from likewise.client.endpoint import Endpoint, may_request_again
from likewise.client.messages import raise_problem


class BrokerConnection:
    """Requests that are sent again when the connection broke; opened when it is first needed."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._http: httpx.Client | None = None

    @property
    def address(self) -> str:
        """Where the broker is."""
        return self._endpoint.address

    def connect(self, patience: float | None = None) -> Self:
        """See that the broker is there, trying for `patience` seconds (the client's own by default; 0 tries once).

        Needed by nobody: every call connects. It raises `Unavailable` where there is no broker.
        """
        self._establish(patience)
        return self

    def disconnect(self) -> None:
        """Let go of the connection; the next call makes another."""
        self._close_connection()

    def _close_connection(self) -> None:
        if self._http is not None:
            http, self._http = self._http, None
            http.close()

    def reconnect(self, address: str | None = None, patience: float | None = None) -> Self:
        """Connect anew, to another address of the same broker if one is given; if nobody answers, nothing changes."""
        before = self._endpoint
        self._close_connection()
        self._endpoint = before.at(address) if address is not None else before
        try:
            self._establish(patience)
        except BaseException:
            self._close_connection()
            self._endpoint = before
            raise
        return self

    def _establish(self, patience: float | None) -> None:
        self._send("GET", "/healthz", patience=patience)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """A request's answer; problems are raised."""
        return self._send(method, path, body, headers)

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        patience: float | None = None,
    ) -> httpx.Response:
        if self._http is None:
            self._http = httpx.Client(**self._endpoint.http_options())
        try:
            for attempt in stamina.retry_context(on=may_request_again, **self._endpoint.retry_options(patience)):
                with attempt:
                    return raise_problem(self._http.request(method, path, content=body, headers=headers))
        except httpx.TransportError as error:
            raise self._endpoint.to_unavailable(error) from error
        raise AssertionError("stamina ends with an error or an answer")

    def close(self) -> None:
        """The same as `disconnect`."""
        self.disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncBrokerConnection:
    """The same for asyncio."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._http: httpx.AsyncClient | None = None

    @property
    def address(self) -> str:
        """Where the broker is."""
        return self._endpoint.address

    async def connect(self, patience: float | None = None) -> Self:
        """See that the broker is there, trying for `patience` seconds (the client's own by default; 0 tries once)."""
        await self._establish(patience)
        return self

    async def disconnect(self) -> None:
        """Let go of the connection; the next call makes another."""
        await self._close_connection()

    async def _close_connection(self) -> None:
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()

    async def reconnect(self, address: str | None = None, patience: float | None = None) -> Self:
        """Connect anew, to another address of the same broker if one is given; if nobody answers, nothing changes."""
        before = self._endpoint
        await self._close_connection()
        self._endpoint = before.at(address) if address is not None else before
        try:
            await self._establish(patience)
        except BaseException:
            await self._close_connection()
            self._endpoint = before
            raise
        return self

    async def _establish(self, patience: float | None) -> None:
        await self._send("GET", "/healthz", patience=patience)

    async def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """A request's answer; problems are raised."""
        return await self._send(method, path, body, headers)

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        patience: float | None = None,
    ) -> httpx.Response:
        if self._http is None:
            self._http = httpx.AsyncClient(**self._endpoint.http_options())
        try:
            async for attempt in stamina.retry_context(on=may_request_again, **self._endpoint.retry_options(patience)):
                with attempt:
                    return raise_problem(await self._http.request(method, path, content=body, headers=headers))
        except httpx.TransportError as error:
            raise self._endpoint.to_unavailable(error) from error
        raise AssertionError("stamina ends with an error or an answer")

    async def close(self) -> None:
        """The same as `disconnect`."""
        await self.disconnect()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()
