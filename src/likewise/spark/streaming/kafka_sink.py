"""Matches to a topic of Kafka, one message an event, at least once.

A message's key is where the event stood and which batch found it: `inlet/partition/offset/batch`. A batch that is
repeated sends the same messages again under the same keys, so that a consumer or the topic's compaction can drop them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import pyarrow as pa

from likewise.errors import Unavailable
from likewise.spark.streaming.kafka_settings import QUIET

_PATIENCE = 60.0  # seconds until everything is acknowledged


def send_matches(rows: Iterable[pa.RecordBatch], topic: str, settings: Mapping[str, str]) -> None:
    """Send rows of the table `matches`, and wait until all are acknowledged."""
    _send(_matches(rows), topic, settings)


def send_notifications(rows: pa.RecordBatch, topic: str, settings: Mapping[str, str]) -> None:
    """Send rows of the table `said`, under keys that are the same whenever a batch is repeated, and wait likewise."""
    _send(
        ((f"said/{row['shard']}/{row['place']}/{row['batch']}", _in_microseconds(row)) for row in rows.to_pylist()),
        topic,
        settings,
    )


def _in_microseconds(row: dict[str, Any]) -> dict[str, Any]:
    moments = {name: row[name] and round(row[name].timestamp() * 1_000_000) for name in ("moment", "since")}
    return row | moments


def _matches(rows: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, dict[str, Any]]]:
    for batch in rows:
        for row in batch.to_pylist():
            time = row.pop("time")
            row["time"] = None if time is None else round(time.timestamp() * 1_000_000)
            said = zip(row["subscriptions"], row.pop("selected", ()), strict=False)
            if selected := [{"subscription": met} | msgspec.json.decode(text) for met, text in said if text]:
                row["selected"] = selected
            yield f"{row['inlet']}/{row['partition']}/{row['offset']}/{row['batch']}", row


def _send(messages: Iterable[tuple[str, dict[str, Any]]], topic: str, settings: Mapping[str, str]) -> None:
    from confluent_kafka import Producer

    producer = Producer(QUIET | {"linger.ms": "50", "enable.idempotence": "true"} | dict(settings))
    refused: list[Any] = []

    def told(error: Any, message: Any) -> None:
        if error is not None:
            refused.append(error)

    for key, row in messages:
        while True:
            try:
                producer.produce(topic, msgspec.json.encode(row), key.encode(), on_delivery=told)
                break
            except BufferError:  # its queue is full: wait for some to be acknowledged
                producer.poll(1.0)
        producer.poll(0)
    left = producer.flush(_PATIENCE)
    if left or refused:
        reason = refused[0].str() if refused else f"{left} messages were not acknowledged in {_PATIENCE:.0f} s"
        raise Unavailable(f"the matches did not all reach the topic {topic!r}: {reason}; the batch is repeated")
