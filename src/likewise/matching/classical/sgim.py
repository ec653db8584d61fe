"""Statistical Group Index Matching (sources.md M; Mohapatra et al. 2013, section III.E).

A conjunction asks for a range of each attribute it compares numbers of. It is filed under the attribute
whose range is the narrowest part of what has been asked of that attribute, in a class by the range's
midpoint. The number of classes follows Sturges' rule, 1 + log2 n, their width is equal, and an unbounded
side counts as the extreme bound seen. When an attribute's population has doubled its classes are made
anew. Each class keeps an interval that covers all its ranges; an event looks only into classes whose
interval its value lies in. There the conjunctions are tested predicate by predicate up to the first false
one; predicates that conjunctions share are held once (see `predicate_table`).

Ranges in a unit are filed apart from bare ones, and compared in the base. Where an event repeats an
attribute, the span of its values stands for it: two values may meet `x >= 1, x <= 2` with none between.
Conjunctions without a range (text only, `not` only) are tested for every event. Interests are filed in
groups of their own (see `sgim_interests`).

Memory is linear: one filing a conjunction. A class's interval is widened by insertions and narrowed when
half the class has gone; until then it is wider than needed, never too narrow.

SGIM's groups for interest vectors (sources.md M; Mohapatra et al. 2013, section III.E).

A property that must be b is the range [b, b]. Its midpoint is 0 or 1, so however many classes Sturges'
rule asks for, two of them are ever in use: each property has a group for 0 and one for 1. All ranges are
equally narrow; the most selective property of a vector is therefore the one whose group is smallest when
the vector comes. An event picks one group a property. In a group each distinct predicate the event makes
false removes, at one stroke, every vector that shares it.
"""

from __future__ import annotations

