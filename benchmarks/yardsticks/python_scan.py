"""The yardstick everybody writes first: try every subscription, stop at its first predicate that fails."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

Predicates = Sequence[tuple[str, str, float | str]]  # attribute, one of < <= == > >=, value
Publication = dict[str, float | str]

COMPARE: dict[str, Callable[[object, object], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
}


class PythonScan:
    """Pure Python; each predicate is a prepared (attribute, comparison, value)."""

    def __init__(self, subscriptions: Sequence[Predicates]) -> None:
        self.subscriptions = [
            (index, tuple((attribute, COMPARE[name], value) for attribute, name, value in predicates))
            for index, predicates in enumerate(subscriptions)
        ]

    def find(self, publication: Publication) -> list[int]:
        found = []
        for index, predicates in self.subscriptions:
            for attribute, compare, value in predicates:
                seen = publication.get(attribute)
                if seen is None or not compare(seen, value):
                    break
            else:
                found.append(index)
        return found
