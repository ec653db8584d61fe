"""Commands of the log: subscriptions of one request hold together or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log.entries import SubscribeCommand, command_entry
from likewise.errors import DuplicateId, StateError


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(None) as broker:
        broker.register(broker.tenant("default"), "ann")
        yield broker


def held(broker: Broker) -> list[str]:
    return [each.id for each in broker.tenant("default").live()]


def made(*ids: str) -> list[lw.Subscription]:
    return [lw.parse("{no2 > 40}", id=id) for id in ids]


def test_a_batch_with_an_id_in_use_holds_nothing(broker: Broker) -> None:
    """Neither the subscriptions before it nor those after it; asking again changes nothing."""
    tenant = broker.tenant("default")
    broker.subscribe(tenant, "ann", made("a"))
    position = broker.store.position
    for _ in range(2):
        with pytest.raises(DuplicateId):
            broker.subscribe(tenant, "ann", made("b", "a", "c"))
        with pytest.raises(DuplicateId):
            broker.subscribe(tenant, "ann", made("b", "c", "b"))
    assert held(broker) == ["a"]
    assert broker.store.position == position  # nothing was written, either


def test_a_batch_that_meets_its_duplicate_only_in_the_log_holds_nothing(tmp_path: Path) -> None:
    """Two requests that were under way together: the later one holds nothing, also after a restart."""
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.publish(tenant, [lw.event({"no2": 45}, id="e1")])
        answers: list[Future[object]] = []
        entries = []
        for ids in (("a",), ("b", "a", "c", "d"), ("e", "f")):
            for part, each in enumerate(made(*ids), 1):
                answers.append(Future())
                entries.append(
                    command_entry(tenant.number, SubscribeCommand("ann", each, part=part), answers[-1].set_result)
                )
        broker.store.append(entries, lambda result: None)
        found = [answer.result(timeout=150) for answer in answers]
        broker.wait_until_matched()
        assert held(broker) == ["a", "e", "f"]
        assert isinstance(found[2], DuplicateId)
        assert isinstance(found[3], StateError)
        assert isinstance(found[4], StateError)
        [(_, frame)] = broker.page(tenant, tenant.subscriber("ann"), after=0)
        assert [name in frame for name in (b'"a"', b'"b"', b'"c"', b'"e"')] == [True, False, False, True]
    with Broker(tmp_path / "data") as broker:
        assert held(broker) == ["a", "e", "f"]


def test_a_replacement_that_is_refused_leaves_the_old_subscription(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be held takes nothing away."""
    tenant = broker.tenant("default")
    broker.subscribe(tenant, "ann", made("a"))

    def refuse(*_: object, **__: object) -> None:
        raise StateError("not now")

    monkeypatch.setattr(tenant.stateless, "add", refuse)
    with pytest.raises(StateError, match="not now"):
        broker.subscribe(tenant, "ann", [lw.parse("{no2 > 50}", id="a")], replace=True)
    assert [str(each.subscription.body) for each in tenant.live()] == [str(made("a")[0].body)]
