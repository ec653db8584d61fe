"""Promises of `likewise.spark.alerts`: what one Matcher says over the same events, however they are cut, and once."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import likewise as lw
from likewise.errors import InputError, UnsupportedSubscription
from likewise.lake.change_log import ChangeLog
from likewise.spark import alerts
from tests.spark.streaming.state.histories import SECOND, Oracle, Said, some_event
from tests.spark.streaming.state.stages import Stages, a_log, compare, run_until_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_is_what_one_matcher_says_however_it_is_cut(tmp_path: Path, seed: int) -> None:
    """Over random histories, with changes, withdrawals, workers that start anew and batches that are repeated."""
    _, said = compare(tmp_path, seed)
    assert len({cause for _, cause, *_ in said}) >= 6


def test_a_bucket_that_nothing_moves_is_not_opened(tmp_path: Path) -> None:
    """Nor written, though it remembers how far time is."""
    log = ChangeLog(tmp_path / "log")
    log.add([lw.parse("{t > 20} for 20 s", id="long")], at=0)
    stages = Stages(log, count=4)
    stages.run([[{"v": 1, "id": "a", "payload": {"t": 21}, "time": 0, "source": "s1"}]])
    before = dict(stages.store["matcher"])
    assert len(before) == len(stages.store["mark"]) == 4
    stages.batch += 1
    stages.run([[{"v": 1, "id": "b", "payload": {"battery": 3}, "time": 5 * SECOND, "source": "s1"}]])
    assert stages.store["matcher"] == before
    assert {mark[1] for mark in stages.store["mark"].values()} == {5 * SECOND}
    stages.batch += 1
    said = stages.run([[{"v": 1, "id": "c", "payload": {"battery": 3}, "time": 20 * SECOND, "source": "s2"}]])
    assert said == Counter({(0, "held", "a", ("s1",), 0, 0): 1})
    log.remove(["long"])
    stages.batch += 1
    stages.run([[{"v": 1, "id": "d", "payload": {"battery": 3}, "time": 21 * SECOND, "source": "s2"}]])
    assert stages.store == {"mark": {}, "matcher": {}}


def test_a_clock_that_is_ahead_makes_nobody_late(tmp_path: Path) -> None:
    """An event counts at its own time, but not later than it came."""
    log = ChangeLog(tmp_path / "log")
    log.add([lw.parse("{t > 20} for 10 s", id="long"), lw.parse("{t > 20} top 1 within 1 h by value(t)")], at=0)
    stages = Stages(log, lateness=5 * SECOND)
    rows = [
        {"v": 1, "id": "ahead", "payload": {"t": 1}, "time": 10**14, "source": "s9", "came": 100 * SECOND},
        {"v": 1, "id": "a", "payload": {"t": 21}, "time": 99 * SECOND, "source": "s1", "came": 100 * SECOND},
    ]
    stages.run([rows])
    stages.batch += 1
    last = {"v": 1, "id": "b", "payload": {"t": 1}, "time": 114 * SECOND, "source": "s9", "came": 115 * SECOND}
    assert {said[1:3] for said in stages.run([[last]])} == {("held", "a")}


def test_a_late_event_that_is_the_newest_of_its_source_counts(tmp_path: Path) -> None:
    """Spark's watermark, which would drop it, takes no part; one that its source overtook moves nothing."""
    log = ChangeLog(tmp_path / "log")
    log.add([lw.parse("{t > 20} once until false", id="hot")], at=0)
    stages = Stages(log)
    on, off = {"t": 21}, {"t": 1}
    stages.run([[{"v": 1, "id": "a", "payload": off, "time": 1000 * SECOND, "source": "s1"}]])
    stages.batch += 1
    late = {"v": 1, "id": "b", "payload": on, "time": 10 * SECOND, "source": "s2"}
    overtaken = {"v": 1, "id": "c", "payload": on, "time": 10 * SECOND, "source": "s1"}
    said = stages.run([[late, overtaken]])
    assert [(cause, id) for _, cause, id, *_ in said] == [("arrival", "b")]


