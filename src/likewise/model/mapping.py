"""Mappings from a subscription's predicates to an event's tuples (sources.md T, "Matching")."""

from __future__ import annotations

import msgspec


class Correspondence(msgspec.Struct, frozen=True):
    """One predicate met by one tuple.

    `predicate` indexes the predicates of the conjunction that counts, after comparisons were merged;
    `tuple` indexes the event's tuples. An exact part's relatedness is 1. `probability` is its place in
    P_σ: the similarity's share of the predicate's row.
    """

    predicate: int
    tuple: int
    attribute_relatedness: float
    value_relatedness: float
    probability: float

    @property
    def similarity(self) -> float:
        """Relatedness of the attributes times relatedness of the values."""
        return self.attribute_relatedness * self.value_relatedness


class Mapping(msgspec.Struct, frozen=True):
    """One correspondence per predicate; no tuple is used twice.

    `score` is the geometric mean over the relaxed parts, `product` the paper's score, `probability` its
    place in P: the product's share among all mappings. `conjunction` says which one of the condition's
    conjunctions it is for.
    """

    correspondences: tuple[Correspondence, ...]
    score: float
    product: float
    probability: float
    conjunction: int = 0
