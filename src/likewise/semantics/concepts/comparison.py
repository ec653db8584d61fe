"""Whether two names mean the same reading, by their facets: the plain rule, with its reasons.

The kernel (`kernels.agreements`) computes the same for many pairs at once; explanations come from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from likewise.semantics.concepts.facets import INSTANTANEOUS, KNOWN, LISTED, STATISTICS, Facets, Qualifier
from likewise.semantics.concepts.tables import BROADER, EXCLUDES, INSTEAD, NARROWER, SAME, SIBLINGS, InventoryTables
from likewise.semantics.concepts.weights import FacetWeights


class WordComparer(Protocol):
    """What is known about two words that no inventory lists."""

    def word_relation(self, asked: str, seen: str, *, siblings: bool = True) -> int:
        """SAME, NARROWER, EXCLUDES, 0, or, if they count, SIBLINGS."""

    def example_names(self, asked: str, seen: str) -> tuple[str, str]:
        """Two names of vocabularies that decide about them, or two empty ones."""


_SURE: Final = frozenset({"head", "unit"})


class FacetDifference(msgspec.Struct, frozen=True):
    """One reason why less is left of a score: what kind of reason, the factor, what was asked and what was seen.

    `names` are two of a vocabulary that say so. A factor of 1 is no difference but something worth telling.
    """

    reason: str
    factor: float
    query: str = ""
    candidate: str = ""
    names: tuple[str, str] = ("", "")


class FacetAgreement(msgspec.Struct, frozen=True):
    """What two names have in common (0 if their kinds are not known to agree) and everything that tells them apart."""

    score: float
    differences: tuple[FacetDifference, ...]

    def apply(self, relatedness: float) -> float:
        """The score of a pair whose names are related so much."""
        out = max(relatedness, self.score)
        for difference in self.differences:
            out *= difference.factor
        return out


def agreement(
    asked: Facets, seen: Facets, tables: InventoryTables, weights: FacetWeights, words: WordComparer
) -> FacetAgreement:
    """Compares two names; `words` compares those that no inventory lists."""
    related = _kinds(asked, seen, tables, weights)
    differences = [
        *_other_kind(asked, seen, related, weights),
        *_roles(asked, seen, weights),
        *_dimensions(asked, seen, tables, weights),
        *_values(asked, seen, tables, weights),
        *_qualifiers(asked, seen, tables, weights, words, related > 0),
        *_numbers(asked, seen, weights),
    ]
    sure = weights.certainties()
    several = weights.ambiguous if len(asked.kinds) > 1 or len(seen.kinds) > 1 else 1.0
    score = weights.agreement * related * several * sure[asked.certainty] * sure[seen.certainty]
    return FacetAgreement(score, tuple(differences))


def _kinds(asked: Facets, seen: Facets, tables: InventoryTables, w: FacetWeights) -> float:
    """How near the kinds of two names are, 0 if they have none in common."""
    worth = {0: 0.0, SAME: 1.0, NARROWER: w.narrower, BROADER: w.broader}
    best = max(
        (worth[int(tables.kind_relations[tables.kinds[a], tables.kinds[s]])] for a in asked.kinds for s in seen.kinds),
        default=0.0,
    )
    if best == 0.0 and asked.role and asked.role == seen.role and (asked.role,) in (asked.kinds, seen.kinds):
        best = w.role_alone if asked.kinds == (asked.role,) else w.broader
    return best


def _other_kind(asked: Facets, seen: Facets, related: float, w: FacetWeights) -> Iterator[FacetDifference]:
    if asked.kinds and seen.kinds and related == 0.0:
        sure = asked.certainty in _SURE and seen.certainty in _SURE
        yield FacetDifference("kind", w.disjoint if sure else w.disjoint_weak, asked.kinds[0], seen.kinds[0])


def _roles(asked: Facets, seen: Facets, w: FacetWeights) -> Iterator[FacetDifference]:
    if asked.role == seen.role or {asked.role, seen.role} == {"", INSTANTANEOUS}:
        return
    measured = STATISTICS | {"", INSTANTANEOUS}
    if asked.role in measured and seen.role in measured:
        both = asked.role and seen.role
        factor = w.statistics if both else w.average if "average" in (asked.role, seen.role) else w.statistic
        yield FacetDifference("statistic", factor, asked.role, seen.role)
    else:
        yield FacetDifference("role", w.role, asked.role, seen.role)


def _dimensions(asked: Facets, seen: Facets, tables: InventoryTables, w: FacetWeights) -> Iterator[FacetDifference]:
    """A unit that does not fit; a percentage may be said of anything."""
    a, s = tables.dimension_bit(asked.dimension), tables.dimension_bit(seen.dimension)
    ratio = tables.dimension_bit("ratio")
    a_kinds, s_kinds = tables.dimensions_of(asked.kinds), tables.dimensions_of(seen.kinds)
    if (
        (a and s and a != s)
        or (s and s != ratio and a_kinds and not a_kinds & s)
        or (a and a != ratio and s_kinds and not s_kinds & a)
    ):
        yield FacetDifference("dimension", w.dimension, asked.dimension, seen.dimension)


def _values(asked: Facets, seen: Facets, tables: InventoryTables, w: FacetWeights) -> Iterator[FacetDifference]:
    if seen.value in ("text", "boolean") and asked.value in ("", "number") and is_quantity(asked, tables):
        yield FacetDifference("text", w.text, "number", seen.value)


def is_quantity(facets: Facets, tables: InventoryTables) -> bool:
    """Whether a name can only be a number: all its kinds are, and it is the reading itself."""
    kinds = [tables.inventory.kinds.get(kind) for kind in facets.kinds]
    return (
        bool(kinds)
        and facets.role in ("", INSTANTANEOUS)
        and all(k is not None and k.values == ("number",) for k in kinds)
    )


def qualifier_relation(
    a: Qualifier, b: Qualifier, tables: InventoryTables, words: WordComparer, shared: bool = True
) -> int:
    """How two qualifiers relate: SAME, EXCLUDES, SIBLINGS, INSTEAD or 0.

    Words for different kinds of one thing (SIBLINGS) count where the names have something else in common (`shared`).
    """
    if a.name == b.name:
        return SAME
    found = 0
    if a.source == b.source == LISTED:
        found = int(tables.qualifier_relations[tables.qualifiers[a.name], tables.qualifiers[b.name]])
    elif _is_open(a, b):
        found = words.word_relation(a.word, b.word, siblings=shared)
    return SAME if found == NARROWER else found


def _is_open(a: Qualifier, b: Qualifier) -> bool:
    """Whether two qualifiers are compared by their words: the inventory does not list both."""
    return bool(a.word and b.word) and not a.source == b.source == LISTED


def _qualifiers(
    asked: Facets, seen: Facets, tables: InventoryTables, w: FacetWeights, words: WordComparer, common: bool
) -> Iterator[FacetDifference]:
    """What tells apart by qualifiers; `common`: the names are of one kind."""
    shared = common or bool({a.name for a in asked.qualifiers} & {s.name for s in seen.qualifiers})
    meant = tables.defaults_of(asked.kinds) | tables.defaults_of(seen.kinds)
    relations = {
        (a, s): qualifier_relation(a, s, tables, words, shared) for a in asked.qualifiers for s in seen.qualifiers
    }
    matched = {s for (_, s), found in relations.items() if found == SAME}
    told: set[Qualifier] = set()
    instead: set[Qualifier] = set()
    absent = {LISTED: w.absent, KNOWN: w.absent_word}
    for a in asked.qualifiers:
        same = [s for s in seen.qualifiers if relations[a, s] == SAME]
        if same:
            if all(s.name != a.name for s in same) and _is_open(a, same[0]):
                names = words.example_names(a.word, same[0].word)
                yield from [FacetDifference("named", 1.0, a.word, same[0].word, names)] if any(names) else []
            continue
        against = [s for s in seen.qualifiers if relations[a, s] in (EXCLUDES, SIBLINGS) and s not in matched]
        if against:
            told.update(against)
            hard = [s for s in against if relations[a, s] == EXCLUDES]
            other = (hard or against)[0]
            names = words.example_names(a.word, other.word) if _is_open(a, other) else ("", "")
            yield FacetDifference("excluded", w.excluded if hard else w.sibling, a.name, other.name, names)
        elif a.source == LISTED and a.name in meant:
            instead.update(s for s in seen.qualifiers if relations[a, s] == INSTEAD)
            yield FacetDifference("covered", w.covered, a.name)
        else:
            yield FacetDifference("absent", absent.get(a.source, w.absent_unknown), a.name)
    for s in seen.qualifiers:
        if s in matched or s in told or (s.source == LISTED and s.name in meant):
            continue
        listed = w.instead if s in instead else w.unasked
        factor = w.outer if s.is_outer else listed if s.source == LISTED else w.unasked_word
        if s.source >= (LISTED if s.is_outer else KNOWN):
            yield FacetDifference("unasked", factor, candidate=s.name)


def _numbers(asked: Facets, seen: Facets, w: FacetWeights) -> Iterator[FacetDifference]:
    """An asked index or size must be there; one that was not asked for hides nothing."""
    if not asked.numbers or set(asked.numbers) & set(seen.numbers):
        return
    if seen.numbers:
        yield FacetDifference("number", w.number_differs, " ".join(asked.numbers), " ".join(seen.numbers))
    else:
        yield FacetDifference("number", w.number_absent, " ".join(asked.numbers))
