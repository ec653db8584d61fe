"""A broker that is served on a free port of this machine, in a thread of the test."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings, TenantLimits
from likewise.server.http.server import HttpServer


@contextmanager
def serving(data: Path | None = None, config: Config | None = None, broker: Broker | None = None) -> Iterator[str]:
    """Serve, and give the address."""
    config = config or Config(server=ServerSettings(port=0))
    broker = broker or Broker(data, config)
    ports: queue.Queue[int] = queue.Queue()
    served = HttpServer(broker, on_ready=ports.put)
    thread = threading.Thread(target=lambda: asyncio.run(served.run()), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{ports.get(timeout=30)}"
    finally:
        served.stop()
        thread.join(timeout=30)
        broker.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=120) as client:
        yield client


__all__ = ["Config", "ServerSettings", "TenantLimits", "serving"]
