"""The source's Figure 11: readings that somebody wants go to permanent storage, and nothing else does.

Each is there once, whatever dies; tenants are apart; a lake that does not work never ends matching.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, LakeSettings, StoreSettings
from likewise.broker.lake_writer import follower
from likewise.errors import InputError
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.parts import write_part as write_part_really
from likewise.testing.clocks import ManualClock
from tests.broker.lake_writer.kept import config, event_ids, matches, opened, rows

DAY = 86_400_000_000
TEXTS = ["{t > 10}", "{t > 40}", "{city = Galway}", "{t < 5, city = Cork}"]
pytestmark = pytest.mark.timeout(600)


def some_event(chance: random.Random, number: int) -> lw.Event:
    said: dict[str, Any] = {"t": chance.randint(0, 50)}
    if chance.random() < 0.4:
        said["city"] = chance.choice(["Galway", "Cork"])
    return lw.event(said, id=f"e{number}", source="s", time=number * DAY // 10)


def subscribed(broker: Broker, texts: list[str], name: str = "default", who: str = "ann") -> dict[str, int]:
    """Subscribe in a tenant; the numbers by text."""
    tenant = broker.tenant(name)
    broker.register(tenant, who)
    held = broker.subscribe(tenant, who, [lw.parse(text, id=text) for text in texts])
    return {each.id: each.number for each in held}


def met(events: list[lw.Event], numbers: dict[str, int]) -> Counter[tuple[str, int]]:
    """What the oracle finds."""
    naive = lw.Matcher(engines={"exact": "naive"})
    for text in numbers:
        naive.add(lw.parse(text, id=text))
    return Counter((str(event.id), numbers[found.subscription_id]) for event in events for found in naive.match(event))


@pytest.mark.parametrize("kind", ["parquet", "delta"])
@pytest.mark.parametrize("keep", ["matches", "wanted", "all"])
def test_figure_11_wanted_readings_are_kept_for_good(kind: str, keep: str, tmp_path: Path) -> None:
    """The matches are those of the oracle; the events that met something are kept, or all, or none."""
    if kind == "delta":
        pytest.importorskip("deltalake")
    chance = random.Random(11)
    events = [some_event(chance, number) for number in range(120)]
    with opened(tmp_path / "data", tmp_path / "lake", format=kind, keep=keep) as broker:
        assert broker.lake is not None
        numbers = subscribed(broker, TEXTS)
        for first in range(0, 120, 30):
            broker.publish(broker.tenant("default"), events[first : first + 30])
            broker.wait_until_matched()
            broker.lake.wait_until_written()
        assert broker.troubles() == []
    expected = met(events, numbers)
    assert matches(tmp_path / "lake") == expected
    wanted = Counter(dict.fromkeys({id for id, _ in expected}, 1))
    everything = Counter(str(event.id) for event in events)
    assert event_ids(tmp_path / "lake") == {"matches": Counter(), "wanted": wanted, "all": everything}[keep]
    told = {row["number"]: (row["id"], row["text"]) for row in rows(tmp_path / "lake", "subscriptions")}
    assert told == {number: (f"ann/{text}", text) for text, number in numbers.items()}


def test_figure_11_readings_lie_by_tenant_and_by_the_day_they_were_of(tmp_path: Path) -> None:
    """Of their own time, else of their arrival; no tenant's readings lie with another's, whatever it is called."""
    names = ["default", "a/../b c", "100 %=x"]
    for kind in ("parquet", "delta"):
        folder = tmp_path / kind
        with opened(tmp_path / f"data-{kind}", folder, format=kind) as broker:
            assert broker.lake is not None
            for name in names:
                subscribed(broker, ["{t > 0}"], name)
                timed = lw.event({"t": 1}, id=f"timed {name}", time=19_844 * DAY + 5)
                broker.publish(broker.tenant(name), [timed, lw.event({"t": 2}, id=f"came {name}")])
            broker.wait_until_matched()
            broker.lake.wait_until_written()
            today = broker.clock()
        found = rows(folder, "events")
        assert {(row["tenant"], row["id"]) for row in found} == {
            (n, f"{w} {n}") for n in names for w in ("timed", "came")
        }
        assert {row["day"] for row in found if row["id"].startswith("timed")} == {"2024-05-01"}
        days = {row["day"] for row in found if row["id"].startswith("came")}
        assert days <= {f"{lw_day(today)}", f"{lw_day(today - DAY)}"}
        assert all(path.resolve().is_relative_to(folder.resolve()) for path in folder.rglob("*"))
    tables = DeltaCommits(tmp_path / "delta").table("events").to_pyarrow_table()
    assert Counter(tables.column("tenant").to_pylist()) == dict.fromkeys(names, 2)


def lw_day(moment: int) -> str:
    from likewise.lake.parts import day_text

    return day_text(moment // DAY)


class Died(BaseException):
    """Stands for a kill."""


def dying(monkeypatch: pytest.MonkeyPatch, where: str, when: Callable[[], bool]) -> None:
    """Let the lake's thread die at a step; what it has done by then is on disk."""
    real_write, real_commit = write_part_really, follower.LakeFollower._write

    def write_part(*arguments: Any) -> Any:
        found = real_write(*arguments)
        if where == "parts" and when():
            raise Died
        return found

    def write(self: Any, tenant: Any, progress: Any) -> None:
        if where == "commit" and progress.planned is None and when():
            raise Died
        real_commit(self, tenant, progress)
        if where == "plan" and progress.planned is not None and when():
            raise Died

    monkeypatch.setattr(follower, "write_part", write_part)
    monkeypatch.setattr(follower.LakeFollower, "_write", write)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("kind", ["parquet", "delta"])
