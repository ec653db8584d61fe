"""Promises of `likewise.spark.match` in a stream: it follows the change log, and a repeated batch sees what it saw."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import likewise as lw
from likewise.errors import ArtefactDamaged, InputError
from likewise.lake.change_log import ChangeLog
from likewise.matching.matcher import system_clock
from likewise.spark import match, matches
from likewise.spark.streaming import batch_pins, dataframes
from likewise.spark.streaming.batch_pins import BatchPin, MicroBatch, pin_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled
MINUTE = 60_000_000


class Stream:
    """Files that come, a change log, and a query that is started again with the same checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        (folder / "in").mkdir()
        self.log = ChangeLog(folder / "log")
        self.log.add([lw.parse("{t > 25}", id="warm")], at=0)

    def put(self, name: str, *events: dict[str, Any]) -> None:
        made = self.folder / f".{name}"
        made.write_text("".join(json.dumps(each) + "\n" for each in events))
        made.rename(self.folder / "in" / name)

    def frame(self) -> DataFrame:
        return self.spark.readStream.text(str(self.folder / "in"))

    def run(self, found: DataFrame) -> Any:
        """Run what is there through Spark's own sink; the query."""
        query = (
            found.writeStream.format("parquet")
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self.folder / "out"))
        )
        assert query.awaitTermination(240)
        return query

    def rows(self) -> list[Any]:
        return self.spark.read.parquet(str(self.folder / "out")).collect()

    def pins(self) -> list[BatchPin]:
        import msgspec

        return [
            msgspec.json.decode(path.read_bytes(), type=BatchPin)
            for path in sorted((self.folder / "log" / "pins").rglob("*.json"), key=lambda path: path.name)
        ]


def test_a_stream_sees_the_version_that_is_newest_when_a_batch_begins(spark: SparkSession, tmp_path: Path) -> None:
    """A change holds from the next batch on; what is over by a batch's moment is left out."""
    stream = Stream(spark, tmp_path)
    stream.put("0.txt", {"t": 26, "n": 0})
    stream.run(match(stream.frame(), stream.log.folder, ids=True))
    stream.log.add([lw.parse("{t > 5}", id="mild"), lw.parse("{t > 6} valid for 1 min", id="short")], at=0)
    stream.log.add([lw.parse("{t > 7} valid for 1 d", id="day")], at=system_clock())
    stream.put("1.txt", {"t": 27, "n": 1}, {"t": 3, "n": 2})
    stream.run(match(stream.frame(), stream.log.folder, ids=True))
    assert sorted((row.subscriptions, row.subscription_ids) for row in stream.rows()) == [
        ([0], ["warm"]),
        ([0, 1, 3], ["warm", "mild", "day"]),
    ]
    assert [pin.version for pin in stream.pins()] == [1, 3]


def test_a_batch_that_is_repeated_sees_what_it_saw(spark: SparkSession, tmp_path: Path) -> None:
    """The driver died before Spark wrote down that the batch was done, and the subscriptions changed meanwhile."""
    stream = Stream(spark, tmp_path)
    stream.put("0.txt", {"t": 26})
    seen: list[tuple[int, list[list[int]]]] = []

    def collect(rows: DataFrame, batch: int) -> None:
        seen.append((batch, [row.subscriptions for row in rows.collect()]))

    def run() -> None:
        found = match(stream.frame(), stream.log.folder)
        query = found.writeStream.foreachBatch(collect).option("checkpointLocation", str(tmp_path / "checkpoint"))
        assert query.trigger(availableNow=True).start().awaitTermination(240)

    run()
    for path in (tmp_path / "checkpoint" / "commits").iterdir():
        path.unlink()
    stream.log.add([lw.parse("{t > 5}", id="mild")], at=0)
    stream.put("1.txt", {"t": 28})
    run()
    assert seen == [(0, [[0]]), (0, [[0]]), (1, [[0, 1]])]


