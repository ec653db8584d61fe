"""Inverted index of the query's vectors, so that a new term costs only its own documents.

A matcher asks about the same words again and again. Their vectors are kept by document (an inverted index).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np

from likewise.semantics.vectors.term_vectors import VectorStack

if TYPE_CHECKING:
    from numpy.typing import NDArray

Precision = TypeVar("Precision", np.float32, np.float64)


class InvertedVectors(msgspec.Struct, frozen=True, eq=False):
    """Vectors by document."""

    documents: NDArray[np.uint32]
    ends: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]
    norms: NDArray[np.float64]

    def cosines(self, candidates: VectorStack) -> NDArray[np.float32]:
        """Return the cosine of every vector with every candidate; 0 where a vector is empty."""
        products = self.products(candidates, np.zeros((len(self.norms), len(candidates.norms)), np.float32))
        lengths = self.norms.astype(np.float32)[:, None] * candidates.norms.astype(np.float32)[None, :]
        out: NDArray[np.float32] = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return np.clip(out, 0, 1)

    def distances(self, candidates: VectorStack) -> NDArray[np.float64]:
        """Return the Euclidean distances in double precision, since long vectors cancel."""
        products = self.products(candidates, np.zeros((len(self.norms), len(candidates.norms)), np.float64))
        squares = self.norms[:, None] ** 2 + candidates.norms[None, :] ** 2
        out: NDArray[np.float64] = np.sqrt(np.clip(squares - 2 * products, 0, None))
        return out

    def products(self, candidates: VectorStack, out: NDArray[Precision]) -> NDArray[Precision]:
        """Write the inner products into `out`, in its precision, and return it."""
        from likewise.semantics.measures.kernels import inverted_dot_products

        if out.size:
            inverted_dot_products(
                self.documents,
                self.ends,
                self.rows,
                self.weights,
                candidates.ends,
                candidates.documents,
                candidates.weights,
                out,
            )
        return out


def invert(stack: VectorStack) -> InvertedVectors:
    """Build the inverted index of vectors."""
    order = np.argsort(stack.documents, kind="stable")
    rows = np.repeat(np.arange(len(stack.ends), dtype=np.int32), np.diff(stack.ends, prepend=0))
    documents, counts = np.unique(stack.documents, return_counts=True)
    return InvertedVectors(documents, np.cumsum(counts), rows[order], stack.weights[order], stack.norms)
