"""Readiness says what does not work, and that it works again."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance import scheduler as chores
from likewise.server import executors
from likewise.server.executors import ServerExecutors, TenantExecutor
from likewise.server.http import server
from tests.server.conftest import serving


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test does the chores itself, and as often as it likes."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)
    monkeypatch.setattr(chores, "RETRY_SECONDS", (0.0, 0.0))


def test_a_store_that_takes_nothing_is_not_ready_until_it_does(tmp_path: Path) -> None:
    """503 with the reason and what to do, for whoever asks and for whoever publishes; gone with the next commit."""
    with (
        Broker(tmp_path / "data", Config(server=ServerSettings(port=0))) as broker,
        serving(broker=broker) as address,
        httpx.Client(base_url=address, timeout=120) as http,
    ):
        http.post("/v1/events", json={"x": 1}).raise_for_status()
        pages = broker.store.commit(lambda tables: tables.one("PRAGMA page_count")[0])
        broker.store.commit(lambda tables: tables.row(f"PRAGMA max_page_count = {pages}"))
        refused = http.post("/v1/events", json=[{"x": n, "filler": "f" * 1000} for n in range(1000)])
        said = http.get("/readyz")
        assert (refused.status_code, said.status_code) == (503, 503)
        assert "make room on the disk" in said.json()["detail"]
        assert "likewise_troubles 1.0" in http.get("/metrics").text
        with broker.store._shared:
            broker.store._connection.execute("PRAGMA max_page_count = 1073741823")
        broker.sweep()
        shown = http.get("/readyz").json()
        assert shown.pop("connections")["open"] >= 1
        assert shown.pop("tick_lag_s") >= 0
        assert shown == {"status": "ready", "behind": 0, "troubles": []}
        assert "likewise_troubles 0.0" in http.get("/metrics").text


def test_a_chore_that_fails_is_listed_and_the_broker_stays_ready() -> None:
    """It takes events in and matches them."""
    with (
        Broker(None, Config(server=ServerSettings(port=0))) as broker,
        serving(broker=broker) as address,
        httpx.Client(base_url=address, timeout=120) as http,
    ):
        broker._housekeeping.tasks.do("tidying", lambda: 1 / 0)
        said = http.get("/readyz")
        assert said.is_success
        assert said.json()["troubles"] == ["tidying: ZeroDivisionError: division by zero"]
        broker._housekeeping.tasks.do("tidying", lambda: None)
        assert http.get("/readyz").json()["troubles"] == []


def test_a_tick_that_hangs_shows_as_lag_until_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alerts are late meanwhile; the broker still takes events in."""
    hanging, free = threading.Event(), threading.Event()

    def hang() -> None:
        hanging.set()
        assert free.wait(120)

    with (
        Broker(None, Config(server=ServerSettings(port=0))) as broker,
        serving(broker=broker) as address,
        httpx.Client(base_url=address, timeout=120) as http,
    ):

        def lag(holds: Callable[[float], bool]) -> float:
            for _ in range(6_000):
                answer = http.get("/readyz")
                assert answer.status_code == 200
                if holds(seconds := answer.json()["tick_lag_s"]):
                    return float(seconds)
                time.sleep(0.02)
            pytest.fail("the lag stays as it is")

        try:
            monkeypatch.setattr(broker._housekeeping, "note_up", hang)
            monkeypatch.setattr(housekeeping, "TICK_SECONDS", 0.05)
            assert hanging.wait(60)
            late = lag(lambda seconds: seconds >= 2)
        finally:
            free.set()
        lag(lambda seconds: seconds < late)


@pytest.mark.parametrize(
    ("pool", "status", "words"),
    [
        ("reads", 503, "threads that read the store"),
        ("default", 503, "the default thread pool"),
        ("questions", 200, "all threads for questions"),
    ],
)
def test_threads_that_are_all_stuck_are_told_until_one_comes_free(
    pool: str, status: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk or a name server that does not answer: readiness is answered all the same, and says so.

    Long questions of several tenants are a trouble, not the end: events are taken in, matched and read.
    """
    monkeypatch.setattr(executors, "STARVED_SECONDS", 0.1)
    monkeypatch.setattr(executors, "PROBE_SECONDS", 0.1)
    pools, free = ServerExecutors(2, 2, 2, 1), threading.Event()
    monkeypatch.setattr(server, "ServerExecutors", lambda: pools)

    async def play(address: str) -> None:
        async with httpx.AsyncClient(base_url=address, timeout=120) as http:

            async def told(status: int, words: str) -> bool:
                said = await http.get("/readyz")
                return said.status_code == status and words in said.text

            async def until_told(status: int, words: str) -> None:
                async with asyncio.timeout(60):
                    while not await told(status, words):
                        await asyncio.sleep(0.02)

            await until_told(200, '"troubles":[]')
            if pool == "default":
                assert pools._default is not None
                stuck: list[asyncio.Future[bool]] = [asyncio.wrap_future(pools._default.submit(free.wait, 120))]
            else:
                own: TenantExecutor = getattr(pools, {"questions": "queries"}.get(pool, pool))
                stuck = [asyncio.ensure_future(own.run(tenant, lambda: free.wait(120))) for tenant in ("a", "b")]
            await until_told(status, words)
            free.set()
            await asyncio.gather(*stuck)
            await until_told(200, '"troubles":[]')

    with Broker(None, Config(server=ServerSettings(port=0))) as broker, serving(broker=broker) as address:
        try:
            asyncio.run(play(address))
        finally:
            free.set()
