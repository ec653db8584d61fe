"""What a task of a batch reads: planned once, so that a batch that is repeated reads the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec
import numpy as np

from likewise.spark.streaming.payloads import DecodedBatch

if TYPE_CHECKING:
    from numpy.typing import NDArray


Positions = dict[str, int]  # how far each file or partition was read, and how large a file was


def size_of(name: str) -> str:
    """By what the size of a file stands among positions; no file below a folder has such a name."""
    return f"{name}/size"


class FileRange(msgspec.Struct, frozen=True, tag="file", omit_defaults=True):
    """Bytes (JSON lines) or row groups (Parquet) of a file, or all of it; `size` is what it had when planned."""

    folder: str
    name: str
    form: str
    size: int
    first: int
    stop: int
    events: int = 0

    @property
    def positions(self) -> Positions:
        """What is read up to here, and how large the file is that this was read of."""
        return {self.name: self.stop, size_of(self.name): self.size}


class TopicRange(msgspec.Struct, frozen=True, tag="topic", omit_defaults=True):
    """Offsets of a partition of a topic, `stop` not among them."""

    topic: str
    partition: int
    first: int
    stop: int

    @property
    def positions(self) -> Positions:
        """What is read up to here."""
        return {f"{self.topic}/{self.partition}": self.stop}


Range = FileRange | TopicRange


class Records(NamedTuple):
    """Some events that were read, with where each stood: the inlet's name, a partition, an offset, its time or none."""

    inlet: str
    partition: int
    offsets: NDArray[np.int64]
    times: NDArray[np.int64]
    read: DecodedBatch
    payloads: list[bytes | None]  # as they came; empty where they were read from a table


class StreamSource(Protocol):
    """Where events come from."""

    def plan(self, positions: Positions, most: int) -> list[Range]:
        """What the next batch reads, at most about so many events; nothing if nothing is there."""
        ...

    def lag(self, positions: Positions) -> int:
        """How much is there and not yet planned: offsets of a topic, bytes of files."""
        ...
