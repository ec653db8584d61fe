"""Thread pools for what would block the event loop, each bounded in total and for each tenant.

The loop's default pool has a few threads for everybody and one queue: whoever waits there for a slow disk, a long query
or a name server holds up every other tenant, and the interpreter does not end before those threads do. So each kind of
work has a pool of its own here. In a pool a tenant has at most `per_tenant` threads, tenants with work waiting take
turns, and the threads are daemons that nobody joins. docs/contributing/locks.md lists who uses which pool.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, Generic, NamedTuple, TypeVar, cast

from likewise.defaults import MAX_QUESTIONS

T = TypeVar("T")
STARVED_SECONDS: Final = 2.0  # for which every thread of a pool has been at the same work: nobody else's is done
PROBE_SECONDS: Final = 0.75  # within which a default pool that works runs something small


class RoundRobinQueue(Generic[T]):
    """Items that wait, by tenant: round robin, and each tenant has at most `per_tenant` running.

    >>> queue: RoundRobinQueue[int] = RoundRobinQueue(per_tenant=1)
    >>> for tenant, item in (("ann", 1), ("ann", 2), ("ben", 3)):
    ...     queue.add(tenant, item)
    >>> queue.start(), queue.start(), queue.start()
    (('ann', 1), ('ben', 3), None)
    >>> queue.finish("ann")
    >>> queue.start()
    ('ann', 2)
    """

    def __init__(self, per_tenant: int) -> None:
        self.per_tenant = per_tenant
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()  # the tenant whose turn is next comes first
        self._under_way: dict[str, int] = {}
        self.waiting = 0
        self.under_way = 0

    def add(self, tenant: str, item: T) -> None:
        """Let something wait."""
        self._waiting.setdefault(tenant, deque()).append(item)
        self.waiting += 1

    def remove(self, tenant: str, item: T) -> bool:
        """Take something back; return whether it still waited."""
        items = self._waiting.get(tenant)
        if items is None or item not in items:
            return False
        items.remove(item)
        self.waiting -= 1
        if not items:
            del self._waiting[tenant]
        return True

    def start(self) -> tuple[str, T] | None:
        """Take the oldest of the first tenant that may have another under way; None if there is none."""
        for tenant, items in self._waiting.items():
            count = self._under_way.get(tenant, 0)
            if count < self.per_tenant:
                item = items.popleft()
                if items:
                    self._waiting.move_to_end(tenant)
                else:
                    del self._waiting[tenant]
                self._under_way[tenant] = count + 1
                self.waiting -= 1
                self.under_way += 1
                return tenant, item
        return None

    def finish(self, tenant: str) -> None:
        """Note that something of a tenant is no longer under way."""
        self.under_way -= 1
        self._under_way[tenant] -= 1
        if not self._under_way[tenant]:
            del self._under_way[tenant]

    def count(self, tenant: str) -> int:
        """Return how much of a tenant waits or is under way."""
        return len(self._waiting.get(tenant, ())) + self._under_way.get(tenant, 0)

    def clear(self) -> list[T]:
        """Take everything back that waits."""
        items = [item for each in self._waiting.values() for item in each]
        self._waiting.clear()
        self.waiting = 0
        return items


class _Job(NamedTuple):
    work: Callable[[], object]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[object]


class TenantExecutor:
    """Run blocking functions on daemon threads, started as they are needed.

    Args:
        name: What its threads are called.
        threads: How many functions run at once.
        per_tenant: How many of one tenant run at once.

    >>> async def twice() -> list[int]:
    ...     pool = TenantExecutor("example", threads=2, per_tenant=1)
    ...     return await asyncio.gather(pool.run("ann", lambda: 1), pool.run("ben", lambda: 2))
    >>> asyncio.run(twice())
    [1, 2]
    """

    def __init__(self, name: str, *, threads: int, per_tenant: int) -> None:
        self.name, self.threads = name, threads
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._jobs: RoundRobinQueue[_Job] = RoundRobinQueue(per_tenant)
        self._alive = self._idle = 0
        self._turned = 0.0  # when a thread last began something
        self._closed = False

    async def run(self, tenant: str, work: Callable[[], T]) -> T:
        """Return what a function returns, once a thread has run it.

        Whoever is cancelled waits no longer. The function is then not run if it had not begun; if it had, it occupies
        its thread until it returns.
        """
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        self._submit(tenant, job)
        try:
            return cast("T", await job.future)
        except asyncio.CancelledError:
            with self._lock:
                self._jobs.remove(tenant, job)
            raise

    def waiting(self, tenant: str) -> int:
        """Return how many functions of a tenant wait beyond those that it may have running."""
        with self._lock:
            return max(0, self._jobs.count(tenant) - self._jobs.per_tenant)

    def busy(self) -> int:
        """Return how many functions run now."""
        with self._lock:
            return self._jobs.under_way

    def starved(self) -> bool:
        """Return whether every thread has been at the same work for `STARVED_SECONDS`."""
        with self._lock:
            full = self._jobs.under_way >= self.threads
            return full and time.monotonic() - self._turned >= STARVED_SECONDS

    def _submit(self, tenant: str, job: _Job) -> None:
        with self._lock:
            if self._closed:
                job.future.cancel()
                return
            self._jobs.add(tenant, job)
            self._work.notify()
            # An idle thread that was woken before counts as idle until it runs, and so does what it was woken for.
            if self._alive < self.threads and self._jobs.waiting > self._idle:
                thread = threading.Thread(target=self._serve, name=f"likewise-{self.name}", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the system has no thread for us; those that run do the work, if there are any
                    if not self._alive:
                        self._jobs.remove(tenant, job)
                        raise
                else:
                    self._alive += 1

    def _serve(self) -> None:
        """Run what waits, until the pool is closed."""
        tenant: str | None = None
        while (next_job := self._take(tenant)) is not None:
            tenant, job = next_job
            if job.future.cancelled():
                continue
            try:
                result, error = job.work(), None
            except BaseException as raised:
                result, error = None, raised
            with suppress(RuntimeError):  # the loop is closed: nobody waits for it
                job.loop.call_soon_threadsafe(_settle, job.future, result, error)
            del next_job, job, result, error  # an idle thread keeps nobody's answer in memory

    def _take(self, done: str | None) -> tuple[str, _Job] | None:
        """Note that a function of a tenant has returned, and wait for the next; None if this thread shall end."""
        with self._lock:
            if done is not None:
                self._jobs.finish(done)
            while (job := self._jobs.start()) is None:
                if self._closed:
                    return None
                self._idle += 1
                self._work.wait()
                self._idle -= 1
            self._turned = time.monotonic()
            if self._jobs.waiting:
                self._work.notify()  # by turns this was another tenant's work: `done` may have more that can run now
            return job

    def close(self) -> None:
        """Start nothing more. What runs goes on, and nobody waits for it."""
        with self._lock:
            self._closed = True
            jobs = self._jobs.clear()
            self._work.notify_all()
        for job in jobs:
            with suppress(RuntimeError):
                job.loop.call_soon_threadsafe(job.future.cancel)


def _settle(future: asyncio.Future[object], result: object, error: BaseException | None) -> None:
    if future.done():  # who asked waits no longer
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


class ServerExecutors:
    """The pools of a broker's server.

    A thread that reads the store has a connection with a cache of its own (`STORE_CACHE_BYTES`), hence few threads.

    Args:
        reads: Threads that read a page, an entry or figures from the store.
        questions: Threads for queries that may take seconds: explain, backtest, history, nearest words.
        decoding: Threads that decode large requests. These wait for no disk.
        default: Threads of the loop's default pool, which nothing of ours that waits for the outside uses.
    """

    def __init__(
        self,
        reads: int | None = None,
        questions: int | None = None,
        decoding: int | None = None,
        default: int | None = None,
    ) -> None:
        processors = os.cpu_count() or 1
        reads, questions = reads or min(8, processors + 2), questions or min(8, processors + 2)
        self.reads = TenantExecutor("reads", threads=reads, per_tenant=max(1, reads // 2))
        self.queries = TenantExecutor("questions", threads=questions, per_tenant=min(MAX_QUESTIONS, questions))
        self.decoding = TenantExecutor("decoding", threads=decoding or max(2, processors), per_tenant=1)
        self._default_threads = default
        self._default: ThreadPoolExecutor | None = None
        self._probe: asyncio.Future[None] | None = None  # of the loop's default pool

    def starved(self) -> list[TenantExecutor]:
        """Return the pools in which nobody's work is done for now."""
        return [pool for pool in self._pools() if pool.starved()]

    async def default_pool_starved(self) -> bool:
        """Return whether the loop's default pool runs nothing within `PROBE_SECONDS`.

        One function at a time is its probe: what is in that pool's queue cannot be taken back.
        """
        if self._probe is None or self._probe.done():
            self._probe = asyncio.get_running_loop().run_in_executor(None, lambda: None)
        done, _ = await asyncio.wait({self._probe}, timeout=PROBE_SECONDS)
        return not done

    def install(self) -> None:
        """Give the running loop a default pool that `close` ends: asyncio would wait for it without a bound."""
        self._default = ThreadPoolExecutor(self._default_threads, thread_name_prefix="asyncio")
        asyncio.get_running_loop().set_default_executor(self._default)

    async def close(self, seconds: float) -> bool:
        """Start nothing more, and wait some seconds for what runs.

        Returns:
            Whether everything has returned, so that nothing reads the store any more.
        """
        for pool in self._pools():
            pool.close()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))  # for whoever closes the loop
        default = threading.Thread(target=self._shut_default, name="likewise-closing", daemon=True)
        default.start()
        deadline = time.monotonic() + seconds
        while default.is_alive() or any(pool.busy() for pool in self._pools()):
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.01)
        return True

    def _shut_default(self) -> None:
        if self._default is not None:
            self._default.shutdown(cancel_futures=True)

    def _pools(self) -> tuple[TenantExecutor, ...]:
        return self.reads, self.queries, self.decoding
