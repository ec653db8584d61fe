"""Limits of all targets of a broker: concurrent attempts and idle connections.

Every attempt has a deadline, but a tenant may have a thousand targets that use all of it. So the attempts under way are
bounded in total and for each tenant, and tenants that wait take turns. What is bounded are sockets: the store and
whoever connects need file descriptors, too.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from likewise.server.executors import RoundRobinQueue
from likewise.server.sinks.target import Target

MOST_ATTEMPTS: Final = 256  # under way at once, where the process may open files enough
SHARE_OF_FILES: Final = 8  # one in so many file descriptors may be an attempt's, and as many an idle connection's


class TargetLimits:
    """Bound attempts and idle connections. It is used on the event loop alone.

    Args:
        attempts: How many are under way at once; as many idle connections are kept. An eighth of the file descriptors
            that the process may open, and at most `MOST_ATTEMPTS`, if not given.
        per_tenant: How many of one tenant are; a quarter of all if not given.
    """

    def __init__(self, attempts: int | None = None, per_tenant: int | None = None) -> None:
        self.attempts = attempts or max(4, min(MOST_ATTEMPTS, _open_files() // SHARE_OF_FILES))
        self.per_tenant = per_tenant or max(1, self.attempts // 4)
        self._waiting: RoundRobinQueue[asyncio.Future[None]] = RoundRobinQueue(self.per_tenant)
        self._idle: OrderedDict[Target, None] = OrderedDict()  # the one used longest ago comes first

    @asynccontextmanager
    async def attempt(self, tenant: str, target: Target) -> AsyncIterator[None]:
        """Wait for a turn; then the attempt is under way. A connection that it leaves open may be closed later."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(tenant, turn)
        self._start()
        try:
            await turn
        except asyncio.CancelledError:
            if not self._waiting.remove(tenant, turn):  # its turn came in the same moment
                self._finish(tenant)
            raise
        try:
            self._idle.pop(target, None)
            yield
            self._idle[target] = None
        finally:
            self._finish(tenant)
        if len(self._idle) > self.attempts:
            oldest, _ = self._idle.popitem(last=False)
            await oldest.close()  # its next attempt connects again

    def forget(self, target: Target) -> None:
        """Note that a target is closed."""
        self._idle.pop(target, None)

    def _start(self) -> None:
        while self._waiting.under_way < self.attempts and (started := self._waiting.start()) is not None:
            _, turn = started
            if not turn.done():
                turn.set_result(None)

    def _finish(self, tenant: str) -> None:
        self._waiting.finish(tenant)
        self._start()


def _open_files() -> int:
    """Return how many files the process may have open."""
    try:
        configured = os.sysconf("SC_OPEN_MAX")
    except (AttributeError, ValueError, OSError):  # not on every system
        return 1_024
    return configured if configured > 0 else 1_024
