"""Reference comparison of two attribute names by their facets, with the reasons of its score.

The kernel (`kernels.agreements`) computes the same for many pairs at once; explanations come from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from likewise.semantics.concepts.facets import INSTANTANEOUS, KNOWN, LISTED, STATISTICS, UNKNOWN, Facets, Qualifier
from likewise.semantics.concepts.tables import BROADER, EXCLUDES, INSTEAD, NARROWER, SAME, SIBLINGS, InventoryTables
from likewise.semantics.concepts.weights import FacetWeights


class WordComparer(Protocol):
    """Relations between two words that the inventory does not list."""

    def word_relation(self, query: str, candidate: str, *, siblings: bool = True) -> int:
        """Return SAME, NARROWER, EXCLUDES, SIBLINGS (if `siblings` count) or 0."""

    def example_names(self, query: str, candidate: str) -> tuple[str, str]:
        """Return the two vocabulary names that decide the relation, or two empty strings."""


_SURE: Final = frozenset({"head", "unit"})


class FacetDifference(msgspec.Struct, frozen=True):
    """One reason that lowers a score: its kind, its factor, the query's and the candidate's side.

    `names` are two of a vocabulary that say so. A factor of 1 is no difference but something worth telling.
    """

    reason: str
    factor: float
    query: str = ""
    candidate: str = ""
    names: tuple[str, str] = ("", "")


class FacetAgreement(msgspec.Struct, frozen=True):
    """Score of what two names have in common (0 if their kinds differ) and the list of their differences."""

    score: float
    differences: tuple[FacetDifference, ...]

    def apply(self, relatedness: float) -> float:
        """Return the score of a pair whose names have this relatedness."""
        out = max(relatedness, self.score)
        for difference in self.differences:
            out *= difference.factor
        return out


def compare_facets(
    query: Facets, candidate: Facets, tables: InventoryTables, weights: FacetWeights, words: WordComparer
) -> FacetAgreement:
    """Compare the facets of two names; `words` compares the words that the inventory does not list."""
    related = _kinds(query, candidate, tables, weights)
    differences = [
        *_other_kind(query, candidate, related, weights),
        *_roles(query, candidate, weights),
        *_dimensions(query, candidate, tables, weights),
        *_values(query, candidate, tables, weights),
        *_qualifiers(query, candidate, tables, weights, words, related > 0),
        *_numbers(query, candidate, weights),
    ]
    sure = weights.certainties()
    several = weights.ambiguous if len(query.kinds) > 1 or len(candidate.kinds) > 1 else 1.0
    score = weights.agreement * related * several * sure[query.certainty] * sure[candidate.certainty]
    return FacetAgreement(score, tuple(differences))


def _kinds(query: Facets, candidate: Facets, tables: InventoryTables, w: FacetWeights) -> float:
    """Return the similarity of the kinds of two names; 0 if they share none."""
    worth = {0: 0.0, SAME: 1.0, NARROWER: w.narrower, BROADER: w.broader}
    best = max(
        (
            worth[int(tables.kind_relations[tables.kinds[a], tables.kinds[s]])]
            for a in query.kinds
            for s in candidate.kinds
        ),
        default=0.0,
    )
    if best == 0.0 and query.role and query.role == candidate.role and (query.role,) in (query.kinds, candidate.kinds):
        best = w.role_alone if query.kinds == (query.role,) else w.broader
    return best


def _other_kind(query: Facets, candidate: Facets, related: float, w: FacetWeights) -> Iterator[FacetDifference]:
    if query.kinds and candidate.kinds and related == 0.0:
        sure = query.certainty in _SURE and candidate.certainty in _SURE
        yield FacetDifference("kind", w.disjoint if sure else w.disjoint_weak, query.kinds[0], candidate.kinds[0])


def _roles(query: Facets, candidate: Facets, w: FacetWeights) -> Iterator[FacetDifference]:
    if query.role == candidate.role or {query.role, candidate.role} == {"", INSTANTANEOUS}:
        return
    measured = STATISTICS | {"", INSTANTANEOUS}
    if query.role in measured and candidate.role in measured:
        both = query.role and candidate.role
        factor = w.statistics if both else w.average if "average" in (query.role, candidate.role) else w.statistic
        yield FacetDifference("statistic", factor, query.role, candidate.role)
    else:
        yield FacetDifference("role", w.role, query.role, candidate.role)


def _dimensions(
    query: Facets, candidate: Facets, tables: InventoryTables, w: FacetWeights
) -> Iterator[FacetDifference]:
    """Yield a difference if the unit of one side does not fit the other; a ratio fits every kind."""
    a, s = tables.dimension_bit(query.dimension), tables.dimension_bit(candidate.dimension)
    ratio = tables.dimension_bit("ratio")
    a_kinds, s_kinds = tables.dimensions_of(query.kinds), tables.dimensions_of(candidate.kinds)
    if (
        (a and s and a != s)
        or (s and s != ratio and a_kinds and not a_kinds & s)
        or (a and a != ratio and s_kinds and not s_kinds & a)
    ):
        yield FacetDifference("dimension", w.dimension, query.dimension, candidate.dimension)


def _values(query: Facets, candidate: Facets, tables: InventoryTables, w: FacetWeights) -> Iterator[FacetDifference]:
    if candidate.value in ("text", "boolean") and query.value in ("", "number") and is_quantity(query, tables):
        yield FacetDifference("text", w.text, "number", candidate.value)


def is_quantity(facets: Facets, tables: InventoryTables) -> bool:
    """Return whether a name can only have numbers as values."""
    kinds = [tables.inventory.kinds.get(kind) for kind in facets.kinds]
    return (
        bool(kinds)
        and facets.role in ("", INSTANTANEOUS)
        and all(k is not None and k.values == ("number",) for k in kinds)
    )


def qualifier_relation(
    a: Qualifier, b: Qualifier, tables: InventoryTables, words: WordComparer, shared: bool = True
) -> int:
    """Return the relation of two qualifiers: SAME, EXCLUDES, SIBLINGS, INSTEAD or 0.

    Words for different kinds of one thing (SIBLINGS) count where the names have something else in common (`shared`).
    """
    if a.name == b.name:
        return SAME
    known = 0
    if a.source == b.source == LISTED:
        known = int(tables.qualifier_relations[tables.qualifiers[a.name], tables.qualifiers[b.name]])
    elif _is_open(a, b):
        known = words.word_relation(a.word, b.word, siblings=shared)
    return SAME if known == NARROWER else known


def _is_open(a: Qualifier, b: Qualifier) -> bool:
    """Return whether two qualifiers are compared by their words, because the inventory does not list both."""
    return bool(a.word and b.word) and not a.source == b.source == LISTED


def _qualifiers(
    query: Facets, candidate: Facets, tables: InventoryTables, w: FacetWeights, words: WordComparer, common: bool
) -> Iterator[FacetDifference]:
    """Yield the differences between qualifiers. `common` is true if the names share a kind."""
    shared = common or bool({a.name for a in query.qualifiers} & {s.name for s in candidate.qualifiers})
    defaults = tables.defaults_of(query.kinds) | tables.defaults_of(candidate.kinds)
    relations = {
        (a, s): qualifier_relation(a, s, tables, words, shared) for a in query.qualifiers for s in candidate.qualifiers
    }
    matched = {s for (_, s), relation_code in relations.items() if relation_code == SAME}
    excluded: set[Qualifier] = set()
    instead: set[Qualifier] = set()
    inner = [s for s in candidate.qualifiers if s.source == LISTED and not s.is_outer]
    meant = tables.defaults_of(candidate.kinds)
    silent = matched.issuperset(inner)  # it may well be the one that was asked for
    unqualified = not tables.means_a_thing(candidate.kinds)
    specific = any(s in matched and s.name not in meant for s in inner)
    absent = {KNOWN: w.absent_word, UNKNOWN: w.absent_unknown}
    elsewhere = False
    for a in query.qualifiers:
        same = [s for s in candidate.qualifiers if relations[a, s] == SAME]
        if same:
            if all(s.name != a.name for s in same) and _is_open(a, same[0]):
                names = words.example_names(a.word, same[0].word)
                yield from [FacetDifference("named", 1.0, a.word, same[0].word, names)] if any(names) else []
            continue
        against = [s for s in candidate.qualifiers if relations[a, s] in (EXCLUDES, SIBLINGS) and s not in matched]
        if against:
            excluded.update(against)
            hard = [s for s in against if relations[a, s] == EXCLUDES]
            other = (hard or against)[0]
            names = words.example_names(a.word, other.word) if _is_open(a, other) else ("", "")
            yield FacetDifference("excluded", w.excluded if hard else w.sibling, a.name, other.name, names)
        elif a.source == LISTED and a.name in defaults:
            instead.update(s for s in candidate.qualifiers if relations[a, s] == INSTEAD)
            elsewhere = True
            yield FacetDifference("covered", w.covered, a.name)
        else:
            likely = silent and (unqualified or (specific and a.name in tables.loose))
            yield FacetDifference("absent", absent.get(a.source, w.silent if likely else w.absent), a.name)
    unasked, outer = w.unasked, w.outer
    open_word = w.instead_word if elsewhere else w.unasked_word
    for s in candidate.qualifiers:
        if s in matched or s in excluded or (s.source == LISTED and s.name in defaults):
            continue
        listed = w.instead if s in instead else w.unasked_word if s.name in tables.loose else unasked
        if s.source == LISTED and not s.is_outer and listed is unasked:
            unasked = w.unasked_word  # a second one tells little more: the outdoor air's is one thing
        factor = outer if s.is_outer else listed if s.source == LISTED else open_word
        if s.source >= (LISTED if s.is_outer else KNOWN):
            outer = 1.0 if s.is_outer else outer  # a long path is one place
            yield FacetDifference("unasked", factor, candidate=s.name)


def _numbers(query: Facets, candidate: Facets, w: FacetWeights) -> Iterator[FacetDifference]:
    """Yield a difference if an index or size of the query is missing. An index only the candidate has costs nothing."""
    if not query.numbers or set(query.numbers) & set(candidate.numbers):
        return
    if candidate.numbers:
        yield FacetDifference("number", w.number_differs, " ".join(query.numbers), " ".join(candidate.numbers))
    else:
        yield FacetDifference("number", w.number_absent, " ".join(query.numbers))
