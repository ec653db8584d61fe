"""Explicit semantic analysis: a term is the documents it occurs in.

Gabrilovich, E. and Markovitch, S.: Computing semantic relatedness using Wikipedia-based explicit semantic
analysis, IJCAI 2007; relatedness as in Hasan and Curry 2014 (Thematic event processing), Eq. 5 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from likewise.errors import InputError
from likewise.model.text import fold
from likewise.semantics.measure import Term
from likewise.semantics.measures.inverted_index import InvertedVectors, turned
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.semantics.vectors.term_vectors import TermVectors, Vector, VectorStack, stack_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

Metric = Literal["cosine", "unit", "raw", "letter"]
METRICS: Final = ("cosine", "unit", "raw", "letter")
ORTHOGONAL: Final = 1.0 / (1.0 + 2.0**0.5)  # what Eq. 6 gives for orthogonal unit vectors


class EsaMeasure:
    """Relatedness by shared documents, whatever the themes.

    `metric="cosine"` is the angle; `"unit"` (the default) is Eq. 6 on unit vectors, rescaled so that
    orthogonal vectors give 0; `"letter"` is Eq. 6 as it stands, which gives unrelated terms more than 0 and two
    unknown ones 1; `"raw"` the same, except that vectors without a common document give 0 (departure: raw lengths
    dominate it, and a matcher needs a zero).
    """

    name = "esa"

    def __init__(self, vectors: TermVectors, *, metric: Metric = "unit") -> None:
        if metric not in METRICS:
            raise InputError(f"no metric is named {metric!r}; there are {', '.join(METRICS)}")
        self._vectors, self.metric = vectors, metric
        self._side: PreparedTerms[_PreparedVectors] = PreparedTerms(
            lambda terms: _PreparedVectors([self.vector(t) for t in terms])
        )

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {"name": self.name, "metric": self.metric}

    def vector(self, term: Term) -> Vector:
        """The vector a term is compared by."""
        return self._vectors.vector(fold_spaces(term.text))

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        return set_equal_to_one(self._related(asked, seen), asked, seen)

    def _related(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness by vectors alone."""
        return related(self._side(asked).inverted, self._side(seen).stack, self.metric)


class _PreparedVectors:
    """The vectors of one side, turned round when they are the asked ones."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self.stack = stack_vectors(vectors)

    @cached_property
    def inverted(self) -> InvertedVectors:
        """By document."""
        return turned(self.stack)


def related(asked: InvertedVectors, seen: VectorStack, metric: Metric) -> NDArray[np.float32]:
    """The relatedness of every asked vector with every seen one, by one of the metrics."""
    if metric == "letter":
        return (1 / (1 + asked.distances(seen))).astype(np.float32)
    cosines = asked.cosines(seen)
    if metric == "cosine":
        return cosines
    if metric == "raw":
        return np.where(cosines > 0, 1 / (1 + asked.distances(seen)), 0).astype(np.float32)
    distances = np.sqrt(np.clip(2 - 2 * cosines, 0, 2))
    return np.clip((1 / (1 + distances) - ORTHOGONAL) / (1 - ORTHOGONAL), 0, 1).astype(np.float32)


def set_equal_to_one(scores: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
    """Puts 1 where the texts are equal when folded: every measure's first promise.

    An empty text is equal to an empty text alone.
    """
    rows, columns = np.nonzero(_hashes(asked)[:, None] == _hashes(seen)[None, :])
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        if fold(asked[i].text) == fold(seen[j].text):
            scores[i, j] = 1
    return scores


_hashes: Final[PreparedTerms[NDArray[np.int64]]] = PreparedTerms(
    lambda terms: np.array([hash(fold(term.text)) for term in terms], dtype=np.int64)
)


def fold_spaces(text: str) -> str:
    """The text with white space collapsed but its case kept, since case shows where identifiers' words meet."""
    return " ".join(text.split())
