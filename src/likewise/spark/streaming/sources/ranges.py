"""What a task reads by itself: a part of a file, or offsets of a topic; and what came of reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from likewise.spark.streaming.payloads import DecodedBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FileRange(NamedTuple):
    """The lines or row groups of a file that begin between two of its bytes; `size` is what Spark found it to have."""

    path: str
    size: int
    first: int
    stop: int


class TopicRange(NamedTuple):
    """Offsets of a partition of a topic, `stop` not among them."""

    topic: str
    partition: int
    first: int
    stop: int


class RangeSource(msgspec.Struct, frozen=True):
    """Where the ranges of a DataFrame lie: below a folder, or in a topic that settings of librdkafka lead to."""

    folder: str = ""
    kafka: dict[str, str] = {}
    skip: str = ""  # a list, as JSON, of files that are not read


class Records(NamedTuple):
    """Some events that were read, with where each stood: the inlet's name, a partition, an offset, its time or none."""

    inlet: str
    partition: int
    offsets: NDArray[np.int64]
    times: NDArray[np.int64]
    read: DecodedBatch
    payloads: list[bytes | None]  # as they came; empty where they were read from a table
