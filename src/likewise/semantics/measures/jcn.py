"""Jiang-Conrath similarity in WordNet's taxonomy.

Jiang, J. and Conrath, D.: Semantic similarity based on corpus statistics and lexical taxonomy, ROCLING
1997; used by Hasan, S. et al.: Approximate semantic matching of heterogeneous events, DEBS 2012. sources.md H
makes it exact: 1 / (1 + IC(a) + IC(b) - 2 IC(lcs)).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.errors import InputError
from likewise.kernels.sizes import check_ids
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import fold_spaces, set_equal_to_one
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.text.stop_words import STOP_WORDS
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.semantics.wordnet.taxonomy import Taxonomy, read_word_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

Senses = Literal["first", "all"]


class TermSenses:
    """Distinct words of several terms, their senses, and the words of each term."""

    def __init__(self, senses: list[NDArray[np.int32]], ends: list[int], words: list[int]) -> None:
        self.sense_ends = np.cumsum([len(f) for f in senses], dtype=np.int64)
        self.senses = np.concatenate([np.empty(0, dtype=np.int32), *senses])
        self.ends = np.array(ends, dtype=np.int64)
        self.words = np.array(words, dtype=np.int64)
        self.single = words == list(range(len(ends))) == [end - 1 for end in ends]
        self._subsumers: _Subsumers | None = None

    def subsumers_in(self, taxonomy: Taxonomy) -> _Subsumers:
        """Return the subsumers of the senses, for the query side."""
        if self._subsumers is None:
            last = taxonomy.ancestor_ends[self.senses]
            lengths = last - np.where(self.senses > 0, taxonomy.ancestor_ends[self.senses - 1], 0)
            places = np.arange(int(lengths.sum())) + np.repeat(last - np.cumsum(lengths), lengths)
            subsumers, counts = np.unique(taxonomy.ancestors[places], return_counts=True)
            order = np.argsort(taxonomy.ancestors[places], kind="stable")
            below = np.repeat(np.arange(len(self.senses), dtype=np.int32), lengths)[order]
            self._subsumers = _Subsumers(subsumers, np.cumsum(counts, dtype=np.int64), below)
        return self._subsumers


class _Subsumers(msgspec.Struct, frozen=True, eq=False):
    """Subsumers of some senses, ascending; `below[ends[k - 1]:ends[k]]` are the senses under subsumer k."""

    subsumers: NDArray[np.int32]
    ends: NDArray[np.int64]
    below: NDArray[np.int32]


class JcnMeasure:
    """Jiang-Conrath similarity of words by the information content of their common subsumer.

    `senses="first"` compares the most common synset of each word as a noun, or as a verb if it is none
    (sources.md H); `"all"` the best pair of all its senses, nouns and verbs. `information` names a file of
    word counts (`word<TAB>count`, written by the pipeline) that replaces WordNet's own counts. A phrase
    that WordNet holds as one entry (`motor vehicle`) is one word (departure: the paper splits it);
    words of grammar are left out; an unknown word's best pair is 0.
    """

    name = "jcn"

    def __init__(self, taxonomy: Taxonomy, *, senses: Senses = "first", information: str | None = None) -> None:
        if senses not in ("first", "all"):
            raise InputError(f"no choice of senses is named {senses!r}; there are first, all")
        self._taxonomy, self.senses, self._source = taxonomy, senses, information
        self._information = taxonomy.information
        if information is not None:
            self._information = taxonomy.information_of_words(read_word_counts(information))
        self._words = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._words_of)
        self._senses_of = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._find_senses)
        self._side: PreparedTerms[TermSenses] = PreparedTerms(self._prepare)

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure over the same space."""
        return {"name": self.name, "senses": self.senses, "information": self._source}

    def has_word(self, text: str) -> bool:
        """Return whether the taxonomy has any word of the text."""
        return any(len(self._senses_of(word)) for word in self._words(fold_spaces(text)))

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The similarity of every asked term with every seen one; themes play no part."""
        return set_equal_to_one(self.similarities(queries, candidates), queries, candidates)

    def similarities(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """Return the similarities without the rule for equal terms: unknown ones have 0."""
        from likewise.semantics.wordnet.taxonomy_kernels import best_pairs

        a, b = self._side(queries), self._side(candidates)
        words = self._word_scores(a, b)
        if a.single and b.single:
            return words
        out: NDArray[np.float32] = best_pairs(words, a.ends, a.words, b.ends, b.words)
        return out

    def _word_scores(self, a: TermSenses, b: TermSenses) -> NDArray[np.float32]:
        """Return the score of every word of `a` with every word of `b`: that of their best pair of senses."""
        from likewise.semantics.wordnet.taxonomy_kernels import similarities

        taxonomy = self._taxonomy
        above = a.subsumers_in(taxonomy)
        for side in (a, b):
            check_ids("senses of words", side.senses, min(len(taxonomy.ancestor_ends), len(self._information)))
        words: NDArray[np.float32] = similarities(
            a.sense_ends,
            a.senses,
            above.subsumers,
            above.ends,
            above.below,
            b.sense_ends,
            b.senses,
            taxonomy.ancestor_ends,
            taxonomy.ancestors,
            self._information,
        )
        return words

    def _prepare(self, terms: Sequence[Term]) -> TermSenses:
        number: dict[str, int] = {}
        words: list[int] = []
        ends = []
        for term in terms:
            words += [number.setdefault(word, len(number)) for word in self._words(fold_spaces(term.text))]
            ends.append(len(words))
        return TermSenses([self._senses_of(word) for word in number], ends, words)

    def _words_of(self, text: str) -> tuple[str, ...]:
        if self._taxonomy.has_word(text):
            return (text,)
        stop = STOP_WORDS["english"]
        out = []
        for word in text.split():
            parts = (word,) if self._taxonomy.has_word(word) else split_identifier(word)
            out += [part.casefold() for part in parts if part.casefold() not in stop and not part.isdigit()]
        return tuple(out)

    def _find_senses(self, word: str) -> NDArray[np.int32]:
        if self.senses == "all":
            return self._taxonomy.senses(word, both=True)
        return self._taxonomy.senses(word)[:1]
