"""Relations of all pairs of kinds and of qualifiers of an inventory, as arrays for the kernels."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from likewise.semantics.concepts.inventory import Inventory

SAME: Final = 1
NARROWER: Final = 2  # the second is a kind of the first
BROADER: Final = 3
EXCLUDES: Final = 4
INSTEAD: Final = 5  # the second has the reading instead of the first, if the first was what an unqualified name means
SIBLINGS: Final = 6  # words for different kinds of one thing
# Groups of qualifiers that say how something is counted or along which axis; all others say which thing has a reading.
ATTRIBUTIVE_GROUPS: Final = frozenset(
    {"energy form", "energy way", "part of power", "comparison", "span", "axis", "way", "link", "enabling", "rank"}
)
# Qualifiers that an unqualified name means, and that say nothing about which thing has the reading.
_NO_THING: Final = frozenset(
    {"total", "rate", "percent", "opening", "measured", "electric", "active", "cumulative", "relative", "actual"}
    | {"average", "equivalent", "period", "last", "hourly", "filling", "visible", "global", "fine", "unique"}
    | {"absolute", "gauge", "volumetric", "instantaneous", "current"}
)
# Groups of equipment end so: a reading of an air handling unit's is mostly asked for without naming the unit.
EQUIPMENT: Final = "equipment"
_BITS: Final = 64


class InventoryTables:
    """Numbers for kinds, roles, qualifiers and dimensions, and the matrices of their relations."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.roles = {c.name: i + 1 for i, c in enumerate(c for c in inventory.concepts if c.sort == "role")}
        self.kinds = {name: i for i, name in enumerate((*inventory.kinds, *self.roles))}
        self.qualifiers = {name: i for i, name in enumerate(dict.fromkeys((*inventory.qualifiers, *self.kinds)))}
        self._default_bits: dict[tuple[str, ...], tuple[int, ...]] = {}
        dimensions = sorted({d for kind in inventory.kinds.values() for d in kind.dimensions})
        self._dimensions = {name: i for i, name in enumerate(dimensions)}

    def dimension_bit(self, name: str) -> int:
        """Return the bit of a dimension. All dimensions without a kind share one bit."""
        return 1 << self._dimensions.get(name, _BITS - 2) if name else 0

    def dimensions_of(self, kinds: tuple[str, ...]) -> int:
        """Return the dimensions that kinds may have, as bits; 0 if one of them has any dimension."""
        out = 0
        for kind in kinds:
            concept = self.inventory.kinds.get(kind)
            if concept is None or not concept.dimensions:
                return 0
            for name in concept.dimensions:
                out |= self.dimension_bit(name)
        return out

    def defaults_of(self, kinds: tuple[str, ...]) -> frozenset[str]:
        """Return the qualifiers that an unqualified name of these kinds implies."""
        names: set[str] = set()
        for kind in kinds:
            concept = self.inventory.kinds.get(kind)
            for name in concept.default if concept is not None else ():
                names.update(self.inventory.qualifier_names(name))
        return frozenset(names)

    def means_a_thing(self, kinds: tuple[str, ...]) -> bool:
        """Return whether an unqualified name of these kinds means a certain thing's: a temperature the air's."""
        return not self.defaults_of(kinds) <= _NO_THING

    @cached_property
    def loose(self) -> frozenset[str]:
        """The qualifiers that tell little where nobody asked for them: equipment, and what nothing excludes."""
        known = self.inventory.qualifiers.items()
        return frozenset(name for name, concept in known if all(g.endswith(EQUIPMENT) for g in concept.apart))

    @property
    def blocks(self) -> int:
        """The number of 64-bit words that hold a bit for every listed qualifier."""
        return len(self.qualifiers) // _BITS + 1

    def default_bits(self, kinds: tuple[str, ...]) -> tuple[int, ...]:
        """Return `defaults_of` as bits."""
        bits = self._default_bits.get(kinds)
        if bits is None:
            blocks = [0] * self.blocks
            for name in self.defaults_of(kinds):
                place = self.qualifiers[name]
                blocks[place // _BITS] |= 1 << place % _BITS
            bits = self._default_bits[kinds] = tuple(blocks)
        return bits

    @cached_property
    def kind_relations(self) -> NDArray[np.uint8]:
        """Matrix over query and candidate kinds: 0, SAME, NARROWER (the candidate is a kind of
        the query) or BROADER.
        """
        out = np.zeros((len(self.kinds), len(self.kinds)), dtype=np.uint8)
        for name, i in self.kinds.items():
            out[i, i] = SAME
            for above in self.inventory.above(name):
                out[self.kinds[above], i] = NARROWER
                out[i, self.kinds[above]] = BROADER
        return out

    @cached_property
    def qualifier_relations(self) -> NDArray[np.uint8]:
        """Matrix over two qualifiers: 0, SAME (also if one is a kind of the other), EXCLUDES or INSTEAD."""
        known = self.inventory.qualifiers
        out = np.zeros((len(self.qualifiers), len(self.qualifiers)), dtype=np.uint8)
        groups: dict[str, list[int]] = {}
        for name, concept in known.items():
            for group in concept.apart:
                groups.setdefault(group, []).append(self.qualifiers[name])
        things = [
            i
            for name, i in self.qualifiers.items()
            if name not in known or not ATTRIBUTIVE_GROUPS & set(known[name].apart)
        ]
        out[np.ix_(things, things)] = INSTEAD
        for members in groups.values():
            out[np.ix_(members, members)] = EXCLUDES
        for name, i in self.qualifiers.items():
            out[i, i] = SAME
            for above in self.inventory.above_qualifier(name):
                j = self.qualifiers[above]
                out[i, j] = out[j, i] = NARROWER
        return out
