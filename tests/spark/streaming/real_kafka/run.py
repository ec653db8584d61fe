"""Streams from and to a real broker of Kafka, with workers and drivers killed and the broker restarted.

    python -m tests.spark.streaming.real_kafka.run --folder build/kafka

What a Matcher finds in the messages that were sent is in the lake once for each, and in the outgoing topic at least
once under the same key, whatever dies; the lake has the same rows when Spark's own connector reads (`--reader spark`).
Offsets that retention took are refused with their numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import likewise as lw
from likewise.errors import ArtefactMissing
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.streaming.sources.kafka import TopicOffsets
from tests.spark.streaming.kills import newest, workers_of
from tests.spark.streaming.real_kafka.broker import HERE, RealKafka, jars

EVENTS, PARTITIONS, BATCH = 6_000, 3, 900
PATIENCE = 900.0
TEXTS = ["{t > 90}", "{t < 4, room = 2}", "{room = 7}"]
Met = Counter[tuple[int, int, tuple[int, ...]]]


def send(kafka: RealKafka) -> Met:
    """Send events from a seed; what a Matcher finds, by partition and offset."""
    from confluent_kafka import Producer

    kafka.create("readings", PARTITIONS)
    kafka.create("found", 2)
    chance, matcher = random.Random(25), lw.Matcher()
    matcher.add_many([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)])
    producer = Producer({"bootstrap.servers": kafka.servers, "enable.idempotence": True})
    offsets: Counter[int] = Counter()
    met: Met = Counter()
    for number in range(EVENTS):
        payload, partition = {"t": chance.randint(0, 99), "room": chance.randint(1, 9)}, number % PARTITIONS
        producer.produce("readings", json.dumps(payload), key=f"s{number % 50}", partition=partition)
        producer.poll(0)
        found = tuple(int(match.subscription_id[1:]) for match in matcher.match(payload))
        if found:
            met[partition, offsets[partition], found] += 1
        offsets[partition] += 1
    if producer.flush(PATIENCE):
        raise SystemExit("Kafka did not take all messages")
    return met


def start(folder: Path, kafka: RealKafka, name: str, to: str) -> subprocess.Popen[bytes]:
    """A query as a person starts it; the one that is called `spark` reads by Spark's connector."""
    environment = dict(os.environ)
    command = [
        sys.executable,
        "-m",
        "likewise",
        "stream",
        "run",
        "--from",
        f"kafka://{kafka.servers}/readings",
        "--to",
        to,
        "--subscriptions",
        str(folder / "log"),
        "--checkpoint",
        str(folder / name / "state"),
        "--once",
        "--max-events",
        str(BATCH),
        "--master",
        "local[2]",
    ]
    if name == "spark":
        command += ["--reader", "spark"]
        brought = ",".join(map(str, sorted(jars(folder / "connector", HERE / "connector").glob("*.jar"))))
        environment["PYSPARK_SUBMIT_ARGS"] = f"--jars {brought} pyspark-shell"
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=environment)


def until_batch(folder: Path, name: str, process: subprocess.Popen[bytes], batch: int) -> None:
    """Wait until a batch is committed, or the query ended."""
    began = time.monotonic()
    while newest(folder / name / "state" / "matches" / "commits", "[0-9]*") <= batch and process.poll() is None:
        if time.monotonic() - began > PATIENCE:
            os.killpg(process.pid, signal.SIGKILL)
            raise SystemExit(f"batch {batch} was not reached; see {folder / name}.log")
        time.sleep(0.005)


def finish(folder: Path, kafka: RealKafka, name: str, to: str) -> int:
    """Start a query until it has read everything; how often."""
    for turn in range(1, 6):
        process = start(folder, kafka, name, to)
        try:
            if process.wait(PATIENCE) == 0:
                return turn
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    raise SystemExit(f"the query {name} does not end; see {folder / name}.log")


