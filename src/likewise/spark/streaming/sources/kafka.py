"""A topic of Kafka as a source of Spark that needs no jar: Spark plans offsets, and tasks read theirs with librdkafka.

Nothing is committed to Kafka: how far a query has read stands in Spark's checkpoint.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from likewise.errors import ArtefactDamaged, ArtefactMissing, InputError, Unavailable
from likewise.extras import require
from likewise.formats.arrow.columns import NO_TIME
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
from likewise.spark.streaming.deserialisers.documents import headers_of
from likewise.spark.streaming.kafka_settings import QUIET, KafkaAddress
from likewise.spark.streaming.payloads import AUTO, PayloadContext, decode_payloads, source_of
from likewise.spark.streaming.sources.ranges import Records, TopicRange

if TYPE_CHECKING:
    import pyarrow as pa
    from confluent_kafka import Consumer
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

try:
    from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
except ImportError:  # before Spark 4.2
    _HAS_LIMITS = False
    ReadLimit = ReadMaxRows = SupportsTriggerAvailableNow = object  # type: ignore[assignment, misc]
else:
    _HAS_LIMITS = True

TASK: Final = 200_000  # offsets a task reads
CHUNK: Final = 20_000  # messages read at a time
PATIENCE: Final = 60.0  # seconds without an answer or a message
_PAUSE: Final = 0.2  # seconds until it is asked again
_GROUP: Final = "likewise-stream"  # librdkafka wants one; nothing is committed under it


def topic_ranges(
    spark: SparkSession, address: KafkaAddress, settings: Mapping[str, str], most: int, first: str = "earliest"
) -> DataFrame:
    """Return a stream with the ranges of a topic, which `read_topic` reads.

    Args:
        spark: session.
        address: servers and topic.
        settings: of librdkafka.
        most: about how many messages a batch has.
        first: `earliest` begins with the first message that is there, `latest` with what comes.

    Raises:
        InputError: There is no such topic, or this Spark has no sources in Python that can be bounded.
    """
    if not _HAS_LIMITS:
        raise InputError("librdkafka reads for Spark 4.2 and newer; --reader spark reads by Spark's own connector")
    spark.dataSource.register(TopicRangeSource)
    options = {
        "topic": address.topic,
        "servers": address.servers,
        "settings": json.dumps(dict(settings)),
        "first": first,
    }
    return spark.readStream.format(TopicRangeSource.name()).options(**options, most=str(most)).load()


def ranges_of(rows: pa.RecordBatch) -> Iterator[TopicRange]:
    """Yield the ranges of rows of `topic_ranges`."""
    for range in zip(*(rows.column(place).to_pylist() for place in np.arange(4).tolist()), strict=True):
        yield TopicRange(*range)


class TopicRangeSource(DataSource):
    """Ranges of offsets, a row each."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "likewise-topic"

    def schema(self) -> str:
        """Return the columns of `TopicRange`."""
        return "topic string, partition int, first long, stop long"

    def streamReader(self, schema: StructType) -> TopicRangeReader:
        """Return what plans a stream."""
        return TopicRangeReader(self.options)


class TopicRangeReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans the offsets of each batch, on the driver; an offset of Spark has that of each partition."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)
        self._most = int(options["most"])
        self._topic = options["topic"]
        self._first = options["first"]
        self._offsets = TopicOffsets(self._topic, options["servers"], json.loads(options["settings"]))
        self._end: dict[str, int] | None = None  # where a query that ends by itself ends

    def __reduce__(self) -> tuple[type[TopicRangeReader], tuple[dict[str, str]]]:
        """Let Spark send it to workers, which no consumer can be."""
        return TopicRangeReader, (self._options,)

    def initialOffset(self) -> dict[str, int]:
        """Return the offset of each partition that is read first."""
        if self._first == "latest":
            return self.reportLatestOffset()
        return {str(each): self._offsets.watermarks(each)[0] for each in self._offsets.partitions()}

    def prepareForTriggerAvailableNow(self) -> None:
        """Remember what is there now."""
        self._end = self.reportLatestOffset()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return how many messages a batch has."""
        return ReadMaxRows(self._most)

    def reportLatestOffset(self) -> dict[str, int]:
        """Return the end of each partition."""
        return {str(each): self._offsets.watermarks(each)[1] for each in self._offsets.partitions()}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        """Return how far the next batch reads; offsets that retention took before they were read are refused."""
        end = {}
        partitions = self._offsets.partitions()
        for each in partitions:
            first, high = self._offsets.after(each, start.get(str(each)))
            if self._end is not None:
                high = min(high, self._end.get(str(each), high))
            share = max(1, self._most // len(partitions)) if isinstance(limit, ReadMaxRows) else high
            end[str(each)] = max(first, min(high, first + share))
        return end

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return the ranges of a batch."""
        found = []
        for each, stop in end.items():
            first = start.get(each)
            if first is None:  # a partition that was added to the topic
                first = self._offsets.watermarks(int(each))[0]
            for begin in np.arange(first, stop, TASK).tolist():
                found.append(InputPartition((self._topic, int(each), begin, min(stop, begin + TASK))))
        return found

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """Yield one range."""
        yield partition.value