def test_events_without_a_time_have_that_of_a_column(spark: SparkSession) -> None:
    """`timestamp` of Spark's connector to Kafka by default; an event that states one keeps it."""
    frame = spark.sql(
        """select '{"t": 1}' as value, 'a' as topic, 0 as partition, 7L as offset,
                  timestamp '2024-05-01 00:00:00 UTC' as timestamp
           union all select '{"v": 1, "payload": {"t": 1}, "time": 60000000}', 'a', 0, 8L,
                  timestamp '2024-05-01 00:00:00 UTC'"""
    )
    may = datetime(2024, 5, 1, tzinfo=UTC)
    for found in (match(frame, ["{t exists}"]), match(frame, ["{t exists}"], keep="wanted")):
        times = found.toArrow().column("event_time" if "event_time" in found.columns else "time").to_pylist()
        assert times == [may, datetime(1970, 1, 1, 0, 1, tzinfo=UTC)]
    named = frame.withColumnRenamed("timestamp", "when")
    assert match(named, ["{t exists}"]).toArrow().column("event_time").to_pylist()[0] is None
    assert match(named, ["{t exists}"], time="when").toArrow().column("event_time").to_pylist()[0] == may
    with pytest.raises(InputError, match="time names a column of timestamps; 'topic' is string"):
        match(named, ["{t exists}"], time="topic")


def test_each_match_has_a_row_if_asked(spark: SparkSession) -> None:
    """With the number, the score, what is selected and the id."""
    frame = spark.sql("""select 5 as n, '{"t": 30}' as value union all select 6, '{"t": 1}'""")
    wanted = spark.sql("""select 'b' as id, '{t > 20} select (t as t)' as text union all select 'a', '{t > 10}'""")
    rows = match(frame, wanted, explode=True, ids=True).collect()
    assert [(r.n, r.subscription, r.score, r.subscription_id) for r in rows] == [(5, 0, 1.0, "a"), (5, 1, 1.0, "b")]
    assert [r.selected is None for r in rows] == [True, False]
    with pytest.raises(InputError, match="columns id and text; text is missing"):
        match(frame, wanted.select("id"))
    with pytest.raises(InputError, match="explode gives a row for each match"):
        match(frame, wanted, keep="all", explode=True)


def test_what_is_no_event_is_dropped_told_or_ends_the_query(spark: SparkSession) -> None:
    """And counted in each case."""
    from pyspark.sql import Observation

    frame = spark.sql("""select 1 as n, '{"t": 30}' as value union all select 2, 'no event' union all select 3, null""")
    told = match(frame, ["{t > 20}"], mode="column").collect()
    assert [(row.n, row.subscriptions) for row in told] == [(1, [0]), (2, None), (3, None)]
    assert [row.error is None for row in told] == [True, False, False]
    with pytest.raises(Exception, match=r"mode='drop' leaves it out"):
        match(frame, ["{t > 20}"], mode="fail").collect()
    for options in ({}, {"keep": "wanted"}, {"keep": "all"}, {"mode": "column"}, {"explode": True}):
        counted = Observation()
        rows = match(frame, ["{t > 20}"], observe=counted, **options).collect()
        assert counted.get == {"malformed": 2, "returned": 1}
        assert len(rows) == (3 if "all" in options.values() or "column" in options.values() else 1)


def test_a_stream_counts_what_is_no_event(spark: SparkSession, tmp_path: Path) -> None:
    """In the metrics that its progress reports, under `likewise`."""
    stream = Stream(spark, tmp_path)
    stream.put("0.txt", {"t": 26})
    (tmp_path / "in" / "1.txt").write_text("no event\n")
    query = stream.run(match(stream.frame(), stream.log.folder))
    counted = [each.observedMetrics["likewise"].asDict() for each in query.recentProgress if each.numInputRows]
    assert counted == [{"malformed": 1, "returned": 1}]
    assert [row.subscriptions for row in stream.rows()] == [[0]]


