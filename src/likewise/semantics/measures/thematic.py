"""Thematic relatedness: both terms are seen through their side's theme before they are compared.

Hasan, S. and Curry, E.: Thematic event processing, Middleware 2014, section 4.2, Algorithm 1 and Eq. 5-6.
The projection itself is `TermVectors.vector`; it is kept for each (term, theme) within a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InputError
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import EsaMeasure, Metric, fold_spaces
from likewise.semantics.vectors.term_vectors import Basis, TermVectors, Vector, theme_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ThematicMeasure(EsaMeasure):
    """Relatedness of terms projected into their themes' subspaces; without themes the same as `esa`.

    `basis="any"` spans a theme's subspace by the documents holding a token of any tag (the paper);
    `"all"` by those holding every token of some tag.
    """

    name = "thematic"

    def __init__(self, vectors: TermVectors, *, metric: Metric = "unit", basis: Basis = "any") -> None:
        if basis not in ("any", "all"):
            raise InputError(f"no basis is named {basis!r}; there are any, all")
        super().__init__(vectors, metric=metric)
        self.basis: Basis = basis

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {**super().configuration(), "basis": self.basis}

    def vector(self, term: Term) -> Vector:
        """The term's projection (Algorithm 1)."""
        return self._vectors.vector(fold_spaces(term.text), theme_of(term.theme), self.basis)

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term, under its theme, with every seen one under its own."""
        return super().matrix(asked, seen)
