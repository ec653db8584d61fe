"""Promises of `likewise.spark.to_lake`: tasks write, each batch is in the lake once, and progress is a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import InputError
from likewise.lake.change_log import ChangeLog
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.plain_commits import PlainCommits
from likewise.spark import alerts, match, metrics_listener, to_lake
from likewise.spark.metrics import QuerySamples
from tests.spark.streaming.state.stages import run_until_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled
SECOND = 1_000_000


class Stream:
    """Files that come, a change log, and a query that is started again with the same checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        (folder / "in").mkdir()
        self.log = ChangeLog(folder / "log")
        self.log.add([lw.parse("{t > 25} select (t as t)", id="warm"), lw.parse("{t > 9} for 5 s", id="long")], at=0)

    def put(self, name: str, *events: dict[str, Any] | str) -> None:
        made = self.folder / f".{name}"
        made.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in events))
        made.rename(self.folder / "in" / name)

    def frame(self) -> DataFrame:
        return self.spark.readStream.text(str(self.folder / "in"))

    def run(self, frame: DataFrame, sink: Any, name: str) -> None:
        writer = frame.writeStream.foreachBatch(sink).queryName(name)
        run_until_read(writer.option("checkpointLocation", str(self.folder / name)))

    def forget_last_commit(self, name: str) -> None:
        """As after a crash before Spark wrote down that the batch was done."""
        commits = self.folder / name / "commits"
        last = max(int(path.name) for path in commits.iterdir() if path.name.isdecimal())
        for path in (commits / str(last), commits / f".{last}.crc"):
            path.unlink()

    def rows(self, table: str) -> list[dict[str, Any]]:
        lake = self.folder / "lake"
        parts = PlainCommits(lake).parts(table)
        return [row for part in parts for row in pq.read_table(lake / part.path, partitioning=None).to_pylist()]


def event(id: str, t: int, time: int) -> dict[str, Any]:
    return {"v": 1, "id": id, "payload": {"t": t}, "time": time * SECOND, "source": "s"}


def test_a_batch_is_in_the_lake_once_however_often_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Matches with what is selected, wanted events, what numbers stand for, and payloads that are no events."""
    stream = Stream(spark, tmp_path)
    samples = tmp_path / "metrics.prom"
    listener = metrics_listener(samples)
    spark.streams.addListener(listener)

    def run() -> None:
        sink = to_lake(tmp_path / "lake", subscriptions=stream.log.folder, keep="wanted", bad=tmp_path / "bad")
        stream.run(stream.frame(), sink, "matches")

    stream.put("0.txt", event("a", 30, 0), event("b", 1, 1), "no event")
    run()
    once = {table: stream.rows(table) for table in ("matches", "events", "selected", "subscriptions")}
    assert [(row["event_id"], row["subscriptions"], row["batch"]) for row in once["matches"]] == [("a", [0], 0)]
    assert [row["id"] for row in once["events"]] == ["a"]
    assert [json.loads(row["selected"]) for row in once["selected"]] == [{"t": 30}]
    assert [(row["number"], row["id"]) for row in once["subscriptions"]] == [(0, "warm"), (1, "long")]
    (bad,) = (tmp_path / "bad").iterdir()
    assert json.loads(bad.read_text())["payload"] == "no event"
    stream.forget_last_commit("matches")
    stream.log.add([lw.parse("{t > 0}", id="all")], at=0)
    run()
    assert {table: stream.rows(table) for table in once} == once
    stream.put("1.txt", event("c", 2, 2))
    run()
    spark.streams.removeListener(listener)
    assert [(row["event_id"], row["subscriptions"]) for row in stream.rows("matches")] == [("a", [0]), ("c", [2])]
    assert [row["id"] for row in stream.rows("subscriptions")] == ["warm", "long", "all"]
    text = samples.read_text()
    assert 'likewise_stream_rows_total{query="matches"}' in text
    assert 'likewise_stream_batch{query="matches"}' in text


def test_notifications_are_in_delta_once(spark: SparkSession, tmp_path: Path) -> None:
    """What alerts say, by the transaction of query and batch."""
    pytest.importorskip("deltalake")
    stream = Stream(spark, tmp_path)

    def run() -> None:
        found = alerts(stream.frame(), stream.log.folder, buckets=1)
        stream.run(found, to_lake(tmp_path / "delta", "delta", tenant="plant", query="alarms"), "said")

    stream.put("0.txt", event("a", 30, 0), event("b", 30, 6))
    run()
    stream.forget_last_commit("said")
    run()
    rows = DeltaCommits(tmp_path / "delta").table("said").to_pyarrow_table().to_pylist()
    assert [(row["query"], row["batch"], row["cause"], row["event_id"], row["tenant"]) for row in rows] == [
        ("alarms", 0, "held", "a", "plant")
    ]


def test_what_cannot_be_written_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Before anything is."""
    with pytest.raises(InputError, match="format is one of parquet, delta"):
        to_lake(tmp_path / "lake", "csv")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a tenant's name is part of paths"):
        to_lake(tmp_path / "lake", tenant="a/b")
    with pytest.raises(InputError, match="a query's name is part of paths"):
        to_lake(tmp_path / "lake", query="../q")
    frame = spark.sql("""select '{"t": 30}' as value""")
    with pytest.raises(InputError, match="bucket, cause, digest, moment, place, subscription is missing"):
        to_lake(tmp_path / "lake", query="q")(match(frame, ["{t > 1}"]), 0)
    with pytest.raises(InputError, match=r"name the query: to_lake\(\.\.\., query='readings'\)"):
        to_lake(tmp_path / "lake", subscriptions=["{t > 1}"])(frame, 0)
    to_lake(tmp_path / "lake", subscriptions=["{t > 1}"], query="q")(frame, 0)
    assert len(PlainCommits(tmp_path / "lake").parts("matches")) == 1


def test_names_of_queries_are_quoted() -> None:
    """Also those that no label could hold."""
    samples = QuerySamples()
    samples.set('a "b"\n', {"active": 0})
    assert samples.text().splitlines()[-1] == 'likewise_stream_active{query="a \\"b\\"\\n"} 0'
