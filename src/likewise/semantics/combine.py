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
from likewise.semantics.names import Names, NamesMeasure
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
        self._latent = space.latent()
        self._jcn = JcnMeasure(space.taxonomy, senses="all")
        self._side: Prepared[_Side] = Prepared(self._prepare)
        self._backgrounds = {name: self._calibration.background(name) for name in self._calibration.backgrounds}

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {"name": self.name}

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        a, b = self._names.side(asked), self._names.side(seen)
        meaning = self._calibration.score(self._surprise(a, b))
        return equal_are_one(self._names.aligned(a, b, meaning), asked, seen)

    def word_surprise(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The evidence for pairs of single words, in powers of ten against random pairs, themes left out."""
        documents, weight = self._documents(asked, seen)
        taxonomy, more = self._taxonomy(asked, seen)
        return _mean(documents + taxonomy, weight + more)

    def _surprise(self, a: Names, b: Names) -> NDArray[np.float32]:
        """The evidence for every pair of distinct words.

        What documents say is taken partly without themes and partly within both sides' themes
        together. (Departure: `thematic` projects each side into its own theme, and two themes without a
        common document then make everything unrelated; the paper asks for one to contain the other.)
        """
        asked, seen = a.under(()), b.under(())
        total, weight = self._documents(asked, seen)
        share = np.float32(self._calibration.theme_share)
        for x, y in sorted((x, y) for x in a.groups for y in b.groups if x or y):
            both = theme_of((*x, *y))
            within, _ = self._documents(a.under(both, x), b.under(both, y))
            place = np.ix_(a.groups[x], b.groups[y])
            total[place] = (1 - share) * total[place] + share * within
        taxonomy, more = self._taxonomy(asked, seen)
        return _mean(total + taxonomy, weight + more)

    def _documents(
        self, asked: Sequence[Term], seen: Sequence[Term]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The weighted evidence of shared documents and latent vectors, and its weight."""
        a, b = self._side(asked), self._side(seen)
        calibration = self._calibration
        known = np.outer(a.in_space, b.in_space)
        cosines = related(a.stack, b.stack, self._space.vectors.size, "cosine")
        share = np.float32(calibration.weights["thematic"])
        total = share * known * self._read("thematic", cosines, a, b)
        if self._latent is not None:
            more = np.float32(calibration.weights["latent"])
            latent = self._latent.cosines(asked, seen)
            total += more * known * self._read("latent", latent, a, b)
            share += more
        return total, share * known

    def _taxonomy(self, asked: Sequence[Term], seen: Sequence[Term]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The weighted evidence of the taxonomy, and its weight; themes play no part."""
        a, b = self._side(asked), self._side(seen)
        weight = np.float32(self._calibration.weights["jcn"]) * np.outer(a.in_taxonomy, b.in_taxonomy)
        scores = self._jcn.similarities(asked, seen)
        return weight * self._read("jcn", scores, a, b), weight

    def _read(self, name: str, scores: NDArray[np.float32], a: _Side, b: _Side) -> NDArray[np.float32]:
        """A measure's scores against its background."""
        from likewise.semantics.calibration_kernels import interpolated

        out: NDArray[np.float32] = interpolated(scores, a.classes, b.classes, *self._backgrounds[name])
        return out

    def _prepare(self, terms: tuple[Term, ...]) -> _Side:
        vectors = [self._space.vectors.vector(fold_spaces(t.text), theme_of(t.theme)) for t in terms]
        return _Side(
            stacked(vectors),
            self._calibration.classes(np.array([len(v.documents) for v in vectors], dtype=np.int64)),
            np.array([v.norm > 0 for v in vectors], dtype=np.float32),
            np.array([self._jcn.knows(t.text) for t in terms], dtype=np.float32),
        )


def _mean(total: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """Total over weight; 0 where nothing was said."""
    out: NDArray[np.float32] = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    return out
