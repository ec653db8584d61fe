"""Following the log: turns that even out, backlogs of bounded memory, and neighbours that do not hold each other up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.dispatch import matching_loop as matching_worker
from likewise.broker.dispatch import tenant_queue as matching_line
from likewise.broker.dispatch.commit_batch import MATCHING
from likewise.broker.dispatch.deficit_round_robin import DeficitRoundRobin
from likewise.broker.dispatch.tenant_queue import TenantBacklog
from likewise.broker.log.entries import EVENT, Entry, WithdrawCommand, command_entry, event_body
from likewise.broker.log.positions import read_positions
from likewise.broker.log.writer import Store
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import Unavailable
from likewise.testing.clocks import ManualClock


@given(st.lists(st.floats(0.1, 4.0), min_size=2, max_size=6), st.integers(50, 400))
def test_turns_even_out_what_each_has_used(costs: list[float], visits: int) -> None:
    """Whatever a step of each costs, nobody with work left is ahead of another by more than a quantum and two steps."""
    turns = DeficitRoundRobin[int](quantum=1.0)
    used = [0.0] * len(costs)
    for key in range(len(costs)):
        turns.enqueue(key)
    for _ in range(visits):
        key, owed = turns.next()
        assert owed > 0
        took = costs[key] * max(1, int(owed / costs[key]))
        used[key] += took
        turns.charge(key, took, more=True)
    assert max(used) - min(used) <= 2.0 + 2 * max(costs) + 1e-6


def test_who_had_nothing_to_do_is_owed_nothing() -> None:
    """Leaving and coming back is worth no more than one turn."""
    turns = DeficitRoundRobin[str](quantum=1.0)
    turns.enqueue("busy")
    turns.enqueue("guest")
    for _ in range(5):
        key, _ = turns.next()
        turns.charge(key, 1.0, more=key == "busy")
    turns.enqueue("guest")
    for _ in range(2):
        key, owed = turns.next()
        turns.charge(key, 1.0, more=True)
        assert owed <= 2.0


@pytest.fixture
def log() -> Iterator[Store]:
    store = Store(None, clock=lambda: 0)
    yield store
    store.close()


def appended(log: Store, *entries: Entry) -> list[Entry]:
    done = threading.Event()
    log.append(list(entries), lambda result: done.set())
    assert done.wait(10)
    return list(entries)


def event(tenant: int, n: int) -> Entry:
    value = lw.event({"x": n}, id=f"e{tenant}-{n}")
    return Entry(tenant, EVENT, value, event_body(value), id=f"e{tenant}-{n}")


@given(st.lists(st.one_of(st.integers(1, 5), st.sampled_from(["take 1", "take 3", "take 9"])), max_size=30))
def test_a_backlog_gives_every_entry_once_in_order(steps: list[int | str]) -> None:
    """However much it may hold in memory, and however puts and takes alternate; other tenants' entries are left out."""
    log = Store(None, clock=lambda: 0)
    try:
        backlog = TenantBacklog(log, 1, 0, 0, limit=3)
        pushed: list[Entry] = []
        taken: list[Entry] = []
        told: list[object] = []
        for step in [*steps, "take 999"]:
            if isinstance(step, int):
                own = [event(1, len(pushed) + n) for n in range(step)]
                command = command_entry(1, WithdrawCommand(1), told.append)
                appended(log, event(2, len(pushed)), *own, command)
                backlog.push([*own, command])
                pushed += [*own, command]
            else:
                taken += backlog.take(int(step.split()[1]))
        assert [entry.position for entry in taken] == [entry.position for entry in pushed]
        assert not backlog
        assert sum(entry.applied is not None for entry in taken) == sum(isinstance(step, int) for step in steps)
    finally:
        log.close()


