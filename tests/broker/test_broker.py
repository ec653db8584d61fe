"""What the broker promises, one promise a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.admin import stats
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, read_config
from likewise.broker.log.commits import wait_for
from likewise.broker.tenants.backpressure import is_blocked
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import Conflict, DuplicateId, InputError, StateError, UnknownId
from likewise.model import Kind, Triple
from likewise.testing.clocks import ManualClock

HOUR = 3_600 * 1_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2024-05-01T12:00:00Z")


@pytest.fixture
def broker(clock: ManualClock) -> Iterator[Broker]:
    with Broker(None, clock=clock) as broker:
        yield broker


def tenant_of(broker: Broker) -> Tenant:
    return broker.tenant("default")


def got(broker: Broker, subscriber: str, after: int = 0) -> list[tuple[str, str, list[str]]]:
    """(event id, cause, subscriptions) of everything that waits for a subscriber."""
    broker.wait_until_matched()
    tenant = tenant_of(broker)
    found = []
    for _, frame in broker.page(tenant, tenant.subscriber(subscriber), after=after, limit=100_000):
        said = msgspec.json.decode(frame)
        found.append((said["event"]["id"], said["cause"], [s["id"] for s in said["subscriptions"]]))
    return found


def publish(broker: Broker, *ids: str, **fields: object) -> None:
    broker.publish(tenant_of(broker), [lw.event({"no2": 45, "id": id} | fields, id=id) for id in ids])


def subscribed(broker: Broker, subscriber: str, **texts: str) -> None:
    if subscriber not in tenant_of(broker).subscribers:
        broker.register(tenant_of(broker), subscriber)
    broker.subscribe(tenant_of(broker), subscriber, [lw.parse(text, id=id) for id, text in texts.items()])


def test_an_event_reaches_each_subscriber_once_and_lists_its_subscriptions(broker: Broker) -> None:
    """Two subscriptions of one subscriber share one delivery; another subscriber has its own."""
    subscribed(broker, "ann", low="{no2 > 10}", high="{no2 > 40}", higher="{no2 > 90}")
    subscribed(broker, "bob", low="{no2 > 20}")
    publish(broker, "e1", "e2")
    assert got(broker, "ann") == [("e1", "arrival", ["low", "high"]), ("e2", "arrival", ["low", "high"])]
    assert got(broker, "bob") == [("e1", "arrival", ["low"]), ("e2", "arrival", ["low"])]


def test_acknowledged_deliveries_are_not_sent_again(broker: Broker) -> None:
    """An acknowledgement settles everything up to its sequence number, and nothing else."""
    subscribed(broker, "ann", s="{no2 exists}")
    publish(broker, "e1", "e2", "e3")
    broker.wait_until_matched()
    broker.acknowledge(tenant_of(broker), "ann", 2)
    assert [id for id, _, _ in got(broker, "ann")] == ["e3"]
    with pytest.raises(StateError, match="never delivered"):
        broker.acknowledge(tenant_of(broker), "ann", 99)


def test_the_same_event_again_changes_nothing_and_other_content_is_refused(broker: Broker) -> None:
    """Identity is (tenant, source, id)."""
    subscribed(broker, "ann", s="{no2 exists}")
    event = lw.event({"no2": 1}, id="e1", source="a")
    [first] = broker.publish(tenant_of(broker), [event])
    [again] = broker.publish(tenant_of(broker), [event])
    assert (again.position, again.duplicate) == (first.position, True)
    with pytest.raises(Conflict):
        broker.publish(tenant_of(broker), [lw.event({"no2": 9}, id="new"), lw.event({"no2": 2}, id="e1", source="a")])
    broker.publish(tenant_of(broker), [lw.event({"no2": 2}, id="e1", source="b")])
    broker.publish(broker.tenant("other"), [lw.event({"no2": 3}, id="e1", source="a")])
    assert len(got(broker, "ann")) == 2  # nothing of the refused batch either


def test_a_new_subscription_first_gets_valid_earlier_events_not_had(broker: Broker, clock: ManualClock) -> None:
    """Expired, withdrawn and already delivered events are left out; the rest comes in log order, once."""
    subscribed(broker, "ann", had="{kind = had}")
    publish(broker, "e1", kind="had")
    publish(broker, "e2", kind="new")
    publish(broker, "e3", kind="gone")
    broker.publish(tenant_of(broker), [lw.event({"no2": 1}, id="e4", expires=clock.now + HOUR)])
    publish(broker, "e5", kind="new")
    broker.withdraw(tenant_of(broker), "e3")
    clock.advance(2 * HOUR)
    subscribed(broker, "ann", all="{no2 exists}", again="{kind = new}")
    publish(broker, "e6")
    assert got(broker, "ann") == [
        ("e1", "arrival", ["had"]),
        ("e2", "initial", ["all", "again"]),
        ("e5", "initial", ["all", "again"]),
        ("e6", "arrival", ["all"]),
    ]


def test_what_expires_or_is_withdrawn_while_a_subscriber_is_away_is_not_given(
    broker: Broker, clock: ManualClock
) -> None:
    """An absent subscriber gets what it missed, less what is over."""
    subscribed(broker, "ann", s="{no2 exists}")
    broker.publish(tenant_of(broker), [lw.event({"no2": 1}, id="short", expires=clock.now + HOUR)])
    publish(broker, "long", "back")
    broker.wait_until_matched()
    broker.withdraw(tenant_of(broker), "back")
    clock.advance(2 * HOUR)
    assert [id for id, _, _ in got(broker, "ann")] == ["long"]
    with pytest.raises(UnknownId):
        broker.withdraw(tenant_of(broker), "back")


def test_registering_again_loses_nothing_and_unregistering_forgets_all(broker: Broker) -> None:
    """Defect 6 of the original: registering again lost what was pending."""
    subscribed(broker, "ann", s="{no2 exists}")
    publish(broker, "e1")
    broker.wait_until_matched()
    broker.register(tenant_of(broker), "ann", limit=7)
    assert len(got(broker, "ann")) == 1
    broker.unregister(tenant_of(broker), "ann")
    with pytest.raises(UnknownId):
        tenant_of(broker).subscriber("ann")
    broker.register(tenant_of(broker), "ann")
    publish(broker, "e2")
    assert got(broker, "ann") == []


def test_a_subscription_is_replaced_and_ended(broker: Broker) -> None:
    """The same id twice is refused unless it replaces; an ended one matches no more."""
    subscribed(broker, "ann", s="{no2 > 40}")
    with pytest.raises(DuplicateId):
        subscribed(broker, "ann", s="{no2 > 99}")
    publish(broker, "e1")
    broker.subscribe(tenant_of(broker), "ann", [lw.parse("{no2 > 99}", id="s")], replace=True)
    publish(broker, "e2")
    publish(broker, "e3", no2=100)
    broker.unsubscribe(tenant_of(broker), "ann", "s")
    publish(broker, "e4", no2=100)
    assert got(broker, "ann") == [("e1", "arrival", ["s"]), ("e3", "arrival", ["s"])]


def test_a_full_queue_drops_the_oldest_and_says_so(broker: Broker) -> None:
    """Defect 6: a full queue dropped silently."""
    broker.register(tenant_of(broker), "ann", "drop-oldest", 2)
    subscribed(broker, "ann", s="{no2 exists}")
    publish(broker, "e1", "e2", "e3")
    assert [id for id, _, _ in got(broker, "ann")] == ["e2", "e3"]
    assert tenant_of(broker).subscriber("ann").dropped == 1


def test_a_full_queue_with_dead_letters_keeps_the_rest_there(broker: Broker) -> None:
    """What does not fit is neither lost nor delivered."""
    from likewise.broker.log.dead_letters import listed

    broker.register(tenant_of(broker), "ann", "dead-letter", 2)
    subscribed(broker, "ann", s="{no2 exists}")
    subscribed(broker, "bob", s="{no2 exists}")
    publish(broker, "e1", "e2", "e3")
    assert [id for id, _, _ in got(broker, "ann")] == ["e1", "e2"]
    assert len(got(broker, "bob")) == 3
    with broker.store.reading() as tables:
        [letter] = listed(tables, tenant_of(broker).number, 0, 10)
    assert (letter.reason, letter.event) == ("queue_full", broker.find_event(tenant_of(broker), "e3"))


def test_a_blocking_queue_is_told_to_publishers(broker: Broker) -> None:
    """`block` holds publishers up, and nothing else does."""
    broker.register(tenant_of(broker), "ann", "block", 1)
    subscribed(broker, "ann", s="{no2 exists}")
    assert not is_blocked(tenant_of(broker))
    publish(broker, "e1")
    broker.wait_until_matched()
    assert is_blocked(tenant_of(broker))
    broker.acknowledge(tenant_of(broker), "ann", 1)
    assert not is_blocked(tenant_of(broker))


def test_promotions_are_further_deliveries_with_their_cause(broker: Broker, clock: ManualClock) -> None:
    """The second best is promoted when the best leaves its window, by time and by withdrawal."""
    subscribed(broker, "ann", low="{no2 exists} top 1 within 1 h by value(no2)")
    publish(broker, "best", no2=1)
    clock.advance(HOUR // 2)
    publish(broker, "second", no2=2)
    publish(broker, "third", no2=3)
    assert got(broker, "ann") == [("best", "arrival", ["low"])]
    clock.advance(HOUR // 2 + 1)
    publish(broker, "last", no2=50)
    assert got(broker, "ann", after=1) == [("second", "promoted", ["low"])]
    broker.withdraw(tenant_of(broker), "second")
    assert got(broker, "ann", after=2) == [("third", "promoted", ["low"])]


def test_windows_move_with_time_when_no_event_comes(clock: ManualClock) -> None:
    """Where events have no time of their own, the passing of time promotes."""
    import time

    with Broker(None, clock=clock) as broker:
        subscribed(broker, "ann", low="{no2 exists} top 1 within 1 h by value(no2)")
        publish(broker, "best", no2=1)
        clock.advance(1)
        publish(broker, "second", no2=2)
        broker.wait_until_matched()
        clock.advance(HOUR - 1)
        for _ in range(400):
            if len(got(broker, "ann")) == 2:
                break
            time.sleep(0.02)
        assert got(broker, "ann")[-1][:2] == ("second", "promoted")


def test_three_thousand_recipients_of_one_event_all_get_it(broker: Broker) -> None:
    """Defect 4 of the original: beyond about 2,500 recipients a publication was lost."""
    tenant, count = tenant_of(broker), 3_000
    from likewise.broker.log.entries import RegisterCommand, SubscribeCommand, command_entry

    wanted = lw.parse("{no2 > 1}", id="s")
    done: list[object] = []
    entries = [command_entry(tenant.number, RegisterCommand(f"s{i}", "drop-oldest", 10)) for i in range(count)]
    entries += [command_entry(tenant.number, SubscribeCommand(f"s{i}", wanted)) for i in range(count)]
    broker.store.append(entries, done.append)
    publish(broker, "e1")
    broker.wait_until_matched()
    assert sum(len(queue) for queue in tenant.subscribers.values()) == count
    with broker.store.reading() as tables:
        rows = tables.rows("SELECT length(recipients) FROM deliveries")
    assert len(rows) == 1
    assert rows[0][0] < count * 4


def test_tenants_see_nothing_of_each_other(broker: Broker) -> None:
    """Neither events nor subscribers cross."""
    subscribed(broker, "ann", s="{no2 exists}")
    broker.publish(broker.tenant("other"), [lw.event({"no2": 45}, id="secret")])
    assert got(broker, "ann") == []
    with pytest.raises(UnknownId):
        broker.tenant("other").subscriber("ann")
    with pytest.raises(UnknownId):
        broker.find_event(tenant_of(broker), "secret")


def test_expired_events_are_forgotten_with_their_deliveries(broker: Broker, clock: ManualClock) -> None:
    """After validity and the time an id stays known, nothing of an event is left; others stay."""
    subscribed(broker, "ann", s="{no2 exists}")
    broker.publish(tenant_of(broker), [lw.event({"no2": 1}, id="short", expires=clock.now + HOUR)])
    publish(broker, "long")
    broker.wait_until_matched()
    clock.advance(3 * HOUR)
    assert len(broker.sweep().events) == 1
    assert len(tenant_of(broker).subscriber("ann")) == 1
    with broker.store.reading() as tables:
        assert tables.rows("SELECT id FROM log WHERE kind = 0") == [("long",)]
        assert tables.row("SELECT count(*) FROM deliveries") == (1,)


def test_a_restart_goes_on_where_it_stopped(tmp_path: Path, clock: ManualClock) -> None:
    """Queues, cursors, subscriptions, windows and numbers survive; nothing comes twice."""
    with Broker(tmp_path / "data", clock=clock) as broker:
        subscribed(broker, "ann", s="{no2 > 40}", low="{no2 exists} top 1 within 1 h by value(no2)")
        publish(broker, "e1", no2=50)
        clock.advance(1)
        publish(broker, "e2", no2=60)
        broker.wait_until_matched()
        broker.acknowledge(tenant_of(broker), "ann", 1)
    with Broker(tmp_path / "data", clock=clock) as broker:
        assert got(broker, "ann") == [("e2", "arrival", ["s"])]
        clock.advance(HOUR - 1)
        publish(broker, "e3", no2=99)
        assert got(broker, "ann") == [
            ("e2", "arrival", ["s"]),
            ("e3", "arrival", ["s"]),
            ("e2", "promoted", ["low"]),
        ]
        numbers = [n for n, _ in broker.page(tenant_of(broker), tenant_of(broker).subscriber("ann"), after=0)]
        assert numbers == [2, 3, 4]


def test_two_brokers_on_one_folder_are_refused(tmp_path: Path) -> None:
    """The second says what is the matter."""
    with Broker(tmp_path / "data"), pytest.raises(StateError, match="another broker"):
        Broker(tmp_path / "data")


def test_feedback_survives_a_restart(tmp_path: Path) -> None:
    """What was learnt before is known after."""
    from likewise.broker.log.entries import JudgeCommand

    event = lw.event({"temperature": 30, "colour": "crimson"}, id="e1")
    with Broker(tmp_path / "data") as broker:
        subscribed(broker, "ann", s="{colour~ = red~}")
        wait_for(lambda done: broker.command(tenant_of(broker), JudgeCommand("ann", "s", event, True), done))
    with Broker(tmp_path / "data") as broker:
        assert len(tenant_of(broker).stateless.matcher.interpretation.feedback) == 1


def test_ended_subscriptions_are_forgotten_when_nothing_names_them(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a delivery is under way its subscriptions keep their names; afterwards only the newest, to look back at."""
    monkeypatch.setattr("likewise.broker.maintenance.housekeeping.EXPIRED_RETENTION", 0)
    subscribed(broker, "ann", s="{no2 > 40}")
    publish(broker, "e1")
    broker.wait_until_matched()
    broker.unsubscribe(tenant_of(broker), "ann", "s")
    broker.sweep()
    assert got(broker, "ann") == [("e1", "arrival", ["s"])]
    broker.acknowledge(tenant_of(broker), "ann", 1)
    broker.sweep()
    assert not tenant_of(broker).subscriptions
    with broker.store.reading() as tables:
        assert tables.row("SELECT count(*) FROM subscriptions") == (0,)


