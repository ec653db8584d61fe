"""Comparison of qualifier words that the inventory does not list, by vocabulary names and by WordNet.

Two qualifiers of the inventory are compared by the inventory. A word that it does not list is compared by the names of
vocabularies (`name_agreement`), then by WordNet (`values.standing`): a shared meaning, an opposite, another kind of one
thing. Where neither knows anything, how related the words are decides (`kernels`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.kernels.sizes import check_ids
from likewise.semantics.concepts.inventory import Inventory
from likewise.semantics.concepts.library import vocabulary_names
from likewise.semantics.concepts.name_agreement import VocabularyNames, WordUses
from likewise.semantics.concepts.values.columns import ItemColumns, item_columns
from likewise.semantics.concepts.values.inverted_index import InvertedItems, invert
from likewise.semantics.concepts.values.items import ValueLexicon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.wordnet.relations import WordRelations


class PreparedWords(NamedTuple):
    """Distinct words of one side: their WordNet items and their uses in vocabularies."""

    items: ItemColumns
    uses: WordUses


class OpenVocabulary:
    """Compare words by WordNet and by vocabulary names. Both are read on first use.

    >>> from likewise.semantics.concepts.library import load_inventory
    >>> from likewise.semantics.library import load_space
    >>> words = OpenVocabulary(load_space().relations, load_inventory())
    >>> asked, seen = words.prepare(["ascending", "lift", "nave"]), words.prepare(["descending", "elevator", "pump"])
    >>> words.relations(asked, words.invert(asked), seen, 0.5).diagonal().tolist()
    [4, 1, 0]
    """

    def __init__(self, relations: WordRelations, inventory: Inventory) -> None:
        self._relations, self._inventory = relations, inventory
        self._items = ValueLexicon(relations)

    @cached_property
    def names(self) -> VocabularyNames:
        """The index of vocabulary names."""
        return vocabulary_names(self._inventory)

    def prepare(self, words: Sequence[str]) -> PreparedWords:
        """Prepare the distinct words of one side."""
        return PreparedWords(item_columns([self._items.one(word) for word in words]), self.names.uses(words))

    def invert(self, side: PreparedWords) -> InvertedItems:
        """Return the inverted index of the query side."""
        return invert(side.items)

    def relations(
        self, query: PreparedWords, turned: InvertedItems, candidate: PreparedWords, sure: float
    ) -> NDArray[np.uint8]:
        """Return the relation of every query word to every candidate word: SAME, NARROWER, EXCLUDES, SIBLINGS or 0.

        `sure` is how strongly names must agree, or tell apart, to decide.
        """
        from likewise.semantics.concepts.kernels import word_agreements, word_relations
        from likewise.semantics.concepts.values.item_relations import FOLLOWS, relate_items

        for side in (query, candidate):
            check_ids("places of names", side.uses.places, self.names.places)
        check_ids("synsets of seen words", candidate.items.senses, len(self._relations.kinds))
        named = word_agreements(query.uses, candidate.uses, self.names.places)
        item_relations, _ = relate_items(turned, candidate.items, self._relations.kinds, FOLLOWS)
        codes: NDArray[np.uint8] = word_relations(item_relations, named, np.float32(sure))
        return codes
