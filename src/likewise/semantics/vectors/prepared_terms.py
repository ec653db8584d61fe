"""Cache of prepared terms: a matcher compares the same subscription terms again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from likewise.semantics.measure import Term

Side = TypeVar("Side")
CACHED_SIDES: Final = 8  # sides kept; comparing with one that is the same objects costs microseconds


class PreparedTerms(Generic[Side]):
    """Cache the results of preparing the last lists of terms.

    What is remembered follows from the terms alone, so it changes no answer.

    >>> made = []
    >>> prepared = PreparedTerms(lambda terms: made.append(len(terms)) or len(terms))
    >>> terms = [Term("a"), Term("b")]
    >>> prepared(terms), prepared(list(terms)), prepared([Term("c")]), made
    (2, 2, 1, [2, 1])
    """

    def __init__(self, prepare: Callable[[tuple[Term, ...]], Side]) -> None:
        self._prepare = prepare
        self._cache: tuple[tuple[tuple[Term, ...], Side], ...] = ()

    def __call__(self, terms: Sequence[Term]) -> Side:
        """Return the prepared form of these terms."""
        key = terms if isinstance(terms, tuple) else tuple(terms)
        for cached_terms, side in self._cache:
            if cached_terms is key or (len(cached_terms) == len(key) and cached_terms == key):
                return side
        side = self._prepare(key)
        # Small sides are cheap to make and would push the large ones out.
        others = sorted(self._cache, key=lambda entry: -len(entry[0]))[: CACHED_SIDES - 1]
        self._cache = ((key, side), *others)
        return side
