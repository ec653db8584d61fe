"""Latent relatedness: documents and terms in a space of a few hundred dimensions.

Deerwester, S. et al.: Indexing by latent semantic analysis, JASIS 41(6), 1990. Terms that share no
document but whose documents use the same words come close, which `esa` cannot see.

A space that has it carries one row of small integers for each document (`latent_documents.npy`) and
each row's scale. A term is the weighted sum of its documents' rows, so phrases and thematic projections
need nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise import defaults
from likewise.kernels.sizes import check_ids
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import fold_spaces, set_equal_to_one
from likewise.semantics.vectors.lru_cache import LruCache
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.semantics.vectors.term_vectors import TermVectors, Vector, theme_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LatentMeasure:
    """Cosine of latent vectors, clipped at 0. Terms are projected into their themes first."""

    name = "latent"

    def __init__(self, vectors: TermVectors, documents: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        self._vectors, self._documents, self._scales = vectors, documents, scales
        self._kept: LruCache[tuple[str, tuple[str, ...]], NDArray[np.float32]] = LruCache(
            defaults.TERM_CACHE_BYTES // 2, lambda row: row.nbytes + 300
        )
        self._side: PreparedTerms[NDArray[np.float32]] = PreparedTerms(self._rows)

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure over the same space."""
        return {"name": self.name}

    def row(self, term: Term) -> NDArray[np.float32]:
        """Return the unit latent vector of a term, or zeros for an unknown term."""
        key = (fold_spaces(term.text), theme_of(term.theme))
        vector = self._kept.get(key)
        if vector is None:
            vector = self._sum(self._vectors.vector(*key))
            self._kept.put(key, vector)
        return vector

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        return set_equal_to_one(self.cosines(queries, candidates), queries, candidates)

    def cosines(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """Return the cosines, clipped at 0, without the rule for equal terms."""
        out: NDArray[np.float32] = self._side(queries) @ self._side(candidates).T
        return np.clip(out, 0, 1)

    def _rows(self, terms: Sequence[Term]) -> NDArray[np.float32]:
        width = self._documents.shape[1]
        return np.array([self.row(t) for t in terms], dtype=np.float32).reshape(len(terms), width)

    def _sum(self, vector: Vector) -> NDArray[np.float32]:
        from likewise.kernels.compile import read_only
        from likewise.semantics.measures.kernels import weighted_sum

        check_ids("documents of a term", vector.documents, min(len(self._documents), len(self._scales)))
        chosen = read_only(vector.documents)
        row: NDArray[np.float32] = weighted_sum(self._documents, self._scales, chosen, vector.weights)
        length = float(np.sqrt(row @ row))
        return row / np.float32(length) if length else row