@pytest.mark.parametrize("where", ["plan", "parts", "commit"])
def test_figure_11_a_reading_is_there_once_wherever_the_broker_dies(
    kind: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the plan, after parts, after the commit: the next start goes on, and nothing is lost or doubled."""
    if kind == "delta":
        pytest.importorskip("deltalake")
    chance = random.Random(where)
    events = [some_event(chance, number) for number in range(60)]
    numbers: dict[str, int] = {}
    for start in range(3):
        with monkeypatch.context() as patched:
            dying(patched, where, lambda: True)
            broker = opened(tmp_path / "data", tmp_path / "lake", format=kind)
            assert broker.lake is not None
            if not start:
                numbers = subscribed(broker, TEXTS)
            broker.publish(broker.tenant("default"), events[start * 20 : start * 20 + 20])
            broker.wait_until_matched()
            broker.lake._wake.set()
            broker.lake._thread.join(60)
            assert not broker.lake._thread.is_alive(), "it should have died"
            broker.close()
    with opened(tmp_path / "data", tmp_path / "lake", format=kind) as broker:
        assert broker.lake is not None
        broker.lake.wait_until_written()
        assert broker.troubles() == []
    assert matches(tmp_path / "lake") == met(events, numbers)
    assert set(event_ids(tmp_path / "lake").values()) == {1}


def test_figure_11_a_lake_that_is_gone_never_ends_matching(tmp_path: Path) -> None:
    """It is said, in readiness and by metrics; when it is back, everything is there."""
    lake, away = tmp_path / "lake", tmp_path / "away"
    with opened(tmp_path / "data", lake) as broker:
        assert broker.lake is not None
        numbers = subscribed(broker, ["{t > 10}"])
        broker.publish(broker.tenant("default"), [lw.event({"t": 20}, id="before")])
        broker.wait_until_matched()
        broker.lake.wait_until_written()
        lake.rename(away)
        lake.mkdir()  # as where a disk is not mounted
        for number in range(5):
            broker.publish(broker.tenant("default"), [lw.event({"t": 20}, id=f"meanwhile {number}")])
        broker.wait_until_matched()
        eventually(lambda: bool(broker.troubles()))
        (said,) = broker.troubles()
        assert "keeping what is wanted of 'default'" in said
        assert "is gone" in said
        assert b'likewise_lake_behind{tenant="default"} 5.0' in broker.metrics.page()
        assert list(lake.iterdir()) == []
        queue = broker.tenant("default").subscriber("ann")
        assert len(broker.page(broker.tenant("default"), queue, after=0)) == 6
        lake.rmdir()
        away.rename(lake)
        broker.lake.wait_until_written()
        eventually(lambda: not broker.troubles())
    ids = {"before", *(f"meanwhile {number}" for number in range(5))}
    assert event_ids(lake) == dict.fromkeys(ids, 1)
    assert matches(lake) == dict.fromkeys(((id, numbers["{t > 10}"]) for id in ids), 1)


def eventually(holds: Callable[[], bool], seconds: float = 60) -> None:
    import time

    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_figure_11_what_the_lake_has_not_taken_is_not_forgotten(tmp_path: Path) -> None:
    """An event whose validity is over stays in the log until it is kept; then it goes."""
    clock = ManualClock(1_000_000_000_000_000)
    said = Config(store=StoreSettings("1 s"), lake=LakeSettings(str(tmp_path / "lake"), every="3600 s"))
    with Broker(tmp_path / "data", said, clock=clock) as broker:
        assert broker.lake is not None
        subscribed(broker, ["{t > 10}"])
        broker.publish(broker.tenant("default"), [lw.event({"t": 20}, id="short")])
        broker.wait_until_matched()
        clock.advance(30 * DAY)
        assert broker.sweep().events == []
        broker.lake.wait_until_written()
        assert [gone.id for gone in broker.sweep().events] == ["short"]
    assert event_ids(tmp_path / "lake") == {"short": 1}


def test_figure_11_a_reading_that_is_wanted_later_is_kept_once(tmp_path: Path) -> None:
    """By a new subscriber, who is given what came before; and again by a ranking that promotes it."""
    with opened(tmp_path / "data", tmp_path / "lake") as broker:
        assert broker.lake is not None
        tenant = broker.tenant("default")
        broker.publish(tenant, [lw.event({"t": number}, id=f"e{number}") for number in range(4)])
        broker.wait_until_matched()
        subscribed(broker, ["{t > 1}"], who="ann")
        broker.wait_until_matched()
        broker.lake.wait_until_written()
        subscribed(broker, ["{t > 0}"], who="bob")
        subscribed(broker, ["{t exists} top 1 within 10 events by value(t) highest"], who="eve")
        broker.publish(tenant, [lw.event({"t": 9}, id="e9")])
        broker.wait_until_matched(400)  # kernels may have to be compiled
        broker.withdraw(tenant, "e9")
        broker.wait_until_matched()
        broker.lake.wait_until_written()
    assert event_ids(tmp_path / "lake") == dict.fromkeys(["e1", "e2", "e3", "e9"], 1) or event_ids(
        tmp_path / "lake"
    ) == dict.fromkeys(["e1", "e2", "e3"], 1)  # e9 was withdrawn before its batch, or after
    assert max(matches(tmp_path / "lake").values()) == 1


def test_figure_11_an_ended_subscription_is_still_told_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its number stands for is kept before the store forgets it."""
    monkeypatch.setattr("likewise.broker.maintenance.housekeeping.EXPIRED_RETENTION", 0)
    said = Config(store=StoreSettings("forever"), lake=LakeSettings(str(tmp_path / "lake"), every="3600 s"))
    with Broker(tmp_path / "data", said) as broker:
        assert broker.lake is not None
        numbers = subscribed(broker, ["{t > 10}"])
        tenant = broker.tenant("default")
        broker.publish(tenant, [lw.event({"t": 20}, id="e")])
        broker.unsubscribe(tenant, "ann", "{t > 10}")
        broker.wait_until_matched()
        broker.acknowledge(tenant, "ann", tenant.stored_number)
        broker.sweep()
        broker.lake.wait_until_written()
        broker.sweep()
        assert not tenant.subscriptions
    assert [row["number"] for row in rows(tmp_path / "lake", "subscriptions")] == list(numbers.values())


def test_a_store_that_is_older_than_its_lake_is_refused_with_words(tmp_path: Path) -> None:
    """An older copy would write other readings under the numbers of batches that are there; matching goes on."""
    with opened(tmp_path / "data", tmp_path / "lake") as broker:
        assert broker.lake is not None
        subscribed(broker, ["{t > 10}"])
        broker.lake.wait_until_written()
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    for data, name in (("data", "first"), ("copy", "second")):
        with opened(tmp_path / data, tmp_path / "lake") as broker:
            assert broker.lake is not None
            broker.publish(broker.tenant("default"), [lw.event({"t": 20}, id=name)])
            broker.wait_until_matched()
            if name == "first":
                broker.lake.wait_until_written()
            else:
                eventually(lambda: any("older copy" in said for said in broker.troubles()))
    assert event_ids(tmp_path / "lake") == {"first": 1}
    with opened(tmp_path / "copy", tmp_path / "lake", name="restored") as broker:
        assert broker.lake is not None
        broker.lake.wait_until_written()
        assert broker.troubles() == []
    assert event_ids(tmp_path / "lake")["second"] == 1


def test_a_lake_needs_a_store_that_is_kept() -> None:
    """In memory alone it could not go on."""
    with pytest.raises(InputError, match="--data"):
        Broker(None, config("lake"))


def test_what_is_kept_may_be_changed(tmp_path: Path) -> None:
    """From wanted readings to all and back: it holds from then on, and nothing is there twice."""
    chance = random.Random(5)
    events = [some_event(chance, number) for number in range(90)]
    numbers: dict[str, int] = {}
    for start, keep in enumerate(["wanted", "all", "wanted"]):
        with opened(tmp_path / "data", tmp_path / "lake", keep=keep) as broker:
            assert broker.lake is not None
            if not start:
                numbers = subscribed(broker, TEXTS[1:])
            else:
                broker.lake.wait_until_written()
            broker.publish(broker.tenant("default"), events[start * 30 : start * 30 + 30])
            broker.wait_until_matched()
            broker.lake.wait_until_written()
    found, wanted = event_ids(tmp_path / "lake"), {id for id, _ in met(events, numbers)}
    assert set(found.values()) == {1}
    assert set(found) == wanted | {f"e{number}" for number in range(30, 60)}


def test_figure_11_what_alerts_say_is_kept(tmp_path: Path) -> None:
    """A row for each saying, with its key and its cause, in the table that a stream on Spark writes, too."""
    text = "{door = open} once until false"
    with opened(tmp_path / "data", tmp_path / "lake") as broker:
        assert broker.lake is not None
        numbers = subscribed(broker, [text])
        tenant = broker.tenant("default")
        for number, state in enumerate(["open", "open", "closed", "open"]):
            broker.publish(tenant, [lw.event({"door": state}, id=f"e{number}", source="d1")])
        broker.wait_until_matched(400)
        broker.lake.wait_until_written()
        assert broker.troubles() == []
    found = sorted(rows(tmp_path / "lake", "said"), key=lambda row: row["place"])
    assert [(row["event_id"], row["cause"]) for row in found] == [
        ("e0", "arrival"),
        ("e2", "cleared"),
        ("e3", "arrival"),
    ]
    assert {(row["subscription"], *row["key"]) for row in found} == {(numbers[text], "d1")}
    assert event_ids(tmp_path / "lake") == {"e0": 1, "e2": 1, "e3": 1}
    assert rows(tmp_path / "lake", "matches") == []