@pytest.mark.parametrize("events", ["1 h", "9 events"])
def test_a_restart_with_another_threshold_measure_or_clock_goes_by_them(
    tmp_path: Path, clock: ManualClock, events: str
) -> None:
    """For all subscriptions of a tenant with saved windows; what its windows hold stays there."""

    def served(threshold: float, measure: str, clock: ManualClock) -> Broker:
        return Broker(
            tmp_path / "data", Config(matching=MatchingSettings(threshold=threshold, measure=measure)), clock=clock
        )

    with served(0.05, "combine", clock) as broker:
        subscribed(
            broker, "ann", plain="{colour~ = red~}", low=f"{{colour~ = red~}} top 1 within {events} by value(no2)"
        )
        publish(broker, "best", no2=1, colour="crimson")
        clock.advance(1)
        publish(broker, "second", no2=2, colour="crimson")
        broker.wait_until_matched()
        assert got(broker, "ann") == [("best", "arrival", ["plain", "low"]), ("second", "arrival", ["plain"])]
    later = ManualClock("2024-05-01T12:00:01Z")
    with served(1.0, "combine", later) as broker:
        tenant = tenant_of(broker)
        publish(broker, "other", no2=0, colour="crimson")
        publish(broker, "equal", no2=3, colour="red")
        assert got(broker, "ann", after=2) == [("equal", "arrival", ["plain"])]
        broker.withdraw(tenant, "best")
        assert got(broker, "ann", after=3) == [("second", "promoted", ["low"])]
        for matcher in (tenant.stateless, tenant.windows):
            assert matcher.interpretation.threshold == 1.0
        assert tenant.windows.matcher._clock() == later()
    with served(1.0, "esa", clock) as broker:
        for matcher in (tenant_of(broker).stateless, tenant_of(broker).windows):
            assert "esa" in str(matcher.interpretation.measure.configuration())


