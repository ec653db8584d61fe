"""How the listener fares: what a tenant's devices brought and got, for metrics and people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_COUNTED: Final = {
    "connections": "Connections of devices that were let in",
    "shut_out": "Connections of devices that were refused",
    "received": "Messages received from devices",
    "stored": "Events of devices on disk",
    "refused": "Messages of devices that were refused",
    "sent": "Messages sent to devices",
    "lost": "Messages of QoS 0 that a device was too slow for, and what is larger than it takes",
    "unannounced": "Metrics of Sparkplug B whose alias no BIRTH had announced",
}


class Counters:
    """What is counted for one tenant."""

    __slots__ = (
        "connected", "connections", "lost", "received", "refused", "sent", "sessions", "shut_out", "stored",
        "unannounced",
    )  # fmt: skip

    def __init__(self) -> None:
        self.connected = self.sessions = 0  # now
        self.connections = self.shut_out = self.received = self.stored = self.refused = self.sent = self.lost = 0
        self.unannounced = 0


class ListenerCounters(Collector):
    """The counters of all tenants, read when the page is."""

    def __init__(self, tenants: Mapping[str, Counters]) -> None:
        self._tenants = tenants

    def collect(self) -> Iterator[Metric]:
        """The counters, by tenant."""
        for name, words in (("connected", "Devices connected now"), ("sessions", "Sessions of devices")):
            gauge = GaugeMetricFamily(f"likewise_mqtt_{name}", words, labels=["tenant"])
            for tenant, counters in list(self._tenants.items()):
                gauge.add_metric([tenant], float(getattr(counters, name)))
            yield gauge
        for name, words in _COUNTED.items():
            family = CounterMetricFamily(f"likewise_mqtt_{name}", words, labels=["tenant"])
            for tenant, counters in list(self._tenants.items()):
                family.add_metric([tenant], float(getattr(counters, name)))
            yield family
