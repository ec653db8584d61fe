"""Matching before the commit: what is sent is on disk with its event, and a failed commit leaves nothing behind."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.dispatch.match_before_commit import FORESEEN
from likewise.broker.dispatch.matching_loop import MatchingLoop
from likewise.broker.log.commit_marker import CommitMarker
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MATCH_ENTRIES
from likewise.errors import Unavailable

Seen = dict[int, tuple[str, str]]  # sequence number -> event, cause


def subscribed(broker: Broker, name: str = "ann", text: str = "{x >= 0}") -> Tenant:
    tenant = broker.tenant("default")
    broker.register(tenant, name)
    broker.subscribe(tenant, name, [lw.parse(text, id="s")])
    broker.wait_until_matched()
    return tenant


def seen(broker: Broker, tenant: Tenant, name: str = "ann") -> Seen:
    pages = broker.page(tenant, tenant.subscriber(name), after=0, limit=10_000)
    found = {number: msgspec.json.decode(frame) for number, frame in pages}
    return {number: (said["event"]["id"], said["cause"]) for number, said in found.items()}


def test_an_event_and_its_deliveries_share_one_commit(tmp_path: Path) -> None:
    """When the publisher is told, they wait for their subscribers, and one commit was made for both."""
    with Broker(tmp_path / "data") as broker:
        tenant = subscribed(broker)
        before = broker.store._commit
        broker.publish(tenant, [lw.event({"x": 1}, id="e1"), lw.event({"x": 2}, id="e2")])
        assert seen(broker, tenant) == {1: ("e1", "arrival"), 2: ("e2", "arrival")}
        assert broker.store._commit == before + 1


@pytest.mark.parametrize(
    ("count", "matches", "commits"),
    [
        (MATCH_ENTRIES, 1_000.0, 1),
        (MATCH_ENTRIES + 1, 1.0, 1),
        (FORESEEN, 1.0, 1),
        (MATCH_ENTRIES + 1, 1_000.0, 2),
        (FORESEEN + 1, 1.0, 2),
    ],
)
def test_many_events_share_a_commit_with_their_deliveries_where_they_meet_few(
    count: int, matches: float, commits: int
) -> None:
    with Broker(None) as broker:
        tenant = subscribed(broker)
        before, tenant._matches = broker.store._commit, matches
        broker.publish(tenant, [lw.event({"x": n}, id=f"e{n}") for n in range(count)])
        broker.wait_until_matched()
        assert len(tenant.subscriber("ann")) == count
        assert (broker.store._commit - before > 1) == (commits > 1)


@pytest.mark.parametrize("text", ["{x >= 0}", "{x >= 0} top 2 within 1 h by value(x)", "{x >= 0} valid for 7 d"])
def test_what_was_sent_before_a_crash_comes_again_under_the_same_number(tmp_path: Path, text: str) -> None:
    """The store is copied at moments a subscriber can see something; each copy, opened, gives that very thing.

    A delivery sent before its own commit would be missing from such a copy, or be dealt another number there.
    """
    crashes: list[Seen] = []
    with Broker(tmp_path / "data") as broker:
        tenant = subscribed(broker, text=text)
        queue, stored = tenant.subscriber("ann"), broker.worker._on_stored

        def crash(*told: object) -> None:
            stored(*told)  # type: ignore[arg-type]
            if len(queue):  # on the writer's thread, between two commits: what a stream would send now
                shutil.copytree(tmp_path / "data", tmp_path / f"crash{len(crashes)}")
                crashes.append(seen(broker, tenant))

        broker.worker._on_stored = crash
        publishers = [
            threading.Thread(
                target=lambda p=p: [broker.publish(tenant, [lw.event({"x": p + n}, id=f"e{p}-{n}")]) for n in range(4)]
            )
            for p in range(3)
        ]
        for thread in publishers:
            thread.start()
        broker.subscribe(tenant, "ann", [lw.parse("{x >= 1}", id="later")])
        for thread in publishers:
            thread.join()
        broker.wait_until_matched()
    assert crashes
    for number, sent in enumerate(crashes):
        with Broker(tmp_path / f"crash{number}") as broker:
            broker.wait_until_matched()
            found = seen(broker, broker.tenant("default"))
            assert {n: found.get(n) for n in sent} == sent


def test_a_failed_commit_takes_its_numbers_back(tmp_path: Path) -> None:
    """The next delivery has the number the failed one would have had, and nothing of the failed one shows."""
    with Broker(tmp_path / "data") as broker:
        tenant = subscribed(broker)
        connection = broker.store._connection

        class Refusing:
            def __getattr__(self, name: str) -> object:
                return getattr(connection, name)

            def execute(self, statement: str, *values: object) -> object:
                if statement == "COMMIT":
                    raise sqlite3.OperationalError("database or disk is full")
                return connection.execute(statement, *values)  # type: ignore[arg-type]

        broker.store._connection = Refusing()  # type: ignore[assignment]
        with pytest.raises(Unavailable, match="full"):
            broker.publish(tenant, [lw.event({"x": 1}, id="lost")])
        assert (tenant.next_number, len(tenant.subscriber("ann"))) == (1, 0)
        broker.store._connection = connection
        broker.publish(tenant, [lw.event({"x": 2}, id="kept")])
        assert seen(broker, tenant) == {1: ("kept", "arrival")}


def test_after_the_worker_was_needed_events_are_early_again(tmp_path: Path) -> None:
    """A subscription under load puts the worker ahead of the writer once, not for good."""
    with Broker(tmp_path / "data") as broker:
        tenant = subscribed(broker)
        stop = threading.Event()

        def publish() -> None:
            while not stop.wait(0.002):  # the pauses a network makes: without any it may take half a minute
                broker.publish(tenant, [lw.event({"x": 1})])

        publishers = [threading.Thread(target=publish) for _ in range(4)]
        for thread in publishers:
            thread.start()
        broker.subscribe(tenant, "ann", [lw.parse("{x >= 9}", id="t")])
        early = threading.Event()
        foresee = broker.store.foresight.match  # type: ignore[union-attr]

        def foreseen(entries: list[object]) -> object:
            found = foresee(entries)  # type: ignore[arg-type]
            if found is not None:
                early.set()
            return found

        broker.store.foresight.match = foreseen  # type: ignore[union-attr, method-assign]
        came = early.wait(60)
        stop.set()
        for thread in publishers:
            thread.join()
        assert came


def test_when_matching_stops_nobody_waits_in_vain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for a command is told, and whoever comes is refused, each with `unavailable`."""
    with Broker(tmp_path / "data") as broker:
        tenant = subscribed(broker)

        def broken(*_: object) -> None:
            raise ZeroDivisionError("an engine broke")

        monkeypatch.setattr(MatchingLoop, "_apply", broken)
        with pytest.raises(Unavailable, match="an engine broke"):
            broker.subscribe(tenant, "ann", [lw.parse("{x >= 9}", id="t")])
        with pytest.raises(Unavailable, match="matching has stopped"):
            broker.publish(tenant, [lw.event({"x": 1})])
        with pytest.raises(Unavailable, match="matching has stopped"):
            broker.register(tenant, "bob")


def test_a_commit_that_cannot_be_noted_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the note beside the store fails after the commit, publishers are told the truth and nothing is doubled."""
    with Broker(tmp_path / "data") as broker:
        tenant = subscribed(broker)

        def full(_: CommitMarker, number: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as broken:
            broken.setattr(CommitMarker, "write", full)
            broker.publish(tenant, [lw.event({"x": 1}), lw.event({"x": 2})])
        broker.publish(tenant, [lw.event({"x": 3}, id="e3")])
        broker.wait_until_matched()
        assert list(seen(broker, tenant)) == [1, 2, 3]
        assert broker.store.position == len(list(broker.store.entries(0, broker.store.position)))
