"""Promises of `--reader spark`: words where Spark has no connector, and settings in the Java client's names.

The connector itself is tried with a real broker (`make test-kafka`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql.streaming.readwriter import DataStreamReader

import likewise as lw
from likewise.errors import InputError
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.stream import Stream, StreamSettings
from likewise.spark.streaming.kafka_settings import java_settings
from tests.spark.streaming.test_kafka import Cluster

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster()


def stream(cluster: Cluster, folder: Path, reader: str, topic: str = "mixed", **rest: Any) -> Stream:
    to, log = f"parquet:{folder / reader / 'lake'}", str(folder / "log")
    settings = StreamSettings(f"kafka://{cluster.servers}/{topic}", to, log, "wanted")
    return Stream(settings, folder / reader / "checkpoint", bad=str(folder / reader / "bad"), reader=reader, **rest)


def test_rows_of_sparks_connector_are_matched_with_their_places_and_times(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rankings and alerts among them; in place of the connector stands a folder with rows of its columns."""
    columns = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp"
    when = datetime(2026, 5, 4, tzinfo=UTC)
    rows = [(b"s1", b'{"t": %d}' % t, "few", 3, 7 + t, when) for t in (3, 5, 6)]
    spark.createDataFrame([*rows, (None, b"none", "few", 3, 20, when)], columns).write.parquet(str(tmp_path / "rows"))
    load = DataStreamReader.load

    def of_folder(self: DataStreamReader, path: str | None = None) -> DataFrame:
        if path:
            return load(self, path)
        return load(spark.readStream.schema(columns).format("parquet"), str(tmp_path / "rows"))

    monkeypatch.setattr(DataStreamReader, "load", of_folder)
    monkeypatch.setattr("likewise.spark.stream.require_connector", lambda spark: None)
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 4}", id="a"), lw.parse("{t > 5} once until false", id="b")], at=0)
    reports = list(stream(cluster, tmp_path, "spark", "few").run(spark))
    assert sum(report.counts.said for report in reports) == 1
    assert sum(report.counts.bad for report in reports) == 1
    lake = tmp_path / "spark" / "lake"
    (part,) = PlainCommits(lake).parts("matches")
    found = pq.read_table(lake / part.path, partitioning=None).to_pylist()
    assert sorted((row["inlet"], row["partition"], row["offset"], row["source"]) for row in found) == [
        ("few", 3, 12, "s1"),
        ("few", 3, 13, "s1"),
    ]
    assert part.day == "2026-05-04"


def test_a_spark_without_the_connector_is_refused_before_anything_is_planned(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    """With what to give it; started again without the option, the same checkpoint is read by ours."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 4}", id="a")], at=0)
    cluster.send("few", [b'{"t": 5}', b'{"t": 3}'])
    with pytest.raises(InputError, match="no connector to Kafka: give it the package spark-sql-kafka-0-10"):
        list(stream(cluster, tmp_path, "spark", "few").run(spark))
    assert not (tmp_path / "spark" / "checkpoint" / "matches").exists()


def test_what_the_reader_cannot_read_is_refused_at_once(tmp_path: Path) -> None:
    """Files, a reader nobody knows, settings that the Java client has no name for."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 4}", id="a")], at=0)
    (tmp_path / "in").mkdir()
    files = StreamSettings(f"files:{tmp_path / 'in'}", f"parquet:{tmp_path / 'lake'}", str(tmp_path / "log"))
    with pytest.raises(InputError, match="reads topics of Kafka"):
        Stream(files, tmp_path / "state", reader="spark")
    with pytest.raises(InputError, match="one of own, spark, found 'flink'"):
        Stream(files, tmp_path / "state", reader="flink")
    topic = StreamSettings("kafka://localhost:1/t", f"parquet:{tmp_path / 'lake'}", str(tmp_path / "log"))
    with pytest.raises(InputError, match=r"does not know what 'fetch\.wait\.max\.ms' is"):
        Stream(topic, tmp_path / "state", kafka={"fetch.wait.max.ms": "5"}, reader="spark")
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
