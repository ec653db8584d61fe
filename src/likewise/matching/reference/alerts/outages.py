"""Outages: sources whose silence means nothing, because their gateway is down or they were told to rest.

A key of several sources is excused while one of them cannot be heard, since that one may be speaking, and while all of
them rest: of those that do not, one should be heard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, get_args

from likewise.model.alerts.notification import Why

WHYS: Final[tuple[Why, ...]] = get_args(Why)


class AbsenceSuspensions:
    """The sources whose silence is excused, by why.

    >>> known = AbsenceSuspensions()
    >>> known.add(["a"], "unreachable"), known.add(["b"], "resting")
    (['a'], ['b'])
    >>> known.cover({"a", "c"}), known.cover({"b", "c"}), known.cover({"b"})
    (True, False, True)
    """

    def __init__(self) -> None:
        self.sources: dict[Why, set[str]] = {why: set() for why in WHYS}

    def __bool__(self) -> bool:
        return any(self.sources.values())

    def add(self, sources: Iterable[str], why: Why) -> list[str]:
        """Excuse sources; those that were not."""
        new = sorted(set(sources) - self.sources[why])
        self.sources[why].update(new)
        return new

    def end(self, sources: Iterable[str], why: Why) -> list[str]:
        """Excuse sources no longer; those that were."""
        removed = sorted(set(sources) & self.sources[why])
        self.sources[why].difference_update(removed)
        return removed

    def cover(self, sources: Collection[str]) -> bool:
        """Return whether the silence of a key with these sources means nothing."""
        if not self or not sources:
            return False
        away, resting = self.sources["unreachable"], self.sources["resting"]
        return any(each in away for each in sources) or all(each in resting for each in sources)
