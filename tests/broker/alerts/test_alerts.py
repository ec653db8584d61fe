"""Alerts in the broker: through the log, said once whatever stops it, never because the broker itself was silent."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import AlertSettings, Config
from likewise.broker.maintenance import housekeeping as being_up
from likewise.errors import InputError
from likewise.testing.clocks import ManualClock

SECOND = 1_000_000
TEXTS = {
    "held": "{door = open} for 30 s once until false",
    "seldom": "{door = open} at most every 20 s",
    "silent": "{door exists} absent for 60 s",
    "digest": "{door = open} digest every 2 min",
    "room": "{door = open} per room for 10 s",
}
pytestmark = pytest.mark.usefixtures("no_chores")


@pytest.fixture
def broker(clock: ManualClock) -> Iterator[Broker]:
    with Broker(None, clock=clock) as broker:
        yield broker


def subscribe(broker: Broker, **texts: str) -> None:
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in texts.items()])


def publish(broker: Broker, id: str, source: str = "a", **fields: object) -> None:
    broker.publish(broker.tenant("default"), [lw.event(fields, id=id, source=source)])


def tick(broker: Broker) -> None:
    """What the broker does every second."""
    broker.wait_until_matched()
    tenant, before = broker.tenant("default"), broker.store.position
    with tenant.matchers:
        due = tenant.alerts.next_due()
        broker._housekeeping._move_time(tenant)
    broker._housekeeping.note_up()
    patience = time.monotonic() + 120
    while due is not None and due <= broker.clock() and broker.store.position == before:  # it is written beside us
        assert time.monotonic() < patience
        time.sleep(0.005)
    broker.wait_until_matched()


def documents(broker: Broker) -> list[dict[str, Any]]:
    broker.wait_until_matched()
    tenant = broker.tenant("default")
    page = broker.page(tenant, tenant.subscriber("ann"), after=0, limit=100_000)
    return [msgspec.json.decode(frame) for _, frame in page]


def said(broker: Broker) -> list[tuple[str, str, str]]:
    return [(d["event"]["id"], d["cause"], d["subscriptions"][0]["id"]) for d in documents(broker)]


def test_what_lasts_is_said_by_a_tick_with_its_facts(broker: Broker, clock: ManualClock) -> None:
    subscribe(broker, held=TEXTS["held"])
    publish(broker, "e1", door="open")
    begun = clock()
    clock.advance(29 * SECOND)
    tick(broker)
    assert said(broker) == []
    clock.advance(2 * SECOND)
    tick(broker)
    (found,) = documents(broker)
    assert (found["cause"], found["event"]["id"], found["subscriptions"]) == (
        "held",
        "e1",
        [{"id": "held", "score": 1.0}],
    )
    assert found["alert"]["key"] == ["a"]
    assert found["alert"]["since"] == begun
    publish(broker, "e2", door="closed")
    assert said(broker)[1:] == [("e2", "cleared", "held")]


def test_nothing_is_ticked_while_nothing_is_due(broker: Broker, clock: ManualClock) -> None:
    subscribe(broker, held=TEXTS["held"])
    publish(broker, "e1", door="open")
    broker.wait_until_matched()
    before = broker.store.position
    clock.advance(20 * SECOND)
    tick(broker)
    assert broker.store.position == before


def test_a_digest_names_events_as_their_publisher_does(broker: Broker, clock: ManualClock) -> None:
    subscribe(broker, digest=TEXTS["digest"])
    publish(broker, "e1", door="open")
    publish(broker, "e2", source="b", door="open")
    clock.advance(120 * SECOND)
    tick(broker)
    (found,) = documents(broker)
    assert (found["cause"], found["event"]["id"], found["alert"]["total"]) == ("digest", "e2", 2)
    assert [item["event_id"] for item in found["alert"]["items"]] == ["e1", "e2"]


def test_earlier_events_build_state_and_deliver_nothing(broker: Broker, clock: ManualClock) -> None:
    publish(broker, "e1", door="open")
    clock.advance(20 * SECOND)
    publish(broker, "e2", source="b", door="open")
    clock.advance(15 * SECOND)
    subscribe(broker, held=TEXTS["held"])
    tick(broker)
    assert said(broker) == []
    clock.advance(16 * SECOND)
    tick(broker)
    assert said(broker) == [("e2", "held", "held")]
    publish(broker, "e3", door="open")
    publish(broker, "e4", door="closed")
    publish(broker, "e5", source="b", door="closed")
    assert said(broker)[1:] == [("e5", "cleared", "held")]  # of "a" nothing was sent, so nothing is that it ended


def test_an_earlier_event_that_still_waits_for_late_ones_says_nothing(clock: ManualClock) -> None:
    """It was there before the alert; what comes after it speaks."""
    with Broker(None, Config(alerts=AlertSettings(lateness="15 s")), clock=clock) as broker:
        publish(broker, "e0", source="old", door="open")
        clock.advance(5 * SECOND)
        subscribe(broker, once="{door = open} once until false", seldom=TEXTS["seldom"], digest=TEXTS["digest"])
        clock.advance(SECOND)
        publish(broker, "e1", source="old", door="open")
        publish(broker, "e2", source="new", door="open")
        clock.advance(20 * SECOND)
        tick(broker)
        assert said(broker) == [
            ("e2", "arrival", "once"),
            ("e1", "arrival", "seldom"),  # of e0 nothing was sent, so there is no cool-down
            ("e2", "arrival", "seldom"),
        ]


def test_an_outage_of_the_broker_is_no_absence(tmp_path: Path, clock: ManualClock) -> None:
    with Broker(tmp_path / "data", clock=clock) as broker:
        subscribe(broker, silent=TEXTS["silent"])
        publish(broker, "e1", door="open")
        clock.advance(20 * SECOND)
        tick(broker)
    clock.advance(3_600 * SECOND)
    with Broker(tmp_path / "data", clock=clock) as broker:
        publish(broker, "other", source="b", door="open")
        tick(broker)
        assert said(broker) == []
        clock.advance(38 * SECOND)
        tick(broker)
        assert said(broker) == []
        clock.advance(5 * SECOND)
        tick(broker)
        assert said(broker)[0] == ("e1", "absent", "silent")
        publish(broker, "e2", door="open")
        assert said(broker)[-1] == ("e2", "returned", "silent")


def test_a_short_outage_and_the_time_until_the_broker_listens_are_no_absence(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(being_up, "TICK", SECOND)
    with Broker(tmp_path / "data", clock=clock) as broker:
        subscribe(broker, silent=TEXTS["silent"])
        publish(broker, "e1", door="open")
        tick(broker)
    clock.advance(8 * SECOND)
    with Broker(tmp_path / "data", clock=clock) as broker:
        clock.advance(8 * SECOND)
        broker.note_listening()
        clock.advance(58 * SECOND)
        tick(broker)
        assert said(broker) == []
        clock.advance(3 * SECOND)
        tick(broker)
        assert said(broker) == [("e1", "absent", "silent")]


def test_events_that_lack_what_tells_keys_apart_are_counted(broker: Broker) -> None:
    subscribe(broker, rooms="{door = open} per room for 1 min")
    publish(broker, "e1", door="open")
    broker.wait_until_matched()
    shown = broker.metrics.page().decode()
    assert 'likewise_events_keyless{tenant="default"} 1.0' in shown


def test_a_withdrawn_event_counts_no_more_and_what_was_said_stays(broker: Broker, clock: ManualClock) -> None:
    subscribe(broker, held=TEXTS["held"])
    publish(broker, "e1", door="open")
    broker.wait_until_matched()
    broker.withdraw(broker.tenant("default"), "e1", "a")
    clock.advance(60 * SECOND)
    tick(broker)
    assert said(broker) == []


def test_what_an_alert_said_of_a_withdrawn_event_stays_and_its_end_is_delivered(broker: Broker) -> None:
    subscribe(broker, once="{door = open} once until false", plain="{door = open}")
    publish(broker, "e1", door="open")
    broker.wait_until_matched()
    broker.withdraw(broker.tenant("default"), "e1", "a")
    assert said(broker) == [("e1", "arrival", "once"), ("e1", "cleared", "once")]
    publish(broker, "e2", door="open")
    assert ("e2", "arrival", "once") in said(broker)


def test_an_alert_is_explained_as_it_stands(broker: Broker, clock: ManualClock) -> None:
    from likewise.broker.queries.dry_run import explain_live

    subscribe(broker, held=TEXTS["held"])
    publish(broker, "e1", door="open")
    broker.wait_until_matched()
    clock.advance(10 * SECOND)
    tenant = broker.tenant("default")
    event = lw.event({"door": "open"}, source="a", id="e1")
    found = explain_live(tenant, tenant.subscription("ann", "held"), event, clock())
    assert (found.verdict, found.change[:28]) == ("not_yet", "It has held for 10 s of 30 s")


def test_a_configuration_that_is_no_span_is_refused() -> None:
    with pytest.raises(InputError, match="no span of time"):
        Config(alerts=AlertSettings(forget="soon"))


@pytest.mark.parametrize("seed", range(4))
def test_stops_and_crashes_neither_lose_nor_repeat_what_alerts_say(seed: int, tmp_path: Path) -> None:
    """The same steps without a stop, and with stops and crashes in between, say the same."""
    told = []
    for stopping in (False, True):
        chance, clock = random.Random(seed), ManualClock("2024-05-01T12:00:00Z")
        breaks = random.Random(seed + 100)
        data = tmp_path / f"{seed}-{stopping}-0"
        broker = Broker(data, clock=clock)
        try:
            subscribe(broker, **TEXTS)
            for step in range(40):
                clock.advance(chance.choice((0, 1, 4, 9)) * SECOND)
                what = chance.randrange(6)
                if what < 4:
                    state = chance.choice(("open", "open", "closed"))
                    publish(broker, f"e{step}", chance.choice("ab"), door=state, room=chance.choice(("hall", "attic")))
                elif what == 4:
                    tick(broker)
                else:
                    publish(broker, f"e{step}", battery=3)
                broker.wait_until_matched()
                if stopping and breaks.randrange(5) == 0:
                    tick(broker)
                    copy = tmp_path / f"{seed}-{stopping}-{step + 1}"
                    crash = breaks.randrange(2) == 0
                    if crash:
                        shutil.copytree(data, copy, ignore=shutil.ignore_patterns("lock*"))
                    broker.close()
                    data = copy if crash else data
                    broker = Broker(data, clock=clock)
            clock.advance(200 * SECOND)
            tick(broker)
            told.append(said(broker))
        finally:
            broker.close()
    assert told[0] == told[1]
    assert len(told[0]) > 5


def test_a_new_alert_does_not_silence_another_of_the_same_key_after_the_clock_was_set_back(
    broker: Broker, clock: ManualClock
) -> None:
    """What the new one learns of earlier events goes back with the clock, as what the old one knows did."""
    clock.advance(1_000 * SECOND)
    publish(broker, "before", x=0)
    subscribe(broker, old="{x > 1} once until false")
    clock.now -= 90 * SECOND
    publish(broker, "low", x=0)
    subscribe(broker, new="{x > 5} once until false")
    clock.advance(SECOND)
    publish(broker, "high", x=9)
    assert said(broker) == [("high", "arrival", "old"), ("high", "arrival", "new")]
