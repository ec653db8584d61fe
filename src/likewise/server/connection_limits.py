"""Limits of open connections: one for HTTP, WebSockets and MQTT together.

Each connection holds a file descriptor, and so does everything else: the store, the lake, targets, worker processes.
The bound leaves a reserve of descriptors for these: a store that cannot open its file would stop everybody.
"""

from __future__ import annotations

import asyncio
import fcntl
import ipaddress
import resource
import sys
import termios
from collections.abc import Iterator, Sized
from functools import lru_cache
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.broker.config import ServerSettings
from likewise.defaults import MAX_CONNECTIONS

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


class ConnectionLimits(Collector):
    """Counts the open connections of a broker. For the event loop's thread.

    `http` is the server's own set of HTTP and WebSocket connections, `mqtt` the number of MQTT connections over TCP and
    TLS; MQTT over a WebSocket is one of the former.
    """

    def __init__(self, server: ServerSettings) -> None:
        self.allowed = most_connections(server.connections, file_limit())
        self.http: Sized = ()
        self.mqtt = 0
        self.refused = 0
        self._proxies = tuple(ipaddress.ip_network(text) for text in server.proxies)
        self.key_of = lru_cache(maxsize=4_096)(self._key_of)

    @property
    def open(self) -> int:
        """Return how many connections are open."""
        return len(self.http) + self.mqtt

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
        yield gauge
        yield GaugeMetricFamily("likewise_connections_allowed", "Connections that may be open", float(self.allowed))
        yield CounterMetricFamily(
            "likewise_connections_refused", "Connections refused because too many were open", float(self.refused)
        )
