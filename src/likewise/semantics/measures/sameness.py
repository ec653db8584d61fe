"""Default measure of the matcher: does the event mean the same as the subscription?

Relatedness (`combine`) is where it begins: synonyms, abbreviations and identifiers are found by it. But opposites,
other media and other roles are related too. So names of attributes are taken apart into facets (`concepts`): names
of one kind agree, and every difference that tells two readings apart, another medium, role, unit or number, leaves
less of the score. Values are judged by rules of their own (`concepts.values`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from likewise import defaults
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.semantics.concepts.comparison import FacetAgreement, compare_facets
from likewise.semantics.concepts.explanations import explain_agreement
from likewise.semantics.concepts.facet_arrays import FacetArrays, facet_arrays, qualifier_words
from likewise.semantics.concepts.facets import LISTED, FacetParser, Facets
from likewise.semantics.concepts.inventory import Inventory, singular
from likewise.semantics.concepts.open_vocabulary import OpenVocabulary, PreparedWords
from likewise.semantics.concepts.tables import SAME, SIBLINGS, InventoryTables
from likewise.semantics.concepts.values.inverted_index import InvertedItems
from likewise.semantics.concepts.values.judge import ValueComparer
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.measure import Term
from likewise.semantics.measures.combine import CombinedMeasure
from likewise.semantics.measures.esa import set_equal_to_one
from likewise.semantics.vectors.lru_cache import LruCache
from likewise.semantics.vectors.prepared_terms import PreparedTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray


OPPOSITE_SCORE: Final = 0.95  # of the score that the name of the opposite has


class SamenessMeasure:
    """Score in [0, 1] of how surely a candidate term means the query term.

    Terms that are wholly equal, unit, kind and context too, give 1. `knows` says whether the space has a word.
    `opposed` says whether being true of one name is being false of another.
    """

    name = "sameness"

    def __init__(
        self,
        combine: CombinedMeasure,
        has_word: Callable[[str], bool],
        inventory: Inventory,
        values: ValueComparer,
        open_words: OpenVocabulary,
        weights: FacetWeights | None = None,
    ) -> None:
        self._combine = combine
        self._values = values
        self._open_words = open_words
        self._positive = values.polarity.positive
        self.weights = weights or FacetWeights()
        self.tables = InventoryTables(inventory)
        self._parser = FacetParser(inventory, has_word)
        self.opposed = lru_cache(maxsize=defaults.NAME_CACHE_ENTRIES)(values.opposed)
        self._facets: LruCache[Term, Facets] = LruCache(
            defaults.TERM_CACHE_BYTES // 8, lambda f: 300 + 150 * len(f.qualifiers)
        )
        self._side: PreparedTerms[FacetArrays] = PreparedTerms(self._prepare)
        self._words: PreparedTerms[PreparedWords] = PreparedTerms(self._prepare_words)
        self._turned: PreparedTerms[InvertedItems] = PreparedTerms(lambda terms: open_words.invert(self._words(terms)))
        self._terms: PreparedTerms[tuple[Term, ...]] = PreparedTerms(lambda terms: terms)
        self._places: PreparedTerms[tuple[list[int], list[int]]] = PreparedTerms(_values_and_booleans)

    def with_weights(self, weights: FacetWeights) -> SamenessMeasure:
        """Return the same measure with other facet weights; its caches are shared."""
        other = copy(self)
        other.weights = weights
        other._side = PreparedTerms(other._prepare)
        return other

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {**self._combine.configuration(), "name": self.name}

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The score of every asked term with every seen one."""
        queries, candidates = (
            self._terms(queries),
            tuple(candidates),
        )  # the same objects as last time are found at a glance
        related, words = self.relatedness(queries, candidates)
        places = [self._places(side)[0] for side in (queries, candidates)]
        if len(places[0]) == len(queries) and len(places[1]) == len(candidates):
            out = self._values.matrix(queries, candidates, related)
        else:
            out = self.facet_scores(related, words, queries, candidates)
            self._score_polarity(out, queries, candidates)
            if all(places):
                rows, columns = np.ix_(*places)
                values = [
                    [side[i] for i in indices] for side, indices in zip((queries, candidates), places, strict=True)
                ]
                out[rows, columns] = self._values.matrix(values[0], values[1], related[rows, columns])
        return _set_identical_to_one(out, related, queries, candidates)

    def _score_polarity(self, scores: NDArray[np.float32], queries: Sequence[Term], candidates: Sequence[Term]) -> None:
        """Score Boolean names by their usual side; whether it is true or false is the value's matter."""
        places = [self._places(side)[1] for side in (queries, candidates)]
        if not all(places):
            return
        terms = [[side[i] for i in indices] for side, indices in zip((queries, candidates), places, strict=True)]
        turned = [tuple(replace(t, text=self._positive(t.text)) for t in side) for side in terms]
        changed = [
            np.array([old.text != new.text for old, new in zip(*sides, strict=True)])
            for sides in zip(terms, turned, strict=True)
        ]
        either = np.logical_or.outer(*changed)
        if either.any():
            block = np.ix_(*places)
            indices = OPPOSITE_SCORE * self.facet_scores(*self.relatedness(*turned), *turned)
            scores[block] = np.where(either, np.maximum(indices, scores[block]), scores[block])

    def facets(self, term: Term) -> Facets:
        """Return the facets of an attribute name."""
        plain = Term(term.text, term.role, (), term.unit, term.kind, term.context)
        facets = self._facets.get(plain)
        if facets is None:
            facets = self._parser.facets(plain)
            self._facets.put(plain, facets)
        return facets

    def explanation(self, query: Term, candidate: Term) -> str:
        """Explain what two names or values have in common and what tells them apart; '' if unknown.

        >>> from likewise.semantics.library import load_space
        >>> load_space().measure("sameness").explanation(Term("pipe temperature"), Term("air_temp"))
        "both are temperature; you ask for the pipe's, this is the air's"
        """
        if query.role == candidate.role == "value":
            return self._values.explanation(query, candidate, float(self._combine.matrix([query], [candidate])[0, 0]))
        turned = query.kind == candidate.kind == "boolean" and self.opposed(query.text, candidate.text)
        denied = f"what is true of {candidate.text!r} is false of {query.text!r}" if turned else ""
        if turned:
            query, candidate = (replace(term, text=self._positive(term.text)) for term in (query, candidate))
        a, s = self.facets(query), self.facets(candidate)
        if not (a.kinds or s.kinds or a.role or s.role):
            return denied
        sentence = explain_agreement(a, s, self.agreement(query, candidate))
        return f"{sentence}; {denied}" if denied else sentence

    def agreement(self, query: Term, candidate: Term) -> FacetAgreement:
        """Return the agreement and the differences of two names, for explanations."""

        return compare_facets(self.facets(query), self.facets(candidate), self.tables, self.weights, self)

    def word_relation(self, query: str, candidate: str, *, siblings: bool = True) -> int:
        """Return the relation of two words that the inventory does not list (`OpenVocabulary`)."""
        relation = self._open_words.relation(query, candidate, self.weights.named)
        if relation == 0 or (relation == SIBLINGS and not siblings):
            related = float(self._combine.scores_and_words([Term(query)], [Term(candidate)])[1].max(initial=0.0))
            relation = SAME if related >= self.weights.same_word else 0
        return relation

    def example_names(self, query: str, candidate: str) -> tuple[str, str]:
        """Return the two vocabulary names that decide the relation of two words, or two empty strings."""
        naming = self._open_words.names
        decides = abs(naming.agreement(query, candidate)) >= self.weights.named
        return naming.example(query, candidate) if decides else ("", "")

    def relatedness(
        self, queries: Sequence[Term], candidates: Sequence[Term]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the relatedness of terms and of their words, the input of `facet_scores`. Weights do not affect it."""
        related, words = self._combine.scores_and_words(queries, candidates)
        return set_equal_to_one(related, queries, candidates), words

    def facet_scores(
        self,
        related: NDArray[np.float32],
        words: NDArray[np.float32],
        queries: Sequence[Term],
        candidates: Sequence[Term],
    ) -> NDArray[np.float32]:
        """Return the scores of attribute names from their relatedness and their facets."""
        from likewise.semantics.concepts.kernels import facet_scores

        sides, known = (self._side(queries), self._side(candidates)), self._word_relations(queries, candidates)
        for axis, side in enumerate(sides):
            check_lengths("names", related.shape[axis], side.kind_ends, side.qualifier_ends, side.defaults)
            check_ids("words of qualifiers", side.words, words.shape[axis], -1)
            check_ids("open words of qualifiers", side.open_words, known.shape[axis], -1)
        scores: NDArray[np.float32] = facet_scores(
            related,
            *sides,
            self.tables.kind_relations,
            self.tables.qualifier_relations,
            words,
            known,
            self.tables.dimension_bit("ratio"),
            self.weights.numbers(),
        )
        return scores

    def _word_relations(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.uint8]:
        """Return the known relations between qualifier words, besides the inventory."""
        return self._open_words.relations(
            self._words(queries), self._turned(queries), self._words(candidates), self.weights.named
        )

    def _prepare_words(self, terms: tuple[Term, ...]) -> PreparedWords:
        return self._open_words.prepare(qualifier_words([self.facets(t) for t in terms]))

    def _prepare(self, terms: tuple[Term, ...]) -> FacetArrays:
        places = [{singular(word): place for word, place in words[::-1]} for words in self._combine.word_indices(terms)]
        arrays = facet_arrays([self.facets(t) for t in terms], places, self.tables, self.weights)
        check_ids("kinds of names", arrays.kinds, min(self.tables.kind_relations.shape))
        listed = arrays.qualifiers[arrays.sources == LISTED]
        check_ids(
            "listed qualifiers", listed, min(*self.tables.qualifier_relations.shape, 64 * arrays.defaults.shape[1])
        )
        return arrays


def _values_and_booleans(terms: tuple[Term, ...]) -> tuple[list[int], list[int]]:
    """Return the indices of values and of Boolean attribute names."""
    values = [i for i, term in enumerate(terms) if term.role == "value"]
    return values, [i for i, term in enumerate(terms) if term.kind == "boolean" and term.role == "attribute"]


def _set_identical_to_one(
    scores: NDArray[np.float32], related: NDArray[np.float32], queries: Sequence[Term], candidates: Sequence[Term]
) -> NDArray[np.float32]:
    for i, j in np.argwhere((related == 1) & (scores < 1)).tolist():
        if queries[i] == candidates[j]:
            scores[i, j] = 1
    return scores
