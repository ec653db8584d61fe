"""Thematic relatedness: each term is projected into its side's theme before the comparison.

Hasan, S. and Curry, E.: Thematic event processing, Middleware 2014, section 4.2, Algorithm 1 and Eq. 5-6. The
projection itself is `TermVectors.vector`; it is kept for each (term, theme) within a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from likewise.errors import InputError
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import EsaMeasure, Metric, fold_spaces
from likewise.semantics.vectors.term_vectors import (
    Basis,
    EmptyProjection,
    Inverse,
    ProjectionOptions,
    TermVectors,
    Vector,
    theme_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


Equal = Literal["one", "letter"]
CHOICES: Final = {
    "basis": ("any", "all"),
    "projection": ("whole", "letter"),
    "idf": ("token", "term"),
    "equal": ("one", "letter"),
}


class ThematicMeasure(EsaMeasure):
    """Relatedness of terms projected into their themes' subspaces. Without themes it equals `esa`.

    `basis`, `projection` and `idf` are those of `ProjectionOptions`; with `projection="letter"` an empty
    projection stays empty.
    `equal="one"` gives 1 to equal texts; `"letter"` leaves them to Eq. 6, by which a term under one theme is not
    wholly itself under another.

    The paper's own measure is `metric="letter", projection="letter", idf="term", equal="letter"`. A matcher ranks with
    it, but its scores have no zero, so a threshold means little.
    """

    name = "thematic"

    def __init__(
        self,
        vectors: TermVectors,
        *,
        metric: Metric = "unit",
        basis: Basis = "any",
        projection: EmptyProjection = "whole",
        idf: Inverse = "token",
        equal: Equal = "one",
    ) -> None:
        for option, choice in (("basis", basis), ("projection", projection), ("idf", idf), ("equal", equal)):
            if choice not in CHOICES[option]:
                raise InputError(f"no {option} is named {choice!r}; there are {', '.join(CHOICES[option])}")
        super().__init__(vectors, metric=metric)
        self.how = ProjectionOptions(basis, projection, idf)
        self.equal: Equal = equal

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure over the same space."""
        how = self.how
        chosen = {"basis": how.basis, "projection": how.emptied, "idf": how.idf, "equal": self.equal}
        return {**super().configuration(), **chosen}

    def vector(self, term: Term) -> Vector:
        """Return the term's projection (Algorithm 1)."""
        return self._vectors.vector(fold_spaces(term.text), theme_of(term.theme), self.how)

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term, under its theme, with every seen one under its own."""
        return super().matrix(queries, candidates) if self.equal == "one" else self._related(queries, candidates)
