"""Agreement through the names of vocabularies, for words that no list of qualifiers has.

Vocabularies say by their names which words stand for each other. Brick calls one thing `supply air flow` and
`discharge air flow`: in that place the two words say the same. And it names `entering water` beside `leaving water`:
nobody names one thing twice in one list, so in that place they tell two things apart. A word's uses are the places it
stands in; two words agree by what their common places say, the more of them the surer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from likewise.semantics.concepts.inventory import Concept, label_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIOR_USES: Final = 1.0  # places that would have to say the contrary: one place alone is half sure


class WordUses(NamedTuple):
    """The uses of some words: `places[ends[i - 1]:ends[i]]` of word i, in order, and what is named there."""

    ends: NDArray[np.int64]
    places: NDArray[np.int32]
    things: NDArray[np.int32]


class VocabularyNames:
    """The names of vocabularies by the words in them.

    >>> air = Concept("name", "supply air flow", ("discharge air flow",), apart=("flow",))
    >>> naming = Naming([air, Concept("name", "return air flow", apart=("flow",))])
    >>> naming.agreement("supply", "discharge"), naming.agreement("supply", "return"), naming.agreement("air", "flow")
    (0.5, -0.5, 0.0)
    >>> naming.example("supply", "discharge")
    ('supply air flow', 'discharge air flow')
    """

    def __init__(self, names: Iterable[Concept]) -> None:
        self._uses: dict[str, dict[int, int]] = {}
        self._labels: dict[tuple[int, str], str] = {}
        numbers: dict[tuple[str, tuple[str, ...], tuple[str, ...]], int] = {}
        for thing, concept in enumerate(names):
            for label in (concept.name, *concept.labels):
                words = label_words(label)
                for group in concept.apart or (concept.name,):
                    for at, word in enumerate(words):
                        place = numbers.setdefault((group, words[:at], words[at + 1 :]), len(numbers))
                        self._uses.setdefault(word, {}).setdefault(place, thing)
                        self._labels.setdefault((place, word), label)
        self.places = len(numbers)

    def uses(self, words: Sequence[str]) -> WordUses:
        """Where some words stand."""
        found = [sorted(self._uses.get(word, {}).items()) for word in words]
        flat = np.array([use for uses in found for use in uses], dtype=np.int32).reshape(-1, 2)
        ends = np.cumsum([len(uses) for uses in found], dtype=np.int64)
        return WordUses(ends, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]))

    def agreement(self, one: str, other: str) -> float:
        """What the common places of two words say: 1 that they are the same, -1 that they are not, 0 nothing."""
        a, b = self._uses.get(one, {}), self._uses.get(other, {})
        said = [1 if a[place] == b[place] else -1 for place in a.keys() & b.keys()]
        return sum(said) / (len(said) + PRIOR_USES)

    def example(self, one: str, other: str) -> tuple[str, str]:
        """Two names in which one word stands for the other, or tells apart, as they mostly do; empty if none does."""
        a, b = self._uses.get(one, {}), self._uses.get(other, {})
        same = self.agreement(one, other) > 0
        place = min((p for p in a.keys() & b.keys() if (a[p] == b[p]) == same), default=-1)
        return ("", "") if place < 0 else (self._labels[place, one], self._labels[place, other])
