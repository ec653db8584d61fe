"""What one tenant does to another: passes over stored events in slices, questions beside matching, bounded backlogs."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, TenantLimits
from likewise.broker.dispatch import initial_matches as earlier_events
from likewise.broker.dispatch import matching_loop as matching_worker
from likewise.broker.dispatch.match_events import match_events
from likewise.broker.dispatch.matching_loop import MatchingLoop
from likewise.broker.log.entries import SubscribeCommand, UnsubscribeCommand
from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance import (
    window_snapshots as saved_windows,
)
from likewise.broker.tenants.backpressure import check_backlog
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import RELAXED_EVENTS_PER_CHECK
from likewise.errors import BacklogExceeded, DuplicateId
from likewise.model import Event
from tests.broker.asked import asked


def until(state: Callable[[], bool], what: str) -> None:
    """Wait for a state, generously."""
    deadline = time.monotonic() + 60
    while not state():
        assert time.monotonic() < deadline, what
        time.sleep(0.002)


@pytest.fixture
def sliced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every slice is over after one page, and pages stay small."""
    monkeypatch.setattr(matching_worker, "QUANTUM_SECONDS", 0.0)
    monkeypatch.setattr(earlier_events, "QUANTUM_SECONDS", 0.0)
    monkeypatch.setattr(earlier_events, "SLICE", 2)


def given(broker: Broker, tenant: Tenant, subscriber: str) -> list[tuple[str, str, list[str]]]:
    """What a subscriber was given, in order."""
    page = broker.page(tenant, tenant.subscriber(subscriber), after=0, limit=1_000)
    said = [msgspec.json.decode(frame) for _, frame in page]
    return [(d["event"]["id"], d["cause"], [s["id"] for s in d["subscriptions"]]) for d in said]


def stocked(broker: Broker, name: str, count: int) -> Tenant:
    """A tenant with a subscriber and stored events."""
    tenant = broker.tenant(name)
    broker.register(tenant, "ann")
    broker.publish(tenant, [lw.event({"x": n}, id=f"e{n}") for n in range(count)])
    broker.wait_until_matched()
    return tenant


def test_a_pass_over_stored_events_lets_other_tenants_in_between(sliced: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another's event that comes during the pass is delivered before the pass is over."""
    with Broker(None) as broker:
        busy, quiet = stocked(broker, "busy", 400), stocked(broker, "quiet", 0)
        broker.subscribe(quiet, "ann", [lw.parse("{x exists}", id="all")])
        seen: list[bool] = []
        match = earlier_events._match

        def slice_of(*arguments: object) -> None:
            match(*arguments)  # type: ignore[arg-type]
            if len(seen) == 2:
                before = broker.store.position
                broker.start_publish(quiet, [lw.event({"x": 1}, id="now")], lambda result: None)
                until(lambda: broker.store.position > before, "the event was not stored")
            seen.append(quiet.stored_number > 0)

        monkeypatch.setattr(earlier_events, "_match", slice_of)
        broker.subscribe(busy, "ann", [lw.parse("{x exists}", id="all")])
        assert len(seen) > 10
        assert not seen[0]
        assert seen[-1], "the neighbour's event waited for the whole pass"
        assert [id for id, _, _ in given(broker, busy, "ann")] == [f"e{n}" for n in range(400)]


def test_a_pass_over_stored_events_lets_its_own_tenant_in_between(
    sliced: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live event is delivered before the pass is over; who subscribed is told when it is."""
    with Broker(None) as broker:
        tenant = stocked(broker, "busy", 400)
        broker.register(tenant, "bob")
        broker.subscribe(tenant, "bob", [lw.parse("{x >= 1000}", id="live")])
        delivered: list[bool] = []
        match = earlier_events._match

        def slice_of(*arguments: object) -> None:
            match(*arguments)  # type: ignore[arg-type]
            if len(delivered) == 2:
                broker.start_publish(tenant, [lw.event({"x": 1_000}, id="now")], lambda result: None)
            delivered.append(bool(given(broker, tenant, "bob")))

        monkeypatch.setattr(earlier_events, "_match", slice_of)
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="all")])
        assert len(delivered) > 10
        assert not delivered[0]
        assert delivered[-1], "the tenant's own live event waited for the whole pass"
        assert given(broker, tenant, "bob") == [("now", "arrival", ["live"])]
        page = given(broker, tenant, "ann")
        assert [id for id, cause, _ in page if cause == "initial"] == [f"e{n}" for n in range(400)]
        assert [id for id, cause, _ in page if cause == "arrival"] == ["now"]


def test_the_end_of_a_subscription_does_not_wait_for_its_pass(sliced: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the pass, too; feedback and other subscriptions come in between as well."""
    with Broker(None) as broker:
        tenant = stocked(broker, "busy", 400)
        match, slices = earlier_events._match, []
        ended: list[object] = []

        def slice_of(*arguments: object) -> None:
            match(*arguments)  # type: ignore[arg-type]
            slices.append(1)
            if len(slices) == 2:
                broker.command(tenant, UnsubscribeCommand("ann", "all"), ended.append)

        monkeypatch.setattr(earlier_events, "_match", slice_of)
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="all")])
        broker.wait_until_matched()
        assert ended == [None]
        assert len(slices) < 100
        assert tenant.initial_passes == 0
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="all")])
        assert [id for id, *_ in given(broker, tenant, "ann")] == [f"e{n}" for n in range(400)]


