"""Distinct predicates and which of them an event makes true: what the covering forest and SGIM test with.

Subscriptions that ask the same thing share one entry, which goes when the last of them goes. Numbers
without a unit are kept as closed bounds (an open bound is the next floating-point number) and text
equality as folded text; testing these is cheaper than remembering their outcome. Everything else is
asked of `meets`, once an event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.float_bounds import beyond, closed_bounds
from likewise.matching.reference.list_items import PreparedItem, best_item, prepare_item
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.operators import meets, register_operators
from likewise.model.condition import Conjunction
from likewise.model.event import Event, EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import COMPARISONS, TEXT_OPERATORS, Predicate
from likewise.model.text import attribute_names, fold

EXACTLY = MatchThreshold(1.0, 1.0, 1.0)

# How a predicate is tested against an event: by the event's numbers, by its texts too, or by evaluating its operator.
_LOOKUPS: Final = register_operators(
    "forest",
    {
        "exists": "evaluate",
        "=": "equality",
        "!=": "evaluate",
        "in": "evaluate",
        "between": "range",
        **dict.fromkeys(COMPARISONS, "range"),
        **dict.fromkeys(TEXT_OPERATORS, "evaluate"),
    },
)


class PredicateEntry:
    """One distinct predicate: folded attribute, and bounds or folded text where these say it all."""

    __slots__ = ("attribute", "bounds", "number", "predicate", "text", "users")

    def __init__(self, number: int, predicate: Predicate) -> None:
        self.number = number
        self.predicate = predicate
        self.attribute = fold(predicate.attribute)
        self.users = 0
        lookup = _LOOKUPS[predicate.operator]
        interval = predicate.interval() if lookup in ("range", "equality") else None
        plain = interval is not None and not interval.unit and not beyond(interval)
        self.bounds = closed_bounds(interval) if interval is not None and plain else None
        self.text = fold(predicate.value) if lookup == "equality" and isinstance(predicate.value, str) else None


class CompiledConjunction:
    """A conjunction as entries of a table."""

    __slots__ = ("negative", "none", "positive", "some")

    def __init__(
        self,
        positive: tuple[PredicateEntry, ...],
        negative: tuple[PredicateEntry, ...],
        some: tuple[PreparedItem, ...] = (),
        none: tuple[PreparedItem, ...] = (),
    ) -> None:
        self.positive = positive
        self.negative = negative
        self.some = some
        self.none = none


def _key(predicate: Predicate) -> object:
    """Return what tells predicates apart: also `1` from `true`, which are equal in Python."""
    value = predicate.value
    return (predicate, repr(value)) if isinstance(value, (bool, tuple)) else predicate


class PredicateTable:
    """The distinct predicates in use.

    >>> table = PredicateTable()
    >>> compiled = table.acquire(Conjunction((Predicate("x", ">", 1.0),)))
    >>> PredicateTruths(Event((EventTuple("X", 2),))).hold(compiled), len(table)
    (True, 1)
    """

    def __init__(self) -> None:
        self._entries: dict[object, PredicateEntry] = {}
        self._numbers = 0

    def __len__(self) -> int:
        return len(self._entries)

    def acquire(self, conjunction: Conjunction) -> CompiledConjunction:
        """The conjunction's predicates as entries, each counted as used once more."""
        positive, negative = self._take(conjunction.positive), self._take(conjunction.negative)
        some, none = (tuple(prepare_item(i, ())[0] for i in side) for side in (conjunction.some, conjunction.none))
        return CompiledConjunction(positive, negative, some, none)

    def _take(self, predicates: Iterable[Predicate]) -> tuple[PredicateEntry, ...]:
        entries = []
        for predicate in predicates:
            key = _key(predicate)
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = PredicateEntry(self._numbers, predicate)
                self._numbers += 1
            entry.users += 1
            entries.append(entry)
        return tuple(entries)

    def release(self, compiled: CompiledConjunction) -> None:
        """Count the entries as used once less."""
        for entry in (*compiled.positive, *compiled.negative):
            entry.users -= 1
            if not entry.users:
                del self._entries[_key(entry.predicate)]


class PredicateTruths:
    """Which predicates one event makes true, each found out when first asked for."""

    __slots__ = ("_known", "_seen", "items", "numbers", "texts", "types")

    def __init__(self, event: Event, types: Hierarchy = NO_TYPES) -> None:
        self.types = types
        self._seen = EventView(event, None, types)
        self._known: dict[int, bool] = {}
        self.items: dict[str, list[EventTuple]] = {}
        self.numbers: dict[str, list[float]] = {}
        self.texts: dict[str, list[str]] = {}
        for item in event.tuples:
            reading = item.reading()
            for attribute in attribute_names(item.attribute):
                self.items.setdefault(attribute, []).append(item)
                if reading is not None:
                    self.numbers.setdefault(attribute, []).append(reading[0])
                if isinstance(item.value, str):
                    self.texts.setdefault(attribute, []).append(fold(item.value))

    def holds(self, entry: PredicateEntry) -> bool:
        """Return whether some tuple satisfies the predicate."""
        bounds = entry.bounds
        if bounds is not None:
            low, high = bounds
            for number in self.numbers.get(entry.attribute, ()):  # noqa: SIM110  a generator costs more than the test
                if low <= number <= high:
                    return True
            return False
        if entry.text is not None:
            return entry.text in self.texts.get(entry.attribute, ())
        known = self._known.get(entry.number)
        if known is None:
            predicate = entry.predicate
            known = any(meets(predicate, item, self.types) for item in self.items.get(entry.attribute, ()))
            self._known[entry.number] = known
        return known

    def hold(self, conjunction: CompiledConjunction) -> bool:
        """Return whether all positive predicates hold and no negative one does; stops at the first that decides."""
        for entry in conjunction.positive:
            if not self.holds(entry):
                return False
        for entry in conjunction.negative:
            if self.holds(entry):
                return False
        if conjunction.some or conjunction.none:
            view = self._seen
            return all(best_item(item, view, (), EXACTLY) for item in conjunction.some) and not any(
                best_item(item, view, (), EXACTLY) for item in conjunction.none
            )
        return True
