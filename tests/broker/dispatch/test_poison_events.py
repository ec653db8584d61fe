"""An event that an engine cannot match: it is set aside wherever it is met, and nobody else feels it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log import dead_letters
from likewise.broker.log.commits import wait_for
from likewise.broker.log.dead_letters import DeadLetter
from likewise.broker.log.entries import RetryCommand
from likewise.broker.queries.backtest import backtest
from likewise.broker.queries.dry_run import would_match
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import StateError
from likewise.matching.matcher import Matcher

WINDOW = "{x exists} top 9 within 1 h by value(x)"
POISONED = [True]


@pytest.fixture(autouse=True)
def weak_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every engine fails at an event that says `poison`, while `POISONED`."""
    POISONED[0] = True

    def refuse(event: lw.Event) -> None:
        if POISONED[0] and any(each.attribute == "poison" for each in event.tuples):
            raise ZeroDivisionError("an engine broke")

    for name in ("match", "would_match"):

        def one(self: Matcher, event: lw.Event, *rest: object, real: object = getattr(Matcher, name)) -> object:
            refuse(event)
            return real(self, event, *rest)  # type: ignore[operator]

        monkeypatch.setattr(Matcher, name, one)

    def batch(self: Matcher, events: Sequence[lw.Event], *rest: object, real: object = Matcher.match_batch) -> object:
        for event in events:
            refuse(event)
        return real(self, events, *rest)  # type: ignore[operator]

    monkeypatch.setattr(Matcher, "match_batch", batch)


def filled(broker: Broker, subscribed: dict[str, str]) -> Tenant:
    """A tenant that holds subscriptions and is sent a good event, a poisonous one and another good one."""
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in subscribed.items()])
    bad = lw.event({"x": 2, "poison": True}, id="bad")
    broker.publish(tenant, [lw.event({"x": 1}, id="e1"), bad, lw.event({"x": 3}, id="e3")])
    broker.wait_until_matched(300)
    return tenant


def got(broker: Broker, subscriber: str) -> list[str]:
    broker.wait_until_matched(300)
    tenant = broker.tenant("default")
    frames = broker.page(tenant, tenant.subscriber(subscriber), after=0)
    return [msgspec.json.decode(frame)["event"]["id"] for _, frame in frames]


def letters(broker: Broker) -> list[DeadLetter]:
    with broker.store.reading() as tables:
        return dead_letters.listed(tables, 1, 0, 100)


def retried(broker: Broker, letter: DeadLetter) -> object:
    wanted = RetryCommand(letter.number, letter.event or 0, None, ())
    return wait_for(lambda done: broker.command(broker.tenant("default"), wanted, done))


@pytest.mark.parametrize("texts", [{"s": "{x >= 0}"}, {"w": WINDOW}, {"s": "{x >= 0}", "w": WINDOW}], ids=str)
def test_on_arrival_it_becomes_a_dead_letter_and_the_others_are_delivered(
    tmp_path: Path, texts: dict[str, str]
) -> None:
    """Also after a restart that replays the log into windows."""
    with Broker(tmp_path / "data") as broker:
        filled(broker, texts)
        assert got(broker, "ann") == ["e1", "e3"]
        assert {letter.detail for letter in letters(broker)} == {"ZeroDivisionError: an engine broke"}
        with broker.store._shared:
            shutil.copytree(tmp_path / "data", tmp_path / "crashed")
    with Broker(tmp_path / "crashed") as broker:
        broker.publish(broker.tenant("default"), [lw.event({"x": 4}, id="e4")])
        assert got(broker, "ann") == ["e1", "e3", "e4"]


def test_a_later_subscription_that_meets_it_gets_the_others(tmp_path: Path) -> None:
    """However many come, matching goes on, also after a restart; there is one dead letter, not one for each."""
    with Broker(tmp_path / "data") as broker:
        tenant = filled(broker, {"other": "{y exists}"})
        assert [letter.reason for letter in letters(broker)] == ["unmatched"]
        for name in ("bob", "eve"):
            broker.register(tenant, name)
            broker.subscribe(tenant, name, [lw.parse("{x >= 0}", id="s")])
            assert got(broker, name) == ["e1", "e3"]
        assert broker.worker.failure is None
        assert [letter.reason for letter in letters(broker)] == ["unmatched"]
    with Broker(tmp_path / "data") as broker:
        broker.publish(broker.tenant("default"), [lw.event({"x": 4}, id="e4")])
        assert got(broker, "eve") == ["e1", "e3", "e4"]


def test_trying_it_again_fails_in_words_and_reaches_those_who_did_not_have_it_once_it_works(tmp_path: Path) -> None:
    """The letter stays until then; nobody gets the event twice."""
    with Broker(tmp_path / "data") as broker:
        tenant = filled(broker, {"s": "{x >= 0}"})
        [letter] = letters(broker)
        with pytest.raises(StateError, match="an engine broke"):
            retried(broker, letter)
        assert letters(broker) == [letter]
        POISONED[0] = False
        broker.register(tenant, "bob")
        broker.subscribe(tenant, "bob", [lw.parse("{x >= 0}", id="s")])
        assert got(broker, "bob") == ["e1", "bad", "e3"]
        assert retried(broker, letter) is True
        assert (got(broker, "ann"), got(broker, "bob")) == (["e1", "e3", "bad"], ["e1", "bad", "e3"])
        assert letters(broker) == []


def test_questions_about_it_are_answered_in_words() -> None:
    """A dry run says what is wrong; trying a subscription on stored events passes it over."""
    with Broker(None) as broker:
        tenant = filled(broker, {"s": "{x >= 0}"})
        with pytest.raises(StateError, match="an engine broke"):
            would_match(tenant, lw.event({"poison": 1}), broker.clock())
        found = backtest(
            broker.store, tenant, lw.parse("{x >= 0}"), broker.store.position + 1, broker.clock(), limit=9, shown=9
        )
        assert [each.event for each in found.matches] == ["e1", "e3"]


def test_time_and_withdrawals_that_an_engine_cannot_take_end_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asked is told; the next event is matched."""
    with Broker(None) as broker:
        tenant = filled(broker, {"s": "{x >= 0}", "w": WINDOW})

        def broken(*_: object) -> None:
            raise ZeroDivisionError("an engine broke")

        monkeypatch.setattr(Matcher, "withdraw", broken)
        monkeypatch.setattr(Matcher, "advance", broken)
        with pytest.raises(StateError, match="an engine broke"):
            broker.withdraw(tenant, "e1")
        broker.publish(tenant, [lw.event({"x": 4}, id="e4")])
        assert "e4" in got(broker, "ann")
