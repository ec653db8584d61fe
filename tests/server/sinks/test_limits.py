"""How much targets have open at once: bounded, fair to tenants, and idle connections with them."""

from __future__ import annotations

import asyncio

from likewise.server.sinks.sender import TargetLimits
from likewise.testing.targets import MemoryTarget


def test_one_tenants_attempts_leave_room_for_others() -> None:
    """A thousand that stall are a few at a time, and who comes later from elsewhere has a turn at once."""

    async def play() -> None:
        limits, free, under_way = TargetLimits(attempts=4, per_tenant=2), asyncio.Event(), []

        async def stall(n: int) -> None:
            async with limits.attempt("noisy", MemoryTarget()):
                under_way.append(n)
                await free.wait()

        stalled = [asyncio.ensure_future(stall(n)) for n in range(1_000)]
        await asyncio.sleep(0.05)
        assert under_way == [0, 1]
        async with asyncio.timeout(60), limits.attempt("quiet", MemoryTarget()):
            pass
        stalled[5].cancel()
        free.set()
        await asyncio.gather(*stalled, return_exceptions=True)
        assert under_way == [n for n in range(1_000) if n != 5]

    asyncio.run(play())


def test_a_turn_that_comes_free_goes_to_the_next_tenant() -> None:
    """Where all are taken by several tenants."""

    async def play() -> None:
        limits, order = TargetLimits(attempts=2, per_tenant=2), []
        free = [asyncio.Event(), asyncio.Event()]

        async def hold(n: int) -> None:
            async with limits.attempt("noisy", MemoryTarget()):
                await free[n].wait()

        async def note(tenant: str) -> None:
            async with limits.attempt(tenant, MemoryTarget()):
                order.append(tenant)

        holding = [asyncio.ensure_future(hold(n)) for n in range(2)]
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(note(tenant)) for tenant in ("noisy", "noisy", "noisy", "quiet")]
        await asyncio.sleep(0)
        free[0].set()
        await asyncio.gather(*waiting)
        assert order.index("quiet") <= 1
        free[1].set()
        await asyncio.gather(*holding)

    asyncio.run(play())


def test_who_leaves_while_waiting_or_fails_gives_the_turn_back() -> None:
    """No turn is lost, whatever ends an attempt."""

    async def play() -> None:
        limits = TargetLimits(attempts=1, per_tenant=1)
        for _ in range(3):
            try:
                async with limits.attempt("a", MemoryTarget()):
                    waiting = asyncio.ensure_future(_pass(limits))
                    await asyncio.sleep(0)
                    waiting.cancel()
                    await asyncio.gather(waiting, return_exceptions=True)
                    raise ConnectionError
            except ConnectionError:
                pass
            leaving = asyncio.ensure_future(_pass(limits))
            leaving.cancel()  # in the very turn of the loop in which it would have begun
            await asyncio.gather(leaving, return_exceptions=True)
            given = asyncio.ensure_future(_pass(limits))
            await asyncio.sleep(0)
            given.cancel()
            await asyncio.gather(given, return_exceptions=True)
        await asyncio.wait_for(_pass(limits), 60)

    asyncio.run(play())


async def _pass(limits: TargetLimits) -> None:
    async with limits.attempt("a", MemoryTarget()):
        pass


def test_of_idle_connections_the_one_used_longest_ago_is_closed() -> None:
    """A target that is under way, was closed, or did not get through is none."""

    async def play() -> None:
        limits = TargetLimits(attempts=2, per_tenant=2)
        a, b, c, d = (MemoryTarget() for _ in range(4))
        for target in (a, b):
            async with limits.attempt("x", target):
                pass
        async with limits.attempt("x", a):  # used again, and under way
            async with limits.attempt("x", c):
                pass
            assert (a.closed, b.closed, c.closed) == (0, 0, 0)
        assert (a.closed, b.closed, c.closed) == (0, 1, 0)
        limits.forget(c)
        async with limits.attempt("x", d):
            pass
        assert (a.closed, c.closed, d.closed) == (0, 0, 0)

    asyncio.run(play())
