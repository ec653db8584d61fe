"""The default measure: several measures fused into one calibrated score.

Each measure of meaning is read against its background (`calibration`), which makes their evidence
addable and common words comparable with rare ones; the weighted mean goes through one curve, so that 0.5
is where related begins. Terms are then aligned word by word as in `names`, each pair of words having
the better of its meaning's and its spelling's score. So a phrase, an identifier and a single word are
all scored by one rule, and two phrases do not pass because they share one of two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from likewise.semantics.esa import equal_are_one, fold_spaces, related
from likewise.semantics.jcn import JcnMeasure
from likewise.semantics.measure import Term
from likewise.semantics.names import NamesMeasure
from likewise.semantics.prepared import Prepared
from likewise.semantics.vectors import Stack, stacked, theme_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.space import Space


class _Side(msgspec.Struct, frozen=True, eq=False):
    """Words made ready: their vectors, classes of frequency, and which measures know them."""

    stack: Stack
    classes: NDArray[np.int64]
    in_space: NDArray[np.float32]
    in_taxonomy: NDArray[np.float32]


class CombinedMeasure:
    """Meaning (thematic, latent, taxonomy) and spelling, calibrated to one score.

    A measure that knows nothing about one of two words says nothing about the pair: the others are
    averaged without it. If none knows them and their spellings share nothing, the score is 0.
    """

    name = "combine"

    def __init__(self, space: Space) -> None:
        self._space = space
        self._calibration = space.calibration
        self._names = NamesMeasure(space.vectors, space.calibration.names)
        self._latent = space.measure("latent") if space.has_latent else None
        self._jcn = JcnMeasure(space.taxonomy, senses="all")
        self._side: Prepared[_Side] = Prepared(self._prepare)

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {"name": self.name}

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        a, b = self._names.side(asked), self._names.side(seen)
        meaning = self._calibration.score(self.surprise(a.terms, b.terms))
        return equal_are_one(self._names.aligned(a, b, meaning), asked, seen)

    def surprise(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The measures' mean evidence for every pair of words, in powers of ten against random pairs."""
        a, b = self._side(asked), self._side(seen)
        calibration = self._calibration
        in_space, in_taxonomy = np.outer(a.in_space, b.in_space), np.outer(a.in_taxonomy, b.in_taxonomy)
        found = [("thematic", related(a.stack, b.stack, self._space.vectors.size, "cosine"), in_space)]
        if self._latent is not None:
            found.append(("latent", self._latent.matrix(asked, seen), in_space))
        found.append(("jcn", self._jcn.matrix(asked, seen), in_taxonomy))
        total = np.zeros((len(asked), len(seen)), dtype=np.float32)
        weights = np.zeros_like(total)
        for name, scores, where in found:
            weight = np.float32(calibration.weights[name]) * where
            total += weight * calibration.surprise(name, scores, a.classes, b.classes)
            weights += weight
        return np.divide(total, weights, out=np.zeros_like(total), where=weights > 0)

    def _prepare(self, terms: tuple[Term, ...]) -> _Side:
        vectors = [self._space.vectors.vector(fold_spaces(t.text), theme_of(t.theme)) for t in terms]
        return _Side(
            stacked(vectors),
            self._calibration.classes(np.array([len(v.documents) for v in vectors], dtype=np.int64)),
            np.array([v.norm > 0 for v in vectors], dtype=np.float32),
            np.array([self._jcn.knows(t.text) for t in terms], dtype=np.float32),
        )
