"""Distinct predicates and terms of all approximate subscriptions, numbered.

Many subscriptions share a predicate under the same themes; it is numbered once, so what is known about
it is computed once. Number 0 is kept for "always".
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.growing_array import GrowingArray
from likewise.matching.reference.terms import predicate_attribute_term, predicate_value_term
from likewise.model import Predicate, fold
from likewise.semantics.measure import Term

Column = Term | str  # a term to be related to, or the folded attribute an exact part must equal


class RelatednessColumns:
    """Distinct things asked about, each with the number of its column in a row of relatedness.

    >>> columns = RelatednessColumns()
    >>> columns.number("office"), columns.number(Term("device")), columns.number("office")
    (0, 1, 0)
    """

    def __init__(self) -> None:
        self.items: list[Column] = []
        self._numbers: dict[Column, int] = {}

    def __len__(self) -> int:
        return len(self.items)

    def number(self, column: Column) -> int:
        """The number of a column, a new one if it was not asked about yet."""
        cached = self._numbers.get(column)
        if cached is None:
            cached = self._numbers[column] = len(self.items)
            self.items.append(column)
        return cached


class SubscriptionPredicates:
    """The distinct predicates, with what each must reach to be of use: a similarity (`cut`) and in each part (`floor`).

    >>> asked = SubscriptionPredicates()
    >>> p = Predicate("device", "=", "laptop", True, True)
    >>> asked.take(p, (), 0.25), asked.take(p, (), 0.5), asked.take(p, (), 0.1), asked.take(p, (), 0.1, 0.3)
    (1, 1, 2, 3)
    """

    def __init__(self) -> None:
        self.predicates: list[Predicate | None] = [None]
        self.attributes = RelatednessColumns()
        self.values = RelatednessColumns()
        self.attribute_column = GrowingArray(np.int64)
        self.value_column = GrowingArray(np.int64)  # -1 where the value is compared exactly
        self.cut = GrowingArray(np.float64)
        self.floor = GrowingArray(np.float32)
        self.users = GrowingArray(np.int64)
        self._numbers: dict[tuple[Predicate, tuple[str, ...], float], list[int]] = {}
        columns = (self.attribute_column, self.value_column, self.cut, self.floor, self.users)
        for array, value in zip(columns, (0, -1, 2.0, 0.0, 1), strict=True):
            array.append(value)

    def __len__(self) -> int:
        return len(self.predicates)

    def take(self, predicate: Predicate, theme: tuple[str, ...], cut: float, floor: float = 0.0) -> int:
        """The number of a predicate that is kept down to `cut` or lower, each part to the floor; used once more."""
        numbers = self._numbers.setdefault((predicate, theme, floor), [])
        for number in numbers:
            if self.cut.view()[number] <= cut:
                self.users.view()[number] += 1
                return number
        number = len(self.predicates)
        numbers.append(number)
        self.predicates.append(predicate)
        exact = fold(predicate.attribute)
        self.attribute_column.append(
            self.attributes.number(predicate_attribute_term(predicate, theme) if predicate.attribute_relaxed else exact)
        )
        self.value_column.append(
            self.values.number(predicate_value_term(predicate, theme)) if predicate.value_relaxed else -1
        )
        self.cut.append(cut)
        self.floor.append(floor)
        self.users.append(1)
        return number

    def release(self, number: int) -> None:
        """One user less. An unused predicate keeps its number, in case it is asked again."""
        self.users.view()[number] -= 1

    def unused(self) -> int:
        """Return how many predicates nobody uses."""
        return int(np.count_nonzero(self.users.view() == 0))
