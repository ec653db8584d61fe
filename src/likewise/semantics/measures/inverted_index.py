"""The asked side of a comparison turned round, so that a new term costs what it has, not what all asked terms have.

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

    def cosines(self, seen: VectorStack) -> NDArray[np.float32]:
        """The cosine of every vector with every seen one; 0 where a vector is empty."""
        products = self.products(seen, np.zeros((len(self.norms), len(seen.norms)), np.float32))
        lengths = self.norms.astype(np.float32)[:, None] * seen.norms.astype(np.float32)[None, :]
        out: NDArray[np.float32] = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return np.clip(out, 0, 1)

    def distances(self, seen: VectorStack) -> NDArray[np.float64]:
        """The Euclidean distance of every vector from every seen one, in double precision: long vectors cancel."""
        products = self.products(seen, np.zeros((len(self.norms), len(seen.norms)), np.float64))
        squares = self.norms[:, None] ** 2 + seen.norms[None, :] ** 2
        out: NDArray[np.float64] = np.sqrt(np.clip(squares - 2 * products, 0, None))
        return out

    def products(self, seen: VectorStack, out: NDArray[Precision]) -> NDArray[Precision]:
        """The inner product of every vector with every seen one, in the precision of `out`, where they are put."""
        from likewise.semantics.measures.kernels import inverted_dot_products

        if out.size:
            inverted_dot_products(
                self.documents, self.ends, self.rows, self.weights, seen.ends, seen.documents, seen.weights, out
            )
        return out


def turned(stack: VectorStack) -> InvertedVectors:
    """Vectors turned round."""
    order = np.argsort(stack.documents, kind="stable")
    rows = np.repeat(np.arange(len(stack.ends), dtype=np.int32), np.diff(stack.ends, prepend=0))
    documents, counts = np.unique(stack.documents, return_counts=True)
    return InvertedVectors(documents, np.cumsum(counts), rows[order], stack.weights[order], stack.norms)
