"""Promises of a backtest: it lists what a subscription would have sent, with cause, key and time, up to now."""

from __future__ import annotations

import msgspec
import pytest

import likewise as lw
from likewise.api.queries import BacktestResult
from likewise.broker.broker import Broker
from likewise.broker.maintenance import housekeeping
from likewise.broker.queries.backtest import backtest
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Condition, Event, Subscription
from likewise.model.alerts.notification import Key
from likewise.testing import generators
from likewise.testing.clocks import ManualClock
from likewise.testing.generators import SeededChoice

MINUTE = 60 * 1_000_000
START = 1_714_564_800_000_000  # 2024-05-01T12:00:00Z
Sent = tuple[str, Key, int, str | None]  # cause, key, time, event


@pytest.fixture(autouse=True)
def no_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still between steps, so the broker need not look at it."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)


def publish(broker: Broker, tenant: Tenant, *events: Event) -> None:
    broker.publish(tenant, list(events))
    broker.wait_until_matched()


def tried(broker: Broker, text: str | Subscription, limit: int = 1_000, shown: int = 1_000) -> BacktestResult:
    wanted = lw.parse(text) if isinstance(text, str) else text
    tenant, store = broker.tenant("default"), broker.store
    return backtest(store, tenant, wanted, store.position + 1, broker.clock(), limit=limit, shown=shown)


def sent(found: BacktestResult) -> list[Sent]:
    return [(each.cause, each.key, each.time - START, each.event) for each in found.matches]


def door(state: str, id: str, source: str = "front") -> Event:
    return lw.event({"door": state}, id=id, source=source)


def doors(*states: tuple[int, str]) -> Broker:
    """A broker in which a door was opened and closed at some minutes; it is noon and 50 minutes now."""
    clock = ManualClock(START)
    broker = Broker(None, clock=clock)
    tenant = broker.tenant("default")
    for minute, state in states:
        clock.set(START + minute * MINUTE)
        publish(broker, tenant, door(state, f"{state}-{minute}"))
    clock.set(START + 50 * MINUTE)
    return broker


def test_a_door_that_has_been_open_for_50_minutes_is_found() -> None:
    """Nothing came after it was opened: time alone makes the alarm due."""
    with doors((0, "open")) as broker:
        found = tried(broker, "{door = open} for 5 min")
        assert sent(found) == [("held", ("front",), 5 * MINUTE, "open-0")]
        assert (found.events, found.matched, found.causes) == (1, 1, {"held": 1})
        assert found.until == START + 50 * MINUTE
        assert (found.matches[0].since, found.matches[0].arrival) == (START, START)


def test_time_passes_between_events_too_and_a_cleared_is_no_match() -> None:
    with doors((0, "open"), (10, "closed"), (20, "open"), (22, "closed"), (30, "open")) as broker:
        found = tried(broker, "{door = open} for 5 min once until false")
        assert sent(found) == [
            ("held", ("front",), 5 * MINUTE, "open-0"),
            ("cleared", ("front",), 10 * MINUTE, "closed-10"),
            ("held", ("front",), 35 * MINUTE, "open-30"),
        ]
        assert (found.matched, found.causes) == (2, {"held": 2, "cleared": 1})


def test_silence_and_its_end_are_counted_by_cause() -> None:
    with doors((0, "open"), (30, "closed")) as broker:
        found = tried(broker, "{door exists} absent for 10 min")
        assert sent(found) == [
            ("absent", ("front",), 10 * MINUTE, "open-0"),
            ("returned", ("front",), 30 * MINUTE, "closed-30"),
            ("absent", ("front",), 40 * MINUTE, "closed-30"),
        ]
        assert (found.matched, found.causes) == (2, {"absent": 2, "returned": 1})


def test_a_digest_that_ended_before_now_is_listed_with_its_total() -> None:
    with doors((1, "open"), (2, "open"), (3, "open")) as broker:
        found = tried(broker, "{door = open} digest every 15 min")
        assert [(each.cause, each.total, each.time - START) for each in found.matches] == [("digest", 3, 15 * MINUTE)]


def test_only_the_last_are_listed_and_all_are_counted() -> None:
    with doors((0, "open"), (10, "closed"), (20, "open"), (30, "closed")) as broker:
        found = tried(broker, "{door = open} for 5 min once until false", shown=1)
        assert [each.event for each in found.matches] == ["closed-30"]
        assert (found.matched, found.causes) == (2, {"held": 2, "cleared": 2})


