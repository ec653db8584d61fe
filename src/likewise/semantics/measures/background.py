"""Relatedness of values with background knowledge: what WordNet says lies in a place, or is one of a kind.

Hasan, S., O'Riain, S. and Curry, E.: Approximate semantic matching of heterogeneous events, DEBS 2012, section 4.4: an
event in Johannesburg meets a subscription for South Africa if it is known that Johannesburg is in South Africa.
Explicit semantic analysis is to know it from its corpus; a small corpus does not (sources.md H).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.semantics.measures.esa import fold_spaces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.semantics.measure import Measure, Term
    from likewise.semantics.wordnet.relations import WordRelations

KNOWLEDGE: Final = ("part_of", "instance_of")


class BackgroundMeasure:
    """Another measure, raised to 1 where the candidate is known to be part or instance of what is asked for.

    Both are taken in their most common sense as nouns. Parts of parts count. The order matters: Johannesburg answers
    South Africa, and not the other way round.

    >>> from likewise.semantics.library import load_space
    >>> from likewise.semantics.measure import Term
    >>> background = load_space().measure("background")
    >>> asked = [Term("South Africa"), Term("Johannesburg")]
    >>> background.matrix(asked, asked)[0, 1] > background.matrix(asked, asked)[1, 0]
    np.True_
    """

    name = "background"

    def __init__(self, measure: Measure, relations: WordRelations) -> None:
        self._measure, self._relations = measure, relations
        self._sense = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._find_sense)
        self._above = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._climb)

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure over the same space."""
        return {"name": self.name}

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        related = self._measure.matrix(queries, candidates).copy()
        above = [self._above(fold_spaces(term.text)) for term in candidates]
        for i, term in enumerate(queries):
            sense = self._sense(fold_spaces(term.text))
            if sense is not None:
                related[i, [j for j, known in enumerate(above) if sense in known]] = 1
        return related

    def _find_sense(self, text: str) -> int | None:
        senses = self._relations.senses(text, "n")
        return senses[0] if senses else None

    def _climb(self, text: str) -> frozenset[int]:
        """Return what a text is a part or an instance of, however far up."""
        sense = self._sense(text)
        return frozenset() if sense is None else frozenset(self._relations.closure(KNOWLEDGE, [sense]))
