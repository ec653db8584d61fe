"""Promises of `--reader spark`: words where Spark has no connector, and settings in the Java client's names.

The connector itself is tried with a real broker (`make test-kafka`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import likewise as lw
from likewise.errors import InputError
from likewise.lake.change_log import ChangeLog
from likewise.spark.stream import Stream, StreamSettings
from likewise.spark.streaming.kafka_settings import java_settings
from tests.spark.streaming.test_kafka import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster()


def stream(cluster: Cluster, folder: Path, reader: str, topic: str = "mixed", **rest: Any) -> Stream:
    to, log = f"parquet:{folder / reader / 'lake'}", str(folder / "log")
    settings = StreamSettings(f"kafka://{cluster.servers}/{topic}", to, log, "wanted")
    return Stream(settings, folder / reader / "checkpoint", bad=str(folder / reader / "bad"), reader=reader, **rest)


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
