"""The matcher's default measure: is what an event says the same thing that a subscription asks for?

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
from likewise.semantics.concepts.comparison import FacetAgreement, agreement
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
    """How surely a seen term is what was asked for, in [0, 1].

    Terms that are wholly equal, unit, kind and context too, give 1. `knows` says whether the space has a word.
    `opposed` says whether being true of one name is being false of another.
    """

    name = "sameness"

    def __init__(
        self,
        combine: CombinedMeasure,
        knows: Callable[[str], bool],
        inventory: Inventory,
        values: ValueComparer,
        spoken: OpenVocabulary,
        weights: FacetWeights | None = None,
    ) -> None:
        self._combine = combine
        self._values = values
        self._open_words = spoken
        self._positive = values.polarity.positive
        self.weights = weights or FacetWeights()
        self.tables = InventoryTables(inventory)
        self._parser = FacetParser(inventory, knows)
        self.opposed = lru_cache(maxsize=defaults.NAME_CACHE_ENTRIES)(values.opposed)
        self._facets: LruCache[Term, Facets] = LruCache(
            defaults.TERM_CACHE_BYTES // 8, lambda f: 300 + 150 * len(f.qualifiers)
        )
        self._side: PreparedTerms[FacetArrays] = PreparedTerms(self._prepare)
        self._words: PreparedTerms[PreparedWords] = PreparedTerms(self._prepare_words)
        self._turned: PreparedTerms[InvertedItems] = PreparedTerms(lambda terms: spoken.invert(self._words(terms)))
        self._terms: PreparedTerms[tuple[Term, ...]] = PreparedTerms(lambda terms: terms)
        self._places: PreparedTerms[tuple[list[int], list[int]]] = PreparedTerms(_values_and_booleans)

    def with_weights(self, weights: FacetWeights) -> SamenessMeasure:
        """The same measure with other weights of facets; what it knows about terms is shared."""
        other = copy(self)
        other.weights = weights
        other._side = PreparedTerms(other._prepare)
        return other

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {**self._combine.configuration(), "name": self.name}

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The score of every asked term with every seen one."""
        asked, seen = self._terms(asked), tuple(seen)  # the same objects as last time are found at a glance
        related, words = self.relatedness(asked, seen)
        places = [self._places(side)[0] for side in (asked, seen)]
        if len(places[0]) == len(asked) and len(places[1]) == len(seen):
            out = self._values.matrix(asked, seen, related)
        else:
            out = self.facet_scores(related, words, asked, seen)
            self._score_polarity(out, asked, seen)
            if all(places):
                rows, columns = np.ix_(*places)
                values = [[side[i] for i in found] for side, found in zip((asked, seen), places, strict=True)]
                out[rows, columns] = self._values.matrix(values[0], values[1], related[rows, columns])
        return _set_identical_to_one(out, related, asked, seen)

    def _score_polarity(self, scores: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]) -> None:
        """Scores names of Booleans by the side that is usually asked for: whether it is so or not, the value says."""
        places = [self._places(side)[1] for side in (asked, seen)]
        if not all(places):
            return
        terms = [[side[i] for i in found] for side, found in zip((asked, seen), places, strict=True)]
        turned = [tuple(replace(t, text=self._positive(t.text)) for t in side) for side in terms]
        changed = [
            np.array([old.text != new.text for old, new in zip(*sides, strict=True)])
            for sides in zip(terms, turned, strict=True)
        ]
        either = np.logical_or.outer(*changed)
        if either.any():
            block = np.ix_(*places)
            found = OPPOSITE_SCORE * self.facet_scores(*self.relatedness(*turned), *turned)
            scores[block] = np.where(either, np.maximum(found, scores[block]), scores[block])

    def facets(self, term: Term) -> Facets:
        """What the name of an attribute says about its reading."""
        plain = Term(term.text, term.role, (), term.unit, term.kind, term.context)
        kept = self._facets.get(plain)
        if kept is None:
            kept = self._parser.facets(plain)
            self._facets.put(plain, kept)
        return kept

    def explanation(self, asked: Term, seen: Term) -> str:
        """In words what two names or values have in common and what tells them apart; '' if they say nothing.

        >>> from likewise.semantics.library import load_space
        >>> load_space().measure("sameness").explained(Term("pipe temperature"), Term("air_temp"))
        "both are temperature; you ask for the pipe's, this is the air's"
        """
        if asked.role == seen.role == "value":
            return self._values.explanation(asked, seen, float(self._combine.matrix([asked], [seen])[0, 0]))
        turned = asked.kind == seen.kind == "boolean" and self.opposed(asked.text, seen.text)
        denied = f"what is true of {seen.text!r} is false of {asked.text!r}" if turned else ""
        if turned:
            asked, seen = (replace(term, text=self._positive(term.text)) for term in (asked, seen))
        a, s = self.facets(asked), self.facets(seen)
        if not (a.kinds or s.kinds or a.role or s.role):
            return denied
        said = explain_agreement(a, s, self.agreement(asked, seen))
        return f"{said}; {denied}" if denied else said

    def agreement(self, asked: Term, seen: Term) -> FacetAgreement:
        """What two names have in common and what tells them apart, for explanations."""

        return agreement(self.facets(asked), self.facets(seen), self.tables, self.weights, self)

    def word_relation(self, asked: str, seen: str, *, siblings: bool = True) -> int:
        """How two words stand to each other that no inventory lists (`open_words`)."""
        found = self._open_words.relation(asked, seen, self.weights.named)
        if found == 0 or (found == SIBLINGS and not siblings):
            related = float(self._combine.scores_and_words([Term(asked)], [Term(seen)])[1].max(initial=0.0))
            found = SAME if related >= self.weights.same_word else 0
        return found

    def example_names(self, asked: str, seen: str) -> tuple[str, str]:
        """Two names of vocabularies that decide how two words stand to each other, or two empty ones."""
        naming = self._open_words.names
        decides = abs(naming.agreement(asked, seen)) >= self.weights.named
        return naming.example(asked, seen) if decides else ("", "")

    def relatedness(
        self, asked: Sequence[Term], seen: Sequence[Term]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The relatedness of terms and of their words, which `scored` starts from; weights play no part in it."""
        related, words = self._combine.scores_and_words(asked, seen)
        return set_equal_to_one(related, asked, seen), words

    def facet_scores(
        self, related: NDArray[np.float32], words: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]
    ) -> NDArray[np.float32]:
        """The scores of names of attributes, from their relatedness and their facets."""
        from likewise.semantics.concepts.kernels import facet_scores

        sides, known = (self._side(asked), self._side(seen)), self._word_relations(asked, seen)
        for axis, side in enumerate(sides):
            check_lengths("names", related.shape[axis], side.kind_ends, side.qualifier_ends, side.defaults)
            check_ids("words of qualifiers", side.words, words.shape[axis], -1)
            check_ids("spoken words of qualifiers", side.spoken, known.shape[axis], -1)
        found: NDArray[np.float32] = facet_scores(
            related,
            *sides,
            self.tables.kind_relations,
            self.tables.qualifier_relations,
            words,
            known,
            self.tables.dimension_bit("ratio"),
            self.weights.numbers(),
        )
        return found

    def _word_relations(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.uint8]:
        """What is known about the words of qualifiers, beside the inventory."""
        return self._open_words.relations(
            self._words(asked), self._turned(asked), self._words(seen), self.weights.named
        )

    def _prepare_words(self, terms: tuple[Term, ...]) -> PreparedWords:
        return self._open_words.prepare(qualifier_words([self.facets(t) for t in terms]))

    def _prepare(self, terms: tuple[Term, ...]) -> FacetArrays:
        places = [{singular(word): place for word, place in words[::-1]} for words in self._combine.word_indices(terms)]
        found = facet_arrays([self.facets(t) for t in terms], places, self.tables, self.weights)
        check_ids("kinds of names", found.kinds, min(self.tables.kind_relations.shape))
        listed = found.qualifiers[found.standings == LISTED]
        check_ids(
            "listed qualifiers", listed, min(*self.tables.qualifier_relations.shape, 64 * found.defaults.shape[1])
        )
        return found


def _values_and_booleans(terms: tuple[Term, ...]) -> tuple[list[int], list[int]]:
    """Where values stand among terms, and where names of Booleans do."""
    values = [i for i, term in enumerate(terms) if term.role == "value"]
    return values, [i for i, term in enumerate(terms) if term.kind == "boolean" and term.role == "attribute"]


def _set_identical_to_one(
    scores: NDArray[np.float32], related: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]
) -> NDArray[np.float32]:
    for i, j in np.argwhere((related == 1) & (scores < 1)).tolist():
        if asked[i] == seen[j]:
            scores[i, j] = 1
    return scores
