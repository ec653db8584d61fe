"""The yardstick of whoever knows NumPy: one lower and one upper bound a subscription and attribute, all compared.

Bounds stand in dense arrays, open ones moved to the next number; equality of text compares codes. `NumpyScan`
is how it is usually written. `TunedNumpyScan` compares only sides that some subscription bounds and uses its
arrays of answers again, so that nothing is allocated but the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Predicates = Sequence[tuple[str, str, float | str]]
Publication = dict[str, float | str]


class NumpyScan:
    """Dense comparison of every subscription with every attribute."""

    def __init__(self, subscriptions: Sequence[Predicates]) -> None:
        size = len(subscriptions)
        self.low: dict[str, NDArray[np.float64]] = {}
        self.high: dict[str, NDArray[np.float64]] = {}
        self.text: dict[str, NDArray[np.int32]] = {}  # -1: not asked
        self.codes: dict[str, int] = {}
        self.unasked: dict[str, NDArray[np.bool_]] = {}
        for index, predicates in enumerate(subscriptions):
            for attribute, name, value in predicates:
                if attribute not in self.unasked:
                    self.unasked[attribute] = np.ones(size, np.bool_)
                self.unasked[attribute][index] = False
                if isinstance(value, str):
                    if attribute not in self.text:
                        self.text[attribute] = np.full(size, -1, np.int32)
                    self.text[attribute][index] = self.codes.setdefault(value, len(self.codes))
                    continue
                if attribute not in self.low:
                    self.low[attribute], self.high[attribute] = np.full(size, -np.inf), np.full(size, np.inf)
                low, high = self.low[attribute], self.high[attribute]
                if name in (">", ">=", "=="):
                    low[index] = max(low[index], math.nextafter(value, math.inf) if name == ">" else value)
                if name in ("<", "<=", "=="):
                    high[index] = min(high[index], math.nextafter(value, -math.inf) if name == "<" else value)
        self.size = size

    def find(self, publication: Publication) -> NDArray[np.int64]:
        mask = np.ones(self.size, np.bool_)
        for attribute, unasked in self.unasked.items():
            value = publication.get(attribute)
            if value is None:
                mask &= unasked
            elif attribute in self.text:
                mask &= unasked | (self.text[attribute] == self.codes.get(str(value), -2))
            else:
                mask &= (self.low[attribute] <= value) & (value <= self.high[attribute])
        return np.flatnonzero(mask)


class TunedNumpyScan(NumpyScan):
    """The same without a superfluous comparison or allocation."""

    def __init__(self, subscriptions: Sequence[Predicates]) -> None:
        super().__init__(subscriptions)
        self.low = {a: bounds for a, bounds in self.low.items() if (bounds > -np.inf).any()}
        self.high = {a: bounds for a, bounds in self.high.items() if (bounds < np.inf).any()}
        self.mask, self.answer = np.empty(self.size, np.bool_), np.empty(self.size, np.bool_)

    def find(self, publication: Publication) -> NDArray[np.int64]:
        mask, answer = self.mask, self.answer
        mask.fill(True)
        for attribute, unasked in self.unasked.items():
            value = publication.get(attribute)
            if value is None:
                np.logical_and(mask, unasked, out=mask)
            elif attribute in self.text:
                np.equal(self.text[attribute], self.codes.get(str(value), -2), out=answer)
                np.logical_or(answer, unasked, out=answer)
                np.logical_and(mask, answer, out=mask)
            else:
                if attribute in self.low:
                    np.less_equal(self.low[attribute], value, out=answer)
                    np.logical_and(mask, answer, out=mask)
                if attribute in self.high:
                    np.greater_equal(self.high[attribute], value, out=answer)
                    np.logical_and(mask, answer, out=mask)
        return np.flatnonzero(mask)
