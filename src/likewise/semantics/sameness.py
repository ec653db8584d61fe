"""The matcher's default measure: is what an event says the same thing that a subscription asks for?

Relatedness (`combine`) is where it begins: synonyms, abbreviations and identifiers are found by it. But opposites,
other media and other roles are related too. So names of attributes are taken apart into facets (`concepts`): names
of one kind agree, and every difference that tells two readings apart, another medium, role, unit or number, leaves
less of the score. Values are judged by rules of their own (`concepts.values`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise import defaults
from likewise.semantics.combine import CombinedMeasure
from likewise.semantics.concepts.facets import FacetParser, Facets
from likewise.semantics.concepts.inventory import Inventory, singular
from likewise.semantics.concepts.sides import FacetArrays, facet_arrays
from likewise.semantics.concepts.tables import Tables
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.least_recent import LeastRecent
from likewise.semantics.measure import Term
from likewise.semantics.prepared import Prepared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.space import Space


class SamenessMeasure:
    """Sameness of names and of values, in [0, 1]; terms that are wholly equal give 1."""

    name = "sameness"

    def __init__(self, space: Space, inventory: Inventory, weights: FacetWeights | None = None) -> None:
        self._combine = CombinedMeasure(space)
        self.weights = weights or FacetWeights()
        self.tables = Tables(inventory)
        self._parser = FacetParser(inventory, space.vectors.knows_word)
        self._facets: LeastRecent[Term, Facets] = LeastRecent(
            defaults.TERM_CACHE_BYTES // 8, lambda f: 300 + 150 * len(f.qualifiers)
        )
        self._side: Prepared[FacetArrays] = Prepared(self._prepare)

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {"name": self.name}

    def facets(self, term: Term) -> Facets:
        """What a name says about its reading."""
        plain = Term(term.text, term.role, (), term.unit, term.kind, term.context)
        kept = self._facets.get(plain)
        if kept is None:
            kept = self._parser.facets(plain)
            self._facets.put(plain, kept)
        return kept

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """How surely every seen term is what was asked for."""
        from likewise.semantics.concepts.kernels import agreements

        related, words = self._combine.compared(asked, seen)
        found: NDArray[np.float32] = agreements(
            related, self._side(asked), self._side(seen), self.tables.kind_relations, self.tables.qualifier_relations,
            words, self.tables.dimension_bit("ratio"), self.weights.numbers(),
        )  # fmt: skip
        return found

    def _prepare(self, terms: tuple[Term, ...]) -> FacetArrays:
        places: dict[str, int] = {}
        for place, word in enumerate(self._combine.words(terms)):
            places.setdefault(singular(word), place)
        return facet_arrays([self.facets(t) for t in terms], places, self.tables, self.weights)