def test_a_broker_that_is_killed_during_a_pass_goes_on_with_it(
    sliced: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where its last slice was stored, each event once; live ones meanwhile are there, too."""
    with Broker(tmp_path / "data") as broker:
        tenant = stocked(broker, "t", 60)
        match, slices = earlier_events._match, []

        def copy_soon(*arguments: object) -> None:
            match(*arguments)  # type: ignore[arg-type]
            slices.append(1)
            if len(slices) == 4:
                broker.start_publish(tenant, [lw.event({"x": 1_000}, id="now")], lambda result: None)
            if len(slices) == 12:
                with broker.store._shared:
                    shutil.copytree(tmp_path / "data", tmp_path / "killed")

        with monkeypatch.context() as patched:
            patched.setattr(earlier_events, "_match", copy_soon)
            broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="all"), lw.parse("{x < 30}", id="half")])
        whole = given(broker, tenant, "ann")
    again: list[int] = []
    match = earlier_events._match

    def count(*arguments: object) -> None:
        again.append(1)
        match(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(earlier_events, "_match", count)
    with Broker(tmp_path / "killed") as broker:
        broker.wait_until_matched()
        tenant = broker.tenant("t")
        assert sorted(given(broker, tenant, "ann")) == sorted(whole)
        assert len(again) < len(slices)
        assert len(whole) == 61
    with Broker(tmp_path / "killed") as broker:
        broker.wait_until_matched()
        assert len(given(broker, broker.tenant("t"), "ann")) == 61


def test_a_pass_in_slices_gives_what_a_pass_at_once_gives(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Order, causes and scores, with events before, behind and among new subscriptions, one of which is refused."""
    found = []
    for _ in range(2):
        with Broker(None) as broker:
            tenant = stocked(broker, "t", 50)
            broker.subscribe(tenant, "ann", [lw.parse("{x < 5}", id="few")])
            new = [lw.parse("{x < 20}", id="some"), lw.parse("{x > 30}", id="others")]
            told: list[object] = []
            again = SubscribeCommand("ann", lw.parse("{x exists}", id="few"), False, 1)
            done = threading.Event()

            def refused(result: object, told: list[object] = told, done: threading.Event = done) -> None:
                told.append(result)
                done.set()

            broker.command(tenant, again, refused)
            broker.subscribe(tenant, "ann", new)
            broker.publish(tenant, [lw.event({"x": 40}, id="later")])
            assert done.wait(60)
            broker.wait_until_matched()
            assert isinstance(told[0], DuplicateId)
            found.append(given(broker, tenant, "ann"))
        request.getfixturevalue("sliced")
    assert found[0] == found[1]
    assert [id for id, _, _ in found[0]] == [*(f"e{n}" for n in range(20)), *(f"e{n}" for n in range(31, 50)), "later"]


def test_a_stop_during_a_pass_loses_and_doubles_nothing(
    sliced: None, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next start makes the pass from its beginning; a window of the same request is there once."""
    from pathlib import Path

    data = Path(str(tmp_path)) / "data"
    with Broker(data) as broker:
        tenant = stocked(broker, "t", 60)
        match, worker, slices = earlier_events._match, broker.worker, []

        def stop_soon(*arguments: object) -> None:
            match(*arguments)  # type: ignore[arg-type]
            slices.append(1)
            if len(slices) == 3:
                worker.hurried.set()

        with monkeypatch.context() as patched:
            patched.setattr(earlier_events, "_match", stop_soon)
            top = lw.parse("{x exists} top 1 within 9 events by value(x)", id="low")
            with pytest.raises(lw.LikewiseError):
                broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="all"), top])
    with Broker(data) as broker:
        broker.wait_until_matched()
        tenant = broker.tenant("t")
        assert sorted(tenant.subscriber("ann").subscriptions) == ["all", "low"]
        assert [id for id, _, _ in given(broker, tenant, "ann")] == [f"e{n}" for n in range(60)]


def test_a_question_that_uses_a_tenants_matchers_holds_up_that_tenant_alone() -> None:
    """The other's events are delivered meanwhile, its own after it."""
    with Broker(None) as broker:
        tenants = [stocked(broker, name, 0) for name in ("asking", "quiet")]
        for tenant in tenants:
            broker.subscribe(tenant, "ann", [lw.parse("{x exists} top 9 within 9 events by value(x)", id="low")])
        asking, quiet = tenants
        with asked(asking):
            for tenant in tenants:
                broker.publish(tenant, [lw.event({"x": 1}, id="e")])
            until(lambda: quiet.stored_number == 1, "the neighbour waited for the question")
            assert asking.stored_number == 0
        broker.wait_until_matched()
        assert asking.stored_number == 1


def test_what_waits_is_counted_and_publishers_are_told_before_it_is_too_much() -> None:
    """By number, or by the time it takes at the pace of late; the wait that is told is bounded."""
    config = Config(limits=TenantLimits(backlog=5, backlog_seconds=10.0))
    with Broker(None, config) as broker:
        tenant = stocked(broker, "t", 0)
        broker.subscribe(tenant, "ann", [lw.parse("{x exists} top 9 within 9 events by value(x)", id="low")])
        with asked(tenant):
            for n in range(5):
                check_backlog(tenant, config.limits)
                broker.publish(tenant, [lw.event({"x": n}, id=f"e{n}")])
            until(lambda: tenant.waiting == 5, f"{tenant.waiting} wait")
            with pytest.raises(BacklogExceeded) as refused:
                check_backlog(tenant, config.limits)
            assert (refused.value.waiting, refused.value.code) == (5, "backlog")
            assert 1 <= refused.value.retry_after <= 30
        broker.wait_until_matched()
        until(lambda: tenant.waiting == 0, "it is still said to wait")
        check_backlog(tenant, config.limits)
        tenant.enqueued += 4
        tenant.pace = 3.0  # what waits takes 12 seconds
        with pytest.raises(BacklogExceeded):
            check_backlog(tenant, config.limits)
        tenant.dequeued += 2
        check_backlog(tenant, config.limits)
        tenant.enqueued, tenant.pace = 10**9, 10.0
        with pytest.raises(BacklogExceeded) as refused:
            check_backlog(tenant, config.limits)
        assert refused.value.retry_after == 30


def test_what_waits_is_counted_anew_after_a_start(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that were not matched before the stop."""
    from pathlib import Path

    data = Path(str(tmp_path)) / "data"
    with Broker(data) as broker:
        tenant = stocked(broker, "t", 0)
        broker.subscribe(tenant, "ann", [lw.parse("{x exists} top 9 within 9 events by value(x)", id="low")])
        broker.wait_until_matched()
        broker.worker.hurried.set()
        until(lambda: not broker.worker._thread.is_alive(), "matching goes on")
        broker.publish(tenant, [lw.event({"x": n}, id=f"e{n}") for n in range(7)])
        broker.publish(broker.tenant("other"), [lw.event({"x": 1})])
    with monkeypatch.context() as patched:
        patched.setattr(MatchingLoop, "_run", lambda self: None)
        with Broker(data) as broker:
            assert [broker.tenant(name).waiting for name in ("t", "new")] == [7, 0]
    with Broker(data) as broker:
        broker.wait_until_matched()
        until(lambda: broker.tenant("t").waiting == 0, "it is still said to wait")
        assert all(isinstance(entry.value, Event) for entry in broker.store.entries(0, 0))


def test_an_engine_that_cannot_be_made_refuses_its_subscription_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others of the tenant, new and old, are held and met; matching goes on."""
    from likewise.matching.thematic.engine import ThematicEngine

    def broken(*arguments: object, **named: object) -> None:
        raise ImportError("libsomething.so.7: cannot open shared object file")

    with Broker(None) as broker:
        tenant = stocked(broker, "t", 3)
        broker.subscribe(tenant, "ann", [lw.parse("{x > 1}", id="before")])
        monkeypatch.setattr(ThematicEngine, "__init__", broken)
        with pytest.raises(lw.LikewiseError, match="libsomething"):
            broker.subscribe(tenant, "ann", [lw.parse("{y~ > 1}", id="relaxed")])
        broker.subscribe(tenant, "ann", [lw.parse("{x = 0}", id="after")])
        broker.publish(tenant, [lw.event({"x": 7}, id="new")])
        broker.wait_until_matched()
        assert broker.worker.failure is None
        assert sorted(tenant.subscriber("ann").subscriptions) == ["after", "before"]
        assert [(id, met) for id, _, met in given(broker, tenant, "ann")] == [
            ("e2", ["before"]),
            ("e0", ["after"]),
            ("new", ["before"]),
        ]


def test_events_that_take_long_leave_the_turn_to_others(sliced: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where words are asked for, a turn ends after the first events that used it up; nothing is lost, order stays."""
    sizes: list[int] = []
    match = match_events

    def sized(tenant: Tenant, entries: list[object], *rest: object) -> None:
        sizes.append(len(entries))
        match(tenant, entries, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(matching_worker, "match_events", sized)
    with Broker(None) as broker:
        tenant = stocked(broker, "t", 0)
        broker.subscribe(tenant, "ann", [lw.parse("{x exists} top 99 within 99 events by value(x)", id="all")])
        broker.publish(tenant, [lw.event({"x": n}, id=f"e{n}") for n in range(40)])
        broker.wait_until_matched()
        assert [id for id, _, _ in given(broker, tenant, "ann")] == [f"e{n}" for n in range(40)]
        until(lambda: tenant.waiting == 0, "it is still said to wait")
    assert sizes == [1] * 40


def test_windows_that_are_saved_hold_up_their_own_tenant_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes meanwhile is matched when they are saved, once and in order; others' events at once."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 0.0)
    monkeypatch.setattr(housekeeping, "CHECKPOINT_ENTRIES", 10)
    begun, way = threading.Event(), threading.Event()
    save = saved_windows.save_windows

    def saving(data: Path, tenant: Tenant, position: int) -> None:
        begun.set()
        assert way.wait(60)
        save(data, tenant, position)

    text = "{x exists} top 3 within 5 events by value(x) highest"
    with Broker(tmp_path / "data") as broker:
        busy, quiet = stocked(broker, "busy", 0), stocked(broker, "quiet", 0)
        broker.subscribe(busy, "ann", [lw.parse(text, id="best")])
        broker.subscribe(quiet, "ann", [lw.parse(text, id="best")])
        monkeypatch.setattr(housekeeping, "save_windows", saving)
        broker.publish(busy, [lw.event({"x": n}, id=f"e{n}") for n in range(20)])
        assert begun.wait(60)
        assert busy.saving
        before = busy.stored_number
        broker.publish(busy, [lw.event({"x": 100 + n}, id=f"later{n}") for n in range(5)])
        broker.publish(quiet, [lw.event({"x": 1}, id="now")])
        until(lambda: quiet.stored_number > 0, "the neighbour waited for the windows")
        assert busy.saving
        assert busy.stored_number == before
        way.set()
        broker.wait_until_matched()
        ids = [id for id, cause, _ in given(broker, busy, "ann") if cause == "arrival"]
        assert ids[-5:] == [f"later{n}" for n in range(5)]
        assert len(set(ids)) == len(ids)
        until(lambda: not busy.saving, "saving did not end")
    with Broker(tmp_path / "data") as again:
        assert [id for id, cause, _ in given(again, again.tenant("busy"), "ann") if cause == "arrival"] == ids


def test_events_with_new_words_after_many_with_known_ones_are_matched_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a pass over stored events where words are asked for; those without anything new are matched together."""
    with Broker(None) as broker:
        tenant = stocked(broker, "busy", 400)
        broker.publish(tenant, [lw.event({f"word {n:c}": 1}, id=f"w{n}") for n in range(97, 117)])
        pages: list[int] = []
        words: list[int] = []
        match = earlier_events._match

        def counted(log: object, tenant: object, matcher: object, page: list[object], *rest: object) -> None:
            pages.append(len(page))
            words.append(sum(entry.id.startswith("w") for entry in page))  # type: ignore[attr-defined]
            match(log, tenant, matcher, page, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(earlier_events, "_match", counted)
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="exact")])
        assert max(pages) > RELAXED_EVENTS_PER_CHECK
        pages.clear()
        words.clear()
        broker.subscribe(tenant, "ann", [lw.parse("{temperature~ > 1}", id="relaxed")])
        assert sum(pages) == 420
        assert max(pages) > RELAXED_EVENTS_PER_CHECK
        assert sum(words) == 20
        assert max(words) <= RELAXED_EVENTS_PER_CHECK
