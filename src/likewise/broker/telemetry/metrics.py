"""The metrics of a broker for Prometheus.

What targets count, by tenant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.log.deliveries import ARRIVAL
from likewise.broker.retention_clock import RetentionClock
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.cache_use import CACHES, CacheUse

_COUNTED: Final[tuple[tuple[str, str, Callable[[SinkQueue], int]], ...]] = (
    ("sent", "Matches that targets accepted", lambda feed: feed.sent),
    ("failed", "Attempts that targets did not accept", lambda feed: feed.failed),
    ("expired", "Matches that were over before a target took them", lambda feed: feed.expired),
)


class SinkCounters(Collector):
    """The counters of each tenant's targets, read when the page is; removed ones no longer count."""

    def __init__(self, tenants: Mapping[int, Tenant]) -> None:
        self._tenants = tenants

    def collect(self) -> Iterator[Metric]:
        """Yield the counters by tenant."""
        tenants = list(self._tenants.values())
        targets = GaugeMetricFamily("likewise_targets", "Targets", labels=["tenant"])
        waiting = GaugeMetricFamily("likewise_targets_waiting", "Matches that wait for targets", labels=["tenant"])
        for tenant in tenants:
            targets.add_metric([tenant.name], len(tenant.sinks))
            waiting.add_metric([tenant.name], sum(len(feed.pending) for feed in tenant.sinks))
        yield targets
        yield waiting
        for name, words, count in _COUNTED:
            family = CounterMetricFamily(f"likewise_targets_{name}", words, labels=["tenant"])
            for tenant in tenants:
                family.add_metric([tenant.name], float(sum(map(count, tenant.sinks))))
            yield family


_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)

M = TypeVar("M", Counter, Histogram)


