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
from likewise.semantics.concepts.comparison import Agreement, agreement
from likewise.semantics.concepts.facets import LISTED, FacetParser, Facets
from likewise.semantics.concepts.inventory import Inventory, singular
from likewise.semantics.concepts.open_vocabulary import OpenWords, WordSide
from likewise.semantics.concepts.operand_arrays import FacetArrays, facet_arrays, spoken_words
from likewise.semantics.concepts.tables import SAME, SIBLINGS, Tables
from likewise.semantics.concepts.values.inverted_items import TurnedItems
from likewise.semantics.concepts.values.judge import ValueJudge
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.concepts.wording import same_reading
from likewise.semantics.measure import Term
from likewise.semantics.measures.combine import CombinedMeasure
from likewise.semantics.measures.esa import equal_are_one
from likewise.semantics.vectors.least_recent import LeastRecent
from likewise.semantics.vectors.query_side import AskedSide

if TYPE_CHECKING:
    from numpy.typing import NDArray


TURNED: Final = 0.95  # of the score that the name of the opposite has


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
        values: ValueJudge,
        spoken: OpenWords,
        weights: FacetWeights | None = None,
    ) -> None:
        self._combine = combine
        self._values = values
        self._spoken = spoken
        self._positive = values.polarity.positive
        self.weights = weights or FacetWeights()
        self.tables = Tables(inventory)
        self._parser = FacetParser(inventory, knows)
        self.opposed = lru_cache(maxsize=defaults.NAMES_KEPT)(values.opposed)
        self._facets: LeastRecent[Term, Facets] = LeastRecent(
            defaults.TERM_CACHE_BYTES // 8, lambda f: 300 + 150 * len(f.qualifiers)
        )
        self._side: AskedSide[FacetArrays] = AskedSide(self._prepare)
        self._words: AskedSide[WordSide] = AskedSide(self._spoken_words)
        self._turned: AskedSide[TurnedItems] = AskedSide(lambda terms: spoken.turned(self._words(terms)))
        self._terms: AskedSide[tuple[Term, ...]] = AskedSide(lambda terms: terms)
        self._places: AskedSide[tuple[list[int], list[int]]] = AskedSide(_places)

    def with_weights(self, weights: FacetWeights) -> SamenessMeasure:
        """The same measure with other weights of facets; what it knows about terms is shared."""
        other = copy(self)
        other.weights = weights
        other._side = AskedSide(other._prepare)
        return other

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {**self._combine.configuration(), "name": self.name}

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The score of every asked term with every seen one."""
        asked, seen = self._terms(asked), tuple(seen)  # the same objects as last time are found at a glance
        related, words = self.compared(asked, seen)
        places = [self._places(side)[0] for side in (asked, seen)]
        if len(places[0]) == len(asked) and len(places[1]) == len(seen):
            out = self._values.matrix(asked, seen, related)
        else:
            out = self.scored(related, words, asked, seen)
            self._turn(out, asked, seen)
            if all(places):
                rows, columns = np.ix_(*places)
                values = [[side[i] for i in found] for side, found in zip((asked, seen), places, strict=True)]
                out[rows, columns] = self._values.matrix(values[0], values[1], related[rows, columns])
        return _wholly_equal_are_one(out, related, asked, seen)

    def _turn(self, scores: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]) -> None:
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
            found = TURNED * self.scored(*self.compared(*turned), *turned)
            scores[block] = np.where(either, np.maximum(found, scores[block]), scores[block])

    def facets(self, term: Term) -> Facets:
        """What the name of an attribute says about its reading."""
        plain = Term(term.text, term.role, (), term.unit, term.kind, term.context)
        kept = self._facets.get(plain)
        if kept is None:
            kept = self._parser.facets(plain)
            self._facets.put(plain, kept)
        return kept

    def explained(self, asked: Term, seen: Term) -> str:
        """In words what two names or values have in common and what tells them apart; '' if they say nothing.

        >>> from likewise.semantics.library import load_space
        >>> load_space().measure("sameness").explained(Term("pipe temperature"), Term("air_temp"))
        "both are temperature; you ask for the pipe's, this is the air's"
        """
        if asked.role == seen.role == "value":
            return self._values.explained(asked, seen, float(self._combine.matrix([asked], [seen])[0, 0]))
        turned = asked.kind == seen.kind == "boolean" and self.opposed(asked.text, seen.text)
        denied = f"what is true of {seen.text!r} is false of {asked.text!r}" if turned else ""
        if turned:
            asked, seen = (replace(term, text=self._positive(term.text)) for term in (asked, seen))
        a, s = self.facets(asked), self.facets(seen)
        if not (a.kinds or s.kinds or a.role or s.role):
            return denied
        said = same_reading(a, s, self.agreement(asked, seen))
        return f"{said}; {denied}" if denied else said

    def agreement(self, asked: Term, seen: Term) -> Agreement:
        """What two names have in common and what tells them apart, for explanations."""

        return agreement(self.facets(asked), self.facets(seen), self.tables, self.weights, self)

    def relation(self, asked: str, seen: str, *, siblings: bool = True) -> int:
        """How two words stand to each other that no inventory lists (`open_words`)."""
        found = self._spoken.relation(asked, seen, self.weights.named)
        if found == 0 or (found == SIBLINGS and not siblings):
            related = float(self._combine.compared([Term(asked)], [Term(seen)])[1].max(initial=0.0))
            found = SAME if related >= self.weights.same_word else 0
        return found

    def names(self, asked: str, seen: str) -> tuple[str, str]:
        """Two names of vocabularies that decide how two words stand to each other, or two empty ones."""
        naming = self._spoken.naming
        decides = abs(naming.agreement(asked, seen)) >= self.weights.named
        return naming.example(asked, seen) if decides else ("", "")

    def compared(self, asked: Sequence[Term], seen: Sequence[Term]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The relatedness of terms and of their words, which `scored` starts from; weights play no part in it."""
        related, words = self._combine.compared(asked, seen)
        return equal_are_one(related, asked, seen), words

    def scored(
        self, related: NDArray[np.float32], words: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]
    ) -> NDArray[np.float32]:
        """The scores of names of attributes, from their relatedness and their facets."""
        from likewise.semantics.concepts.kernels import agreements

        sides, known = (self._side(asked), self._side(seen)), self._known(asked, seen)
        for axis, side in enumerate(sides):
            check_lengths("names", related.shape[axis], side.kind_ends, side.qualifier_ends, side.defaults)
            check_ids("words of qualifiers", side.words, words.shape[axis], -1)
            check_ids("spoken words of qualifiers", side.spoken, known.shape[axis], -1)
        found: NDArray[np.float32] = agreements(
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

    def _known(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.uint8]:
        """What is known about the words of qualifiers, beside the inventory."""
        return self._spoken.relations(self._words(asked), self._turned(asked), self._words(seen), self.weights.named)

    def _spoken_words(self, terms: tuple[Term, ...]) -> WordSide:
        return self._spoken.side(spoken_words([self.facets(t) for t in terms]))

    def _prepare(self, terms: tuple[Term, ...]) -> FacetArrays:
        places = [{singular(word): place for word, place in words[::-1]} for words in self._combine.words(terms)]
        found = facet_arrays([self.facets(t) for t in terms], places, self.tables, self.weights)
        check_ids("kinds of names", found.kinds, min(self.tables.kind_relations.shape))
        listed = found.qualifiers[found.standings == LISTED]
        check_ids(
            "listed qualifiers", listed, min(*self.tables.qualifier_relations.shape, 64 * found.defaults.shape[1])
        )
        return found


def _places(terms: tuple[Term, ...]) -> tuple[list[int], list[int]]:
    """Where values stand among terms, and where names of Booleans do."""
    values = [i for i, term in enumerate(terms) if term.role == "value"]
    return values, [i for i, term in enumerate(terms) if term.kind == "boolean" and term.role == "attribute"]


def _wholly_equal_are_one(
    scores: NDArray[np.float32], related: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]
) -> NDArray[np.float32]:
    for i, j in np.argwhere((related == 1) & (scores < 1)).tolist():
        if asked[i] == seen[j]:
            scores[i, j] = 1
    return scores