def test_a_column_of_matches_needs_no_schema(spark: SparkSession, tmp_path: Path) -> None:
    """It follows the log in a stream, too."""
    stream = Stream(spark, tmp_path)
    stream.put("0.txt", {"t": 26}, {"t": 1})
    stream.run(stream.frame().select("value", matches("value", stream.log.folder).alias("found")))
    found = {row.value: [(each.number, each.score) for each in row.found] for row in stream.rows()}
    assert found == {'{"t": 26}': [(0, 1.0)], '{"t": 1}': []}
    assert [pin.version for pin in stream.pins()] == [1]


def test_rankings_and_alerts_can_be_left_to_another_query(spark: SparkSession, tmp_path: Path) -> None:
    """Of the same log; without that word one that comes later ends the query."""
    stream = Stream(spark, tmp_path)
    frame = match(stream.frame(), stream.log.folder)
    stream.log.add([lw.parse("{t > 20} for 5 min", id="long")], at=0)
    stream.put("0.txt", {"t": 26})
    with pytest.raises(Exception, match="a broker serve it"):
        stream.run(frame)
    stream.run(match(stream.frame(), stream.log.folder, stateful="skip"))
    assert [row.subscriptions for row in stream.rows()] == [[0]]


@pytest.fixture
def log(tmp_path: Path) -> ChangeLog:
    made = ChangeLog(tmp_path / "log")
    made.add([lw.parse("{t > 1}", id="a")], at=0)
    return made


def _proposal(log: ChangeLog, folder: str) -> Callable[[], BatchPin]:
    return lambda: BatchPin(log.newest(), log.snapshot().digest, 5, folder)


def test_the_first_task_of_a_batch_decides_for_all(log: ChangeLog) -> None:
    """Whatever others would propose, and whatever comes later."""
    first = pin_batch(log, "c", MicroBatch("q", 3), _proposal(log, "x"))
    log.add([lw.parse("{t > 2}", id="b")], at=0)
    assert pin_batch(log, "c", MicroBatch("q", 3), _proposal(log, "y")) == first
    later = pin_batch(log, "c", MicroBatch("q", 4), _proposal(log, "y"))
    assert (later.version, later.folder) == (2, "y")
    assert pin_batch(log, "other", MicroBatch("q", 3), _proposal(log, "z")).folder == "z"


def test_old_pins_are_removed(log: ChangeLog) -> None:
    """So that a query that runs for months leaves no more than it may still need."""
    for batch in range(batch_pins.RETAINED + 3):
        pin_batch(log, "c", MicroBatch("q", batch), _proposal(log, "x"))
    names = sorted(path.name for path in (log.folder / "pins" / "q" / "c").iterdir())
    assert len(names) == batch_pins.RETAINED
    assert names[0] == "0000000003.json"


def test_another_log_in_the_place_of_the_one_that_was_seen_is_refused(log: ChangeLog, tmp_path: Path) -> None:
    """Its numbers would stand for other subscriptions."""
    pin = pin_batch(log, "c", MicroBatch("q", 0), _proposal(log, "x"))
    other = ChangeLog(tmp_path / "other")
    other.add([lw.parse("{t > 3}", id="a")], at=0)
    (tmp_path / "log" / "pins").rename(tmp_path / "other" / "pins")
    with pytest.raises(InputError, match="another change log of subscriptions"):
        pin_batch(other, "c", MicroBatch("q", 1), _proposal(other, "x"))
    with pytest.raises(ArtefactDamaged, match="is not what a batch saw"):
        batch_pins.pinned_snapshot(other, pin)


def test_a_saved_matcher_that_was_compacted_away_is_made_again(
    log: ChangeLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a batch that is repeated; nothing is proposed for it."""
    from likewise.lake.atomic_create import remove_below
    from likewise.spark.match import frame_task
    from likewise.spark.streaming.matchers import MeaningChoice

    task = frame_task(log.folder, MeaningChoice(), streaming=True)
    first = dataframes.serve(task, 7, MicroBatch("q", 0))
    assert first.at == 7
    log.add([lw.parse("{t > 2}", id="b")], at=0)
    remove_below(log.folder / "matchers")
    again = dataframes.serve(task, 9, MicroBatch("q", 0))
    assert (again.at, again.matcher.state.numbers()) == (7, {0: "a"})
