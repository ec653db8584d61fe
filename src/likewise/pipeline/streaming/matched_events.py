"""What a matcher finds in a batch, one row an event: the numbers of the subscriptions it met, and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.formats.arrow.columns import NO_TIME
from likewise.formats.arrow.event_batch import EventBatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher


class MatchedEvents(NamedTuple):
    """The places of events that met something, rising; pair i of event j lies between `offsets[j]` and `[j + 1]`."""

    places: NDArray[np.int64]
    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]

    def lists(self) -> tuple[Any, Any]:
        """The numbers and the scores of each, as lists."""
        offsets = pa.array(self.offsets, pa.int32())
        return (
            pa.ListArray.from_arrays(offsets, pa.array(self.numbers, pa.int64())),
            pa.ListArray.from_arrays(offsets, pa.array(self.scores, pa.float32())),
        )

    def by_payload(self, places: NDArray[np.int64]) -> MatchedEvents:
        """The same by where events stood; what several events of one payload met is put together, with the best scores.

        >>> found = MatchedEvents(*(np.array(a) for a in ([0, 1, 2], [0, 1, 3, 4], [7, 7, 9, 7], [0.5, 0.75, 1, 1])))
        >>> [a.tolist() for a in found.by_payload(np.array([4, 4, 6]))]
        [[4, 6], [0, 2, 3], [7, 9, 7], [0.75, 1.0, 1.0]]
        """
        where = places[self.places]
        if len(where) < 2 or bool(np.all(np.diff(where) > 0)):
            return self._replace(places=where)
        payload = np.repeat(where, np.diff(self.offsets))
        order = np.lexsort((-self.scores, self.numbers, payload))
        payload, numbers, scores = payload[order], self.numbers[order], self.scores[order]
        new = np.append(True, (np.diff(payload) != 0) | (np.diff(numbers) != 0))
        payload, numbers, scores = payload[new], numbers[new], scores[new]
        first = np.flatnonzero(np.diff(payload, prepend=-1))
        return MatchedEvents(payload[first], np.append(first, len(payload)), numbers, scores)

    def lists_of_all(self, size: int) -> tuple[Any, Any]:
        """The same for every event of a batch, empty for those that met nothing."""
        counts = np.zeros(size + 1, np.int64)
        counts[self.places + 1] = np.diff(self.offsets)
        return self._replace(offsets=np.cumsum(counts)).lists()


def match_events(matcher: Matcher, events: EventBatch, at: int | NDArray[np.int64]) -> MatchedEvents:
    """What events meet; `at` is the moment of those that state no time, one for all or one for each.

    >>> import likewise as lw
    >>> m = lw.Matcher()
    >>> _ = m.add_many(["{t > 1}", "{t > 2}"], numbers=[4, 9])
    >>> found = match_events(m, EventBatch.from_events(map(lw.event, [{"t": 0}, {"t": 3}])), 0)
    >>> found.places.tolist(), found.numbers.tolist()
    ([1], [4, 9])
    """
    times = events.columns().time
    found = matcher.match_batch(events, np.where(times == NO_TIME, at, times))  # type: ignore[arg-type]
    numbers = found.subscription_numbers[found.subscription_index].astype(np.int64, copy=False)
    first = np.flatnonzero(np.diff(found.event_index, prepend=-1))
    return MatchedEvents(
        found.event_index[first].astype(np.int64), np.append(first, len(numbers)), numbers, found.score
    )
