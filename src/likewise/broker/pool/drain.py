"""Subscriptions that a share lets go of a few at a time: the share goes on answering, and says nothing of them.

Half of a large share takes seconds to let go of. Done at once, events would wait so long when a worker splits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from likewise.broker.log.packed_sets import NONE, Numbers
from likewise.broker.tenants.matched_events import MetEvents

PIECE: Final = 64  # of them that go between two answers: a few milliseconds


class Leaving:
    """The numbers of subscriptions that are on their way out.

    >>> leaving = Leaving()
    >>> leaving.add([7, 9])
    >>> met = MetEvents(np.array([7, 8, 9]), np.array([0, 1, 2, 1]), np.array([0, 3, 3, 4]))
    >>> left = leaving.without(met)
    >>> left.numbers(0).tolist(), left.numbers(1).tolist(), left.numbers(2).tolist()
    ([8], [], [8])
    >>> leaving.next(), len(leaving)
    ([7, 9], 0)
    """

    def __init__(self) -> None:
        self._left: list[int] = []
        self._sorted: Numbers = NONE

    def __len__(self) -> int:
        return len(self._left)

    def __contains__(self, number: int) -> bool:
        place = int(np.searchsorted(self._sorted, number))
        return place < len(self._sorted) and int(self._sorted[place]) == number

    def add(self, numbers: Iterable[int]) -> None:
        """Let these go, too."""
        self._left += numbers
        self._sorted = np.unique(np.array(self._left, np.int64))

    def next(self, most: int = PIECE) -> list[int]:
        """Some of them, which are gone from here on."""
        numbers, self._left = self._left[:most], self._left[most:]
        if not self._left:
            self._sorted = NONE
        return numbers

    def without(self, met: MetEvents) -> MetEvents:
        """What events met, but for what is leaving."""
        if not self._left:
            return met
        stays = ~np.isin(met.named, self._sorted)[met.index]
        count = len(met.starts) - 1
        events = np.repeat(np.arange(count), np.diff(met.starts))[stays]
        scores = None if met.scores is None else met.scores[stays]
        return MetEvents(met.named, met.index[stays], np.searchsorted(events, np.arange(count + 1)), scores)
