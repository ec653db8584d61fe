"""What a broker counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector

from likewise.broker.delivering.outcome import Outcome
from likewise.broker.store.deliveries import ARRIVAL
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.cache_use import CACHES, CacheUse

_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)


class Metrics:
    """The counters of one broker, in a registry of their own.

    >>> b"likewise_events_received_total 0.0" in Metrics().page()
    True
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._received = Counter("likewise_events_received", "Events taken in", registry=registry)
        self._matched = Counter("likewise_events_matched", "Events that met a subscription", registry=registry)
        self._deliveries = Counter("likewise_deliveries_stored", "Deliveries, by recipient", registry=registry)
        self._sent = Counter("likewise_deliveries_sent", "Deliveries sent to streams", registry=registry)
        self._letters = Counter("likewise_dead_letters", "Dead letters", registry=registry)
        self._matching = Histogram(
            "likewise_matching_seconds", "From arrival in the log to stored deliveries", buckets=_BUCKETS,
            registry=registry,
        )  # fmt: skip
        self.publishing = Histogram(
            "likewise_publish_seconds", "From request to acknowledgement", buckets=_BUCKETS, registry=registry
        )

    def watch(self, tenants: Mapping[int, Tenant], position: Callable[[], int], matched: Callable[[], int]) -> None:
        """Measure what tenants hold, and how far the log and matching have come, whenever the page is read."""

        def gauge(name: str, text: str, value: object) -> None:
            Gauge(name, text, registry=self.registry).set_function(value)  # type: ignore[arg-type]

        def queues() -> list[int]:
            return [len(queue) for tenant in list(tenants.values()) for queue in list(tenant.subscribers.values())]

        gauge("likewise_deliveries_pending", "Deliveries not acknowledged", lambda: sum(queues()))
        gauge("likewise_subscribers", "Registered subscribers", lambda: len(queues()))
        gauge(
            "likewise_subscriptions", "Subscriptions held",
            lambda: sum(len(t.stateless) + len(t.windows) for t in list(tenants.values())),
        )  # fmt: skip
        gauge("likewise_log_position", "Entries of the log", position)
        gauge("likewise_matched_position", "Entries matched", matched)
        gauge(
            "likewise_events_late", "Events too late for windows",
            lambda: sum(t.refused_late for t in list(tenants.values())),
        )  # fmt: skip

        gauge(
            "likewise_windows_rebuilt", "Tenants whose saved windows were missing or damaged at the start",
            lambda: sum(t.rebuilt for t in list(tenants.values())),
        )  # fmt: skip
        self.registry.register(_Caches(tenants))

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

    def received(self, count: int) -> None:
        """Events came in."""
        self._received.inc(count)

    def sent(self, count: int) -> None:
        """Deliveries went out."""
        self._sent.inc(count)

    def stored(self, outcome: Outcome, now: int) -> None:
        """Deliveries were stored."""
        for deliveries in outcome.deliveries.values():
            self._matched.inc(sum(d.cause == ARRIVAL for d in deliveries))
            self._deliveries.inc(sum(len(d.recipients) for d in deliveries))
        self._letters.inc(len(outcome.letters))
        if outcome.arrival:
            self._matching.observe(max(0.0, (now - outcome.arrival) / 1e6))

    def page(self) -> bytes:
        """The page Prometheus reads."""
        return generate_latest(self.registry)


class _Caches(Collector):
    """What the matchers count themselves, read when the page is: the tenants' caches together."""

    def __init__(self, tenants: Mapping[int, Tenant]) -> None:
        self._tenants = tenants

    def collect(self) -> Iterator[CounterMetricFamily]:
        """How often what matching keeps was there when it was needed, and how often it had to be computed."""
        matchers = [m for tenant in list(self._tenants.values()) for m in (tenant.stateless, tenant.windows)]
        found = [matcher.caches() for matcher in matchers]
        hits = CounterMetricFamily("likewise_cache_hits", "Look-ups that found what they wanted", labels=["cache"])
        misses = CounterMetricFamily("likewise_cache_misses", "Look-ups that had to compute it", labels=["cache"])
        for name in CACHES:
            use = sum((each[name] for each in found), CacheUse())
            hits.add_metric([name], use.hits)
            misses.add_metric([name], use.misses)
        yield hits
        yield misses
