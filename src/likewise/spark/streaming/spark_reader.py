"""A topic read by Spark's own connector to Kafka, where a cluster has it: the same offsets, the same rows.

The driver plans offsets as ever (`sources.kafka`); executors read them with Kafka's Java client and hand them to the
workers as Arrow, one task a partition. What workers do with them is what they do with messages of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from likewise.errors import InputError
from likewise.formats.arrow.columns import NO_TIME
from likewise.spark.streaming.deserialisers.documents import headers_of
from likewise.spark.streaming.sources.kafka import KafkaMessages, decode_messages
from likewise.spark.streaming.sources.ranges import Records, TopicRange
from likewise.spark.streaming.task import MatchTask, MatchTaskResult, run_task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READERS: Final = ("own", "spark")
COLUMNS: Final = ("key", "value", "partition", "offset", "timestamp", "headers")
_PLAIN: Final = {
    "security.protocol": "security.protocol",
    "sasl.mechanism": "sasl.mechanism",
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.location": "ssl.truststore.location",
    "client.id": "client.id",
}
_MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
}


def java_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of librdkafka by the names that Kafka's Java client has for them.

    >>> java_settings({"security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN", "ssl.ca.location": "ca.pem"})
    {'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'PLAIN', 'ssl.truststore.location': 'ca.pem', \
'ssl.truststore.type': 'PEM'}
    >>> java_settings({"debug": "all"})
    Traceback (most recent call last):
    likewise.errors.InputError: --reader spark does not know what 'debug' is to Kafka's Java client; leave it out, or \
--reader
    """
    user, password = settings.get("sasl.username"), settings.get("sasl.password")
    found = {}
    for name, value in settings.items():
        if name in _PLAIN:
            found[_PLAIN[name]] = value
        elif name not in ("sasl.username", "sasl.password", "bootstrap.servers"):
            raise InputError(
                f"--reader spark does not know what {name!r} is to Kafka's Java client; leave it out, or --reader"
            )
    if "ssl.truststore.location" in found:
        found["ssl.truststore.type"] = "PEM"
    if user is not None:
        kind = found.get("sasl.mechanism", "PLAIN")
        if kind not in _MODULES:
            raise InputError(f"--reader spark logs in by {', '.join(_MODULES)}, not by {kind!r}; leave --reader out")
        module = f"org.apache.kafka.common.security.{_MODULES[kind]}"
        found["sasl.jaas.config"] = f"{module} required username={_quoted(user)} password={_quoted(password or '')};"
    return found


def _quoted(text: str) -> str:
    """A text as the Java client's configuration of logins has it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def require_connector(spark: SparkSession) -> None:
    """Refuse a Spark that has no connector to Kafka, with words."""
    from pyspark.errors import AnalysisException

    try:
        spark.read.format("kafka").options(**{"kafka.bootstrap.servers": "-:1", "assign": '{"-":[0]}'}).load()
    except AnalysisException as error:
        if "kafka" in str(error).lower() and "find" in str(error).lower():
            raise InputError(
                "this Spark has no connector to Kafka: give it the package spark-sql-kafka-0-10 of its own version "
                "(spark.jars.packages), or leave --reader out, and librdkafka reads"
            ) from None
        raise


def messages(spark: SparkSession, ranges: Sequence[TopicRange], settings: Mapping[str, str]) -> DataFrame:
    """The messages of some ranges of one topic, one partition of the DataFrame for each of the topic's."""
    (topic,) = {each.topic for each in ranges}
    first: dict[str, int] = {}
    stop: dict[str, int] = {}
    for each in ranges:
        partition = str(each.partition)
        first[partition] = min(first.get(partition, each.first), each.first)
        stop[partition] = max(stop.get(partition, each.stop), each.stop)
    said = {
        "kafka.bootstrap.servers": settings["bootstrap.servers"],
        "kafka.isolation.level": "read_committed",  # as librdkafka reads
        "assign": json.dumps({topic: sorted(map(int, first))}),
        "startingOffsets": json.dumps({topic: first}),
        "endingOffsets": json.dumps({topic: stop}),
        "includeHeaders": "true",
        "failOnDataLoss": "true",
    }
    said |= {f"kafka.{name}": value for name, value in java_settings(settings).items()}
    return spark.read.format("kafka").options(**said).load().select(*COLUMNS)


def run_read_by_spark(spark: SparkSession, orders: Sequence[MatchTask]) -> list[MatchTaskResult]:
    """What comes of orders whose messages Spark reads; one whose range holds no message has nothing."""
    ranges = [order.range for order in orders if isinstance(order.range, TopicRange)]
    told = [msgspec.json.encode(order) for order in orders]
    rows = messages(spark, ranges, orders[0].kafka).mapInArrow(_mapper(told), "task long, found binary")
    found = {row["task"]: msgspec.json.decode(bytes(row["found"]), type=MatchTaskResult) for row in rows.collect()}
    return [found.get(order.task, MatchTaskResult()) for order in orders]


def _mapper(orders: list[bytes]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def mapped(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.spark.streaming.spark_reader import run_spark_read_orders

        return run_spark_read_orders(rows, orders)

    return mapped


def run_spark_read_orders(rows: Iterator[pa.RecordBatch], told: Sequence[bytes]) -> Iterator[pa.RecordBatch]:
    """What a worker does with the messages of a partition, which come in the order of their offsets."""
    orders = {order.task: order for order in (msgspec.json.decode(each, type=MatchTask) for each in told)}
    for task, pieces in groupby(_pieces(rows, list(orders.values())), key=lambda piece: piece[0]):
        done = run_task(orders[task], (_records(orders[task], piece) for _, piece in pieces))
        columns: list[Any] = [pa.array([task], pa.int64()), pa.array([msgspec.json.encode(done)], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["task", "found"])


def _pieces(rows: Iterator[pa.RecordBatch], orders: Sequence[MatchTask]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Rows cut where another order's begin."""
    for batch in rows:
        partitions = batch.column("partition").to_numpy()
        offsets = batch.column("offset").to_numpy()
        for order in orders:
            range = order.range
            assert isinstance(range, TopicRange)
            within = (partitions == range.partition) & (offsets >= range.first) & (offsets < range.stop)
            if within.any():
                yield order.task, batch.filter(pa.array(within))


def _records(order: MatchTask, rows: pa.RecordBatch) -> Records:
    range = order.range
    assert isinstance(range, TopicRange)
    moments = rows.column("timestamp").cast(pa.int64()).fill_null(NO_TIME).to_numpy()
    found = KafkaMessages(
        rows.column("value").to_pylist(),
        rows.column("key").to_pylist(),
        rows.column("offset").to_numpy().astype(np.int64),
        np.where(moments < 0, NO_TIME, moments),
        [headers_of((each["key"], each["value"]) for each in row or ()) for row in rows.column("headers").to_pylist()],
    )
    return decode_messages(range, found, order.form, order.at)