class Metrics:
    """The counters of one broker, by tenant, in a registry of their own.

    >>> metrics = Metrics()
    >>> metrics.received("city", 3)
    >>> b'likewise_events_received_total{tenant="city"} 3.0' in metrics.page()
    True
    >>> b"city" in metrics.page("another")
    False
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._tenants: Mapping[int, Tenant] = {}
        self._received = self._counter("events_received", "Events taken in")
        self._matched = self._counter("events_matched", "Events that met a subscription")
        self._deliveries = self._counter("deliveries_stored", "Deliveries, by recipient")
        self._sent = self._counter("deliveries_sent", "Deliveries sent to streams")
        self._dead_letters = self._counter("dead_letters", "Dead letters")
        self._refused = self._counter("requests_refused", "Requests refused, by the problem's code", "code")
        self._matching = self._histogram("matching_seconds", "From arrival in the log to stored deliveries")
        self._publishing = self._histogram("publish_seconds", "From request to acknowledgement")
        self._refusals: dict[str, int] = {}
        self._found: dict[tuple[Counter | Histogram, str], Counter | Histogram] = {}

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"likewise_{name}", text, ["tenant", *labels], registry=self.registry)

    def _histogram(self, name: str, text: str) -> Histogram:
        return Histogram(f"likewise_{name}", text, ["tenant"], buckets=_BUCKETS, registry=self.registry)

    def watch(self, tenants: Mapping[int, Tenant], position: Callable[[], int], matched: Callable[[], int]) -> None:
        """Measure what tenants hold, and how far the log and matching have come, whenever the page is read."""
        self._tenants = tenants
        for name, text, value in (
            ("log_position", "Entries of the log", position),
            ("matched_position", "Entries matched", matched),
        ):
            Gauge(f"likewise_{name}", text, registry=self.registry).set_function(value)
        self.registry.register(_Holdings(tenants))
        self.registry.register(_Caches(tenants))
        self.registry.register(SinkCounters(tenants))

    def watch_upkeep(
        self, troubles: Callable[[], list[str]], failed: Callable[[], int], stepped: Callable[[], int]
    ) -> None:
        """Measure what does not work now, how often a chore failed, and how often the clock stepped."""
        for name, text, value in (
            ("troubles", "What does not work now and is tried again", lambda: len(troubles())),
            ("chores_failed", "Failures of the broker's own chores", failed),
            ("clock_steps", "How often the clock stepped in a way that was not plausible", stepped),
        ):
            Gauge(f"likewise_{name}", text, registry=self.registry).set_function(value)

    def watch_clock(self, retention: RetentionClock) -> None:
        """Measure how far the clock is trusted to remove things."""
        for name, text, value in (
            (
                "clock_behind_seconds",
                "By how much what was stored before a step of the clock is behind it",
                lambda: retention.offset / 1e6,
            ),
            (
                "clock_hold_seconds",
                "Time left in which nothing is removed because of a step of the clock",
                lambda: retention.hold_left,
            ),
            ("clock_held_back", "Events that are over by the clock and stay", lambda: retention.delayed_events),
        ):
            Gauge(f"likewise_{name}", text, registry=self.registry).set_function(value)

    def watch_lake(self, behind: Callable[[Tenant], int], batches: Callable[[], int]) -> None:
        """Measure how far the lake has come."""
        Gauge(
            "likewise_lake_batches", "Batches written to the lake since the start", registry=self.registry
        ).set_function(batches)
        self.registry.register(_Lake(self._tenants, behind))

    def received(self, tenant: str, count: int) -> None:
        """Count received events."""
        self._of(self._received, tenant).inc(count)

    def published(self, tenant: str, seconds: float) -> None:
        """Measure an answered publish request."""
        self._of(self._publishing, tenant).observe(seconds)

    def _of(self, metric: M, tenant: str) -> M:
        """Return a metric of one tenant, cached since a look-up would cost more than counting."""
        labelled = self._found.get((metric, tenant))
        if labelled is None:
            labelled = self._found[metric, tenant] = metric.labels(tenant)
        return cast("M", labelled)

    def sent(self, tenant: str, count: int) -> None:
        """Count sent deliveries."""
        self._of(self._sent, tenant).inc(count)

    def dead_letters(self, tenant: str, count: int) -> None:
        """Count dead letters."""
        self._of(self._dead_letters, tenant).inc(count)

    def refused(self, tenant: str, code: str) -> None:
        """Count a refused request, of no tenant if it is not known."""
        self._refused.labels(tenant, code).inc()
        self._refusals[tenant] = self._refusals.get(tenant, 0) + 1

    def refusals(self, tenant: str) -> int:
        """Return how many requests of a tenant were refused since the start."""
        return self._refusals.get(tenant, 0)

    def stored(self, outcome: CommitBatch, now: int) -> None:
        """Count and measure stored deliveries."""
        for tenant, deliveries in outcome.deliveries.items():
            self._of(self._matched, tenant.name).inc(sum(d.cause == ARRIVAL for d in deliveries))
            self._of(self._deliveries, tenant.name).inc(sum(len(d.recipients) for d in deliveries))
        for tenant in outcome.positions:
            if count := sum(letter.tenant == tenant.number for letter in outcome.dead_letters):
                self.dead_letters(tenant.name, count)
            if outcome.arrival:
                self._of(self._matching, tenant.name).observe(max(0.0, (now - outcome.arrival) / 1e6))

    def page(self, tenant: str | None = None) -> bytes:
        """Return the page that Prometheus reads: of all tenants and the broker, or of one tenant."""
        for each in list(self._tenants.values()):  # so that what has not happened yet is shown as 0
            for metric in (self._received, self._matched, self._deliveries, self._sent, self._dead_letters):
                metric.labels(each.name)
        return generate_latest(self.registry if tenant is None else _TenantRegistry(self.registry, tenant))


class _TenantRegistry(CollectorRegistry):
    """A registry restricted to one tenant."""

    def __init__(self, registry: CollectorRegistry, tenant: str) -> None:
        super().__init__()
        self._registry, self._tenant = registry, tenant

    def collect(self) -> Iterator[Metric]:
        """Yield the samples that are labelled with the tenant."""
        for family in self._registry.collect():
            samples = [sample for sample in family.samples if sample.labels.get("tenant") == self._tenant]
            if samples:
                shown = Metric(family.name, family.documentation, family.type, family.unit)
                shown.samples = samples
                yield shown


_HELD: Final[tuple[tuple[str, str, Callable[[Tenant], float]], ...]] = (
    ("deliveries_pending", "Deliveries not acknowledged", lambda t: sum(map(len, list(t.subscribers.values())))),
    ("subscribers", "Registered subscribers", lambda t: len(t.subscribers)),
    ("subscriptions", "Subscriptions held", lambda t: len(t.stateless) + len(t.windows) + len(t.alerts)),
    ("entries_waiting", "Entries that wait to be matched", lambda t: t.waiting),
    ("entry_seconds", "Seconds of the processor that matching an entry took lately", lambda t: t.pace),
    ("events_late", "Events too late for windows", lambda t: t.refused_late),
    ("events_keyless", "Events that lacked an attribute of an alert's `per`", lambda t: t.alerts.keyless),
    ("windows_rebuilt", "Whether saved windows were missing or damaged at the start", lambda t: float(t.rebuilt)),
)


class _Holdings(Collector):
    """Gauges of each tenant, measured when the page is read."""

    def __init__(self, tenants: Mapping[int, Tenant]) -> None:
        self._tenants = tenants

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield a gauge for each figure, by tenant."""
        for name, text, measure in _HELD:
            gauge = GaugeMetricFamily(f"likewise_{name}", text, labels=["tenant"])
            for tenant in list(self._tenants.values()):
                gauge.add_metric([tenant.name], measure(tenant))
            yield gauge


class _Lake(Collector):
    """Lag of the lake behind each tenant, measured when the page is read."""

    def __init__(self, tenants: Mapping[int, Tenant], behind: Callable[[Tenant], int]) -> None:
        self._tenants = tenants
        self._behind = behind

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield a gauge by tenant."""
        gauge = GaugeMetricFamily("likewise_lake_behind", "Deliveries not in the lake yet", labels=["tenant"])
        for tenant in list(self._tenants.values()):
            gauge.add_metric([tenant.name], self._behind(tenant))
        yield gauge


class _Caches(Collector):
    """The cache counters of the matchers, read when the page is, by tenant."""

    def __init__(self, tenants: Mapping[int, Tenant]) -> None:
        self._tenants = tenants

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Yield hits and misses of the matchers' caches."""
        labels = ["tenant", "cache"]
        hits = CounterMetricFamily("likewise_cache_hits", "Look-ups that found what they wanted", labels=labels)
        misses = CounterMetricFamily("likewise_cache_misses", "Look-ups that had to compute it", labels=labels)
        for tenant in list(self._tenants.values()):
            uses = [matcher.caches() for matcher in (tenant.stateless, tenant.windows, tenant.alerts)]
            for name in CACHES:
                use = sum((each[name] for each in uses), CacheUse())
                hits.add_metric([tenant.name, name], use.hits)
                misses.add_metric([tenant.name, name], use.misses)
        yield hits
        yield misses
