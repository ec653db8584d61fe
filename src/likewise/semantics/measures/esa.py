"""Explicit semantic analysis: a term is the documents it occurs in.

Gabrilovich, E. and Markovitch, S.: Computing semantic relatedness using Wikipedia-based explicit semantic
analysis, IJCAI 2007; relatedness as in Hasan and Curry 2014 (Thematic event processing), Eq. 5 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from likewise.errors import InputError
from likewise.model.text import fold
from likewise.semantics.measure import Term
from likewise.semantics.measures.asked_side import AskedSide
from likewise.semantics.vectors.term_vectors import Stack, TermVectors, Vector, stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

Metric = Literal["cosine", "unit", "raw"]
METRICS: Final = ("cosine", "unit", "raw")
ORTHOGONAL: Final = 1.0 / (1.0 + 2.0**0.5)  # what Eq. 6 gives for orthogonal unit vectors


class EsaMeasure:
    """Relatedness by shared documents, whatever the themes.

    `metric="cosine"` is the angle; `"unit"` (the default) is Eq. 6 on unit vectors, rescaled so that
    orthogonal vectors give 0; `"raw"` is the letter of Eq. 6, except that vectors without a common
    document give 0 (departure, sources.md T: raw lengths dominate it, and a matcher needs a zero).
    """

    name = "esa"

    def __init__(self, vectors: TermVectors, *, metric: Metric = "unit") -> None:
        if metric not in METRICS:
            raise InputError(f"no metric is named {metric!r}; there are {', '.join(METRICS)}")
        self._vectors, self.metric = vectors, metric
        self._side: AskedSide[Stack] = AskedSide(lambda terms: stacked([self.vector(t) for t in terms]))

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {"name": self.name, "metric": self.metric}

    def vector(self, term: Term) -> Vector:
        """The vector a term is compared by."""
        return self._vectors.vector(fold_spaces(term.text))

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        out = related(self._side(asked), self._side(seen), self._vectors.size, self.metric)
        return equal_are_one(out, asked, seen)


def related(asked: Stack, seen: Stack, documents: int, metric: Metric) -> NDArray[np.float32]:
    """The relatedness of every asked vector with every seen one, by one of the metrics."""
    from likewise.semantics.vectors.sparse_kernels import dots

    products: NDArray[np.float32] = dots(
        asked.ends, asked.documents, asked.weights, seen.ends, seen.documents, seen.weights, documents
    )
    found: NDArray[np.float32] = _METRICS[metric](products, asked.norms[:, None], seen.norms[None, :])
    return found


def cosine(products: NDArray[np.float32], a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine from inner products and lengths; 0 where a vector is empty."""
    lengths = a * b
    out: NDArray[np.float32] = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return np.clip(out, 0, 1)


def unit(products: NDArray[np.float32], a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Eq. 6 on unit vectors, rescaled so that orthogonal gives 0 and equal gives 1."""
    distances = np.sqrt(np.clip(2 - 2 * cosine(products, a, b), 0, 2))
    return np.clip((1 / (1 + distances) - ORTHOGONAL) / (1 - ORTHOGONAL), 0, 1).astype(np.float32)


def raw(products: NDArray[np.float32], a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """The letter of Eq. 6; 0 where the vectors share nothing."""
    distances = np.sqrt(np.clip(a * a + b * b - 2 * products, 0, None))
    return np.where(products > 0, 1 / (1 + distances), 0).astype(np.float32)


_METRICS: Final[dict[str, Callable[..., NDArray[np.float32]]]] = {"cosine": cosine, "unit": unit, "raw": raw}


def equal_are_one(scores: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
    """Puts 1 where the texts are equal when folded: every measure's first promise.

    An empty text is equal to an empty text alone.
    """
    rows, columns = np.nonzero(_hashes(asked)[:, None] == _hashes(seen)[None, :])
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        if fold(asked[i].text) == fold(seen[j].text):
            scores[i, j] = 1
    return scores


_hashes: Final[AskedSide[NDArray[np.int64]]] = AskedSide(
    lambda terms: np.array([hash(fold(term.text)) for term in terms], dtype=np.int64)
)


def fold_spaces(text: str) -> str:
    """The text with white space collapsed but its case kept, since case shows where identifiers' words meet."""
    return " ".join(text.split())