import sys
from math import ceil, inf, log2, nextafter
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from likewise.matching.engine import BaseEngine, EngineResult
from likewise.matching.forest.predicate_table import CompiledConjunction, PredicateTable, PredicateTruths
from likewise.matching.interests.vectors import InterestEngine, VectorTable
from likewise.matching.reference.float_bounds import beyond, closed_bounds
from likewise.matching.reference.operators import register_operators
from likewise.model.axis_reading import axis_reading
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import COMPARISONS, TEXT_OPERATORS
from likewise.model.subscription import Condition, Kind, Subscription

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
        mask = np.unpackbits(table.mask[row].view(np.uint8), count=table.width, bitorder="little")
        value = np.unpackbits(table.value[row].view(np.uint8), count=table.width, bitorder="little")
        places = np.flatnonzero(mask)
        predicates: list[int] = (2 * places + value[places]).tolist()
        return predicates

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
        results: list[int] = []
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
                results += [rows[slot] for slot in _slots(left)]
        return np.array(results, np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes of its sets of bits, counted object by object, and of its lists of rows."""
        size = sys.getsizeof
        return sum(
            size(g.rows) + size(g.held) + size(g.sharing) + sum(map(size, g.sharing.values())) for g in self._groups
        )


def sturges(population: int) -> int:
    """Return how many classes a population is cut into.

    >>> sturges(1), sturges(250), sturges(1_000_000)
    (1, 9, 21)
    """
    return 1 + ceil(log2(population))


class _FiledConjunction:
    """A conjunction, the subscription it belongs to, and where it is filed."""

    __slots__ = ("compiled", "high", "home", "low", "ordinal")

    def __init__(self, ordinal: int, compiled: CompiledConjunction) -> None:
        self.ordinal = ordinal
        self.compiled = compiled
        self.low, self.high = -inf, inf
        self.home: _Class | None = None


class _Class:
    """Conjunctions with similar midpoints, and an interval that covers their ranges."""

    __slots__ = ("gone", "high", "low", "members")

    def __init__(self) -> None:
        self.members: dict[_FiledConjunction, None] = {}
        self.low, self.high = inf, -inf
        self.gone = 0

    def add(self, filed: _FiledConjunction) -> None:
        self.members[filed] = None
        filed.home = self
        self.low, self.high = min(self.low, filed.low), max(self.high, filed.high)

    def remove(self, filed: _FiledConjunction) -> None:
        del self.members[filed]
        self.gone += 1
        if self.gone > len(self.members):
            self.gone = 0
            self.low = min((m.low for m in self.members), default=inf)
            self.high = max((m.high for m in self.members), default=-inf)


class AttributeGroups:
    """The classes of one attribute, its numbers in one unit."""

    def __init__(self) -> None:
        self.low, self.high = inf, -inf  # the extreme finite bounds seen
        self.mentions = 0  # conjunctions with a range here, wherever they are filed
        self.population = 0
        self.classes: list[_Class] = [_Class()]
        self._grouped = 1
        self._origin, self._width = 0.0, inf

    def note_bounds(self, low: float, high: float) -> None:
        """Note a range's finite bounds."""
        self.mentions += 1
        for bound in (low, high):
            if abs(bound) != inf:
                self.low, self.high = min(self.low, bound), max(self.high, bound)

    def selectivity(self, low: float, high: float) -> float:
        """Return how much of what was asked of this attribute so far a range takes: 0 is most selective."""
        if low == high:
            return 0.0
        span = self.high - self.low
        return (min(high, self.high) - max(low, self.low)) / span if 0 < span < inf else 1.0

    def _class_of(self, filed: _FiledConjunction) -> _Class:
        if self._width == inf:
            return self.classes[0]
        middle = max(filed.low, self.low) / 2 + min(filed.high, self.high) / 2
        place = (middle - self._origin) / self._width
        return self.classes[int(min(max(place, 0), len(self.classes) - 1))]

    def add(self, filed: _FiledConjunction) -> None:
        """File a conjunction by its range's midpoint; regroup when the population has doubled."""
        self._class_of(filed).add(filed)
        self.population += 1
        if self.population >= 2 * self._grouped:
            self._regroup()

    def remove(self, filed: _FiledConjunction) -> None:
        """Take a conjunction out of its class."""
        assert filed.home is not None
        filed.home.remove(filed)
        self.population -= 1

    def _regroup(self) -> None:
        members = [filed for each in self.classes for filed in each.members]
        self._grouped = self.population
        number = sturges(self.population)
        self._origin = self.low
        self._width = (self.high - self.low) / number or inf  # one class if the bounds are all (nearly) the same
        self.classes = [_Class() for _ in range(number)]
        for filed in members:
            self._class_of(filed).add(filed)


Key = tuple[str, str]  # folded attribute, unit


class _Interests(InterestEngine):
    def index(self, table: VectorTable) -> PropertyGroups:
        return PropertyGroups(table)


class SgimEngine(BaseEngine):
    """Exact conditions and interests in statistical groups.

    >>> from likewise.model import Interval, Predicate, event
    >>> engine = SgimEngine()
    >>> for i in range(100):
    ...     engine.add(i, Subscription(Condition((Predicate("x", "between", Interval(i, i + 1.5)),))), 0)
    >>> engine.find(event({"x": 50}), 0).ordinals.tolist()
    [49, 50]
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"exact", "interest"})

    def __init__(self, *, types: Hierarchy = NO_TYPES) -> None:
        super().__init__()
        self.types = types
        self._table = PredicateTable()
        self._groups: dict[str, dict[str, AttributeGroups]] = {}  # by attribute, then by unit
        self._without: dict[_FiledConjunction, None] = {}
        self._filed: dict[int, list[tuple[Key | None, _FiledConjunction]]] = {}
        self._interests = _Interests()

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """File each of the subscription's conjunctions under its most selective attribute."""
        self.register(ordinal, subscription)
        if not isinstance(subscription.body, Condition):
            self._interests.add(ordinal, subscription, at)
            return
        filings = []
        for conjunction in subscription.body.conjunctions():
            filed = _FiledConjunction(ordinal, self._table.acquire(conjunction))
            key = self._most_selective(filed)
            if key is None:
                self._without[filed] = None
            else:
                self._groups[key[0]][key[1]].add(filed)
            filings.append((key, filed))
        self._filed[ordinal] = filings

    def _most_selective(self, filed: _FiledConjunction) -> Key | None:
        """The attribute to file under; its range is noted in `filed`."""
        best: tuple[float, Key] | None = None
        for key, (low, high) in _ranges(filed).items():
            groups = self._groups.setdefault(key[0], {}).setdefault(key[1], AttributeGroups())
            groups.note_bounds(low, high)
            share = groups.selectivity(low, high)
            if best is None or share < best[0]:
                best = share, key
                filed.low, filed.high = low, high
        return None if best is None else best[1]

    def remove(self, ordinal: int) -> None:
        """Take the subscription out of its classes."""
        if not isinstance(self.unregister(ordinal).body, Condition):
            self._interests.remove(ordinal)
            return
        for key, filed in self._filed.pop(ordinal):
            if key is None:
                del self._without[filed]
            else:
                self._groups[key[0]][key[1]].remove(filed)
            for mentioned, symbol in _ranges(filed):
                self._forget(mentioned, symbol)
            self._table.release(filed.compiled)

    def _forget(self, attribute: str, symbol: str) -> None:
        """Take a mention back, and with the last one all that was kept of the attribute."""
        groups = self._groups[attribute][symbol]
        groups.mentions -= 1
        if not groups.mentions:
            del self._groups[attribute][symbol]
            if not self._groups[attribute]:
                del self._groups[attribute]

    @property
    def nbytes(self) -> int:
        """Bytes of the interests' groups; conditions are filed as objects, which are not counted."""
        return self._interests.nbytes

    def find(self, event: Event, at: int) -> EngineResult:
        """Test the conjunctions of the classes the event's values lie in."""
        truths = PredicateTruths(event, self.types)
        result = {filed.ordinal for filed in self._without if truths.hold(filed.compiled)}
        for attribute in truths.items:
            for symbol, groups in self._groups.get(attribute, {}).items():
                values = _values(truths, attribute, symbol)
                if not values:
                    continue
                low, high = min(values), max(values)
                for each in groups.classes:
                    if each.low <= high and low <= each.high:
                        for filed in each.members:
                            if filed.low <= high and low <= filed.high and truths.hold(filed.compiled):
                                result.add(filed.ordinal)
        ordinals = np.fromiter(result, np.int64, len(result))
        if len(self._interests):
            ordinals = np.concatenate([ordinals, self._interests.find(event, at).ordinals])
        ordinals.sort()
        return EngineResult(ordinals)


# Whether an operator asks for a range of numbers, by which a conjunction can be filed in a class of midpoints.
_HAS_RANGE: Final = register_operators(
    "sgim",
    {
        "exists": False,
        "=": True,
        "!=": False,
        "in": False,
        "between": True,
        **dict.fromkeys(COMPARISONS, True),
        **dict.fromkeys(TEXT_OPERATORS, False),
    },
)


def _ranges(filed: _FiledConjunction) -> dict[Key, tuple[float, float]]:
    """Return what a conjunction asks of each attribute's numbers, in the base of its unit."""
    ranges: dict[Key, tuple[float, float]] = {}
    for entry in filed.compiled.positive:
        interval = entry.predicate.interval() if _HAS_RANGE[entry.predicate.operator] else None
        if interval is not None:
            key = entry.attribute, interval.unit
            base = interval.base()
            low, high = closed_bounds(base)
            if beyond(base):  # whole numbers that are no floats may lie next to it
                low, high = nextafter(low, -inf), nextafter(high, inf)
            before = ranges.get(key, (-inf, inf))
            ranges[key] = max(low, before[0]), min(high, before[1])
    return ranges


def _values(truths: PredicateTruths, attribute: str, symbol: str) -> list[float]:
    """The event's readings of an attribute as a predicate in that unit sees them."""
    if not symbol:
        return truths.numbers.get(attribute, [])
    values: list[float] = []
    for item in truths.items[attribute]:
        result = axis_reading(item, symbol)
        if result.first <= result.last:
            values += (result.first, result.last)
    return values
