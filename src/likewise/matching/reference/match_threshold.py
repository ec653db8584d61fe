"""Threshold of a subscription: for the whole match, and for every relaxed part.

A score is the geometric mean over the relaxed parts, and one part that is equal would carry another that is not meant:
in `{state~ = leak detected~}` a value of 0.25 would do. So each relaxed part must by itself reach a share of the
threshold, too. The share is fitted (`docs/measures.md`); that each of r parts reaches threshold^r holds anyway.
"""

from __future__ import annotations

from typing import NamedTuple

from likewise.defaults import PART_FLOOR
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Subscription


class MatchThreshold(NamedTuple):
    """`score`: what the mean must reach; `part`: what every relaxed part must; `against`: what rules out under `not`.

    Relatedness has 32 bits, and 0.7 in 32 bits is less than 0.7. So a threshold is what is less of the two: a score
    that is just so much matches in every engine, in the reference, in demand and at an edge.

    >>> MatchThreshold.at(0.5).score, round(MatchThreshold.at(0.5).part, 3)
    (0.5, 0.45)
    >>> import numpy as np
    >>> float(np.float32(0.7)) >= 0.7, float(np.float32(0.7)) >= MatchThreshold.at(0.7).score
    (False, True)
    """

    score: float
    part: float
    against: float

    @classmethod
    def at(cls, threshold: float) -> MatchThreshold:
        """Return what a threshold asks for."""
        least = _in_32_bits(threshold)
        return cls(least, part_floor(threshold), least)

    @classmethod
    def of(cls, subscription: Subscription, threshold: float, curve: ProbabilityCurve = AS_SCORED) -> MatchThreshold:
        """Return what a subscription asks for: its own threshold, else the matcher's, and the score of its confidence.

        >>> MatchThreshold.of(Subscription(None, "s", confidence=0.8), 0.5).score
        0.8
        """
        level = threshold if subscription.threshold is None else subscription.threshold
        needed = cls.at(level)
        if subscription.confidence is None:
            return needed
        return needed._replace(score=_in_32_bits(max(level, curve.least(subscription.confidence))))


def _in_32_bits(threshold: float) -> float:
    """Return the threshold, or what is left of it in 32 bits if that is less."""
    import numpy as np

    return min(threshold, float(np.float32(threshold)))


def part_floor(threshold: float) -> float:
    """Return the threshold of each relaxed part, in 32 bits like relatedness, so that engines agree to the last bit.

    >>> part_floor(0.0)
    0.0
    """
    import numpy as np

    return float(np.float32(PART_FLOOR * threshold))
