"""Thread pools of connectors: bounded in total and for each tenant, fair, and never waited for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from likewise.server import executors
from likewise.server.executors import ServerExecutors, TenantExecutor


async def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)


def test_one_tenant_never_has_all_threads() -> None:
    """However much of it waits, another tenant's work is done."""
    free = threading.Event()

    async def play() -> None:
        pool = TenantExecutor("test", threads=3, per_tenant=2)
        noisy = [asyncio.ensure_future(pool.run("noisy", lambda: free.wait(60))) for _ in range(20)]
        await until(lambda: pool.busy() == 2)
        for n in range(10):
            assert await asyncio.wait_for(pool.run("quiet", lambda n=n: n), 60) == n  # type: ignore[misc]
        assert (pool.busy(), pool.waiting("noisy")) == (2, 18)
        free.set()
        assert await asyncio.gather(*noisy) == [True] * 20
        pool.close()

    asyncio.run(play())


def test_tenants_that_wait_take_turns() -> None:
    """Who has a hundred pieces waiting does not come before who has one."""
    free, order = threading.Event(), []

    async def play() -> None:
        pool = TenantExecutor("test", threads=1, per_tenant=1)
        first = asyncio.ensure_future(pool.run("first", lambda: free.wait(60)))
        await until(lambda: pool.busy() == 1)
        waiting = [asyncio.ensure_future(pool.run("many", lambda: order.append("many"))) for _ in range(100)]
        await asyncio.sleep(0)
        waiting.append(asyncio.ensure_future(pool.run("one", lambda: order.append("one"))))
        await asyncio.sleep(0)
        free.set()
        await asyncio.gather(first, *waiting)
        assert order.index("one") == 1
        pool.close()

    asyncio.run(play())


def test_threads_work_beside_each_other_as_soon_as_they_may() -> None:
    """Neither an idle thread nor one that was not started yet is overlooked: all of these have to meet."""

    async def play() -> None:
        pool = TenantExecutor("test", threads=4, per_tenant=2)
        meeting = threading.Barrier(4)
        for _ in range(50):
            pieces = [pool.run(tenant, lambda: meeting.wait(60)) for tenant in ("a", "a", "b", "b")]
            assert sorted(await asyncio.gather(*pieces)) == [0, 1, 2, 3]
        pool.close()

    asyncio.run(play())


def test_what_nobody_waits_for_is_not_begun_and_errors_are_raised() -> None:
    """Also for a tenant without a name."""
    free, done = threading.Event(), []

    async def play() -> None:
        pool = TenantExecutor("test", threads=1, per_tenant=1)
        first = asyncio.ensure_future(pool.run("", lambda: free.wait(60)))
        await until(lambda: pool.busy() == 1)
        left = asyncio.ensure_future(pool.run("", lambda: done.append("left")))
        await asyncio.sleep(0)
        assert pool.waiting("") == 1
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        assert pool.waiting("") == 0
        free.set()
        assert await first
        with pytest.raises(ZeroDivisionError):
            await pool.run("", lambda: 1 // 0)
        assert await pool.run("", lambda: "next") == "next"
        assert done == []
        pool.close()

    asyncio.run(play())


def test_a_pool_is_starved_while_every_thread_is_at_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not while it is busy and gets on."""
    monkeypatch.setattr(executors, "STARVED_SECONDS", 0.2)
    free = threading.Event()

    async def play() -> None:
        pool = TenantExecutor("test", threads=2, per_tenant=1)
        one = asyncio.ensure_future(pool.run("a", lambda: free.wait(60)))
        await asyncio.sleep(0.3)
        assert not pool.starved(), "one thread is free"
        other = asyncio.ensure_future(pool.run("b", lambda: free.wait(60)))
        await until(lambda: pool.busy() == 2)
        assert not pool.starved(), "it has just begun"
        await until(pool.starved)
        free.set()
        await asyncio.gather(one, other)
        await until(lambda: not pool.busy())
        assert not pool.starved()
        pool.close()

    asyncio.run(play())


@pytest.mark.parametrize("pool", ["reads", "default"])
def test_closing_waits_for_threads_as_long_as_it_says_and_no_longer(pool: str) -> None:
    """Also for the loop's default pool, which asyncio would wait for without a bound."""
    free = threading.Event()

    async def play() -> None:
        pools = ServerExecutors(1, 1, 1, 1)
        pools.install()
        if pool == "reads":
            stuck = asyncio.ensure_future(pools.reads.run("a", lambda: free.wait(120)))
            await until(lambda: pools.reads.busy() == 1)
        else:
            begun = threading.Event()

            def block() -> bool:
                begun.set()
                return free.wait(120)

            stuck = asyncio.ensure_future(asyncio.to_thread(block))
            await until(begun.is_set)
            assert await pools.default_pool_starved()
        assert not await pools.close(0.1)
        stuck.cancel()

    begun = time.monotonic()
    try:
        asyncio.run(play())
        assert time.monotonic() - begun < 60
    finally:
        free.set()


def test_closing_ends_what_waits_and_waits_for_what_runs() -> None:
    """Then nothing reads the store any more."""
    free = threading.Event()

    async def play() -> None:
        pools = ServerExecutors(1, 1, 1, 1)
        pools.install()
        runs = asyncio.ensure_future(pools.reads.run("a", lambda: free.wait(60)))
        await until(lambda: pools.reads.busy() == 1)
        waits = asyncio.ensure_future(pools.reads.run("b", lambda: "never"))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(pools.close(60))
        with pytest.raises(asyncio.CancelledError):
            await waits
        assert not closing.done()
        free.set()
        assert await runs
        assert await closing
        with pytest.raises(asyncio.CancelledError):
            await pools.reads.run("a", lambda: "never")

    asyncio.run(play())
