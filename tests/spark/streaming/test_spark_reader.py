"""Promises of `--reader spark`: the rows of our own reader, and words where Spark has no connector.

The connector itself is tried with a real broker (`make test-kafka`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import InputError
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.streaming import run as module
from likewise.spark.streaming import spark_reader
from likewise.spark.streaming.checkpoint import Query
from likewise.spark.streaming.run import StreamQuery
from likewise.spark.streaming.sources.ranges import TopicRange
from likewise.spark.streaming.spark_reader import java_settings
from tests.spark.streaming.test_kafka import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled
HEADERS = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
COLUMNS: dict[str, pa.DataType] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "headers": HEADERS,
}
SCHEMA = pa.schema(COLUMNS)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster()


def stream(cluster: Cluster, folder: Path, reader: str, topic: str = "mixed", **rest: Any) -> StreamQuery:
    to, log = f"parquet:{folder / reader / 'lake'}", str(folder / "log")
    query = Query(f"kafka://{cluster.servers}/{topic}", to, log, "wanted")
    return StreamQuery(query, folder / reader / "checkpoint", bad=str(folder / reader / "bad"), reader=reader, **rest)


def fill(cluster: Cluster) -> None:
    """Messages of several forms in the partitions of a topic, some of them no events."""
    chance = random.Random(4)
    for number in range(120):
        value: bytes | None = json.dumps({"t": chance.randint(0, 9), "n": number}).encode()
        headers: list[tuple[str, str | bytes | None]] = []
        if number % 17 == 0:
            value = chance.choice([None, b"no event", b"\xff"])
        if number % 11 == 0:
            value, headers = b'[{"n": "t", "v": 7}]', [("content-type", b"application/senml+json"), ("x", None)]
        key = chance.choice([None, b"roof", bytes([0, 1])])
        cluster.producer.produce("mixed", value, key, partition=number % 3, headers=headers)
    assert cluster.producer.flush(60) == 0


class Frame:
    """What Spark's connector gives of some ranges, cut into batches of any size; runs what it is given here."""

    def __init__(self, cluster: Cluster, ranges: Sequence[TopicRange]) -> None:
        self._rows: dict[int, list[dict[str, Any]]] = {}
        for each in ranges:
            self._rows.setdefault(each.partition, []).extend(read(cluster, each))

    def mapInArrow(self, mapper: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: str) -> Frame:
        chance = random.Random(1)
        self._found: list[dict[str, Any]] = []
        for rows in self._rows.values():
            batches = []
            while rows:
                size = chance.randint(1, 9)
                batches.append(pa.RecordBatch.from_pylist(rows[:size], schema=SCHEMA))
                rows = rows[size:]
            self._found += [row for batch in mapper(iter(batches)) for row in batch.to_pylist()]
        return self

    def collect(self) -> list[dict[str, Any]]:
        return self._found


def read(cluster: Cluster, range: TopicRange) -> list[dict[str, Any]]:
    """The messages of a range as rows of Spark's."""
    import confluent_kafka

    consumer = confluent_kafka.Consumer({"bootstrap.servers": cluster.servers, "group.id": "x", "log_level": 2})
    consumer.assign([confluent_kafka.TopicPartition(range.topic, range.partition, range.first)])
    found: list[dict[str, Any]] = []
    while len(found) < range.stop - range.first:
        for message in consumer.consume(range.stop - range.first - len(found), timeout=10):
            assert message.error() is None
            said: list[Any] = list(message.headers() or [])
            headers = [{"key": key, "value": value} for key, value in said]
            time = message.timestamp()[1] * 1_000
            found.append(
                {
                    "key": message.key(),
                    "value": message.value(),
                    "partition": range.partition,
                    "offset": message.offset(),
                    "timestamp": time,
                    "headers": headers or None,
                }
            )
    consumer.close()
    return found


def rows(folder: Path, table: str) -> list[str]:
    """What a lake holds, without the name of the query."""
    found = []
    for part in PlainCommits(folder / "lake").parts(table):
        for row in pq.read_table(folder / "lake" / part.path, partitioning=None).to_pylist():
            found.append(repr({name: value for name, value in row.items() if name != "query"}))
    return sorted(found)


def test_what_spark_reads_gives_the_rows_of_our_own_reader(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches with their places, events with their sources and times, what is no event with its reason."""
    fill(cluster)
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 4}", id="a"), lw.parse("{t exists}", id="b")], at=0)
    monkeypatch.setattr(module, "map_orders", lambda spark, orders, do: [do(order) for order in orders])
    monkeypatch.setattr(module, "require_connector", lambda spark: None)
    monkeypatch.setattr(module, "system_clock", lambda: 1_700_000_000_000_000)
    monkeypatch.setattr("likewise.spark.streaming.sources.kafka.TASK", 9)  # several tasks a partition
    monkeypatch.setattr(spark_reader, "messages", lambda spark, ranges, settings: Frame(cluster, ranges))
    none: Any = None
    reports = {}
    for reader in ("own", "spark"):
        reports[reader] = [report.counts for report in stream(cluster, tmp_path, reader, most=66).batches(none)]
    assert len(reports["own"]) > 1
    assert reports["spark"] == reports["own"]
    assert sum(counts.bad for counts in reports["own"]) > 3
    for table in ("matches", "events"):
        assert rows(tmp_path / "spark", table) == rows(tmp_path / "own", table) != []
    bad = [
        sorted(line for path in (tmp_path / reader / "bad").iterdir() for line in path.read_text().splitlines())
        for reader in ("own", "spark")
    ]
    assert bad[0] == bad[1]


def test_a_spark_without_the_connector_is_refused_before_anything_is_planned(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    """With what to give it; started again without the option, the same checkpoint is read by ours."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 4}", id="a")], at=0)
    cluster.send("few", [b'{"t": 5}', b'{"t": 3}'])
    with pytest.raises(InputError, match="no connector to Kafka: give it the package spark-sql-kafka-0-10"):
        list(stream(cluster, tmp_path, "spark", "few").batches(spark))
    assert not (tmp_path / "spark" / "checkpoint" / "batches").exists()


def test_what_the_reader_cannot_read_is_refused_at_once(tmp_path: Path) -> None:
    """Files, a reader nobody knows, settings that the Java client has no name for."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 4}", id="a")], at=0)
    (tmp_path / "in").mkdir()
    files = Query(f"files:{tmp_path / 'in'}", f"parquet:{tmp_path / 'lake'}", str(tmp_path / "log"))
    with pytest.raises(InputError, match="reads topics of Kafka"):
        StreamQuery(files, tmp_path / "state", reader="spark")
    with pytest.raises(InputError, match="one of own, spark, found 'flink'"):
        StreamQuery(files, tmp_path / "state", reader="flink")
    topic = Query("kafka://localhost:1/t", f"parquet:{tmp_path / 'lake'}", str(tmp_path / "log"))
    with pytest.raises(InputError, match=r"does not know what 'fetch\.wait\.max\.ms' is"):
        StreamQuery(topic, tmp_path / "state", kafka={"fetch.wait.max.ms": "5"}, reader="spark")
    assert not (tmp_path / "state").exists()


def test_logins_are_said_as_the_java_client_has_them() -> None:
    """A password may hold what quotes and ends a setting."""
    said = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "ann"}
    found = java_settings(said | {"sasl.password": 'a"b\\;'})
    assert found["sasl.jaas.config"] == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="ann" password="a\\"b\\\\;";'
    )
    with pytest.raises(InputError, match="not by 'GSSAPI'"):
        java_settings({"sasl.mechanism": "GSSAPI", "sasl.username": "ann"})
