"""Receivers that send TLS records without end: little work is done for them, and the connection is cut."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.api.sinks import WebhookSettings
from likewise.server.sinks.bounded_tls import TLS_BYTES, BoundedContext, BoundedTls, connect
from likewise.server.sinks.target import TransientFailure
from likewise.server.sinks.webhook import WebhookTarget
from tests.server.sinks.test_stalled import LOOPBACK, SECRET, parcel
from tests.server.sinks.test_stalled import run as run
from tests.server.test_tls import make_certificate

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("floods"), "localhost")


def contexts(certificate: tuple[Path, Path]) -> tuple[ssl.SSLContext, BoundedContext]:
    shows = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shows.load_cert_chain(*certificate)
    trust = BoundedContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.load_verify_locations(certificate[0])
    return shows, trust


Run = Callable[[Any], None]


def test_records_without_end_end_the_connection(run: Run, certificate: tuple[Path, Path]) -> None:
    """A byte in each: 22 bytes of TLS around it, and a callback of the event loop."""
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        try:
            while sent < 8 * 2**20:
                writer.write(b"H")
                sent += 1
                if not sent % 100:
                    await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    async def play() -> None:
        shows, trust = contexts(certificate)
        async with await asyncio.start_server(flood, "127.0.0.1", 0, ssl=shows) as server:
            port = server.sockets[0].getsockname()[1]
            hook = WebhookSettings(f"https://localhost:{port}/", SECRET, timeout=60.0)

            async def resolve(host: str, port: int) -> list[str]:
                return ["127.0.0.1"]

            target = WebhookTarget(hook, LOOPBACK, trust=trust, resolve=resolve)
            with pytest.raises(TransientFailure, match="sent more than"):
                await target.send(parcel(hook))
            await target.close()
            await asyncio.sleep(0)

    run(play())
    assert sent < 2**20


def test_each_exchange_has_the_whole_bound(run: Run, certificate: tuple[Path, Path]) -> None:
    """A connection that serves for long is not cut because of all it has carried."""
    answers = 200

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                [size] = [line for line in head.split(b"\r\n") if line.startswith(b"content-length")]
                await reader.readexactly(int(size.partition(b":")[2]))
                writer.write(b"HTTP/1.1 200 OK\r\nx: %s\r\ncontent-length: 0\r\n\r\n" % (b"y" * 1_000))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.transport.abort()

    async def play() -> None:
        shows, trust = contexts(certificate)
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=shows) as server:
            port = server.sockets[0].getsockname()[1]
            hook = WebhookSettings(f"https://localhost:{port}/", SECRET, timeout=60.0)

            async def resolve(host: str, port: int) -> list[str]:
                return ["127.0.0.1"]

            target = WebhookTarget(hook, LOOPBACK, trust=trust, resolve=resolve)
            assert answers * 1_000 > 2 * TLS_BYTES
            for _ in range(answers):
                await target.send(parcel(hook))
            await target.close()
            await asyncio.sleep(0)

    run(play())


def test_what_openssl_takes_is_counted_also_where_nothing_comes_of_it(certificate: tuple[Path, Path]) -> None:
    """Records without a byte for us, as tickets are, count as well as others."""
    shows, trust = contexts(certificate)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trust.wrap_bio(to_client, to_server, server_hostname="localhost")
    server = shows.wrap_bio(to_server, to_client, server_side=True)
    assert isinstance(client, BoundedTls)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    tickets = to_client.pending
    assert tickets > 0
    left = client.left
    with pytest.raises(ssl.SSLWantReadError):
        client.read(10)
    assert client.left == left - tickets
    client.left = 10
    server.write(b"x" * 100)
    with pytest.raises(ssl.SSLError, match="more than"):
        client.read(200)


def test_the_kernel_takes_little_ahead(run: Run) -> None:
    """So what comes between two looks at other connections is bounded."""

    async def play() -> None:
        async with await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0) as server:
            made = await connect("127.0.0.1", server.sockets[0].getsockname()[1])
            assert made.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) <= 65_536
            made.close()
            await asyncio.sleep(0.01)

    run(play())
