"""A topic of Kafka: offsets are planned on the driver, and each task reads its own with librdkafka.

Nothing is committed to Kafka: how far a query has read stands in its checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import ArtefactDamaged, ArtefactMissing, InputError, Unavailable
from likewise.extras import require
from likewise.formats.arrow.columns import NO_TIME
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
from likewise.spark.streaming.deserialisers.documents import headers_of
from likewise.spark.streaming.kafka_settings import QUIET, KafkaAddress
from likewise.spark.streaming.payloads import AUTO, PayloadContext, decode_payloads
from likewise.spark.streaming.sources.ranges import Positions, Range, Records, TopicRange

if TYPE_CHECKING:
    from confluent_kafka import Consumer
    from numpy.typing import NDArray

TASK: Final = 200_000  # offsets a task reads
CHUNK: Final = 20_000  # messages read at a time
PATIENCE: Final = 60.0  # seconds without an answer or a message
_PAUSE: Final = 0.2  # seconds until it is asked again
_GROUP: Final = "likewise-stream"  # librdkafka wants one; nothing is committed under it


class KafkaSource:
    """A topic, from its first offset on."""

    def __init__(self, address: KafkaAddress, settings: Mapping[str, str] | None = None) -> None:
        require("kafka", "Kafka")
        self._topic = address.topic
        self._consumer = _consumer(address.servers, settings or {})
        self._partitions()  # what is not there is said now

    def plan(self, positions: Positions, most: int) -> list[Range]:
        """The next offsets of each partition; offsets that retention took before they were read are refused."""
        found: list[Range] = []
        partitions = self._partitions()
        for partition in partitions:
            first, high = self._next(partition, positions)
            stop = min(high, first + max(1, most // len(partitions)))
            for start in range(first, stop, TASK):
                found.append(TopicRange(self._topic, partition, start, min(stop, start + TASK)))
        return found

    def lag(self, positions: Positions) -> int:
        """How many offsets are there and not yet planned."""
        return sum(high - first for first, high in (self._next(each, positions) for each in self._partitions()))

    def _next(self, partition: int, positions: Positions) -> tuple[int, int]:
        """The next offset to read, and the one after the last that is there."""
        low, high = self.watermarks(partition)
        place = f"{self._topic}/{partition}"
        first = positions.get(place, low)
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
        """The first offset of a partition, and the one after its last."""
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

    def _partitions(self) -> list[int]:
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


def source_of(key: bytes | str | None, place: str) -> str:
    """Who sent a message that does not say so itself: its key, where that is a name, else the topic and partition.

    >>> source_of(b"s17", "readings/0"), source_of(None, "readings/0"), source_of(bytes([0, 1]), "readings/0")
    ('s17', 'readings/0', 'readings/0')
    """
    try:
        name = key.decode() if isinstance(key, bytes) else key or ""
    except UnicodeDecodeError:
        return place
    return name if name and len(name) <= MAX_TERM_LENGTH and name.isprintable() else place


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
