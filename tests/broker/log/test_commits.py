"""What a log promises of commits, in a folder, in memory and in the twin for tests alike."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import likewise as lw
from likewise.api.events import Receipt
from likewise.broker.log.checksums import refuse
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import EVENT, Entry, event_body
from likewise.broker.log.event_log import EventLog, Request
from likewise.broker.log.positions import advance, read_positions, start_at
from likewise.broker.log.registry_tables import add_tenant, read_tenants
from likewise.broker.log.tables import StoreTables
from likewise.broker.log.writer import Store
from likewise.defaults import SHARED_ENTRIES
from likewise.errors import ArtefactDamaged, Conflict
from likewise.testing.logs import MemoryLog

Told = list[object]


@pytest.fixture(params=["folder", "memory", "twin"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EventLog]:
    made: dict[str, Callable[[], EventLog]] = {
        "folder": lambda: Store(tmp_path / "data", clock=lambda: 7),
        "memory": lambda: Store(None, clock=lambda: 7),
        "twin": lambda: MemoryLog(lambda: 7),
    }
    found = made[request.param]()
    yield found
    found.close()


def event(id: str, x: int = 0, tenant: int = 1) -> Entry:
    value = lw.event({"x": x}, id=id)
    return Entry(tenant, EVENT, value, event_body(value), id=id, has_own_id=True)


def appended(log: EventLog, *entries: Entry) -> object:
    return wait_for(lambda done: log.append(list(entries), done))


class Taking:
    """A follower that notes what it is told."""

    def __init__(self) -> None:
        self.positions: list[int] = []

    def take(self, entries: list[Entry]) -> None:
        self.positions += [entry.position for entry in entries]


class Noting:
    """A commit that notes its steps."""

    def __init__(self, steps: Told, error: BaseException | None = None) -> None:
        self._steps = steps
        self._error = error

    def write(self, tables: StoreTables) -> None:
        self._steps.append("write")
        add_tenant(tables, "noted")
        if self._error is not None:
            raise self._error

    def show(self) -> None:
        self._steps.append("show")

    def notify(self) -> None:
        self._steps.append("tell")

    def undo(self, error: BaseException | None) -> None:
        self._steps.append(("undo", error))


def flush(log: EventLog) -> None:
    log.commit(lambda tables: None)


def test_a_commit_is_written_shown_and_told_in_this_order(log: EventLog) -> None:
    """And nothing is undone."""
    steps: Told = []
    log.submit(Noting(steps))
    flush(log)
    assert steps == ["write", "show", "tell"]
    assert log.commit(lambda tables: [row.name for row in read_tenants(tables)]) == ["noted"]


def test_a_commit_that_fails_is_undone_and_leaves_nothing(log: EventLog) -> None:
    """Nobody is shown or told anything of it; what comes after it is done."""
    steps: Told = []
    error = ZeroDivisionError("a mistake")
    log.submit(Noting(steps, error))
    flush(log)
    assert steps[-1] == ("undo", error)
    assert "show" not in steps
    assert log.commit(read_tenants) == []


def test_work_that_is_refused_is_taken_back_alone(log: EventLog) -> None:
    """What shares its transaction stays."""

    def refused(tables: StoreTables) -> None:
        add_tenant(tables, "refused")
        raise refuse("a row")

    told: Told = []
    log.write(lambda tables: add_tenant(tables, "first"), told.append)
    log.write(refused, told.append)
    log.write(lambda tables: add_tenant(tables, "second"), told.append)
    flush(log)
    assert isinstance(told[1], ArtefactDamaged)
    assert [row.name for row in log.commit(read_tenants)] == ["first", "second"]


def test_followers_are_told_every_entry_once_in_order(log: EventLog) -> None:
    """Entries that were there before, or were refused, are not told."""
    follower = Taking()
    log.followers.append(follower)
    appended(log, event("a"), event("b"))
    appended(log, event("a"), event("c"))
    with pytest.raises(Conflict):
        appended(log, event("d"), event("a", 9))
    appended(log, event("e"))
    assert follower.positions == [1, 2, 3, 4]
    assert [entry.id for entry in log.entries(0, log.position)] == ["a", "b", "c", "e"]
    assert {entry.arrival for entry in log.entries(0, log.position)} == {7}


def test_a_follower_has_a_position_for_each_tenant_that_never_goes_back(log: EventLog) -> None:
    """Another follower's is another."""

    def work(tables: StoreTables) -> None:
        for follower in ("matching", "catalogue"):
            for tenant in (1, 2):
                start_at(tables, follower, tenant)
        advance(tables, "matching", {1: 9, 2: 4})
        advance(tables, "matching", {1: 5})
        advance(tables, "catalogue", {2: 3})

    log.commit(work)
    with log.reading() as tables:
        assert read_positions(tables, "matching") == {1: 9, 2: 4}
        assert read_positions(tables, "catalogue") == {1: 0, 2: 3}


