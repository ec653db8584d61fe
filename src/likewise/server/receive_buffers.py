"""Bytes that clients have sent of what is not complete, or not answered yet: in total and for each tenant.

A packet of MQTT may have 4 MB and a body of HTTP 64 MB, and a client may open thousands of connections: without a bound
for all of them together, one token would be enough to end the broker for everybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import Any, Final, Generic, Protocol, TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.defaults import RECEIVE_SHARE
from likewise.errors import BacklogExceeded

C = TypeVar("C", bound=Hashable)
Scope = MutableMapping[str, Any]  # of a request, as ASGI has it
_HELD: Final = "likewise_body"  # in the scope of a request: whose it is, and its bytes


class Receiver(Protocol):
    """A connection whose incomplete packets are counted."""

    def __hash__(self) -> int: ...

    @property
    def tenant_name(self) -> str | None:
        """Return whose bytes they are; None before a login."""

    def evict(self) -> None:
        """End it, because others need the bytes."""


class PartialPackets(Generic[C]):
    """Bounds the bytes of packets that are not complete. When there are too many, the oldest packet's connection goes.

    Who means well completes a packet within seconds; who holds parts of packets loses them. For the thread of the loop.

    Args:
        allowed: bytes in total.
        share: bytes of one key, such as an address or a tenant.
        key_of: the key of a connection; without one only the total counts.
        evict: ends a connection.
    """

    def __init__(
        self, allowed: int, share: int, key_of: Callable[[C], str | None], evict: Callable[[C], object]
    ) -> None:
        self.allowed, self.share = allowed, share
        self.total = 0
        self.evicted = 0
        self._key_of, self._evict = key_of, evict
        self._sizes: dict[C, tuple[int, str | None]] = {}  # the oldest packet first
        self._by: dict[str, dict[C, None]] = {}
        self._totals: Counter[str] = Counter()

    def note(self, connection: C, size: int) -> None:
        """Count how many bytes of an incomplete packet of a connection are buffered."""
        before, key = self._sizes.get(connection) or (0, self._key_of(connection))
        if size == before:
            return
        self.total += size - before
        if key is not None:
            self._totals[key] += size - before
        if not size:
            del self._sizes[connection]
            if key is not None:
                del self._by[key][connection]
                if not self._by[key]:
                    del self._by[key], self._totals[key]
            return
        self._sizes[connection] = size, key
        if key is not None:
            of_key = self._by.setdefault(key, {})
            of_key[connection] = None
            while self._totals[key] > self.share and len(of_key) > 1:
                self._remove(next(iter(of_key)))
        while self.total > self.allowed and len(self._sizes) > 1:
            self._remove(next(iter(self._sizes)))

    def _remove(self, connection: C) -> None:
        self.evicted += 1
        self.note(connection, 0)
        self._evict(connection)


class RequestBodies:
    """Bounds the bytes of requests that are not answered yet. The newest bytes are refused, with 429.

    A body that came at once is not counted: the socket bounds it. A tenant's only request is always taken.

    Args:
        allowed: bytes in total; one tenant may have half of them.
    """

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self._totals: Counter[str] = Counter()

    def add(self, scope: Scope, size: int) -> None:
        """Count further bytes of a request.

        Raises:
            BacklogExceeded: There are too many already, of this tenant or in total.
        """
        tenant, held = scope.get(_HELD) or (scope.get("likewise_tenant", ""), 0)
        others, share = self._totals[tenant] - held, self.allowed // RECEIVE_SHARE
        if others and (others + held + size > share or self._totals.total() + size > self.allowed):
            raise BacklogExceeded(
                "bytes of requests are under way", waiting=others + held, allowed=share, retry_after=1.0
            )
        scope[_HELD] = tenant, held + size
        self._totals[tenant] += size

    def release(self, scope: Scope) -> None:
        """Forget the bytes of a request that was answered."""
        if (held := scope.pop(_HELD, None)) is not None:
            tenant, size = held
            self._totals[tenant] -= size
            if not self._totals[tenant]:
                del self._totals[tenant]

    @property
    def total(self) -> int:
        """Return how many bytes there are."""
        return self._totals.total()


class ReceiveMetrics(Collector):
    """The figures of both for Prometheus."""

    def __init__(self, bodies: RequestBodies, packets: PartialPackets[Receiver]) -> None:
        self._bodies, self._packets = bodies, packets

    def collect(self) -> Iterator[Metric]:
        """Yield the figures."""
        for name, words, value in (
            ("request_bytes", "Bytes of requests that are not answered yet", self._bodies.total),
            (
                "receiving_bytes",
                "Bytes of packets of MQTT and messages of WebSockets that are not complete yet",
                self._packets.total,
            ),
        ):
            yield GaugeMetricFamily(f"likewise_{name}", words, float(value))
        yield CounterMetricFamily(
            "likewise_receiving_evicted",
            "Connections closed because there were too many bytes of incomplete packets and messages",
            float(self._packets.evicted),
        )
