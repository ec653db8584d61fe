"""Weights of every agreement and difference of facets, fitted offline (docs/measures.md)."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

import msgspec
import numpy as np

# What a facet's differences, or its agreement, are counted by; for tables of what each is worth.
FACETS: Final = {
    "agreement of kinds": ("agreement",),
    "differing kinds": ("disjoint", "disjoint_weak"),
    "qualifiers": (
        "excluded",
        "sibling",
        "absent",
        "absent_word",
        "absent_unknown",
        "silent",
        "unasked",
        "unasked_word",
        "outer",
        "covered",
        "instead",
        "instead_word",
    ),
    "qualifiers that exclude each other": ("excluded", "sibling"),
    "agreement through names": ("named",),
    "roles": ("role", "average", "statistic", "statistics"),
    "dimensions": ("dimension",),
    "kinds of values": ("text",),
    "numbers": ("number_absent", "number_differs"),
}


class FacetWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Factors in [0, 1] that multiply the score of two names.

    `comparison` is the score of two names of one kind, times: `narrower` if the seen kind is a kind of the asked one,
    `broader` the other way round, `role_alone` if only the role was asked for (an alarm, whatever of), `ambiguous` if
    a name may be of several kinds, `weak`, `unit`, `context`, `guess` if its kind follows only from such evidence
    (`guess`: a letter that may be a unit).

    The better of this and the measure of relatedness is then multiplied for every difference: `disjoint` for kinds
    that differ (`disjoint_weak` if one of them is not sure), `role` for another role, `statistic` for a maximum
    (`average` for a mean) where the reading was asked for, `statistics` for a maximum where the minimum was;
    `dimension` for a unit that does not fit;
    `text` for words where a quantity was asked for; `excluded` for qualifiers that exclude each other,
    `sibling` for words that no inventory lists and that name different kinds of one thing;
    `absent`, `absent_word`, `absent_unknown` for an asked qualifier that is missing (of the inventory, of the space, of
    nobody), `silent` for one of the inventory if the name says of nothing else which one it is and its kind means none
    by default; `unasked`, `unasked_word` and once in outer parts `outer` for one that was not asked for, `covered` for
    one that an unqualified name means anyway, `instead` for an unasked one beside that (the engine's, where the air's
    was asked for), `instead_word` for a word that no inventory lists; `number_absent`,
    `number_differs` for indices and sizes.
    Words that no inventory lists are the same qualifier, or exclude each other, if the names of vocabularies say so at
    least `named` surely; else if WordNet does; else the same if their relatedness reaches `same_word`.
    """

    agreement: float = 0.85
    narrower: float = 0.9
    broader: float = 0.75
    role_alone: float = 0.85
    ambiguous: float = 0.85
    weak: float = 0.85
    unit: float = 0.8
    context: float = 0.7
    guess: float = 0.7
    disjoint: float = 0.45
    disjoint_weak: float = 0.7
    role: float = 0.45
    average: float = 0.7
    statistic: float = 0.5
    statistics: float = 0.3
    dimension: float = 0.4
    text: float = 0.6
    excluded: float = 0.35
    sibling: float = 0.45
    absent: float = 0.55
    absent_word: float = 0.65
    absent_unknown: float = 0.95
    silent: float = 0.62
    unasked: float = 0.7
    unasked_word: float = 0.9
    outer: float = 0.95
    covered: float = 0.97
    instead: float = 0.5
    instead_word: float = 0.7
    number_absent: float = 0.5
    number_differs: float = 0.25
    same_word: float = 0.75
    named: float = 0.5

    def certainties(self) -> dict[str, float]:
        """Return the factor of an agreement by what a kind follows from."""
        return {
            "head": 1.0,
            "weak": self.weak,
            "unit": self.unit,
            "context": self.context,
            "guess": self.guess,
            "": 0.0,
        }

    def without(self, facet: str) -> FacetWeights:
        """Return the weights with one facet switched off, for ablations.

        >>> FacetWeights().without("roles").role
        1.0
        """
        neutral = 0.0 if facet == "agreement of kinds" else 1.0
        return msgspec.structs.replace(self, **dict.fromkeys(FACETS[facet], neutral))

    def numbers(self) -> WeightNumbers:
        """Return the weights as the kernel takes them."""
        return WeightNumbers(*(np.float32(weight) for weight in msgspec.structs.astuple(self)))


WeightNumbers: Any = namedtuple("WeightNumbers", FacetWeights.__struct_fields__)  # type: ignore[misc]  # as many fields
