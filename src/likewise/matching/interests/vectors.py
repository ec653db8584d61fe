"""Interest vectors as packed words: the table every engine of interests keeps, and the engine around it (sources.md M).

A vector over {0, 1, *} of k properties becomes two rows of 64-bit words: `care` has a 1 where the
vector asks for something, `value` a 1 where it asks for 1. An event meets it if `event & care == value`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from likewise.matching.engine import BaseEngine, EngineResult
from likewise.model.event import Event
from likewise.model.subscription import Interest, Kind, Subscription

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CARE = str.maketrans("01*", "110")
_VALUE = str.maketrans("01*", "010")


def bits(vector: str) -> tuple[int, int]:
    """The care bits and the value bits of a vector; property i is bit i.

    >>> bits("01*")
    (3, 2)
    """
    backwards = vector[::-1]
    return int(backwards.translate(_CARE), 2), int(backwards.translate(_VALUE), 2)


class VectorTable:
    """The vectors of one length: packed words, and the ordinal of each row; rows are used again.

    >>> table = VectorTable(3)
    >>> table.add(7, "01*"), int(table.mask[0, 0]), int(table.value[0, 0])
    (0, 3, 2)
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.words = (width + 63) // 64
        self._packed = np.zeros((16, 2, self.words), np.uint64)  # both rows of a vector side by side in memory
        self.ordinals = np.zeros(16, np.int64)
        self.used = 0
        self._rows: dict[int, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def mask(self) -> NDArray[np.uint64]:
        """Where each row asks for something."""
        return self._packed[:, 0]

    @property
    def value(self) -> NDArray[np.uint64]:
        """Where each row asks for 1."""
        return self._packed[:, 1]

    def pack(self, number: int) -> NDArray[np.uint64]:
        """A number's bits as the words of one row."""
        return np.frombuffer(number.to_bytes(self.words * 8, "little"), "<u8")

    def unpack(self, row: int) -> tuple[int, int]:
        """The care bits and value bits of a row."""
        return int.from_bytes(self.mask[row].tobytes(), "little"), int.from_bytes(self.value[row].tobytes(), "little")

    def row(self, ordinal: int) -> int:
        """Where an ordinal stands."""
        return self._rows[ordinal]

    def add(self, ordinal: int, vector: str) -> int:
        """Store a vector; the row it got."""
        if self._free:
            row = self._free.pop()
        else:
            row = self.used
            self.used += 1
            if row == len(self.ordinals):
                self._packed = np.concatenate([self._packed, np.zeros_like(self._packed)])
                self.ordinals = np.concatenate([self.ordinals, np.zeros_like(self.ordinals)])
        mask, value = bits(vector)
        self._packed[row, 0] = self.pack(mask)
        self._packed[row, 1] = self.pack(value)
        self.ordinals[row] = ordinal
        self._rows[ordinal] = row
        return row

    def remove(self, ordinal: int) -> None:
        """Give an ordinal's row back."""
        self._free.append(self._rows.pop(ordinal))

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self._packed.nbytes + self.ordinals.nbytes


class VectorIndex(Protocol):
    """Index of an engine of interests for the vectors of one length."""

    def insert(self, row: int) -> None:
        """Index a row that was just added to the table. Raises before it changes anything."""
        ...

    def delete(self, row: int) -> None:
        """Forget a row that is about to leave the table."""
        ...

    def search(self, event: int) -> NDArray[np.int64]:
        """The rows an event (its bits as a number) meets, in any order."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        ...


class InterestEngine(BaseEngine):
    """Interests, told apart by their length: an event meets only vectors as long as its own."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({"interest"})

    def __init__(self) -> None:
        super().__init__()
        self._lengths: dict[int, tuple[VectorTable, VectorIndex]] = {}

    def index(self, table: VectorTable) -> VectorIndex:
        """A new index over a table; each engine says which."""
        raise NotImplementedError(f"{type(self).__name__} must say how it indexes")

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold an interest; nothing is held if the index refuses it."""
        self.register(ordinal, subscription)
        vector = _vector(subscription)
        table, index = self._lengths.get(len(vector)) or self._begin(len(vector))
        try:
            index.insert(table.add(ordinal, vector))
        except BaseException:
            table.remove(ordinal)
            self.unregister(ordinal)
            raise

    def _begin(self, width: int) -> tuple[VectorTable, VectorIndex]:
        table = VectorTable(width)
        self._lengths[width] = table, self.index(table)
        return self._lengths[width]

    def remove(self, ordinal: int) -> None:
        """Forget an interest, and the whole index when it was the last of its length."""
        width = len(_vector(self.unregister(ordinal)))
        table, index = self._lengths[width]
        index.delete(table.row(ordinal))
        table.remove(ordinal)
        if not len(table):
            del self._lengths[width]

    def find(self, event: Event, at: int) -> EngineResult:
        """The interests the event's vector meets."""
        vector = event.interest()
        length_index = self._lengths.get(len(vector))
        if length_index is None:
            return EngineResult(np.empty(0, np.int64))
        table, index = length_index
        rows = table.ordinals[index.search(int(vector[::-1], 2))]
        rows.sort()
        return EngineResult(rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the engine's arrays, the subscriptions' own objects not counted."""
        return sum(table.nbytes + index.nbytes for table, index in self._lengths.values())


def _vector(subscription: Subscription) -> str:
    assert isinstance(subscription.body, Interest)  # `serves` said so
    return subscription.body.vector
