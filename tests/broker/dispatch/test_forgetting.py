"""Unregistering forgets a subscriber wholly: subscriptions, queue, dead letters and feedback, in memory and on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log import dead_letters
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import JudgeCommand

WINDOW = "{x exists} top 1 within 9 events by value(x)"


def judged(broker: Broker, subscriber: str, event: lw.Event) -> None:
    said = JudgeCommand(subscriber, "relaxed", event, True)
    wait_for(lambda done: broker.command(broker.tenant("default"), said, done))


def rows(broker: Broker) -> dict[str, int]:
    with broker.store.reading() as tables:
        return {
            table: tables.one(f"SELECT count(*) FROM {table} WHERE tenant = 1")[0]
            for table in ("subscribers", "subscriptions", "judgements", "dead_letters")
        }


def filled(broker: Broker, *names: str) -> None:
    """Subscribers with an exact, a relaxed and a top-k subscription, a dead letter and feedback each."""
    tenant = broker.tenant("default")
    texts = {"exact": "{x >= 0}", "relaxed": "{colour~ = red~}", "top": WINDOW}
    for name in names:
        broker.register(tenant, name, "dead-letter", 1)
        broker.subscribe(tenant, name, [lw.parse(text, id=id) for id, text in texts.items()])
    broker.publish(tenant, [lw.event({"x": x, "colour": "crimson"}, id=f"{names[0]}{x}") for x in (5, 6)])
    broker.wait_until_matched(300)
    for name in names:
        judged(broker, name, lw.event({"x": 5, "colour": "crimson"}, id=f"{names[0]}5"))


@pytest.mark.parametrize("restarted", [False, True])
def test_nothing_of_a_subscriber_is_left(tmp_path: Path, restarted: bool) -> None:
    """Another one's stays; who comes again under the same name starts anew."""
    data = tmp_path / "data"
    with Broker(data) as broker:
        filled(broker, "ann", "bob")
        assert rows(broker) == {"subscribers": 2, "subscriptions": 6, "judgements": 2, "dead_letters": 2}
        broker.wait_until_matched(300)
    with Broker(data) as broker:  # windows, and the feedback beside them, were saved with both
        tenant = broker.tenant("default")
        assert len(tenant.stateless.interpretation.feedback) == 2
        broker.unregister(tenant, "ann")
        broker.wait_until_matched(300)
        if not restarted:
            assert [queue.id for queue in tenant.by_number.values()] == ["bob"]
            assert len(tenant.stateless.interpretation.feedback) == 1
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.sweep()
        assert rows(broker) == {"subscribers": 1, "subscriptions": 3, "judgements": 1, "dead_letters": 1}
        assert {held.subscriber for held in tenant.subscriptions.values()} == {tenant.subscriber("bob").number}
        assert len(tenant.stateless.interpretation.feedback) == 1
        with broker.store.reading() as tables:
            [letter] = dead_letters.listed(tables, 1, 0, 9)
        assert letter.subscriber == tenant.subscriber("bob").number
        broker.register(tenant, "ann")
        assert len(tenant.subscriber("ann")) == 0
        assert tenant.subscriber("ann").policy == "drop-oldest"


def test_feedback_of_who_is_gone_moves_nothing() -> None:
    """Relatedness is as it was before it was given."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        filled(broker, "ann")
        moved = [len(judgement.pairs) for judgement in tenant.stateless.interpretation.feedback]
        assert moved
        assert sum(moved) > 0
        pair = next(iter(tenant.stateless.interpretation.feedback)).pairs[0]
        assert tenant.stateless.interpretation.feedback.balance(pair) != 0
        broker.unregister(tenant, "ann")
        assert tenant.stateless.interpretation.feedback.balance(pair) == 0
