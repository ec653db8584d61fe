"""Are two words opposites? WordNet's antonyms, what derives from them, and a few pairs by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.model.text import fold
from likewise.semantics.concepts.values.items import Item, Items

if TYPE_CHECKING:
    from likewise.semantics.wordnet.relations import WordRelations


class Opposites:
    """Tells opposites.

    >>> from likewise.semantics.library import load_space
    >>> opposites = Opposites(load_space().relations)
    >>> opposites.opposed("inlet", "outlet"), opposites.opposed("increased", "decreased")
    (True, True)
    >>> opposites.opposed("inflammable", "flammable"), opposites.opposed("room", "hall")
    (False, False)
    """

    def __init__(self, relations: WordRelations) -> None:
        self._items = Items(relations)

    def opposed(self, one: str, other: str) -> bool:
        """Whether one word, or phrase of WordNet, says what the other excludes; the same whichever comes first."""
        a, b = self._items.one(fold(one)), self._items.one(fold(other))
        if directly_opposed(a, b):
            return True
        if a.text == b.text or set(a.own) & set(b.own):
            return False
        reached = {*a.own, *a.near}, {*b.own, *b.near}
        far = {*a.opposites, *a.far_opposites}, {*b.opposites, *b.far_opposites}
        return bool(far[0] & reached[1] or far[1] & reached[0])


def directly_opposed(a: Item, b: Item) -> bool:
    """Whether a meaning or a side of one item is an opposite of the other."""
    return bool({*b.own, *b.tags} & set(a.opposites) or {*a.own, *a.tags} & set(b.opposites))
