"""Stopping a server, whenever that is."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from likewise.broker.broker import Broker
from likewise.server.gateway import Gateway
from likewise.server.http.server import HttpServer


def test_a_server_told_to_stop_while_it_starts_ends_without_a_word() -> None:
    """Its sockets are closed again before anybody was told that it listens: nobody is, and nothing else starts."""
    ready: list[int] = []
    begun: list[Gateway] = []

    async def beside(door: Gateway) -> None:
        begun.append(door)

    async def run(broker: Broker) -> None:
        served = HttpServer(broker, on_ready=ready.append, connectors=[beside])
        served.app.state.gateway = Gateway(broker)

        async def serve() -> None:
            server.started = server.should_exit = True

        server = SimpleNamespace(started=False, should_exit=False, servers=[SimpleNamespace(sockets=())], serve=serve)
        served._server = server  # type: ignore[assignment]
        await served.run()

    with Broker(None) as broker:
        asyncio.run(run(broker))
    assert (ready, begun) == ([], [])