def disturbed(folder: Path, kafka: RealKafka, name: str, to: str, *what: Callable[[int], None]) -> int:
    """A query that something happens to, again and again; in how many starts it came to its end afterwards."""
    for number, happens in enumerate(what):
        process = start(folder, kafka, name, to)
        until_batch(folder, name, process, 2 * number)
        if process.poll() is None:
            happens(process.pid)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        print(f"{name}: {happens.__name__.replace('_', ' ')}, exit code {process.returncode}", flush=True)
    turns = finish(folder, kafka, name, to)
    if "Traceback" in (folder / f"{name}.log").read_text():
        raise SystemExit(f"a raw traceback in {folder / name}.log")
    return turns


def in_lake(lake: Path) -> Met:
    """What the lake holds."""
    parts = PlainCommits(lake).parts("matches")
    rows = [row for part in parts for row in pq.read_table(lake / part.path, partitioning=None).to_pylist()]
    return Counter((row["partition"], row["offset"], tuple(row["subscriptions"])) for row in rows)


def in_topic(kafka: RealKafka, topic: str) -> tuple[Met, int]:
    """What a topic holds once each key counts once, and how many messages came again."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": kafka.servers, "group.id": "test", "enable.auto.commit": False})
    found: dict[bytes, dict[str, Any]] = {}
    total = 0
    for partition in consumer.list_topics(topic, timeout=60).topics[topic].partitions:
        place = TopicPartition(topic, partition, 0)
        high, read = consumer.get_watermark_offsets(place, timeout=60)[1], 0
        consumer.assign([place])
        while read < high:
            for message in consumer.consume(1_000, timeout=10):
                if message.error() is not None:
                    raise SystemExit(f"{topic}: {message.error()}")
                read, total = (message.offset() or 0) + 1, total + 1
                found[message.key() or b""] = json.loads(message.value() or b"")
    consumer.close()
    met: Met = Counter((each["partition"], each["offset"], tuple(each["subscriptions"])) for each in found.values())
    return met, total - len(found)


def main() -> None:
    """Send, disturb, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/kafka"))
    folder = parser.parse_args().folder.absolute()
    for name in ("lake", "spark", "topic", "log"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / f"{name}.log").unlink(missing_ok=True)
    with RealKafka(folder) as kafka:
        met = send(kafka)
        print(f"{EVENTS} messages sent, {sum(met.values())} meet something", flush=True)
        ChangeLog(folder / "log").add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)

        def worker_killed(driver: int) -> None:
            for process in workers_of(driver):
                os.kill(process, signal.SIGKILL)

        def driver_killed(driver: int) -> None:
            os.killpg(driver, signal.SIGKILL)

        def broker_restarted(driver: int) -> None:
            kafka.kill()
            print(f"the broker answered again after {kafka.start():.1f} s", flush=True)

        lake = folder / "lake" / "lake"
        disturbed(folder, kafka, "lake", f"parquet:{lake}", worker_killed, broker_restarted)
        if in_lake(lake) != met:
            raise SystemExit("the lake differs from what a Matcher finds")
        print("lake: what a Matcher finds, each once")
        lake = folder / "spark" / "lake"
        disturbed(folder, kafka, "spark", f"parquet:{lake}", worker_killed, driver_killed)
        if in_lake(lake) != met:
            raise SystemExit("what Spark's connector read differs from what a Matcher finds")
        print("spark: what a Matcher finds, each once, read by Spark's own connector")
        disturbed(folder, kafka, "topic", f"kafka://{kafka.servers}/found", driver_killed, broker_restarted)
        found, again = in_topic(kafka, "found")
        if found != met:
            raise SystemExit("the topic differs from what a Matcher finds")
        print(f"topic: what a Matcher finds by key, {again} messages came again")
        taken(kafka)


def taken(kafka: RealKafka) -> None:
    """Offsets that are gone are refused by their numbers."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": kafka.servers})  # it must outlive what it was asked
    for each in admin.delete_records([TopicPartition("readings", 0, 100)]).values():
        each.result(60)
    try:
        TopicOffsets("readings", kafka.servers, {}).after(0, 40)
    except ArtefactMissing as error:
        print(f"refused: {error}")
        return
    raise SystemExit("offsets that are gone were not refused")


if __name__ == "__main__":
    main()
