"""A hub and its edges in threads of the test, on free ports; a relay between them that can be cut."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from likewise.broker.broker import Broker
from likewise.broker.config import Config, EdgeSettings, MatchingSettings, ServerSettings
from likewise.edge.app import attach_uplink, make_edge_broker
from likewise.edge.bounds import Bounds
from likewise.edge.uplink import Uplink, parse_hub_addresses
from likewise.server.http.server import HttpServer

SMALL = Config(
    server=ServerSettings(port=0), matching=MatchingSettings(profile="small"), edges=EdgeSettings(interval=0.5)
)


def until(true: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


class Running:
    """A broker that is served in a thread."""

    def __init__(self, broker: Broker, uplink: Uplink | None = None) -> None:
        self.broker = broker
        self.uplink = uplink
        self.tenant = broker.tenant("default")
        ports: queue.Queue[int] = queue.Queue()
        self._served = HttpServer(broker, on_ready=ports.put, connectors=[] if uplink is None else [uplink.run])
        self._thread = threading.Thread(target=lambda: asyncio.run(self._served.run()), daemon=True)
        self._thread.start()
        self.port = ports.get(timeout=60)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._served.stop()
        self._thread.join(timeout=60)
        self.broker.close()

    def got(self, subscriber: str) -> set[tuple[str, str]]:
        """The subscriptions and events of what waits for a subscriber."""
        self.broker.wait_until_matched()
        pages = self.broker.page(self.tenant, self.tenant.subscriber(subscriber), after=0, limit=100_000)
        said: list[Any] = [msgspec.json.decode(frame) for _, frame in pages]
        return {(met["id"], each["event"]["id"]) for each in said for met in each["subscriptions"]}


@contextmanager
def hub(data: Path | None = None, config: Config = SMALL, clock: Any = None) -> Iterator[Running]:
    """The broker above."""
    running = Running(Broker(data, config) if clock is None else Broker(data, config, clock=clock))
    try:
        yield running
    finally:
        running.stop()


@contextmanager
def edge(
    id: str,
    upstream: str,
    data: Path | None = None,
    *,
    config: Config = SMALL,
    bounds: Bounds | None = None,
    token: str | None = None,
    clock: Any = None,
) -> Iterator[Running]:
    """A broker at the edge, which dials the one above."""
    broker = make_edge_broker(data, config) if clock is None else make_edge_broker(data, config, clock=clock)
    running = Running(broker, attach_uplink(broker, id, parse_hub_addresses(upstream), token=token, bounds=bounds))
    try:
        yield running
    finally:
        running.stop()


def connected(at: Running) -> bool:
    """Whether an edge's line is open and it knows what is asked for."""
    assert at.uplink is not None
    return at.uplink.state == "connected"
