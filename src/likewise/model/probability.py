"""Curve from a score to the probability that a match is relevant, fitted offline.

A score says how alike two things are; whether somebody who asked for the one means the other was judged by people on
many pairs, and the curve says how often they said yes at each score. It never falls, and 1 is certain: equal is equal.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import FormatError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


class ProbabilityCurve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Knots from score 0 to score 1, with straight lines between them.

    >>> curve = ProbabilityCurve((0.0, 0.5, 1.0), (0.0, 0.6, 1.0))
    >>> curve.of(0.5), round(curve.of(0.75), 3), round(curve.least(0.8), 3)
    (0.6, 0.8, 0.75)
    """

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        rises = all(a < b for a, b in pairwise(self.scores)) and all(a <= b for a, b in pairwise(self.probabilities))
        ends = len(self.scores) == len(self.probabilities) >= 2 and (self.scores[0], self.scores[-1]) == (0.0, 1.0)
        if not rises or not ends or self.probabilities[-1] != 1.0 or self.probabilities[0] < 0:
            raise FormatError("a curve of probabilities never falls, and goes from score 0 to 1, which is certain")

    def of(self, score: float) -> float:
        """Return the probability at a score."""
        at = min(max(score, 0.0), 1.0)
        place = min(bisect_right(self.scores, at), len(self.scores) - 1)
        low, high = self.scores[place - 1], self.scores[place]
        part = (at - low) / (high - low)
        return self.probabilities[place - 1] * (1 - part) + self.probabilities[place] * part

    def each(self, scores: NDArray[float32]) -> NDArray[float32]:
        """Return the probabilities of many scores."""
        import numpy as np

        return np.interp(scores, self.scores, self.probabilities).astype(np.float32)

    def least(self, probability: float) -> float:
        """Return the lowest score with at least this probability."""
        place = bisect_left(self.probabilities, probability)
        if place == 0:
            return 0.0
        low, high = self.probabilities[place - 1], self.probabilities[place]
        part = (probability - low) / (high - low)
        return self.scores[place - 1] * (1 - part) + self.scores[place] * part


AS_SCORED: Final = ProbabilityCurve((0.0, 1.0), (0.0, 1.0))  # where nothing was fitted
