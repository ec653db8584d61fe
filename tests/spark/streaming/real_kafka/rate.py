"""How many events a second a stream reads from a real broker of Kafka, matches and keeps, on this machine.

    python -m tests.spark.streaming.real_kafka.rate --folder build/kafka --json
    python -m tests.spark.streaming.real_kafka.rate --partitions 1 2 4 --subscriptions 1000 10000 --reader own spark

Conditions and events like those of W2 (`benchmarks.matcher`), as JSON, into plain Parquet (`matches`) on `local[2]`.
The first batch warms up and is not counted. The broker runs on the same cores. CPU is that of Spark's Python workers,
and of its JVM, for each event. `--recovery` kills a query with SIGKILL in a batch and starts it again: seconds from the
start until that batch is committed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.matcher import conditions, publications
from likewise.lake.change_log import ChangeLog
from likewise.spark.session import spark_session
from likewise.spark.stream import Stream, StreamSettings
from tests.spark.streaming.kills import newest
from tests.spark.streaming.real_kafka.broker import HERE, RealKafka, jars

TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 300.0


def send(kafka: RealKafka, topic: str, partitions: int, events: int) -> None:
    """Fill a topic; the same 20,000 payloads again and again."""
    from confluent_kafka import Producer

    kafka.create(topic, partitions)
    made = [json.dumps({i.attribute: i.value for i in event.tuples}).encode() for event in publications(20_000, 3)]
    producer = Producer({"bootstrap.servers": kafka.servers, "linger.ms": 50, "queue.buffering.max.messages": 500_000})
    for number in range(events):
        while True:
            try:
                producer.produce(topic, made[number % len(made)], partition=number % partitions)
                break
            except BufferError:
                producer.poll(0.1)
        if number % 1_000 == 0:
            producer.poll(0)
    if producer.flush(PATIENCE):
        raise SystemExit("Kafka did not take all messages")


def spent(kafka: RealKafka) -> dict[str, float]:
    """Seconds of CPU of the processes below this one, those of Java but the broker and those of Python."""
    broker = 0 if kafka.process is None else kafka.process.pid
    parents, ticks, names = {}, {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            fields = stat.rpartition(")")[2].split()
            process = int(entry.name)
            parents[process], names[process] = int(fields[1]), stat.partition("(")[2].partition(")")[0]
            ticks[process] = sum(map(int, fields[11:15]))  # its own, and those of children that ended
    found = {"java": 0.0, "python": 0.0}
    for process, name in names.items():
        above = process
        while above in parents and above not in (os.getpid(), broker):
            above = parents[above]
        if above == os.getpid() and process != above:
            kind = "java" if name.startswith("java") else "python" if name.startswith("python") else ""
            if kind:
                found[kind] += ticks[process] / TICK
    return found


def measured(
    folder: Path, kafka: RealKafka, spark: Any, topic: str, subscriptions: int, reader: str, most: int
) -> dict[str, Any]:
    """One query over a topic."""
    place = folder / "rate"
    shutil.rmtree(place, ignore_errors=True)
    ChangeLog(place / "log").add(conditions(subscriptions, 2), at=0)
    settings = StreamSettings(f"kafka://{kafka.servers}/{topic}", f"parquet:{place / 'lake'}", str(place / "log"))
    batches = Stream(settings, place / "state", most=most, reader=reader).run(spark)
    next(batches)
    began, before, events, matches = time.perf_counter(), spent(kafka), 0, 0
    for report in batches:
        events, matches = events + report.counts.events, matches + report.counts.matches
    seconds, after = time.perf_counter() - began, spent(kafka)
    return {
        "subscriptions": subscriptions,
        "reader": reader,
        "events": events,
        "matches_an_event": round(matches / events, 1),
        "events_a_second": round(events / seconds),
        "cpu_us_an_event": {kind: round((after[kind] - before[kind]) / events * 1e6, 1) for kind in after},
    }


def recovery(folder: Path, kafka: RealKafka, topic: str, most: int) -> dict[str, float]:
    """Seconds from a restart until the batch that was killed is committed."""
    place = folder / "recovery"
    shutil.rmtree(place, ignore_errors=True)
    ChangeLog(place / "log").add(conditions(10_000, 2), at=0)
    command = [
        sys.executable,
        "-m",
        "likewise",
        "stream",
        "run",
        "--from",
        f"kafka://{kafka.servers}/{topic}",
        "--to",
        f"parquet:{place / 'lake'}",
        "--subscriptions",
        str(place / "log"),
        "--checkpoint",
        str(place / "state"),
        "--max-events",
        str(most),
        "--master",
        "local[2]",
        "--once",
    ]

    def until(process: subprocess.Popen[bytes], pattern: str, count: int) -> float:
        began = time.perf_counter()
        while newest(place / "state" / Path(pattern).parent, Path(pattern).name) < count:
            if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                raise SystemExit(f"the query ended, or stood still; see {place / 'query.log'}")
            time.sleep(0.005)
        return time.perf_counter() - began

    with (place / "query.log").open("ab") as log:
        first = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        until(first, "matches/offsets/[0-9]*", 2)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        second = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        seconds = until(second, "matches/commits/[0-9]*", 2)
        os.killpg(second.pid, signal.SIGKILL)
        second.wait()
    return {"seconds": round(seconds, 1), "events_a_batch": most}


def main() -> None:
    """Send, read, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/kafka"))
    parser.add_argument("--events", type=int, default=600_000, help="of which the first batch is not counted")
    parser.add_argument("--most", type=int, default=100_000, help="events of a batch")
    parser.add_argument("--partitions", type=int, nargs="+", default=[2])
    parser.add_argument("--subscriptions", type=int, nargs="+", default=[10_000])
    parser.add_argument("--reader", nargs="+", default=["own"])
    parser.add_argument("--recovery", action="store_true")
    parser.add_argument("--json", action="store_true")
    said = parser.parse_args()
    folder = said.folder.absolute()
    if "spark" in said.reader:
        brought = ",".join(map(str, sorted(jars(folder / "connector", HERE / "connector").glob("*.jar"))))
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {brought} pyspark-shell"
    found: list[dict[str, Any]] = []
    again: dict[str, float] | None = None
    load = os.getloadavg()[0]
    with RealKafka(folder) as kafka, spark_session("local[2]") as spark:
        for partitions in said.partitions:
            send(kafka, f"rate-{partitions}", partitions, said.events)
            for subscriptions in said.subscriptions:
                for reader in said.reader:
                    one = measured(folder, kafka, spark, f"rate-{partitions}", subscriptions, reader, said.most)
                    found.append({"partitions": partitions} | one)
        if said.recovery:
            again = recovery(folder, kafka, f"rate-{said.partitions[0]}", said.most)
    whole = {"rates": found, "load": [round(load, 1), round(os.getloadavg()[0], 1)]}
    whole |= {"recovery": again} if again else {}
    if said.json:
        print(json.dumps(whole))
        return
    for one in found:
        print(one)
    if again:
        print(f"recovery: {again}")


if __name__ == "__main__":
    main()
