"""What is counted for Prometheus, by a broker that works."""

from __future__ import annotations

import likewise as lw
from likewise.broker.broker import Broker


def values(broker: Broker) -> dict[str, float]:
    """Every sample of the page by name and labels."""
    lines = broker.metrics.page().decode().splitlines()
    return {name: float(value) for name, _, value in (x.rpartition(" ") for x in lines if not x.startswith("#"))}


def test_cache_hits_and_misses_are_counted() -> None:
    """The first event computes what the second one finds."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{device~ = laptop~}", id="s")])
        assert values(broker)['likewise_cache_misses_total{cache="posting_lists",tenant="default"}'] == 0
        for n in range(3):
            broker.publish(tenant, [lw.event({"device": "computer"}, id=f"e{n}")])
        broker.wait_until_matched()
        found = values(broker)
    assert found['likewise_cache_misses_total{cache="posting_lists",tenant="default"}'] == 1
    assert found['likewise_cache_hits_total{cache="posting_lists",tenant="default"}'] == 2
    assert found['likewise_cache_misses_total{cache="relatedness",tenant="default"}'] == 2
    assert found['likewise_events_received_total{tenant="default"}'] == 3
