"""Figures 21 and 22 of CUPUS (sources.md C): a matcher that splits, and matchers that merge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, WorkerSettings
from likewise.broker.pool.topology import TreeTopology
from likewise.language import parse
from likewise.model import event


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A root matcher alone, which splits by the rule of the source as soon as events take any time at all."""
    limits = WorkerSettings(minimum=1, maximum=3, split_us=1e9, merge_us=0.0, last=20, pause=0.0)
    matching = MatchingSettings(workers="auto", architecture="hierarchical", policy="paper")
    with Broker(None, Config(matching=matching, workers=limits)) as made:
        yield made


def wait_until(true: Callable[[], bool], broker: Broker, seconds: float = 120.0) -> None:
    """Wait for something, with events coming meanwhile."""
    end, tenant = time.monotonic() + seconds, broker.tenant("default")
    while not true():
        assert time.monotonic() < end
        broker.publish(tenant, [event({"x": n % 50}) for n in range(10)])
        time.sleep(0.05)


def prepared(broker: Broker) -> TreeTopology:
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    texts = [f"{{x > {n}}}" for n in range(30)]  # each covers the next: one tree
    broker.subscribe(tenant, "ann", [parse(text, id=f"s{n}") for n, text in enumerate(texts)])
    assert isinstance(broker.topology, TreeTopology)
    return broker.topology


def met(broker: Broker, x: int) -> int:
    """How many subscriptions an event meets."""
    tenant = broker.tenant("default")
    before = tenant.stored_number
    broker.publish(tenant, [event({"x": x})])
    broker.wait_until_matched(120.0)
    after = broker.deliveries(tenant, tenant.subscriber("ann"), after=before, limit=1_000)
    return sum(len(each.matched) for each in after if each.number > before)


def change(broker: Broker, **settings: float) -> None:
    assert broker.autoscaler is not None
    broker.autoscaler.settings = msgspec.structs.replace(broker.autoscaler.settings, **settings)


@pytest.mark.timeout(600)
def test_figure_21_a_publish_is_followed_by_a_splitting_matcher(broker: Broker) -> None:
    """Every publication of the last N took longer than the threshold: the heaviest node and everything below it goes
    behind a proxy to a new child, and the matcher tells its parent that it is no leaf any more; a child splits, too."""
    staff = prepared(broker)
    assert (met(broker, 10), list(staff.pool.workers)) == (10, [1])
    change(broker, split_us=0.0)
    wait_until(lambda: len(staff.pool.workers) == 3 and not staff.under_way, broker)
    change(broker, split_us=1e9)
    first = next(iter(staff.messages))
    assert (first.message, first.by, first.to, first.leaf) == ("LeafMatcher", 1, 0, False)
    behind = [share for share in staff.pool.shares.values() if share.parent is not None]
    assert behind
    assert all(share.parent is not None and share.parent.roots[share.number] for share in behind)
    assert {share.hosts[0].number for share in behind} <= {2, 3}
    before = {number: worker.matched for number, worker in staff.pool.workers.items()}
    assert met(broker, 0) == 0  # what meets no root is not looked at behind it
    assert {n for n, worker in staff.pool.workers.items() if worker.matched > before[n]} == {1}
    assert [met(broker, x) for x in (5, 29, 100)] == [5, 29, 30]


@pytest.mark.timeout(600)
def test_figure_22_a_publish_is_followed_by_merging_matchers(broker: Broker) -> None:
    """Every publication of the last N took less than the threshold: a leaf merges into its parent, which answers what
    it would have (MatcherMerging), and says upwards that it is gone (MatcherRemoved) and who is a leaf again."""
    staff = prepared(broker)
    change(broker, split_us=0.0, maximum=2)
    wait_until(lambda: len(staff.pool.workers) == 2 and not staff.under_way, broker)
    change(broker, split_us=1e9, merge_us=1e8)
    wait_until(lambda: len(staff.pool.workers) == 1 and not staff.under_way, broker)
    assert [(each.message, each.by, each.to, each.leaf) for each in staff.messages][1:] == [
        ("MatcherMerging", 2, 1, None),
        ("MatcherRemoved", 1, 0, None),
        ("LeafMatcher", 1, 0, True),
    ]
    assert [met(broker, x) for x in (5, 29, 100)] == [5, 29, 30]
    assert all(host.number == 1 for share in staff.pool.shares.values() for host in share.hosts)
