"""Resolve the names of targets on threads that serve nothing else.

The system's resolver blocks, cannot be cancelled, and may take half a minute for a name whose server is silent. So it
runs in a pool of its own, of which a tenant has a few threads, and never in the pool of the event loop (or of libuv,
which has four threads for everybody). A name is looked up once at a time: attempts that come meanwhile share the
answer.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from typing import Final

from likewise.server.executors import TenantExecutor

Resolve = Callable[[str, int], Awaitable[list[str]]]  # a host and a port, to addresses in order
Lookup = Callable[[str, int], list[str]]  # the same, blocking
THREADS: Final = 32
THREADS_PER_TENANT: Final = 4
_POOL: Final = TenantExecutor("resolver", threads=THREADS, per_tenant=THREADS_PER_TENANT)


def lookup(host: str, port: int) -> list[str]:
    """Return the addresses of a host as the system resolves it; this blocks."""
    results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in results))


class Resolver:
    """Look names up for the targets of all tenants.

    Args:
        lookup: The blocking function that resolves; tests inject one that never answers.
        pool: Its threads; those of the process if not given.
    """

    def __init__(self, lookup: Lookup = lookup, pool: TenantExecutor = _POOL) -> None:
        self._lookup, self._pool = lookup, pool
        self._under_way: dict[tuple[str, str, int], asyncio.Task[list[str]]] = {}

    def of(self, tenant: str) -> Resolve:
        """Return what resolves for one tenant."""

        async def resolve(host: str, port: int) -> list[str]:
            if is_address(host):
                return [host]
            key = tenant, host, port
            task = self._under_way.get(key)
            if task is None:
                task = self._under_way[key] = asyncio.ensure_future(
                    self._pool.run(tenant, lambda: self._lookup(host, port))
                )
                task.add_done_callback(lambda done: self._finished(key, done))
            return await asyncio.shield(task)  # whose time is up leaves; the thread cannot

        return resolve

    def _finished(self, key: tuple[str, str, int], task: asyncio.Task[list[str]]) -> None:
        self._under_way.pop(key, None)
        if not task.cancelled():
            task.exception()  # everybody who waited may have left


def is_address(host: str) -> bool:
    """Return whether a host is an address already.

    >>> is_address("192.0.2.1"), is_address("::1"), is_address("example.org")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def resolve_untenanted(host: str, port: int) -> list[str]:
    """Resolve for whoever is no tenant's."""
    return await Resolver().of("")(host, port)
