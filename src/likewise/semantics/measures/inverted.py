"""The asked side of a comparison turned round, so that a new term costs what it has, not what all asked terms have.

A matcher asks about the same words again and again. Their vectors are kept by document (an inverted index); the
cosines are those of `esa.related`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from likewise.semantics.measures.esa import cosine
from likewise.semantics.vectors.term_vectors import Stack

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TurnedStack(msgspec.Struct, frozen=True, eq=False):
    """Vectors by document."""

    documents: NDArray[np.uint32]
    ends: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]
    norms: NDArray[np.float32]

    def cosines(self, seen: Stack) -> NDArray[np.float32]:
        """The cosine of every vector with every seen one."""
        from likewise.semantics.measures.inverted_kernels import turned_dots

        products: NDArray[np.float32] = turned_dots(
            self.documents, self.ends, self.rows, self.weights, len(self.norms), seen.ends, seen.documents, seen.weights
        )
        return cosine(products, self.norms[:, None], seen.norms[None, :])


def turned(stack: Stack) -> TurnedStack:
    """Vectors turned round."""
    order = np.argsort(stack.documents, kind="stable")
    rows = np.repeat(np.arange(len(stack.ends), dtype=np.int32), np.diff(stack.ends, prepend=0))
    documents, counts = np.unique(stack.documents, return_counts=True)
    return TurnedStack(documents, np.cumsum(counts), rows[order], stack.weights[order], stack.norms)
