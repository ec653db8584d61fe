"""Comparison of values: from relatedness to sameness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.semantics.concepts.values.columns import ValueColumns, columns_of
from likewise.semantics.concepts.values.inverted_index import InvertedItems, invert
from likewise.semantics.concepts.values.items import negated_stems
from likewise.semantics.concepts.values.knowledge import NEGATORS
from likewise.semantics.concepts.values.terms import ValueReader
from likewise.semantics.measure import Term
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.vectors.prepared_terms import PreparedTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.wordnet.relations import WordRelations


# The usual name of what is so when the first is not; what a prefix negates (`nogil_kernel`) need not stand here.
POSITIVE: Final = {
    "closed": "open",
    "shut": "open",
    "offline": "online",
    "disabled": "enabled",
    "off": "on",
    "vacant": "occupied",
    "absent": "present",
    "stopped": "running",
    "halted": "running",
    "disconnected": "connected",
}


class Polarity:
    """Normalise Boolean names to their usual side: `doorClosed` is the opposite of `door open`.

    >>> from likewise.semantics.library import load_space
    >>> positive = Polarity(load_space().relations).positive
    >>> positive("doorClosed"), positive("no_leak"), positive("unlocked"), positive("motion")
    ('door open', 'leak', 'locked', 'motion')
    """

    def __init__(self, relations: WordRelations) -> None:
        self._knows = relations.has_word
        self.positive = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._positive)

    def _positive(self, name: str) -> str:
        words = [word.casefold() for word in split_identifier(name)]
        turned = [self._positive_word(word) for word in words if word not in NEGATORS] or words
        return name if turned == words else " ".join(turned)

    def _positive_word(self, word: str) -> str:
        known = POSITIVE.get(word)
        return known or next((rest for rest in negated_stems(word) if self._knows(rest)), word)


class ValueWeights(NamedTuple):
    """Weights of the facts about two values.

    `hard`, `soft`: what is left of the relatedness when they exclude each other; less than the threshold squared, so
    that no other part can make up for it. `same`, `kind`, `part`, `near`: the least that is reached when they mean the
    same, the seen one is a kind or a part of what was asked, or a broader word with at most `kinds` kinds below it.
    """

    hard: float = 0.1
    soft: float = 0.25
    same: float = 0.9
    kind: float = 0.75
    part: float = 0.7
    near: float = 0.55
    kinds: float = 150.0


class ValueComparer:
    """Score pairs of values by WordNet's relations and a small hand-written lexicon.

    >>> from likewise.semantics.library import load_space
    >>> space = load_space()
    >>> judge = ValueComparer(space.relations)
    >>> asked, seen = [Term("pump started", "value")], [Term("pump stopped", "value")]
    >>> float(judge.matrix(asked, seen, space.measure("combine").matrix(asked, seen))[0, 0]) < 0.2
    True
    """

    def __init__(self, relations: WordRelations, weights: ValueWeights | None = None) -> None:
        self._relations = relations
        self._terms = ValueReader(relations)
        self.polarity = Polarity(relations)
        self._columns: PreparedTerms[ValueColumns] = PreparedTerms(
            lambda terms: columns_of([self._terms.of(t) for t in terms])
        )
        self._inverted: PreparedTerms[InvertedItems] = PreparedTerms(lambda terms: invert(self._columns(terms).items))
        self.weights = ValueWeights() if weights is None else weights

    def matrix(
        self, queries: Sequence[Term], candidates: Sequence[Term], base: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the probability-like score that each candidate value means each query value."""
        return self.scores_and_reasons(queries, candidates, base)[0]

    def scores_and_reasons(
        self, queries: Sequence[Term], candidates: Sequence[Term], base: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """Return the scores and, for each pair, the code of the rule that decided it (`kernels`)."""
        from likewise.semantics.concepts.values.item_relations import FOLLOWS, relate_items
        from likewise.semantics.concepts.values.kernels import score_values

        score = np.empty((len(queries), len(candidates)), np.float32)
        reason = np.zeros((len(queries), len(candidates)), np.uint8)
        if not score.size:
            return score, reason
        a, b = self._columns(queries), self._columns(candidates)
        check_lengths("asked values", len(queries), a.item_ends, a.word_ends, a.code_ends, a.negated_ends, base)
        check_lengths("seen values", len(candidates), b.item_ends, b.word_ends, b.code_ends, b.negated_ends, base.T)
        check_ids("synsets of seen values", b.items.senses, len(self._relations.kinds))
        relations, breadth = relate_items(self._inverted(queries), b.items, self._relations.kinds, FOLLOWS)
        for side, count in ((a, relations.shape[0]), (b, relations.shape[1])):
            check_ids("items of values", side.item, count)
            check_ids("words of values", side.word, count)
        score_values(a, b, relations, breadth, base, self.weights, score, reason)
        return score, reason

    def opposed(self, query: str, candidate: str) -> bool:
        """Return whether one Boolean name is true exactly when the other is false.

        >>> from likewise.semantics.library import load_space
        >>> judge = ValueComparer(load_space().relations)
        >>> judge.opposed("door open", "doorClosed"), judge.opposed("motion", "presence")
        (True, False)
        """
        from likewise.semantics.concepts.values.kernels import OPPOSED, OTHER_STATE

        terms = [Term("true", "value", kind="boolean", context=(name,)) for name in (query, candidate)]
        _, reason = self.scores_and_reasons(terms[:1], terms[1:], np.ones((1, 1), np.float32))
        return int(reason[0, 0]) in (OPPOSED, OTHER_STATE)

    def explanation(self, query: Term, candidate: Term, base: float) -> str:
        """Explain in one clause what decided a pair; '' if only relatedness did.

        >>> from likewise.semantics.library import load_space
        >>> judge = ValueComparer(load_space().relations)
        >>> event = [Term(f"{word} temperature", "value") for word in ("increased", "decreased")]
        >>> judge.explanation(*event, 0.9)
        'the same temperature, but decreased, not increased'
        """
        from likewise.semantics.concepts.values.explanations import explain_reason

        _, reason = self.scores_and_reasons([query], [candidate], np.full((1, 1), base, np.float32))
        return explain_reason(
            int(reason[0, 0]), self._terms.of(query), self._terms.of(candidate), (query.text, candidate.text)
        )
