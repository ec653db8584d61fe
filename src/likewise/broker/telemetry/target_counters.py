"""What targets count, by tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.broker.tenants.sink_queues import TargetFeed
from likewise.broker.tenants.tenant import Tenant

_COUNTED: Final[tuple[tuple[str, str, Callable[[TargetFeed], int]], ...]] = (
    ("sent", "Matches that targets accepted", lambda feed: feed.sent),
    ("failed", "Attempts that targets did not accept", lambda feed: feed.failed),
    ("expired", "Matches that were over before a target took them", lambda feed: feed.expired),
)


class TargetCounters(Collector):
    """What the targets of each tenant count, read when the page is; removed ones count no more."""

    def __init__(self, tenants: Mapping[int, Tenant]) -> None:
        self._tenants = tenants

    def collect(self) -> Iterator[Metric]:
        """By tenant."""
        tenants = list(self._tenants.values())
        held = GaugeMetricFamily("likewise_targets", "Targets", labels=["tenant"])
        waiting = GaugeMetricFamily("likewise_targets_waiting", "Matches that wait for targets", labels=["tenant"])
        for tenant in tenants:
            held.add_metric([tenant.name], len(tenant.feeds))
            waiting.add_metric([tenant.name], sum(len(feed.pending) for feed in tenant.feeds))
        yield held
        yield waiting
        for name, words, count in _COUNTED:
            family = CounterMetricFamily(f"likewise_targets_{name}", words, labels=["tenant"])
            for tenant in tenants:
                family.add_metric([tenant.name], float(sum(map(count, tenant.feeds))))
            yield family
