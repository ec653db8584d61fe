"""Words that say which one is meant, compared by what is known about words in general.

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
from likewise.semantics.concepts.values.inverted_index import InvertedItems, turned
from likewise.semantics.concepts.values.items import Lexicon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.wordnet.relations import WordRelations


class PreparedWords(NamedTuple):
    """Distinct words of one side: what WordNet knows about them and where vocabularies use them."""

    items: ItemColumns
    uses: WordUses


class OpenVocabulary:
    """Compares words by WordNet and by the names of vocabularies, read when they are first needed.

    >>> from likewise.semantics.concepts.library import load_inventory
    >>> from likewise.semantics.library import load_space
    >>> words = OpenVocabulary(load_space().relations, load_inventory())
    >>> [words.relation(*pair, 0.5) for pair in (("ascending", "descending"), ("lift", "elevator"), ("nave", "pump"))]
    [4, 1, 0]
    """

    def __init__(self, relations: WordRelations, inventory: Inventory) -> None:
        self._relations, self._inventory = relations, inventory
        self._items = Lexicon(relations)

    @cached_property
    def names(self) -> VocabularyNames:
        """The names of vocabularies, by their words."""
        return vocabulary_names(self._inventory)

    def prepare(self, words: Sequence[str]) -> PreparedWords:
        """Words made ready."""
        return PreparedWords(item_columns([self._items.one(word) for word in words]), self.names.uses(words))

    def invert(self, side: PreparedWords) -> InvertedItems:
        """The asked side as it is looked up by."""
        return turned(side.items)

    def relations(
        self, asked: PreparedWords, turned: InvertedItems, seen: PreparedWords, sure: float
    ) -> NDArray[np.uint8]:
        """How each asked word stands to each seen one: SAME, NARROWER, EXCLUDES, SIBLINGS or 0.

        `sure` is how strongly names must agree, or tell apart, to decide.
        """
        from likewise.semantics.concepts.kernels import word_agreements, word_relations
        from likewise.semantics.concepts.values.item_relations import FOLLOWS, relate_items

        for side in (asked, seen):
            check_ids("places of names", side.uses.places, self.names.places)
        check_ids("synsets of seen words", seen.items.senses, len(self._relations.kinds))
        named = word_agreements(asked.uses, seen.uses, self.names.places)
        standing, _ = relate_items(turned, seen.items, self._relations.kinds, FOLLOWS)
        found: NDArray[np.uint8] = word_relations(standing, named, np.float32(sure))
        return found

    def relation(self, asked: str, seen: str, sure: float) -> int:
        """`relations` of one pair; the names' part is computed plainly."""
        from likewise.semantics.concepts.kernels import word_relations
        from likewise.semantics.concepts.values.item_relations import FOLLOWS, relate_items

        a, s = (item_columns([self._items.one(word)]) for word in (asked, seen))
        standing, _ = relate_items(turned(a), s, self._relations.kinds, FOLLOWS)
        named = np.array([[self.names.agreement(asked, seen)]], np.float32)
        return int(word_relations(standing, named, np.float32(sure))[0, 0])
