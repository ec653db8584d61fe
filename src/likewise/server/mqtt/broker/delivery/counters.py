"""Counters of the listener, by tenant, for metrics and the list of connections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_COUNTED: Final = {
    "connections": "Connections of devices that were let in",
    "disconnected_by_us": "Connections of devices that were refused",
    "received": "Messages received from devices",
    "stored": "Events of devices on disk",
    "refused": "Messages of devices that were refused",
    "sent": "Messages sent to devices",
    "lost": "Messages of QoS 0 that a device was too slow for, and what is larger than it takes",
    "stalled": "Connections closed because the device did not read what it was sent",
    "unannounced": "Metrics of Sparkplug B whose alias no BIRTH had announced",
}
_METRICS: Final = {"disconnected_by_us": "shut_out"}  # counters whose metric was published under another name


class TenantCounters:
    """Counters of one tenant."""

    __slots__ = (
        "connected",
        "connections",
        "disconnected_by_us",
        "lost",
        "received",
        "refused",
        "sent",
        "sessions",
        "stalled",
        "stored",
        "unannounced",
    )

    def __init__(self) -> None:
        self.connected = self.sessions = 0  # now
        self.connections = self.disconnected_by_us = self.received = self.stored = self.refused = self.sent = (
            self.lost
        ) = 0
        self.stalled = self.unannounced = 0


class PendingFigures(Protocol):
    """Connections that have not logged in, as they are counted."""

    evicted: int

    @property
    def bytes(self) -> int:
        """Return how many bytes of incomplete packets are buffered."""

    def __len__(self) -> int: ...


class BufferFigures(Protocol):
    """Bytes that clients have not read, as they are counted."""

    total: int


class ListenerCounters(Collector):
    """The counters of all tenants and of connections that are no tenant's yet, read when the page is."""

    def __init__(self, tenants: Mapping[str, TenantCounters], pending: PendingFigures, buffers: BufferFigures) -> None:
        self._tenants = tenants
        self._pending = pending
        self._buffers = buffers

    def collect(self) -> Iterator[Metric]:
        """Yield the counters, by tenant."""
        for name, words in (("connected", "Devices connected now"), ("sessions", "Sessions of devices")):
            gauge = GaugeMetricFamily(f"likewise_mqtt_{name}", words, labels=["tenant"])
            for tenant, counters in list(self._tenants.items()):
                gauge.add_metric([tenant], float(getattr(counters, name)))
            yield gauge
        for name, words, value in (
            ("pending", "Connections that have not logged in", len(self._pending)),
            ("pending_bytes", "Bytes buffered of connections that have not logged in", self._pending.bytes),
            ("unsent_bytes", "Bytes that devices have not read yet", self._buffers.total),
        ):
            yield GaugeMetricFamily(f"likewise_mqtt_{name}", words, float(value))
        yield CounterMetricFamily(
            "likewise_mqtt_pending_evicted",
            "Connections closed before they logged in because there were too many of them, or of their bytes",
            float(self._pending.evicted),
        )
        for name, words in _COUNTED.items():
            family = CounterMetricFamily(f"likewise_mqtt_{_METRICS.get(name, name)}", words, labels=["tenant"])
            for tenant, counters in list(self._tenants.items()):
                family.add_metric([tenant], float(getattr(counters, name)))
            yield family
