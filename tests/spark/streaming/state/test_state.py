"""Promises of rankings and alerts on Spark: what one Matcher says over the same log, once, whatever dies."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import ArtefactDamaged, InputError
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.streaming import run as module
from likewise.spark.streaming.checkpoint import Query
from likewise.spark.streaming.matchers import MeaningChoice
from likewise.spark.streaming.run import StreamQuery
from likewise.spark.streaming.state import saved_shard
from likewise.spark.streaming.state import shards as shards_module
from tests.spark.streaming.state.histories import SECOND, TEXTS, Oracle, Said, some_event

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


class Folder:
    """Events, subscriptions, a checkpoint and a lake."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "in").mkdir()
        self.log = ChangeLog(folder / "log")

    def stream(self, shards: int = 3, choice: MeaningChoice | None = None, keep: str = "matches") -> StreamQuery:
        query = Query(
            f"files:{self.folder / 'in'}",
            f"parquet:{self.folder / 'lake'}",
            str(self.folder / "log"),
            keep,
            shards=shards,
        )
        return StreamQuery(query, self.folder / "checkpoint", choice)

    def put(self, name: str, events: list[dict[str, Any]]) -> None:
        (self.folder / "in" / name).write_text("".join(json.dumps(each) + "\n" for each in events))

    def rows(self, table: str) -> list[dict[str, Any]]:
        lake = self.folder / "lake"
        parts = PlainCommits(lake).parts(table)
        return [row for part in parts for row in pq.read_table(lake / part.path, partitioning=None).to_pylist()]

    def said(self) -> Counter[Said]:
        found: Counter[Said] = Counter()
        for row in self.rows("said"):
            key = None if row["key"] is None else tuple(row["key"])
            since = None if row["since"] is None else round(row["since"].timestamp() * SECOND)
            total = json.loads(row["digest"])["total"] if row["digest"] else row["suppressed"]
            found[row["subscription"], row["cause"], row["event_id"], key, since, total] += 1
        return found


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Any:
    """In place of a session: orders are done in this process, one after the other, by what workers run, too."""

    def run(spark: object, orders: list[bytes], do: Callable[[bytes], bytes]) -> list[bytes]:
        return [do(order) for order in orders]

    monkeypatch.setattr(module, "map_orders", run)
    monkeypatch.setattr(shards_module, "map_orders", run)
    return None


def test_tasks_of_spark_say_what_one_matcher_says(spark: SparkSession, tmp_path: Path) -> None:
    """The whole way once: two batches on Spark."""
    chance = random.Random(8)
    place, oracle = Folder(tmp_path), Oracle()
    place.log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)
    for turn in range(2):
        events = [some_event(chance, 20 * turn + n, (40 * turn + n) * SECOND) for n in range(20)]
        place.put(f"{turn}.jsonl", events)
        (report,) = place.stream().batches(spark)
        oracle.batch(place.log, events)
        assert place.said() == oracle.said
        assert report.counts.said > 0


@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_is_what_one_matcher_says_however_it_is_cut(here: Any, tmp_path: Path, seed: int) -> None:
    """Random batches of several files, times out of order within them and across, changes between, restarts."""
    spark, lateness = here, [0, 4][seed % 2]
    chance = random.Random(seed)
    place, oracle = Folder(tmp_path), Oracle(lateness * SECOND)
    place.log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)
    choice = MeaningChoice(lateness=lateness * SECOND)
    stream = place.stream(choice=choice)
    now, number = 1_000 * SECOND, 0
    for turn in range(6):
        events = []
        for _ in range(chance.choice([0, 1, 7, 25])):
            now += chance.randint(0, 4) * SECOND
            events.append(some_event(chance, number, now))
            number += 1
        if turn == 3:
            now += 60 * SECOND
        cut = chance.randint(0, len(events))
        for half, several in (("a", events[:cut]), ("b", events[cut:])):
            if several:
                place.put(f"{turn}{half}.jsonl", several)
        if chance.random() < 0.5:  # started again, with nothing at hand
            saved_shard._live.clear()
            stream = place.stream(choice=choice)
        reports = list(stream.batches(spark))
        assert sum(report.counts.events for report in reports) == len(events)
        if events:
            oracle.batch(place.log, events)
        assert place.said() == oracle.said
        if turn in (1, 4):
            place.log.remove(
                [chance.choice([each.subscription.id for each in place.log.snapshot().subscriptions.values()])]
            )
            place.log.add([lw.parse("{t > 17} for 6 s", id=f"new{turn}"), lw.parse(TEXTS[0], id="s1")], at=0)
    assert oracle.said