def test_the_twin_fails_when_it_is_told_to() -> None:
    """Once, and whoever waits is told."""
    log, follower = MemoryLog(), Taking()
    log.followers.append(follower)
    log.fail_next(OSError("the disk is gone"))
    with pytest.raises(OSError, match="gone"):
        appended(log, event("a"))
    assert (log.position, follower.positions) == (0, [])
    appended(log, event("a"))
    assert follower.positions == [1]
    log.close()


def test_requests_appended_together_fail_each_by_itself(log: EventLog) -> None:
    """Each is told its own receipts or its own error; what one of them repeats of another is found."""
    told: dict[str, object] = {}

    def request(name: str, *entries: Entry) -> Request:
        return list(entries), lambda result: told.__setitem__(name, result)

    appended(log, event("a"))
    log.append_all(
        [
            request("new", event("b"), event("c")),
            request("conflict", event("d"), event("a", 9)),
            request("again", event("c")),
            request("nothing"),
            request("last", event("e")),
        ]
    )
    flush(log)
    assert told["new"] == [Receipt("b", 2), Receipt("c", 3)]
    assert isinstance(told["conflict"], Conflict)
    assert told["again"] == [Receipt("c", 3, True)]
    assert told["nothing"] == []
    assert told["last"] == [Receipt("e", 4)]
    assert [entry.id for entry in log.entries(0, log.position)] == ["a", "b", "c", "e"]


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_few_entries_of_a_tenant_do_not_wait_for_many_of_another(kind: str, tmp_path: Path) -> None:
    """What comes together is stored tenant by tenant, the smallest first; of each tenant in its order, work last."""
    store = Store(tmp_path / "data" if kind == "folder" else None, clock=lambda: 7)
    follower, told, waiting = Taking(), list[str](), threading.Event()
    commits: list[int] = []
    store.followers.append(follower)

    def hold(tables: StoreTables) -> None:
        assert waiting.wait(30)

    def tell(name: str) -> Callable[[object], None]:
        return lambda result: (told.append(name), commits.append(store._commit))[0]  # type: ignore[func-returns-value]

    store.write(hold, tell("held"))
    store.append([event(f"a{n}", tenant=1) for n in range(SHARED_ENTRIES)], tell("many"))
    store.append([event("b0", tenant=2)], tell("few"))
    store.write(lambda tables: None, tell("work"))
    store.append([event("a", tenant=1)], tell("many, later"))
    store.append([event("b1", tenant=2)], tell("few, later"))
    waiting.set()
    flush(store)
    assert told == ["held", "few", "few, later", "many", "many, later", "work"]
    assert commits[1] == commits[2] < commits[3] == commits[4], "they shared a commit"
    assert follower.positions == list(range(1, SHARED_ENTRIES + 4))
    by_tenant = {n: [e.id for e in store.entries(0, store.position, tenant=n)] for n in (1, 2)}
    assert by_tenant == {1: [*(f"a{n}" for n in range(SHARED_ENTRIES)), "a"], 2: ["b0", "b1"]}
    store.close()


def test_whatever_is_appended_together_the_log_holds_each_identity_once(log: EventLog) -> None:
    """Known ones, the same ones twice in a request, and other content, among new ones, against a plain model."""
    chance = random.Random(5)
    held: dict[str, tuple[int, int]] = {}  # id -> what it says, and where it stands
    end = log.position
    for _ in range(60):
        wanted = [
            [(str(chance.randrange(120)), chance.randrange(12) // 11) for _ in range(chance.randrange(1, 14))]
            for _ in range(chance.randrange(1, 4))
        ]
        told: Told = []
        with_all = threading.Event()

        def done(result: object, told: Told = told, all: threading.Event = with_all, size: int = len(wanted)) -> None:
            told.append(result)
            if len(told) == size:
                all.set()

        log.append_all([([event(id, x) for id, x in each], done) for each in wanted])
        assert with_all.wait(60)
        for each, found in zip(wanted, told, strict=True):
            after, receipts, at = dict(held), [], end
            for id, x in each:
                known = after.get(id)
                if known is None:
                    at += 1
                    after[id] = (x, at)
                receipts.append((x == after[id][0], Receipt(id, after[id][1], known is not None)))
            if all(same for same, _ in receipts):
                held, end = after, at
                assert found == [receipt for _, receipt in receipts]
            else:
                assert isinstance(found, Conflict)
    assert [(e.id, e.position) for e in log.entries(0, end)] == sorted(
        ((id, place) for id, (_, place) in held.items()), key=lambda pair: pair[1]
    )
    assert log.position == end