def test_near_triples_are_delivered_also_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    """A subscription to a near triple is kept in the store and served again."""
    pytest.importorskip("rtree")
    graph = (Triple("<http://e.org/final>", "<http://e.org/homeTeams>", "<http://e.org/Spain>"),)
    text = "near (?m, <http://e.org/home_team>, <http://e.org/Spain>) radius 0.5 by spelling"
    with Broker(tmp_path / "store", clock=clock) as broker:
        subscribed(broker, "ann", near=text)
        broker.publish(tenant_of(broker), [lw.Event(graph=graph, id="e1")])
        assert got(broker, "ann") == [("e1", "arrival", ["near"])]
    with Broker(tmp_path / "store", clock=clock) as broker:
        broker.publish(tenant_of(broker), [lw.Event(graph=graph, id="e2")])
        assert [id for id, _, _ in got(broker, "ann")] == ["e1", "e2"]


@pytest.mark.parametrize("engine", ["sgim", "tree", "rapid", "rapid-modified", "naive"])
def test_the_configuration_chooses_the_engine_of_a_kind(engine: str, tmp_path: Path, clock: ManualClock) -> None:
    """In the file or the environment; it matches as the default one does, and the statistics name it."""
    file = tmp_path / "likewise.toml"
    file.write_text(f'[matching.engines]\ninterest = "{engine}"\nnear = "r-tree"\n', encoding="utf-8")
    config = read_config(file, {})
    assert config == read_config(environment={"LIKEWISE_MATCHING_ENGINES": f"interest={engine}, near=r-tree"})
    with Broker(None, config, clock=clock) as broker:
        subscribed(broker, "ann", s="[1, 0, *]", t="[0, *, *]")
        vectors = [lw.Event(vector=vector, id=vector) for vector in ("101", "110", "000")]
        broker.publish(tenant_of(broker), vectors)
        assert got(broker, "ann") == [("101", "arrival", ["s"]), ("000", "arrival", ["t"])]
        engines = stats(broker, "default").engines
        assert (engines["interest"], engines["near"], engines["exact"]) == (engine, "r-tree", "bitmap")


@pytest.mark.parametrize(("kind", "engine"), [("interest", "bitmap"), ("interest", "guess"), ("exact", "sgin")])
def test_an_engine_that_does_not_serve_a_kind_is_refused_at_once(kind: Kind, engine: str) -> None:
    with pytest.raises(InputError, match="there are"):
        Broker(None, Config(matching=MatchingSettings(engines={kind: engine})))