class TopicOffsets:
    """What offsets a topic has."""

    def __init__(self, topic: str, servers: str, settings: Mapping[str, str]) -> None:
        require("kafka", "Kafka")
        self._topic = topic
        self._consumer = _consumer(servers, settings)

    def after(self, partition: int, first: int | None) -> tuple[int, int]:
        """Return the next offset to read, and the one after the last that is there; refuse what is gone."""
        low, high = self.watermarks(partition)
        place = f"{self._topic}/{partition}"
        if first is None:
            return low, high
        if first < low:
            raise ArtefactMissing(
                f"the offsets {first} to {low - 1} of {place} were taken by Kafka's retention before they were read; "
                "lengthen retention.ms, and go on from what is there with another --checkpoint"
            )
        if first > high:
            raise ArtefactDamaged(
                f"{place} was read up to {first} and ends at {high}: it is another topic of the same name; choose "
                "another --checkpoint"
            )
        return first, high

    def watermarks(self, partition: int) -> tuple[int, int]:
        """Return the first offset of a partition, and the one after its last."""
        from confluent_kafka import KafkaError, KafkaException, TopicPartition

        no_leader = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)
        passing = (*no_leader, KafkaError._TRANSPORT)  # while a broker comes back
        began = time.monotonic()
        while True:
            try:
                low, high = self._consumer.get_watermark_offsets(
                    TopicPartition(self._topic, partition), timeout=PATIENCE
                )
                return int(low), int(high)
            except KafkaException as error:
                if error.args[0].code() not in passing or time.monotonic() - began > PATIENCE:
                    raise Unavailable(
                        f"Kafka does not say the offsets of {self._topic}/{partition}: {_kafka_error(error)}"
                    ) from None
                time.sleep(_PAUSE)

    def partitions(self) -> list[int]:
        """Return the numbers of the partitions; refuse a topic that is not there."""
        from confluent_kafka import KafkaException

        try:
            found = self._consumer.list_topics(self._topic, timeout=PATIENCE).topics[self._topic]
        except KafkaException as error:
            raise Unavailable(
                f"Kafka does not answer: {_kafka_error(error)}; is it there, and are --kafka's settings right?"
            ) from None
        if found.error is not None or not found.partitions:
            raise InputError(
                f"there is no topic {self._topic!r} ({_kafka_error(found.error)}); create it, or name another"
            )
        return sorted(found.partitions)


def read_topic(
    range: TopicRange, settings: Mapping[str, str], form: PayloadFormat = AUTO, at: int = 0
) -> Iterator[Records]:
    """The messages of a range, in order; `settings` name the servers, `at` is the moment of those without a time."""
    from confluent_kafka import KafkaError, TopicPartition

    consumer = _consumer(settings["bootstrap.servers"], settings)
    try:
        consumer.assign([TopicPartition(range.topic, range.partition, range.first)])
        position, heard = range.first, time.monotonic()
        while position < range.stop:
            messages: list[Any] = []
            came: list[Any] = consumer.consume(min(CHUNK, range.stop - position), timeout=1.0)
            for message in came:
                error = message.error()
                if error is None:
                    messages.append(message)
                    position = message.offset() + 1
                elif error.code() == KafkaError._PARTITION_EOF:
                    position = max(position, message.offset())  # what is left of the range holds no message
                elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                    raise ArtefactMissing(
                        f"the offsets from {position} on of {range.topic}/{range.partition} are gone: Kafka's "
                        "retention took them before the batch that was to read them ended"
                    )
                else:
                    raise Unavailable(f"{range.topic}/{range.partition} cannot be read: {_kafka_error(error)}")
            messages = [each for each in messages if each.offset() < range.stop]
            if messages:
                heard = time.monotonic()
                yield decode_messages(range, _messages(messages), form, at)
            elif time.monotonic() - heard > PATIENCE:
                raise Unavailable(
                    f"no message of {range.topic}/{range.partition} came for {PATIENCE:.0f} s, at offset {position} of "
                    f"{range.stop}; is Kafka there, or a transaction open?"
                )
    finally:
        consumer.close()


class KafkaMessages(NamedTuple):
    """Messages of a partition, whoever read them; `times` (µs) are `NO_TIME` where Kafka has none."""

    values: list[bytes | None]
    keys: list[bytes | None]
    offsets: NDArray[np.int64]
    times: NDArray[np.int64]
    headers: list[dict[str, bytes] | None]


def _messages(found: list[Any]) -> KafkaMessages:
    stamps = np.array([message.timestamp()[1] for message in found], np.int64)
    return KafkaMessages(
        [message.value() for message in found],
        [message.key() for message in found],
        np.array([message.offset() for message in found], np.int64),
        np.where(stamps < 0, NO_TIME, stamps * 1_000),
        [headers_of(message.headers()) for message in found],
    )


def decode_messages(range: TopicRange, messages: KafkaMessages, form: PayloadFormat, at: int) -> Records:
    """Messages as events, with where each stood; `at` is the moment of those without a time."""
    place, times = f"{range.topic}/{range.partition}", messages.times
    beside = PayloadContext(
        form,
        messages.headers,
        [source_of(key, place) for key in messages.keys],
        np.where(times == NO_TIME, at, times).tolist(),
    )
    read = decode_payloads(messages.values, beside)
    return Records(range.topic, range.partition, messages.offsets, times, read, messages.values)


def _consumer(servers: str, settings: Mapping[str, str]) -> Consumer:
    from confluent_kafka import Consumer, KafkaException

    ours = {
        "bootstrap.servers": servers,
        "group.id": _GROUP,
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
        "auto.offset.reset": "error",
        "allow.auto.create.topics": "false",
    }
    try:
        return Consumer(QUIET | dict(settings) | ours)
    except KafkaException as error:
        raise InputError(f"librdkafka does not take these settings: {_kafka_error(error)}") from None


def _kafka_error(error: Any) -> str:
    """What Kafka says, in its words."""
    inner = error.args[0] if isinstance(error, Exception) and error.args else error
    return str(inner.str()) if hasattr(inner, "str") else str(inner)
