"""Subscriptions to topics with an acknowledgement: who gets which message, and what survives a restart."""

from __future__ import annotations

from pathlib import Path

import msgspec

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log.commits import wait_for
from likewise.broker.log.deliveries import CAUSES
from likewise.broker.log.entries import SubscribeTopicCommand, UnsubscribeTopicCommand, event_entries
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.testing.clocks import ManualClock

START = "2024-05-01T12:00:00Z"


def publish(broker: Broker, message: StoredMessage, *events: lw.Event) -> None:
    """As the listener does: the first event has the message, the others say how far back it is."""
    tenant = broker.tenant("default")
    entries = event_entries(tenant.number, events or [lw.event({"x": 1})], broker.expires_at())
    for part, entry in enumerate(entries):
        entry.message = message if not part else msgspec.structs.replace(message, payload=b"", part=part)
        if message.retain and not part:
            tenant.retained.take(message, broker.store.position + 1)
    wait_for(lambda done: broker.store.append(entries, done))
    broker.wait_until_matched()


def subscribe(broker: Broker, name: str, text: str, **said: object) -> object:
    tenant = broker.tenant("default")
    if name not in tenant.subscribers:
        broker.register(tenant, name)
    command = SubscribeTopicCommand(name, text, **said)  # type: ignore[arg-type]
    return wait_for(lambda done: broker.command(tenant, command, done))


def got(broker: Broker, name: str) -> list[tuple[str, str, bytes]]:
    tenant = broker.tenant("default")
    found = broker.deliveries(tenant, tenant.subscriber(name), after=0, limit=100, messages=True)
    return [(CAUSES[d.cause], m.topic if (m := d.message) else "", m.payload if m else b"") for d in found]


def test_a_message_is_judged_by_its_topic_and_an_event_that_came_another_way_by_its_tuple() -> None:
    """Never by a `topic` inside a payload; one message is one delivery, however many events it says."""
    with Broker(None) as broker:
        subscribe(broker, "ann", "home/+/t")
        publish(broker, StoredMessage("home/attic/t", b"1", qos=1), lw.event({"x": 1}), lw.event({"x": 2}))
        publish(broker, StoredMessage("garden/t", b"2", qos=1), lw.event({"topic": "home/liar/t"}))
        publish(broker, StoredMessage("home/attic/t", b"3", qos=0))  # nobody acknowledges that
        broker.publish(broker.tenant("default"), [lw.event({"topic": "home/cellar/t", "y": 1})])
        broker.wait_until_matched()
        assert got(broker, "ann") == [("topic", "home/attic/t", b"1"), ("topic", "", b"")]


def test_who_meets_an_event_both_ways_gets_it_both_ways() -> None:
    """By its topic and by its meaning: two deliveries."""
    with Broker(None) as broker:
        subscribe(broker, "ann", "#")
        broker.subscribe(broker.tenant("default"), "ann", [lw.parse("{x > 0}", id="s")])
        publish(broker, StoredMessage("a", b"1", qos=1))
        assert sorted(cause for cause, _, _ in got(broker, "ann")) == ["arrival", "topic"]


def test_a_subscription_to_topics_and_what_waits_for_it_survive_a_restart(tmp_path: Path) -> None:
    """With its number, so that what came before another QoS was asked for is still delivered."""
    with Broker(tmp_path / "data") as broker:
        before = subscribe(broker, "ann", "a/#")
        publish(broker, StoredMessage("a/b", b"1", qos=1))
    with Broker(tmp_path / "data") as broker:
        assert got(broker, "ann") == [("topic", "a/b", b"1")]
        after = subscribe(broker, "ann", "a/#", qos=2)
        assert (before.number, after.number, after.qos) == (before.number, before.number, 2)  # type: ignore[attr-defined]
        publish(broker, StoredMessage("a/c", b"2", qos=1))
        assert [payload for _, _, payload in got(broker, "ann")] == [b"1", b"2"]
        tenant = broker.tenant("default")
        wait_for(lambda done: broker.command(tenant, UnsubscribeTopicCommand("ann", "a/#"), done))
        publish(broker, StoredMessage("a/d", b"3", qos=1))
        assert len(got(broker, "ann")) == 2
        broker.unregister(tenant, "ann")
        assert not tenant.topics


def test_a_client_that_wants_none_of_its_own_messages_gets_none() -> None:
    """No Local: by who published it."""
    with Broker(None) as broker:
        subscribe(broker, "mqtt:ann", "a", no_local=True)
        publish(broker, StoredMessage("a", b"1", qos=1, client="ann"))
        publish(broker, StoredMessage("a", b"2", qos=1, client="bob"))
        assert [payload for _, _, payload in got(broker, "mqtt:ann")] == [b"2"]


def test_a_newcomer_gets_the_retained_messages_and_no_other_earlier_one(tmp_path: Path) -> None:
    """The newest of each topic; an empty one ends it; after a restart, too."""
    with Broker(tmp_path / "data") as broker:
        for n, (topic, payload) in enumerate((("a/b", b"1"), ("a/b", b"2"), ("a/c", b"3"), ("a/c", b""), ("b", b"4"))):
            publish(broker, StoredMessage(topic, payload, qos=1, retain=True), lw.event({"n": n}))
        publish(broker, StoredMessage("a/b", b"5", qos=1))
        subscribe(broker, "ann", "a/#", retained=True)
        broker.wait_until_matched()
        assert got(broker, "ann") == [("retained", "a/b", b"2")]
    with Broker(tmp_path / "data") as broker:
        subscribe(broker, "bob", "#", retained=True)
        broker.wait_until_matched()
        assert [payload for _, _, payload in got(broker, "bob")] == [b"2", b"4"]


def test_a_retained_message_outlives_what_the_log_keeps_unless_it_says_that_it_ends() -> None:
    """What another took the place of goes with the others."""
    clock = ManualClock(START)
    with Broker(None, clock=clock) as broker:
        tenant = broker.tenant("default")
        for payload in (b"1", b"2"):
            publish(broker, StoredMessage("a", payload, qos=1, retain=True))
        publish(broker, StoredMessage("b", b"3", qos=1, retain=True, expires=clock() + 10_000_000))
        publish(broker, StoredMessage("c", b"4", qos=1))
        clock.advance(8 * 24 * 3_600 * 1_000_000)
        broker.sweep()
        broker.sweep()
        subscribe(broker, "ann", "#", retained=True)
        broker.wait_until_matched()
        assert [payload for _, _, payload in got(broker, "ann")] == [b"2"]
        assert len(tenant.retained) == 1


def test_deliveries_may_be_settled_in_any_order() -> None:
    """The cursor follows what is settled without a gap."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        subscribe(broker, "ann", "a")
        for n in range(3):
            publish(broker, StoredMessage("a", b"%d" % n, qos=1))
        queue = tenant.subscriber("ann")
        broker.acknowledge_each(tenant, queue, [2])
        assert (queue.acknowledged, [p for _, _, p in got(broker, "ann")]) == (0, [b"0", b"2"])
        broker.acknowledge_each(tenant, queue, [1])
        assert queue.acknowledged == 2
        broker.acknowledge_each(tenant, queue, [3])
        assert queue.acknowledged == 3
