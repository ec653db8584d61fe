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
from likewise.semantics.measures.inverted_index import InvertedVectors, invert
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
        """Return the settings that rebuild this measure over the same space."""
        return {"name": self.name, "metric": self.metric}

    def vector(self, term: Term) -> Vector:
        """The vector a term is compared by."""
        return self._vectors.vector(fold_spaces(term.text))

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        return set_equal_to_one(self._related(queries, candidates), queries, candidates)

    def _related(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness by vectors alone."""
        return related(self._side(queries).inverted, self._side(candidates).stack, self.metric)


class _PreparedVectors:
    """Vectors of one side; the query side is inverted."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self.stack = stack_vectors(vectors)

    @cached_property
    def inverted(self) -> InvertedVectors:
        """Inverted index of the vectors."""
        return invert(self.stack)


def related(queries: InvertedVectors, candidates: VectorStack, metric: Metric) -> NDArray[np.float32]:
    """Return the relatedness of every query vector with every candidate vector by one of the metrics."""
    if metric == "letter":
        return (1 / (1 + queries.distances(candidates))).astype(np.float32)
    cosines = queries.cosines(candidates)
    if metric == "cosine":
        return cosines
    if metric == "raw":
        return np.where(cosines > 0, 1 / (1 + queries.distances(candidates)), 0).astype(np.float32)
    distances = np.sqrt(np.clip(2 - 2 * cosines, 0, 2))
    return np.clip((1 / (1 + distances) - ORTHOGONAL) / (1 - ORTHOGONAL), 0, 1).astype(np.float32)


def set_equal_to_one(
    scores: NDArray[np.float32], queries: Sequence[Term], candidates: Sequence[Term]
) -> NDArray[np.float32]:
    """Set scores to 1 where the folded texts are equal, as every measure promises.

    An empty text is equal to an empty text alone.
    """
    rows, columns = np.nonzero(_hashes(queries)[:, None] == _hashes(candidates)[None, :])
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        if fold(queries[i].text) == fold(candidates[j].text):
            scores[i, j] = 1
    return scores


_hashes: Final[PreparedTerms[NDArray[np.int64]]] = PreparedTerms(
    lambda terms: np.array([hash(fold(term.text)) for term in terms], dtype=np.int64)
)


def fold_spaces(text: str) -> str:
    """Collapse white space but keep the case, since it marks the word boundaries of identifiers."""
    return " ".join(text.split())
