"""Hits and misses of the caches of engines (docs/engines/thematic.md).

Counted once a batch by the thread that owns the engine, so that counting costs nothing on the way of an
event; another thread may read the numbers at any time.
"""

from __future__ import annotations

from typing import Final

import msgspec

POSTING_LISTS: Final = "posting_lists"  # what a tuple of an event means to every predicate
RELATEDNESS: Final = "relatedness"  # how related a seen term is with every term asked for
CACHES: Final = (POSTING_LISTS, RELATEDNESS)


class CacheUse(msgspec.Struct):
    """Hits and misses of a cache.

    >>> use = CacheUse()
    >>> use.count(lookups=10, missing=3)
    >>> use
    CacheUse(hits=7, misses=3)
    """

    hits: int = 0
    misses: int = 0

    def count(self, lookups: int, missing: int) -> None:
        """Count some look-ups, and those among them that found nothing."""
        self.hits += lookups - missing
        self.misses += missing

    def __add__(self, other: CacheUse) -> CacheUse:
        return CacheUse(self.hits + other.hits, self.misses + other.misses)