def test_subscriptions_made_together_are_served_together_however_slow_their_tenant_is() -> None:
    """One pass over earlier events: each is given once, and named for every subscription that wants it."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.publish(tenant, [lw.event({"x": n}, id=f"e{n}") for n in range(3)])
        broker.wait_until_matched()
        broker.worker._queue._pace[tenant.number] = 1e9  # a turn is worth one entry
        broker.subscribe(tenant, "ann", [lw.parse(f"{{x > {n}}}", id=f"over {n}") for n in range(-1, 2)])
        broker.wait_until_matched()
        found = [msgspec.json.decode(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)]
    named = {each["event"]["id"]: [met["id"] for met in each["subscriptions"]] for each in found}
    assert len(found) == 3
    assert named == {"e0": ["over -1"], "e1": ["over -1", "over 0"], "e2": ["over -1", "over 0", "over 1"]}


def test_everyone_who_waits_is_told_when_a_backlog_is_refused(log: Store) -> None:
    """Held in memory or not."""
    told: list[object] = []
    backlog = TenantBacklog(log, 1, 0, 0, limit=2)
    backlog.push(appended(log, *(command_entry(1, WithdrawCommand(n), told.append) for n in range(5))))
    backlog.refuse(Unavailable("stopping"))
    assert len(told) == 5


def subscribed(broker: Broker, name: str, text: str) -> Tenant:
    tenant = broker.tenant(name)
    broker.register(tenant, "ann")
    broker.subscribe(tenant, "ann", [lw.parse(text, id="s")])
    broker.wait_until_matched()
    return tenant


WINDOW = "{x exists} top 1 within 5 events by value(x)"


def test_a_tenant_is_served_while_another_has_a_backlog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its event is delivered though a thousand of the other's came before it, and those are delivered in order, too.

    The processor's time is the test's own: an event of a window takes 1 ms of it, whatever else the machine does.
    """
    used = [0.0]
    for module in (matching_line, matching_worker):
        monkeypatch.setattr(module, "time", SimpleNamespace(thread_time=lambda: used[0], sleep=time.sleep))
    with Broker(tmp_path / "data") as broker:
        busy, quiet = subscribed(broker, "busy", WINDOW), subscribed(broker, "quiet", WINDOW)
        match, free, first = busy.windows.match, threading.Event(), threading.Event()

        def slow(*arguments: object) -> object:
            first.set()
            free.wait()
            used[0] += 1e-3
            return match(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(busy.windows, "match", slow)
        broker.publish(busy, [lw.event({"x": n}, id=f"b{n}") for n in range(1000)])
        assert first.wait(60)
        [receipt] = broker.publish(quiet, [lw.event({"x": 1}, id="q")])
        assert receipt.position > busy.matched + 900
        seen: list[int] = []
        stored = broker.worker._on_stored

        def note(filled: object, outcome: object) -> None:
            stored(filled, outcome)  # type: ignore[arg-type]
            if quiet.caught_up and not seen:
                seen.append(busy.appended - busy.matched)

        broker.worker._on_stored = note
        free.set()
        broker.wait_until_matched(timeout=300)
        assert seen
        assert seen[0] > 500  # most of the backlog was still there when the other tenant was served
        numbers = [n for n, _ in broker.page(busy, busy.subscriber("ann"), after=0, limit=2000)]
        assert numbers == sorted(set(numbers))


def test_simple_events_of_one_tenant_are_matched_with_their_commit_beside_anothers_backlog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One commit for the event and its delivery, while the other tenant's matching does not come back at all."""
    with Broker(tmp_path / "data") as broker:
        busy, quiet = subscribed(broker, "busy", WINDOW), subscribed(broker, "quiet", "{x exists}")
        free, match = threading.Event(), busy.windows.match
        monkeypatch.setattr(busy.windows, "match", lambda *a: free.wait() and match(*a))
        broker.publish(busy, [lw.event({"x": 1})])
        broker.publish(quiet, [lw.event({"x": 1})])
        assert len(quiet.subscriber("ann")) == 1
        assert not busy.caught_up
        free.set()


def test_each_tenant_goes_on_from_its_own_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy taken while one tenant is behind: its events are matched after the start, the other's not again."""
    import shutil

    clock = ManualClock(1_000)
    with Broker(tmp_path / "data", clock=clock) as broker:
        busy, quiet = subscribed(broker, "busy", WINDOW), subscribed(broker, "quiet", "{x exists}")
        free, match = threading.Event(), busy.windows.match
        monkeypatch.setattr(busy.windows, "match", lambda *a: free.wait() and match(*a))
        broker.publish(busy, [lw.event({"x": 1}, id="b1"), lw.event({"x": 2}, id="b2")])
        broker.publish(quiet, [lw.event({"x": 1}, id="q1")])
        with broker.store.reading() as tables:
            positions = read_positions(tables, MATCHING)
        assert positions[busy.number] < positions[quiet.number]
        with broker.store._shared:
            shutil.copytree(tmp_path / "data", tmp_path / "copy")
        free.set()
    with Broker(tmp_path / "copy", clock=clock) as broker:
        broker.wait_until_matched()
        for name, count in (("busy", 1), ("quiet", 1)):
            assert len(broker.tenant(name).subscriber("ann")) == count
        assert broker.worker.position == broker.store.position


def test_a_tenant_that_is_idle_does_not_hold_the_log_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its position is written down again when others have gone on, and its own next event is matched."""
    from likewise.broker.maintenance import housekeeping

    monkeypatch.setattr(housekeeping, "IDLE_ENTRIES", 3)
    with Broker(tmp_path / "data") as broker:
        busy, idle = subscribed(broker, "busy", "{x exists}"), subscribed(broker, "idle", "{x exists}")
        broker.publish(busy, [lw.event({"x": n}) for n in range(9)])
        broker.sweep()
        with broker.store.reading() as tables:
            assert read_positions(tables, MATCHING)[idle.number] == broker.store.position
        broker.publish(idle, [lw.event({"x": 1})])
        broker.wait_until_matched()
        assert len(idle.subscriber("ann")) == 1
