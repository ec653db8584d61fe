"""Promises of rankings and alerts on Spark: what one Matcher says over the same log, once, whatever dies."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import InputError, Unavailable
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.stream import Stream, StreamSettings
from likewise.spark.streaming.matchers import MeaningChoice
from likewise.spark.streaming.state.packed_matcher import pack_matcher, unpack_matcher
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

    def stream(self, shards: int = 3, choice: MeaningChoice | None = None, keep: str = "matches") -> Stream:
        settings = StreamSettings(
            f"files:{self.folder / 'in'}",
            f"parquet:{self.folder / 'lake'}",
            str(self.folder / "log"),
            keep,
            shards=shards,
        )
        return Stream(settings, self.folder / "checkpoint", choice)

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


def test_tasks_of_spark_say_what_one_matcher_says(spark: SparkSession, tmp_path: Path) -> None:
    """The whole way once: two batches on Spark."""
    chance = random.Random(8)
    place, oracle = Folder(tmp_path), Oracle()
    place.log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)
    for turn in range(2):
        events = [some_event(chance, 20 * turn + n, (40 * turn + n) * SECOND) for n in range(20)]
        place.put(f"{turn}.jsonl", events)
        reports = list(place.stream().run(spark))
        oracle.batch(place.log, events)
        assert place.said() == oracle.said
        assert sum(report.counts.said for report in reports) > 0


def test_an_alert_of_a_stream_that_had_none_begins_with_what_comes_after(spark: SparkSession, tmp_path: Path) -> None:
    """Files that were there are not read for it; a stream that is started again goes on, and says nothing twice."""
    place = Folder(tmp_path)
    place.log.add([lw.parse("{t > 0}", id="plain")], at=0)
    event = {"v": 1, "payload": {"t": 30}, "source": "s"}
    place.put("0.jsonl", [event | {"id": "before", "time": 0}])
    list(place.stream().run(spark))
    place.log.add([lw.parse("{t > 20} for 5 s", id="hot")], at=0)
    place.put("1.jsonl", [event | {"id": "there", "time": 10 * SECOND}])
    list(place.stream().run(spark))
    assert not place.rows("said")
    for turn in (20, 30, 40):
        place.put(f"{turn}.jsonl", [event | {"id": f"e{turn}", "time": turn * SECOND}])
        list(place.stream().run(spark))
    assert [(row["cause"], row["event_id"]) for row in place.rows("said")] == [("held", "e20")]
    assert len(place.rows("matches")) == 5


@pytest.mark.parametrize("where", ["parts", "commit"])
def test_a_driver_that_dies_anywhere_says_everything_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """After the parts, after the commit."""
    chance = random.Random(5)
    place, oracle = Folder(tmp_path), Oracle()
    place.log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)
    batches = [[some_event(chance, 20 * turn + n, (30 * turn + n) * SECOND) for n in range(20)] for turn in range(3)]
    commit = PlainCommits.commit

    def die(self: PlainCommits, query: str, batch: int, parts: Any) -> bool:
        if not query.endswith("s") or where == "commit":
            commit(self, query, batch, parts)
        if query.endswith("s"):
            raise Unavailable("the driver died")
        return True

    for turn, events in enumerate(batches):
        place.put(f"{turn}.jsonl", events)
        if turn == 1:
            with monkeypatch.context() as dying:
                dying.setattr(PlainCommits, "commit", die)
                with pytest.raises(Unavailable, match="the driver died"):
                    list(place.stream().run(spark))
        list(place.stream().run(spark))
        oracle.batch(place.log, events)
    assert place.said() == oracle.said


def test_events_that_a_ranking_or_an_alert_asks_for_are_wanted(spark: SparkSession, tmp_path: Path) -> None:
    """Those that only end a run are not; the number of shards belongs to the query."""
    place = Folder(tmp_path)
    place.log.add([lw.parse("{t > 20} for 5 min", id="a"), lw.parse("{x > 1} top 1 within 1 h by value(x)")], at=0)
    payloads = [{"t": 21}, {"t": 3}, {"x": 2}, {"y": 1}]
    place.put("0.jsonl", [{"v": 1, "payload": p, "id": f"e{n}", "time": n} for n, p in enumerate(payloads)])
    list(place.stream(keep="wanted").run(spark))
    assert [row["id"] for row in place.rows("events")] == ["e0", "e2"]
    with pytest.raises(InputError, match="its shards is 3, and 5 was given"):
        place.stream(shards=5, keep="wanted")
    with pytest.raises(InputError, match="--shards is between"):
        place.stream(shards=0)


def test_the_judgements_of_a_batch_count_not_those_of_the_state_before() -> None:
    """A state is packed without them, and is whole."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{temperature~ > 20} for 5 s", id="warm"), at=0)
    matcher.feedback(lw.event({"heat": 21}, id="e"), "warm", True)
    judged = MeaningChoice(feedback=tuple(matcher.interpretation.feedback))
    packed = pack_matcher(matcher)
    for choice in (MeaningChoice(), judged):
        assert tuple(unpack_matcher(packed, choice).interpretation.feedback) == choice.feedback
