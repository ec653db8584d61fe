"""Deliveries carry what `select` names; whoever selects nothing gets them as ever."""

from __future__ import annotations

import msgspec

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.queries.select import selects, with_selected
from likewise.formats.json.batches import decode_one


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


def _selected(broker: Broker, text: str, *said: bytes) -> list[dict[str, object]]:
    """What the deliveries of one subscription carry, after some envelopes were published."""
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    broker.subscribe(tenant, "ann", [lw.parse(text, id="s")])
    for body in said:
        broker.publish(tenant, decode_one(body))
        broker.wait_until_matched()
    ann = tenant.subscriber("ann")
    page = with_selected(broker.store, tenant, ann, broker.page(tenant, ann, after=0), broker.clock())
    return [msgspec.json.decode(frame)["selected"][0]["values"] for _, frame in page]


def test_a_reading_without_a_unit_is_in_the_unit_of_the_condition() -> None:
    with Broker(None) as broker:
        body = b'{"v":1,"id":"e1","source":"s1","payload":{"t":26}}'
        assert _selected(broker, "{t > 25 degC} select (t in degF as f)", body) == [{"f": 78.8}]


def test_a_delivery_carries_the_payload_as_it_was_sent() -> None:
    with Broker(None) as broker:
        payload = b'{"room":{"t":{"value":30.0,"unit":"degC"}},"big":123456789012345678901234567890,"tags":["a"]}'
        body = b'{"v":1,"id":"e1","payload":' + payload + b"}"
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse('{"room.t" > 25} select (@payload)', id="s")])
        broker.publish(tenant, decode_one(body))
        broker.wait_until_matched()
        ann = tenant.subscriber("ann")
        [(_, frame)] = with_selected(broker.store, tenant, ann, broker.page(tenant, ann, after=0), broker.clock())
        assert b'"values":{"payload":' + payload + b"}" in frame


def test_what_is_cleared_has_the_score_of_its_delivery() -> None:
    with Broker(None) as broker:
        warm, cold = (b'{"v":1,"id":"e%d","source":"s1","payload":{"t":%d}}' % each for each in ((1, 30), (2, 10)))
        found = _selected(broker, "{t > 25} once until false select (@score, @id)", warm, cold)
        assert found == [{"score": 1.0, "id": "e1"}, {"score": 1.0, "id": "e2"}]
