"""Agreement of two words by their uses in the names of public vocabularies, for words that the inventory does not list.

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
    """Uses of some words: `places[ends[i - 1]:ends[i]]` of word i, ascending, and what is named there."""

    ends: NDArray[np.int64]
    places: NDArray[np.int32]
    things: NDArray[np.int32]


class VocabularyNames:
    """Index of vocabulary names by the words in them.

    >>> air = Concept("name", "supply air flow", ("discharge air flow",), apart=("flow",))
    >>> naming = VocabularyNames([air, Concept("name", "return air flow", apart=("flow",))])
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
        """Return the uses of some words as flat arrays."""
        uses_of_words = [sorted(self._uses.get(word, {}).items()) for word in words]
        flat = np.array([use for uses in uses_of_words for use in uses], dtype=np.int32).reshape(-1, 2)
        ends = np.cumsum([len(uses) for uses in uses_of_words], dtype=np.int64)
        return WordUses(ends, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1]))

    def agreement(self, one: str, other: str) -> float:
        """Return the vote of the common uses of two words: 1 they are the same, -1 they differ, 0 unknown."""
        a, b = self._uses.get(one, {}), self._uses.get(other, {})
        votes = [1 if a[place] == b[place] else -1 for place in a.keys() & b.keys()]
        return sum(votes) / (len(votes) + PRIOR_USES)

    def example(self, one: str, other: str) -> tuple[str, str]:
        """Return two names that show the majority vote on two words; empty strings if there are none."""
        a, b = self._uses.get(one, {}), self._uses.get(other, {})
        same = self.agreement(one, other) > 0
        place = min((p for p in a.keys() & b.keys() if (a[p] == b[p]) == same), default=-1)
        return ("", "") if place < 0 else (self._labels[place, one], self._labels[place, other])
