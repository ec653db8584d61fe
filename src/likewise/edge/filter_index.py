"""Filters by an equality that each of them needs, so that an event is compared with few of many.

A filter stands under one equality of each of its alternatives, with a number or with a text without digits (with digits
it may be a number or a date, which are equal in other ways); a filter with an alternative that needs none is always
looked at. What an event says with a unit or as a truth value may equal more than it shows: then all of the name are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from likewise.matching.demand.filters import DemandFilter, Parts
from likewise.model import fold, read_number
from likewise.model.event import EventTuple
from likewise.model.hierarchies.types import Hierarchy

EXACT = 2**53  # numbers below it are the same as floats


class FilterIndex:
    """Some filters, and whether an event meets one of them.

    >>> from likewise.model import Predicate
    >>> index = FilterIndex([DemandFilter("one", (((Predicate("a", "=", 1),), (Predicate("t", ">", 5.0),)),))])
    >>> from likewise.model.hierarchies.types import NO_TYPES
    >>> index.met({"a": [EventTuple("a", 1)], "t": [EventTuple("t", 9)]}, NO_TYPES)
    True
    """

    def __init__(self, filters: Iterable[DemandFilter]) -> None:
        self._always: list[DemandFilter] = []
        self._equal: dict[str, dict[float | str, list[DemandFilter]]] = {}
        for each in filters:
            needed = [_equality(parts) for parts in each.alternatives]
            if not needed or any(key is None for key in needed):
                self._always.append(each)
                continue
            for name, value in dict.fromkeys(key for key in needed if key is not None):
                self._equal.setdefault(name, {}).setdefault(value, []).append(each)

    def met(self, by_name: Mapping[str, list[EventTuple]], types: Hierarchy) -> bool:
        """Whether an event, as its tuples by folded name, meets any of them."""
        if any(each.meets(by_name, types) for each in self._always):
            return True
        for name, values in self._equal.items():
            for item in by_name.get(name, ()):
                if any(each.meets(by_name, types) for each in _under(values, item)):
                    return True
        return False


def _equality(parts: Parts) -> tuple[str, float | str] | None:
    """An equality that an alternative needs; None if it has none that can be looked up."""
    for part in parts:
        if len(part) == 1 and part[0].operator == "=" and not part[0].unit:
            name, value = fold(part[0].attribute), part[0].value
            if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < EXACT:
                return name, float(value)
            if isinstance(value, str) and not any(sign.isdigit() for sign in value):
                return name, fold(value)
    return None


def _under(values: dict[float | str, list[DemandFilter]], item: EventTuple) -> Iterator[DemandFilter]:
    value = item.value
    if item.unit or isinstance(value, bool):
        for filters in values.values():
            yield from filters
    elif isinstance(value, str):
        if any(sign.isdigit() for sign in value) and read_number(value) is not None:
            for filters in values.values():
                yield from filters
        else:
            yield from values.get(fold(value), ())
    elif isinstance(value, (int, float)):
        if abs(value) < EXACT:
            yield from values.get(float(value), ())
        else:
            for filters in values.values():
                yield from filters
