"""Where a stream's rows go: a lake of plain Parquet or of Delta tables, or a topic of Kafka."""

from __future__ import annotations

from typing import Protocol

from likewise.errors import InputError
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.parts import LakePart
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import StoragePath, storage_path
from likewise.spark.streaming.kafka_settings import kafka_address
from likewise.spark.streaming.kafka_sink import KafkaSink


class Sink(Protocol):
    """What parts are committed to; `folder` is where workers write them, None if they write none."""

    @property
    def folder(self) -> StoragePath | None:
        """Where workers write parts."""
        ...

    def committed(self, query: str, batch: int) -> bool:
        """Whether a batch is there."""
        ...

    def is_committed(self, query: str, batch: int) -> bool:
        """Whether anything of a batch that was committed is there, so that this is where it went."""
        ...

    def commit(self, query: str, batch: int, parts: list[LakePart]) -> bool:
        """Let the parts of a batch count, once; False if they do already."""
        ...


def open_sink(address: str) -> Sink:
    """The outlet of an address.

    >>> open_sink("lake")
    Traceback (most recent call last):
    likewise.errors.InputError: a stream goes to parquet:DIR, delta:DIR or kafka://host:port/topic, not to 'lake'
    """
    kind, _, place = address.partition(":")
    if kind == "parquet" and place:
        return PlainCommits(storage_path(place))
    if kind == "delta" and place:
        return DeltaCommits(storage_path(place))
    if kind == "kafka":
        return KafkaSink(kafka_address(address))
    raise InputError(f"a stream goes to parquet:DIR, delta:DIR or kafka://host:port/topic, not to {address!r}")
