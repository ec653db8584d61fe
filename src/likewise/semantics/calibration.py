"""Calibration data that makes the scores of different measures, and of common and rare terms, comparable.

It is data, fitted offline by `likewise_experiments.fitting.calibrate` and stored with the space
(`calibration.json`); nothing here depends on the terms a matcher meets.

A measure's score is read against its background: how rarely two random terms of the same frequency
reach it. `surprise` is -log10 of that share, so 2 means "one random pair in a hundred is this
related", whatever the measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.errors import ArtefactDamaged
from likewise.model.probability import ProbabilityCurve

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIGHEST: Final = 5.0  # the surprise of a score of 1; backgrounds of some 100,000 pairs show no more


class Background(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Scores that one measure gives to random pairs.

    `scores[i][j]` are the scores of pairs of frequency classes i <= j that the shares 10^-levels of
    random pairs reach.
    """

    scores: tuple[tuple[tuple[float, ...], ...], ...]


class NameWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of the kinds of evidence of the measure `names`, each in [0, 1].

    `prefix[n]`: a beginning of n letters stands for the word (the last for longer ones); `skeleton`:
    letters picked in order do; `acronym`: first letters stand for several words; `unit_sure`,
    `unit_unsure`: a unit stands for what it measures; `plain`: what is left of an abbreviation's
    strength when both terms are ordinary words. `digits`, `unit`, `unknown`: the weight of a word
    that is a number, a unit, or unknown, against 1 for a known one. `asked_share`: the asked term's
    coverage counts this much, the seen one's the rest; `leniency` is the exponent of the mean over
    words: 1 is the plain mean, less lets a word without a partner weigh more.

    For names of readings (`readings`): `modifier`, `light`, `transparent`: the weight of a word beside the head, of
    one that says little, and of one that says nothing; `container` multiplies words of a path's outer parts.
    What is left of a score: `conflict` if the heads or units measure different things, `not_a_number` if a quantity
    is asked and the value is text or a Boolean, `not_a_state` if a state is asked and it is a number; what is
    left of two words' relatedness: `sisters` if they are different quantities, `association` if only one is one.
    `short_forms`: whether short forms, formulas and names of units are written out; ablations say no.
    """

    prefix: tuple[float, ...]
    skeleton: float
    acronym: float
    unit_sure: float
    unit_unsure: float
    plain: float
    digits: float
    unit: float
    unknown: float
    asked_share: float
    leniency: float
    modifier: float
    light: float
    transparent: float
    container: float
    conflict: float
    sisters: float
    association: float
    not_a_number: float
    not_a_state: float
    short_forms: bool = True


class Calibration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it. `frequencies` bound the classes of terms by their number of documents; `levels` are the
    surprises at which backgrounds are stored; `weights` say how much each measure's surprise counts;
    `theme_share` how much of the evidence is taken within the themes, the rest without them;
    the curve's midpoint is `midpoint`, and it rises with `steepness`.
    `probability` has for a measure how probable it is, at each score, that what was met was meant.
    """

    frequencies: tuple[int, ...]
    levels: tuple[float, ...]
    backgrounds: dict[str, Background]
    weights: dict[str, float]
    theme_share: float
    midpoint: float
    steepness: float
    names: NameWeights
    probability: dict[str, ProbabilityCurve] = {}
    v: int = 1

    def classes(self, documents: NDArray[Any]) -> NDArray[np.int64]:
        """The frequency class of terms that occur in so many documents."""
        return np.searchsorted(np.asarray(self.frequencies), documents, side="right")

    def background(self, measure: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return a measure's background as arrays: knots for every two frequency classes, and their surprises."""
        table = self.backgrounds[measure].scores
        size = len(table)
        knots = np.empty((size, size, len(self.levels) + 2), dtype=np.float32)
        for low in range(size):
            for high in range(low, size):
                knots[low, high] = knots[high, low] = _knots(table[low][high - low])
        return knots, np.array([0.0, *self.levels, HIGHEST], dtype=np.float32)

    def score(self, surprise: NDArray[Any]) -> NDArray[np.float32]:
        """Return surprise in [0, `HIGHEST`] as a score in [0, 1]: a logistic curve rescaled to begin at 0 and end at 1.

        Stretching moves the midpoint a little below 0.5 (to 0.47 on the embedded space).
        """
        curve = 1 / (1 + np.exp(-self.steepness * (np.asarray(surprise, dtype=np.float64) - self.midpoint)))
        ends = 1 / (1 + np.exp(-self.steepness * (np.array([0.0, HIGHEST]) - self.midpoint)))
        scaled: NDArray[np.float32] = np.clip((curve - ends[0]) / (ends[1] - ends[0]), 0, 1).astype(np.float32)
        return scaled


def _knots(scores: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the background's scores as ascending knots between 0 and 1."""
    ascending: NDArray[np.float64] = np.maximum.accumulate(np.array([0.0, *scores, 1.0]))
    return ascending


def read_calibration(raw: bytes) -> Calibration:
    """Decode a calibration.

    >>> read_calibration(b"{}")
    Traceback (most recent call last):
    ...
    likewise.errors.ArtefactDamaged: the calibration cannot be read: Object missing required field `frequencies`; ...
    """
    try:
        return msgspec.json.decode(raw, type=Calibration)
    except msgspec.DecodeError as error:
        raise ArtefactDamaged(f"the calibration cannot be read: {error}; build or unpack the space again") from None
