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
"""

from __future__ import annotations

from math import ceil, inf, log2, nextafter
from typing import ClassVar

import numpy as np

from likewise.matching.classical.sgim_interests import PropertyGroups
from likewise.matching.engine import BaseEngine, Found
from likewise.matching.forest.predicate_table import Compiled, PredicateTable, Truths
from likewise.matching.interests.vectors import InterestEngine, VectorTable
from likewise.matching.reference.float_bounds import beyond, closed_bounds
from likewise.model.comparable import brought
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.subscription import Condition, Kind, Subscription


def sturges(population: int) -> int:
    """How many classes a population is cut into.

    >>> sturges(1), sturges(250), sturges(1_000_000)
    (1, 9, 21)
    """
    return 1 + ceil(log2(population))


class _Filed:
    """A conjunction, the subscription it belongs to, and where it is filed."""

    __slots__ = ("compiled", "high", "home", "low", "ordinal")

    def __init__(self, ordinal: int, compiled: Compiled) -> None:
        self.ordinal = ordinal
        self.compiled = compiled
        self.low, self.high = -inf, inf
        self.home: _Class | None = None


class _Class:
    """Conjunctions with similar midpoints, and an interval that covers their ranges."""

    __slots__ = ("gone", "high", "low", "members")

    def __init__(self) -> None:
        self.members: dict[_Filed, None] = {}
        self.low, self.high = inf, -inf
        self.gone = 0

    def add(self, filed: _Filed) -> None:
        self.members[filed] = None
        filed.home = self
        self.low, self.high = min(self.low, filed.low), max(self.high, filed.high)

    def remove(self, filed: _Filed) -> None:
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

    def see(self, low: float, high: float) -> None:
        """Note a range's finite bounds."""
        self.mentions += 1
        for bound in (low, high):
            if abs(bound) != inf:
                self.low, self.high = min(self.low, bound), max(self.high, bound)

    def share(self, low: float, high: float) -> float:
        """How much of what was asked of this attribute so far a range takes: 0 is most selective."""
        if low == high:
            return 0.0
        span = self.high - self.low
        return (min(high, self.high) - max(low, self.low)) / span if 0 < span < inf else 1.0

    def _class_of(self, filed: _Filed) -> _Class:
        if self._width == inf:
            return self.classes[0]
        middle = max(filed.low, self.low) / 2 + min(filed.high, self.high) / 2
        place = (middle - self._origin) / self._width
        return self.classes[int(min(max(place, 0), len(self.classes) - 1))]

    def add(self, filed: _Filed) -> None:
        """File a conjunction by its range's midpoint; regroup when the population has doubled."""
        self._class_of(filed).add(filed)
        self.population += 1
        if self.population >= 2 * self._grouped:
            self._regroup()

    def remove(self, filed: _Filed) -> None:
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
        self._without: dict[_Filed, None] = {}
        self._filed: dict[int, list[tuple[Key | None, _Filed]]] = {}
        self._interests = _Interests()

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """File each of the subscription's conjunctions under its most selective attribute."""
        self.admit(ordinal, subscription)
        if not isinstance(subscription.body, Condition):
            self._interests.add(ordinal, subscription, at)
            return
        filings = []
        for conjunction in subscription.body.conjunctions():
            filed = _Filed(ordinal, self._table.acquire(conjunction))
            key = self._most_selective(filed)
            if key is None:
                self._without[filed] = None
            else:
                self._groups[key[0]][key[1]].add(filed)
            filings.append((key, filed))
        self._filed[ordinal] = filings

    def _most_selective(self, filed: _Filed) -> Key | None:
        """The attribute to file under; its range is noted in `filed`."""
        best: tuple[float, Key] | None = None
        for key, (low, high) in _ranges(filed).items():
            groups = self._groups.setdefault(key[0], {}).setdefault(key[1], AttributeGroups())
            groups.see(low, high)
            share = groups.share(low, high)
            if best is None or share < best[0]:
                best = share, key
                filed.low, filed.high = low, high
        return None if best is None else best[1]

    def remove(self, ordinal: int) -> None:
        """Take the subscription out of its classes."""
        if not isinstance(self.dismiss(ordinal).body, Condition):
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

    def find(self, event: Event, at: int) -> Found:
        """Test the conjunctions of the classes the event's values lie in."""
        truths = Truths(event, self.types)
        found = {filed.ordinal for filed in self._without if truths.hold(filed.compiled)}
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
                                found.add(filed.ordinal)
        ordinals = np.fromiter(found, np.int64, len(found))
        if len(self._interests):
            ordinals = np.concatenate([ordinals, self._interests.find(event, at).ordinals])
        ordinals.sort()
        return Found(ordinals)


def _ranges(filed: _Filed) -> dict[Key, tuple[float, float]]:
    """What a conjunction asks of each attribute's numbers, in the base of its unit."""
    ranges: dict[Key, tuple[float, float]] = {}
    for entry in filed.compiled.positive:
        interval = entry.predicate.interval()
        if interval is not None:
            key = entry.attribute, interval.unit
            base = interval.base()
            low, high = closed_bounds(base)
            if beyond(base):  # whole numbers that are no floats may lie next to it
                low, high = nextafter(low, -inf), nextafter(high, inf)
            before = ranges.get(key, (-inf, inf))
            ranges[key] = max(low, before[0]), min(high, before[1])
    return ranges


def _values(truths: Truths, attribute: str, symbol: str) -> list[float]:
    """The event's readings of an attribute as a predicate in that unit sees them."""
    if not symbol:
        return truths.numbers.get(attribute, [])
    values: list[float] = []
    for item in truths.items[attribute]:
        found = brought(item, symbol)
        if found.first <= found.last:
            values += (found.first, found.last)
    return values
