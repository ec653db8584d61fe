"""What a stream of files costs where tasks read them, as by `likewise stream run`, and where Spark reads their lines.

    python -m benchmarks.streaming_engines --json
    python -m benchmarks.streaming_engines --events 25000 --keys 1000 10000 100000

Both read the same files of JSON lines on `local[2]`, a file a batch, and write a lake of plain Parquet. Stateless are
conditions like those of W2 (`benchmarks.matcher`): `to_lake` with subscriptions. Stateful is one alert over so many
sources: `alerts` into `to_lake`; `likewise stream run` matches beside it. CPU is that of Spark's JVM and Python workers
and of the driver; the first batch warms up and is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.matcher import conditions, publications
from likewise.lake.change_log import ChangeLog
from likewise.language import parse
from likewise.model import Subscription
from likewise.spark import alerts, to_lake
from likewise.spark.session import spark_session
from likewise.spark.stream import Stream, StreamSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TICK = os.sysconf("SC_CLK_TCK")
ALERT = "{t > 50} for 10 s at most every 30 s"


def spent() -> float:
    """Return the seconds of CPU of this process and all below it."""
    parents, ticks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))  # its own, and those of children that ended
    found = 0
    for process, used in ticks.items():
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid():
            found += used
    return found / TICK


def plain_events(count: int, batch: int) -> list[str]:
    """Return the lines of a batch of events like W2's."""
    return [json.dumps({i.attribute: i.value for i in each.tuples}) for each in publications(count, 3 + batch)]


def keyed_events(count: int, keys: int, batch: int) -> list[str]:
    """Return the lines of a batch of readings, each source in its turn."""
    chance = random.Random(batch)
    return [
        json.dumps(
            {
                "v": 1,
                "id": f"{batch}-{n}",
                "source": f"s{(batch * count + n) % keys}",
                "time": (batch * count + n) * 1000,
                "payload": {"t": chance.randint(0, 99)},
            }
        )
        for n in range(count)
    ]


def measured(
    spark: SparkSession,
    folder: Path,
    subscriptions: list[Subscription],
    made: Callable[[int], list[str]],
    batches: int,
    stateful: bool,
) -> dict[str, float]:
    """Return seconds of CPU a batch, for each of both."""
    (folder / "in").mkdir(parents=True)
    ChangeLog(folder / "log").add(subscriptions, at=0)
    log = str(folder / "log")
    for batch in range(batches + 1):
        path = folder / "in" / f"{batch:03}.jsonl"
        path.write_text("\n".join(made(batch)) + "\n")
        os.utime(path, (1_700_000_000 + batch, 1_700_000_000 + batch))
    marks, counted = [], []
    settings = StreamSettings(f"files:{folder / 'in'}", f"parquet:{folder / 'run'}", log, shards=2)
    for report in Stream(settings, folder / "run-state", most=len(made(0)) * 9 // 10).run(spark):
        if report.counts.events:
            marks.append(spent())
            counted.append(report.counts.events)
    run = (marks[-1] - marks[0]) / sum(counted[1:]) * counted[0]
    frame = spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder / "in"))
    found = alerts(frame, log) if stateful else frame
    sink = to_lake(folder / "query") if stateful else to_lake(folder / "query", subscriptions=log)
    ends: list[float] = []

    def timed(rows: DataFrame, batch: int) -> None:
        sink(rows, batch)
        ends.append(spent())

    writer = found.writeStream.foreachBatch(timed).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "query-state")).start().awaitTermination()
    return {"run": round(run, 3), "query": round((ends[-1] - ends[0]) / (len(ends) - 1), 3)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=25_000, help="events of a batch")
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--keys", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    settings = {"spark.sql.shuffle.partitions": "2"}
    with tempfile.TemporaryDirectory() as folder, spark_session("local[2]", settings=settings) as spark:
        held, events = list(conditions(options.subscriptions, 1)), options.events
        spans = measured(spark, Path(folder, "plain"), held, partial(plain_events, events), options.batches, False)
        found.append({"case": f"{options.subscriptions} conditions", "events": events} | spans)
        print(json.dumps(found[-1]), flush=True)
        for keys in options.keys:
            one = [parse(ALERT, id="hot")]
            place = Path(folder, f"keys{keys}")
            spans = measured(spark, place, one, partial(keyed_events, events, keys), options.batches, True)
            found.append({"case": f"an alert over {keys} sources", "events": events} | spans)
            print(json.dumps(found[-1]), flush=True)
    if options.json:
        load = os.getloadavg()[0]
        print(json.dumps({"load": load, "seconds": round(time.process_time(), 1), "found": found}))


if __name__ == "__main__":
    main()