def test_the_number_of_buckets_belongs_to_the_query(tmp_path: Path) -> None:
    """Else keys would be looked for where they are not."""
    stages = Stages(a_log(tmp_path))
    event = {"v": 1, "id": "a", "payload": {"t": 21}, "time": 0, "source": "s1"}
    stages.run([[event]])
    stages.batch, stages.count = 1, 5
    with pytest.raises(InputError, match="started with 3 buckets, and now has 5"):
        stages.run([[event]])


def said_in(rows: list[Any]) -> Counter[Said]:
    said: Counter[Said] = Counter()
    for row in rows:
        total = json.loads(row.digest)["total"] if row.digest else row.suppressed
        since = None if row.since is None else round(row.since.timestamp() * SECOND)
        key = None if row.key is None else tuple(row.key)
        said[row.subscription, row.cause, row.event_id, key, since, total] += 1
    return said


def test_a_batch_that_is_repeated_says_what_one_matcher_says(spark: SparkSession, tmp_path: Path) -> None:
    """The whole way on Spark: two batches, a change between, and the last again after its driver died."""
    chance = random.Random(8)
    log, oracle = a_log(tmp_path), Oracle()
    (tmp_path / "in").mkdir()
    seen: dict[int, list[Counter[Said]]] = {}

    def collect(rows: DataFrame, batch: int) -> None:
        seen.setdefault(batch, []).append(said_in(rows.collect()))

    def run() -> Any:
        found = alerts(spark.readStream.text(str(tmp_path / "in")), log.folder, buckets=2)
        writer = found.writeStream.foreachBatch(collect).option("checkpointLocation", str(tmp_path / "checkpoint"))
        return run_until_read(writer)

    for turn in range(2):
        events = [some_event(chance, 20 * turn + n, (40 * turn + n) * SECOND) for n in range(20)]
        (tmp_path / ".made").write_text("".join(json.dumps(each) + "\n" for each in events))
        (tmp_path / ".made").rename(tmp_path / "in" / f"{turn}.txt")
        oracle.batch(log, events)
        query = run()
        counted = [each.observedMetrics["likewise"].asDict() for each in query.recentProgress if each.numInputRows]
        assert counted == [{"malformed": 0, "returned": 20}]
        assert sum((several[0] for several in seen.values()), Counter()) == oracle.said
        log.add([lw.parse("{t > 17} for 6 s", id=f"new{turn}")], at=0)
    # The driver died before it wrote down that the batch was done: Spark runs it again, from the state before.
    for name in ("1", ".1.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink()
    log.remove(["s0", "s1"])
    run()
    assert len(seen[1]) == 2
    assert seen[1][0] == seen[1][1]


def test_stored_events_have_alerts_too(spark: SparkSession) -> None:
    """In a batch DataFrame, with subscriptions that are given."""
    rows = [
        (json.dumps({"v": 1, "id": f"e{n}", "source": "a", "time": n * SECOND, "payload": {"t": n}}),)
        for n in range(30)
    ]
    frame = spark.createDataFrame(rows, "value string")
    found = alerts(frame, ["{t > 9} for 5 s", "{t > 3} top 1 within 100 s by value(t) highest"], at=10**15)
    said = [(row.subscription, row.cause, row.event_id) for row in found.collect() if row.cause == "held"]
    assert said == [(0, "held", "e14")]
    with pytest.raises(UnsupportedSubscription, match="serves what looks at one event"):
        alerts(frame, ["{t > 9}"])
    with pytest.raises(InputError, match="there is no 'gone'"):
        alerts(frame, ["{t > 9} for 5 s"], withdrawn="gone")
    with pytest.raises(InputError, match="buckets is between 1 and 999"):
        alerts(frame, ["{t > 9} for 5 s"], buckets=0)
