"""Deliveries carry what `select` names; whoever selects nothing gets them as ever."""

from __future__ import annotations

import msgspec

import likewise as lw
from likewise.broker.asking.selecting import selects, with_selected
from likewise.broker.broker import Broker


def test_a_delivery_carries_what_its_subscription_selects() -> None:
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        for name in ("ann", "bob"):
            broker.register(tenant, name)
        chosen = "{t > 25 degC} select (t in degF as f, @source as device, @time)"
        broker.subscribe(tenant, "ann", [lw.parse(chosen, id="warm"), lw.parse("{t exists}", id="any")])
        broker.subscribe(tenant, "bob", [lw.parse("{t exists}", id="any")])
        broker.publish(tenant, [lw.event({"t": {"value": 30, "unit": "degC"}}, id="e1", source="s1")])
        broker.wait_until_matched()
        ann, bob = tenant.subscriber("ann"), tenant.subscriber("bob")
        assert selects(tenant, ann)
        assert not selects(tenant, bob)
        page = with_selected(broker.store, tenant, ann, broker.page(tenant, ann, after=0), broker.clock())
        [found] = msgspec.json.decode(page[0][1])["selected"]
        assert found["id"] == "warm"
        assert (found["values"]["f"], found["values"]["device"]) == (86.0, "s1")
        assert isinstance(found["values"]["time"], int)
        broker.unsubscribe(tenant, "ann", "warm")
        broker.wait_until_matched()
        assert not selects(tenant, ann)