@pytest.mark.parametrize("where", ["plan", "shards", "parts", "commit"])
def test_a_driver_that_dies_anywhere_says_everything_once(
    here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """After the plan, after events were left for the shards, after these ran, after the commit."""
    spark, chance = here, random.Random(5)
    place, oracle = Folder(tmp_path), Oracle()
    place.log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)
    batches = [[some_event(chance, 20 * turn + n, (30 * turn + n) * SECOND) for n in range(20)] for turn in range(3)]
    for turn, events in enumerate(batches):
        place.put(f"{turn}.jsonl", events)
        stream = place.stream()
        if turn == 1:

            def die(*rest: object, **named: object) -> None:
                raise ZeroDivisionError

            with monkeypatch.context() as dying:
                if where == "plan":
                    dying.setattr(module, "run_tasks", die)
                elif where == "shards":
                    dying.setattr(shards_module, "map_orders", die)
                elif where == "parts":
                    dying.setattr(stream.outlet, "commit", die)
                else:
                    dying.setattr(stream.checkpoint, "write_commit", die)
                with pytest.raises(ZeroDivisionError):
                    list(stream.batches(spark))
            stream = place.stream()
        (report,) = stream.batches(spark)
        assert report.repeated == (turn == 1)
        oracle.batch(place.log, events)
    assert place.said() == oracle.said
    kept = sorted(path.name for path in (tmp_path / "checkpoint" / "state").glob("[0-9]*"))
    assert kept[-1] == "0000000002"
    assert not (tmp_path / "checkpoint" / "state" / "0000000002" / "events").exists()


def test_a_state_that_is_damaged_or_gone_is_refused(here: Any, tmp_path: Path) -> None:
    """By the checksums that were written with it."""
    from likewise.spark.streaming.state.saved_shard import SavedShard, load_shard
    from likewise.spark.streaming.state.shards import StreamState

    place = Folder(tmp_path)
    place.log.add([lw.parse(TEXTS[0], id="a")], at=0)
    place.put("0.jsonl", [some_event(random.Random(1), n, n * SECOND) for n in range(30)])
    list(place.stream().batches(here))
    kept = StreamState(tmp_path / "checkpoint").after(0)
    assert kept is not None
    saved = next(iter(kept.shards.values()))
    file = next((tmp_path / "checkpoint" / "state" / saved.path).rglob("*.arrow"))
    saved_shard._live.clear()
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(ArtefactDamaged, match=r"is not what was saved: its SHA-256 was .* restore a copy"):
        load_shard(tmp_path / "checkpoint" / "state", saved, MeaningChoice())
    with pytest.raises(ArtefactDamaged, match="is not what was saved"):
        load_shard(tmp_path / "checkpoint" / "state", SavedShard(saved.path, "other"), MeaningChoice())


def test_events_that_a_ranking_or_an_alert_asks_for_are_wanted(here: Any, tmp_path: Path) -> None:
    """Those that only end a run are not; the number of shards belongs to the query."""
    place = Folder(tmp_path)
    place.log.add([lw.parse("{t > 20} for 5 min", id="a"), lw.parse("{x > 1} top 1 within 1 h by value(x)")], at=0)
    payloads = [{"t": 21}, {"t": 3}, {"x": 2}, {"y": 1}]
    place.put("0.jsonl", [{"v": 1, "payload": p, "id": f"e{n}", "time": n} for n, p in enumerate(payloads)])
    list(place.stream(keep="wanted").batches(here))
    assert [row["id"] for row in place.rows("events")] == ["e0", "e2"]
    with pytest.raises(InputError, match="its shards is 3, and 5 was said"):
        place.stream(shards=5, keep="wanted")
    with pytest.raises(InputError, match="--shards is between"):
        place.stream(shards=0)


def test_a_checkpoint_in_an_object_store_has_no_state(tmp_path: Path) -> None:
    """Refused with words, before anything is written there."""
    place = Folder(tmp_path)
    place.log.add([lw.parse(TEXTS[0], id="a")], at=0)
    query = Query(f"files:{tmp_path / 'in'}", f"parquet:{tmp_path / 'lake'}", str(tmp_path / "log"))
    with pytest.raises(InputError, match="not in an object store; choose another --checkpoint than s3://bucket/state"):
        StreamQuery(query, "s3://bucket/state")


def test_the_judgements_of_a_batch_count_not_those_of_the_state_before(tmp_path: Path) -> None:
    """A state is saved without them, and is whole."""
    from likewise.spark.streaming.state.saved_shard import load_shard, save_shard

    matcher = lw.Matcher()
    matcher.add(lw.parse("{temperature~ > 20} for 5 s", id="warm"), at=0)
    matcher.feedback(lw.event({"heat": 21}, id="e"), "warm", True)
    judged = MeaningChoice(feedback=tuple(matcher.interpretation.feedback))
    saved = save_shard(matcher, tmp_path, 0, "source-000", judged)
    for choice in (MeaningChoice(), judged):
        saved_shard._live.clear()
        assert tuple(load_shard(tmp_path, saved, choice).interpretation.feedback) == choice.feedback