def test_an_alert_is_tried_by_arrival_and_a_clock_that_was_set_back_moves_it_back() -> None:
    """An event that says it is of last year counts when it came; a run goes on as old as it was."""
    clock = ManualClock(START)
    with Broker(None, clock=clock) as broker:
        tenant = broker.tenant("default")
        publish(broker, tenant, lw.event({"door": "open"}, id="a", source="front", time=START - 400 * 1440 * MINUTE))
        clock.advance(3 * MINUTE - 600 * MINUTE)  # three minutes later, the clock is set back by ten hours
        publish(broker, tenant, lw.event({"door": "shut"}, id="b", source="back"))
        clock.advance(4 * MINUTE)
        found = tried(broker, "{door = open} for 5 min")
        assert (found.matched, found.causes) == (1, {"held": 1})


def test_a_window_moves_up_to_now_where_it_follows_arrival_and_says_when() -> None:
    clock = ManualClock(START)
    with Broker(None, clock=clock) as broker:
        tenant = broker.tenant("default")
        for x in (9, 5):
            publish(broker, tenant, lw.event({"x": x}, id=f"x{x}"))
            clock.advance(MINUTE)
        found = tried(broker, "{x exists} top 1 within 10 min by value(x) highest")
        assert [(e.cause, e.event, e.time - START) for e in found.matches] == [("arrival", "x9", 0)]
        clock.advance(30 * MINUTE)
        found = tried(broker, "{x exists} top 1 within 10 min by value(x) highest")
        assert sent(found) == [("arrival", (), 0, "x9"), ("promoted", (), 10 * MINUTE, "x5")]
        assert found.causes == {"arrival": 1, "promoted": 1}


def test_events_with_their_own_time_alone_move_a_window() -> None:
    clock = ManualClock(START)
    with Broker(None, clock=clock) as broker:
        tenant = broker.tenant("default")
        for x in (9, 5):
            publish(broker, tenant, lw.event({"x": x}, id=f"x{x}", time=START))
        clock.advance(30 * MINUTE)
        assert tried(broker, "{x exists} top 1 within 10 min by value(x) highest").causes == {"arrival": 1}


def test_no_events_are_no_match() -> None:
    with Broker(None) as broker:
        found = tried(broker, "{door = open} for 5 min")
        assert found == BacktestResult(0, 0, None, None, ())


def live(broker: Broker, tenant: Tenant) -> list[Sent]:
    """What a live subscription was sent."""
    frames = [
        msgspec.json.decode(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0, limit=1_000)
    ]
    return [
        (each["cause"], tuple(each["alert"]["key"]), each["alert"]["moment"], each["event"]["id"]) for each in frames
    ]


def exact_alert(choice: SeededChoice) -> Subscription:
    while True:
        made = generators.alert(choice, "alert")
        if isinstance(made.body, Condition) and not made.body.is_relaxed():
            return made


@pytest.mark.parametrize("seed", range(40))
def test_a_generated_history_gives_what_the_reference_says_and_what_was_delivered(seed: int) -> None:
    """One alert, events of several keys and sources; the clock rests, moves a little, or far."""
    choice = SeededChoice(seed)
    wanted = exact_alert(choice)
    clock = ManualClock(START)
    with Broker(None, clock=clock) as broker:
        oracle = OracleEngine(lateness=0)
        oracle.add(0, wanted, at=START)
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [wanted])
        expected = []
        for number in range(60):
            clock.advance(choice.pick((0, 1, 1, 2, 5, 30)))
            made = generators.event(choice, frozenset({"alert"}), f"e{number}", clock())
            event = msgspec.structs.replace(made, expires=None, source=made.source or "s")
            expected += oracle.match(event, clock())
            publish(broker, tenant, event)
        clock.advance(choice.pick((0, 3, 100)))
        expected += oracle.advance(clock())
        found = tried(broker, wanted)
        said = [(m.cause, m.spoken.key, m.spoken.moment, m.event_id) for _, m in expected if m.spoken is not None]
        assert [(each.cause, each.key, each.time, each.event) for each in found.matches] == said
        assert found.matched == sum(cause not in ("cleared", "returned") for cause, *_ in said)
        broker._housekeeping._move_time(tenant)
        broker.store.commit(lambda tables: None)  # after which a tick, if there is one, is in the log
        broker.wait_until_matched()
        assert live(broker, tenant) == said
