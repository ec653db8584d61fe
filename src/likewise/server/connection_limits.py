"""Limits of open connections: one for HTTP, WebSockets and MQTT together.

Each connection holds a file descriptor, and so does everything else: the store, the lake, targets, worker processes.
The bound leaves a reserve of descriptors for these: a store that cannot open its file would stop everybody.

When the bound is reached, a newcomer takes the place of a connection that nobody uses: one that has not sent a request,
a login or the end of its TLS handshake, else one that rests between two requests. Only where every connection is used
is the newcomer refused.
"""

from __future__ import annotations

import asyncio
import fcntl
import ipaddress
import resource
import sys
import termios
from collections.abc import Callable, Iterator, Sized
from functools import lru_cache
from typing import Final, Protocol

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.broker.config import ServerSettings
from likewise.defaults import MAX_CONNECTIONS, PENDING_SHARE

RESERVED_FILES: Final = 64  # that are left at least: a broker at rest has about 30 open
BACKLOG: Final = 1_024  # connections that the kernel accepts ahead of us; fewer where few files may be open

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def file_limit() -> int | None:
    """Return how many files this process may open; None if there is no limit."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if files < 0 else files


def most_connections(configured: int | None, files: int | None) -> int:
    """Return how many connections may be open at once.

    Args:
        configured: `[server] connections`, if it is given.
        files: how many files the process may open (`RLIMIT_NOFILE`), None without a limit.

    >>> most_connections(None, 1_024), most_connections(None, None), most_connections(5_000, 1_024)
    (768, 10000, 768)
    >>> most_connections(None, 80)
    16
    """
    requested = MAX_CONNECTIONS if configured is None else configured
    if files is None:
        return requested
    return max(1, min(requested, files - max(RESERVED_FILES, files // 4)))


def accept_backlog(files: int | None) -> int:
    """Return how many connections may wait to be accepted: an event loop accepts all of them before it counts any.

    >>> accept_backlog(1_024), accept_backlog(20_000)
    (64, 1024)
    """
    return BACKLOG if files is None else max(8, min(BACKLOG, files // 16))


def unread_bytes(transport: asyncio.Transport) -> int:
    """Return how many bytes the other side has not received: those in our buffer, and those in the kernel's.

    The kernel takes megabytes and lets us write again only when a good part of them is gone. Who reads slowly shows in
    its queue alone (`TIOCOUTQ`).
    """
    unsent = transport.get_write_buffer_size()
    tcp_socket = transport.get_extra_info("socket")
    if tcp_socket is None or tcp_socket.fileno() < 0:
        return unsent
    queued = fcntl.ioctl(tcp_socket.fileno(), termios.TIOCOUTQ, bytes(4))
    return unsent + int.from_bytes(queued, sys.byteorder)


class EvictableConnection(Protocol):
    """A connection that may be closed to make room for another."""

    address: str

    def abort(self) -> None:
        """Close it, whatever the other side does."""


class WaitingConnections:
    """Connections that have not sent a request or a login yet, oldest first.

    Args:
        share: How many of them one address may have once there is no room; its own oldest goes then.
        key_of: What an address is counted by, None where no bound for one address applies.

    >>> from typing import NamedTuple
    >>> class Socket(NamedTuple):
    ...     address: str
    ...     number: int
    ...     def abort(self) -> None: ...
    >>> waiting = WaitingConnections(1, lambda address: address)
    >>> for number, address in enumerate(("ann", "ben", "ben", "cy")):
    ...     waiting.add(Socket(address, number))
    >>> waiting.oldest()
    Socket(address='ben', number=1)
    >>> _ = waiting.remove(waiting.oldest())
    >>> waiting.oldest()
    Socket(address='ann', number=0)
    """

    def __init__(self, share: int, key_of: Callable[[str], str | None]) -> None:
        self._share, self._key_of = share, key_of
        self._all: dict[EvictableConnection, None] = {}
        self._by: dict[str, dict[EvictableConnection, None]] = {}
        self._large: dict[str, None] = {}  # addresses with more than their share

    def __len__(self) -> int:
        return len(self._all)

    def add(self, connection: EvictableConnection) -> None:
        """Add a connection as the newest."""
        self._all[connection] = None
        key = self._key_of(connection.address)
        if key is not None:
            same = self._by.setdefault(key, {})
            same[connection] = None
            if len(same) > self._share:
                self._large[key] = None

    def remove(self, connection: EvictableConnection) -> bool:
        """Remove a connection; return whether it was there."""
        if connection not in self._all:
            return False
        del self._all[connection]
        key = self._key_of(connection.address)
        if key is not None:
            same = self._by[key]
            del same[connection]
            if len(same) <= self._share:
                self._large.pop(key, None)
            if not same:
                del self._by[key]
        return True

    def oldest(self) -> EvictableConnection | None:
        """Return the oldest of an address with more than its share, else the oldest of all."""
        key = next(iter(self._large), None)
        return next(iter(self._all if key is None else self._by[key]), None)


class ConnectionLimits(Collector):
    """Counts the open connections of a broker. For the event loop's thread.

    `http` is the server's own set of HTTP and WebSocket connections, `mqtt` the number of MQTT connections over TCP and
    TLS; MQTT over a WebSocket is one of the former. `handshakes` are sockets whose TLS has not begun yet, of either.
    """

    def __init__(self, server: ServerSettings) -> None:
        self.allowed = most_connections(server.connections, file_limit())
        self.http: Sized = ()
        self.mqtt = 0
        self.handshakes: set[EvictableConnection] = set()
        self.refused = 0
        self.evicted = 0
        self._proxies = tuple(ipaddress.ip_network(text) for text in server.proxies)
        self.key_of = lru_cache(maxsize=4_096)(self._key_of)
        self._waiting = WaitingConnections(max(1, self.allowed // PENDING_SHARE), self.key_of)
        self._idle: dict[EvictableConnection, None] = {}  # the one that was used longest ago comes first

    @property
    def open(self) -> int:
        """Return how many connections are open."""
        return len(self.http) + self.mqtt + len(self.handshakes)

    def admit(self) -> bool:
        """Return whether a connection that is counted already may stay; another one is closed for it if need be."""
        if self.open <= self.allowed:
            return True
        evicted = self._waiting.oldest() or next(iter(self._idle), None)
        if evicted is None:
            self.refused += 1
            return False
        self.evicted += 1
        self.use(evicted)
        evicted.abort()
        return True

    def wait(self, connection: EvictableConnection) -> None:
        """Note that a connection has not sent a request or a login yet."""
        self._waiting.add(connection)

    def rest(self, connection: EvictableConnection) -> None:
        """Note that a connection is between two requests."""
        self._idle[connection] = None

    def use(self, connection: EvictableConnection) -> None:
        """Note that a connection is used, or over: it is not closed to make room."""
        if not self._waiting.remove(connection):
            self._idle.pop(connection, None)

    def start_handshake(self, connection: EvictableConnection) -> bool:
        """Count a socket whose TLS begins; return whether it may stay."""
        self.handshakes.add(connection)
        if not self.admit():
            self.handshakes.discard(connection)
            return False
        self.wait(connection)
        return True

    def end_handshake(self, connection: EvictableConnection) -> None:
        """Count a socket no longer: its TLS has begun, or it is over."""
        self.use(connection)
        self.handshakes.discard(connection)

    def abort_handshakes(self) -> None:
        """Close every connection whose TLS has not begun: the broker stops."""
        for each in list(self.handshakes):
            each.abort()

    def _key_of(self, address: str) -> str | None:
        """Return what the limits of one address are counted by; None for a proxy, to which none apply.

        One machine has a whole /64 of IPv6, so that is one address here.
        """
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return None  # a UNIX socket, or a test client
        if isinstance(parsed, ipaddress.IPv6Address):
            if parsed.ipv4_mapped is not None:
                parsed = parsed.ipv4_mapped
            elif not any(parsed in proxy for proxy in self._proxies):
                return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
        return None if any(parsed in proxy for proxy in self._proxies) else str(parsed)

    def shown(self) -> dict[str, int]:
        """Return the figures that readiness shows."""
        return {"open": self.open, "allowed": self.allowed, "refused": self.refused}

    def collect(self) -> Iterator[Metric]:
        """Yield the figures for Prometheus."""
        gauge = GaugeMetricFamily("likewise_connections_open", "Open connections", labels=["protocol"])
        gauge.add_metric(["http"], float(len(self.http)))
        gauge.add_metric(["mqtt"], float(self.mqtt))
        gauge.add_metric(["handshake"], float(len(self.handshakes)))
        yield gauge
        yield GaugeMetricFamily(
            "likewise_connections_waiting",
            "Connections that have sent no request and no login yet",
            float(len(self._waiting)),
        )
        yield GaugeMetricFamily("likewise_connections_allowed", "Connections that may be open", float(self.allowed))
        yield CounterMetricFamily(
            "likewise_connections_refused", "Connections refused because too many were open", float(self.refused)
        )
        yield CounterMetricFamily(
            "likewise_connections_evicted",
            "Connections without a request or a login that were closed to make room for others",
            float(self.evicted),
        )
