"""Plain measures to compare with: words in common, character trigrams in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.semantics.measure import Term
from likewise.semantics.text.identifiers import split_identifier


class WordOverlap:
    """A yardstick: the share of words two terms have in common (Jaccard), after splitting identifiers.

    >>> round(float(WordOverlap().matrix([Term("air temperature")], [Term("temperature_2")])[0, 0]), 2)
    0.33
    """

    name = "word overlap"

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """Every pair's overlap."""
        return _jaccard([_words(t.text) for t in asked], [_words(t.text) for t in seen])

    def configuration(self) -> dict[str, object]:
        """Nothing to configure."""
        return {"name": self.name}


class CharacterGrams:
    """A yardstick: the share of character trigrams two terms have in common (Jaccard).

    >>> float(CharacterGrams().matrix([Term("temp")], [Term("Temp")])[0, 0])
    1.0
    """

    name = "character n-grams"

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """Every pair's overlap."""
        return _jaccard([_grams(t.text) for t in asked], [_grams(t.text) for t in seen])

    def configuration(self) -> dict[str, object]:
        """Nothing to configure."""
        return {"name": self.name}


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in split_identifier(text))


def _grams(text: str) -> frozenset[str]:
    padded = f"  {' '.join(sorted(_words(text)))}  "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def _jaccard(rows: list[frozenset[str]], columns: list[frozenset[str]]) -> NDArray[np.float32]:
    numbers = {item: n for n, item in enumerate(sorted(set().union(*rows, *columns)))}
    left, right = (np.zeros((len(sets), len(numbers)), np.float32) for sets in (rows, columns))
    for table, sets in ((left, rows), (right, columns)):
        for index, items in enumerate(sets):
            table[index, [numbers[item] for item in items]] = 1.0
    shared = left @ right.T
    total = left.sum(1)[:, None] + right.sum(1)[None, :] - shared
    return np.asarray(shared / np.maximum(total, 1.0), np.float32)
