"""Receivers on this machine that never finish: each begins an exchange as its protocol has it, and then stalls.

    python -m tests.server.sinks.stalling DATA

serves a broker as `likewise serve` does, with two threads in each pool, for which names that end with `.silent.test`
are never resolved.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

SILENT = ".silent.test"
Talk = Callable[[asyncio.Transport, "asyncio.Queue[bytes]"], Awaitable[None]]


class Stalling:
    """A server whose connections only the other side ends; it knows how many it has."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.port = 0
        self.opened = self.open = 0
        self.received = b""
        self._changed = asyncio.Event()

    def change(self, by: int) -> None:
        self.open += by
        self.opened += by > 0
        self._changed.set()

    async def until(self, holds: Callable[[], bool], seconds: float = 60.0) -> None:
        """Wait until something holds of its connections."""
        async with asyncio.timeout(seconds):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


class _Connection(asyncio.Protocol):
    def __init__(self, server: Stalling) -> None:
        self._server = server
        self._came: asyncio.Queue[bytes] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._server.change(1)
        self._talking = asyncio.ensure_future(self._server.talk(cast("asyncio.Transport", transport), self._came))

    def data_received(self, data: bytes) -> None:
        self._server.received += data
        self._came.put_nowait(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._talking.cancel()
        self._server.change(-1)


async def mail_greeting(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
    """A greeting of SMTP that goes on: no read takes long, and the whole never ends."""
    while True:
        transport.write(b"220-wait\r\n")
        await asyncio.sleep(0.2)


async def web_header(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
    """An answer of HTTP that comes byte by byte."""
    transport.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    while True:
        transport.write(b"y")
        await asyncio.sleep(0.2)


async def silence(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
    """Nothing at all: no CONNACK, no TLS."""
    await asyncio.Event().wait()


def replies(*said: bytes) -> Talk:
    """Say something at once, then something for whatever comes, then nothing more."""

    async def talk(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
        for each in said:
            transport.write(each)
            await came.get()
        await silence(transport, came)

    return talk


@asynccontextmanager
async def stalling(talk: Talk) -> AsyncIterator[Stalling]:
    """A server that runs."""
    server = Stalling(talk)
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: _Connection(server), "127.0.0.1", 0) as listening:
        server.port = listening.sockets[0].getsockname()[1]
        yield server


def main() -> None:
    """Serve with small pools and a resolver that stalls."""
    from likewise.cli.main import main as likewise
    from likewise.server.executors import ServerExecutors
    from likewise.server.http import server

    resolve = socket.getaddrinfo

    def stalled(host: Any, *said: Any, **more: Any) -> Any:
        if isinstance(host, str) and host.endswith(SILENT):
            threading.Event().wait()
        return resolve(host, *said, **more)

    socket.getaddrinfo = stalled
    vars(server)["ServerExecutors"] = partial(ServerExecutors, 2, 2, 2, 2)
    sys.argv = ["likewise", "serve", "--data", sys.argv[1], "--port", "0", "--profile", "small"]
    sys.argv += ["--allow-target", "127.0.0.0/8", "--json"]
    likewise()


if __name__ == "__main__":
    main()
