"""SGIM's groups for interest vectors (sources.md M; Mohapatra et al. 2013, section III.E).

A property that must be b is the range [b, b]. Its midpoint is 0 or 1, so however many classes Sturges'
rule asks for, two of them are ever in use: each property has a group for 0 and one for 1. All ranges are
equally narrow; the most selective property of a vector is therefore the one whose group is smallest when
the vector comes. An event picks one group a property. In a group each distinct predicate the event makes
false removes, at one stroke, every vector that shares it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from likewise.matching.interests.vectors import VectorTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Group:
    """Vectors in slots; for each predicate (property * 2 + value) the set of slots that share it, as bits."""

    __slots__ = ("free", "held", "rows", "sharing")

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.free: list[int] = []
        self.held = 0
        self.sharing: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.rows) - len(self.free)


def _slots(bits: int) -> list[int]:
    """The numbers of the bits that are set.

    >>> _slots(0b1010)
    [1, 3]
    """
    if bits.bit_count() * bits.bit_length() > 10_000:  # taking one bit off costs the length of the rest
        octets = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
        listed: list[int] = np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()
        return listed
    slots = []
    while bits:
        slot = bits.bit_length() - 1
        slots.append(slot)
        bits ^= 1 << slot
    return slots[::-1]


class PropertyGroups:
    """The groups over one table.

    >>> table = VectorTable(3)
    >>> groups = PropertyGroups(table)
    >>> groups.insert(table.add(5, "1*0"))
    >>> table.ordinals[groups.search(0b001)].tolist()
    [5]
    """

    def __init__(self, table: VectorTable) -> None:
        self._table = table
        self._groups = [_Group() for _ in range(2 * table.width + 1)]  # the last: vectors of * only
        self._sizes = [0] * len(self._groups)
        self._at: dict[int, tuple[int, int]] = {}

    def _predicates(self, row: int) -> list[int]:
        table = self._table
        care = np.unpackbits(table.care[row].view(np.uint8), count=table.width, bitorder="little")
        value = np.unpackbits(table.value[row].view(np.uint8), count=table.width, bitorder="little")
        places = np.flatnonzero(care)
        asked: list[int] = (2 * places + value[places]).tolist()
        return asked

    def insert(self, row: int) -> None:
        """Put a row into the smallest group of its properties."""
        predicates = self._predicates(row)
        chosen = min(predicates, key=self._sizes.__getitem__, default=len(self._groups) - 1)
        group = self._groups[chosen]
        if group.free:
            slot = group.free.pop()
            group.rows[slot] = row
        else:
            slot = len(group.rows)
            group.rows.append(row)
        bit = 1 << slot
        group.held |= bit
        sharing = group.sharing
        for predicate in predicates:
            if predicate != chosen:
                sharing[predicate] = sharing.get(predicate, 0) | bit
        self._sizes[chosen] += 1
        self._at[row] = chosen, slot

    def delete(self, row: int) -> None:
        """Take a row out of its group."""
        chosen, slot = self._at.pop(row)
        group = self._groups[chosen]
        bit = 1 << slot
        group.held ^= bit
        for predicate in self._predicates(row):
            if predicate != chosen:
                left = group.sharing[predicate] ^ bit
                if left:
                    group.sharing[predicate] = left
                else:
                    del group.sharing[predicate]
        self._sizes[chosen] -= 1
        if self._sizes[chosen]:
            group.free.append(slot)
        else:
            self._groups[chosen] = _Group()

    def search(self, event: int) -> NDArray[np.int64]:
        """In each group the event picks, remove what its false predicates share."""
        width = self._table.width
        false = [2 * place + (1 - (event >> place & 1)) for place in range(width)]
        found: list[int] = []
        for chosen in [*(predicate ^ 1 for predicate in false), 2 * width]:
            group = self._groups[chosen]
            left = group.held
            if not left:
                continue
            sharing = group.sharing
            for predicate in false:
                shared = sharing.get(predicate)
                if shared is not None:
                    left &= ~shared
                    if not left:
                        break
            if left:
                rows = group.rows
                found += [rows[slot] for slot in _slots(left)]
        return np.array(found, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of its sets of bits, counted object by object, and of its lists of rows."""
        size = sys.getsizeof
        return sum(
            size(g.rows) + size(g.held) + size(g.sharing) + sum(map(size, g.sharing.values())) for g in self._groups
        )
