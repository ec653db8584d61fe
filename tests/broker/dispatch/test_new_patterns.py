"""Graph patterns that come while a broker matches: each counts from the next event on, whatever constants it has."""

from __future__ import annotations

import msgspec

import likewise as lw
from likewise.broker.broker import Broker
from likewise.model import Event, Triple


def test_patterns_with_new_constants_between_publishes_end_no_broker_and_lose_no_match() -> None:
    """One pattern and one event at a time, then all events in one request, by two tenants that share the process."""
    with Broker(None) as broker:
        tenants = [broker.tenant("default"), broker.tenant("other")]
        for tenant in tenants:
            broker.register(tenant, "ann")
        graphs = [Triple("<http://x/s>", f"<http://x/p{n}>", f"<http://x/o{n}>") for n in range(10)]
        for n, triple in enumerate(graphs):
            text = f"{triple.subject} {triple.predicate} {triple.object}"
            for tenant in tenants:
                broker.subscribe(tenant, "ann", [lw.parse(text, id=f"s{n}")])
                broker.publish(tenant, [Event(graph=(triple,), id=f"one {n}")])
            broker.wait_until_matched()
        for tenant in tenants:
            broker.publish(tenant, [Event(graph=(triple,), id=f"all {n}") for n, triple in enumerate(graphs)])
        broker.wait_until_matched()
        expected = [(f"{when} {n}", f"s{n}") for when in ("one", "all") for n in range(10)]
        for tenant in tenants:
            page = broker.page(tenant, tenant.subscriber("ann"), after=0, limit=100)
            frames = [msgspec.json.decode(frame) for _, frame in page]
            assert [(f["event"]["id"], s["id"]) for f in frames for s in f["subscriptions"]] == expected
