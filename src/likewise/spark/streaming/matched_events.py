"""What a matcher finds in a batch, one row an event: the numbers of the subscriptions it met, and their scores.

Of subscriptions with a `select` also what that names, as the JSON of what `Matcher.selected` says.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from likewise.formats.arrow.columns import NO_TIME
from likewise.formats.arrow.event_batch import EventBatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher
    from likewise.model import MatchBatch


class MatchedEvents(NamedTuple):
    """The places of events that met something, rising; pair i of event j lies between `offsets[j]` and `[j + 1]`.

    `selected` has the JSON of each pair, None of those that select nothing; it is None if none does.
    """

    places: NDArray[np.int64]
    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]
    selected: NDArray[np.object_] | None = None

    def lists(self) -> tuple[Any, Any]:
        """The numbers and the scores of each, as lists."""
        offsets = pa.array(self.offsets, pa.int32())
        return (
            pa.ListArray.from_arrays(offsets, pa.array(self.numbers, pa.int64())),
            pa.ListArray.from_arrays(offsets, pa.array(self.scores, pa.float32())),
        )

    def selected_lists(self) -> Any:
        """What is selected of each, as lists beside those of the numbers."""
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), self.selected_texts())

    def selected_texts(self) -> Any:
        """What is selected of each match, null where nothing is."""
        if self.selected is None:
            return pa.nulls(len(self.numbers), pa.string())
        return pa.array(self.selected.tolist(), pa.string())

    def by_payload(self, places: NDArray[np.int64]) -> MatchedEvents:
        """The same by where events stood; what several events of one payload met is put together, with the best scores.

        >>> found = MatchedEvents(*(np.array(a) for a in ([0, 1, 2], [0, 1, 3, 4], [7, 7, 9, 7], [0.5, 0.75, 1, 1])))
        >>> [a.tolist() for a in found.by_payload(np.array([4, 4, 6]))[:4]]
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
        selected = None if self.selected is None else self.selected[order][new]
        first = np.flatnonzero(np.diff(payload, prepend=-1))
        return MatchedEvents(payload[first], np.append(first, len(payload)), numbers, scores, selected)

    def of_all(self, size: int) -> MatchedEvents:
        """The same for every event of a batch, with nothing for those that met nothing."""
        counts = np.zeros(size + 1, np.int64)
        counts[self.places + 1] = np.diff(self.offsets)
        return self._replace(places=np.arange(size), offsets=np.cumsum(counts))


def match_events(
    matcher: Matcher, events: EventBatch, at: int | NDArray[np.int64], selecting: AbstractSet[int] = frozenset()
) -> MatchedEvents:
    """What events meet; `at` is the moment of those that state no time, one for all or one for each.

    `selecting` has the numbers of the subscriptions with a `select`.

    >>> import likewise as lw
    >>> m = lw.Matcher()
    >>> _ = m.add_many(["{t > 1}", "{t > 2}"], numbers=[4, 9])
    >>> found = match_events(m, EventBatch.from_events(map(lw.event, [{"t": 0}, {"t": 3}])), 0)
    >>> found.places.tolist(), found.numbers.tolist()
    ([1], [4, 9])
    """
    times = events.columns().time
    moments: NDArray[np.int64] = np.where(times == NO_TIME, at, times)
    found = matcher.match_batch(events, moments)  # type: ignore[arg-type]
    numbers = found.subscription_numbers[found.subscription_index].astype(np.int64, copy=False)
    event = found.event_index
    first = np.flatnonzero(np.append(np.ones(min(1, len(event)), bool), event[1:] != event[:-1]))
    selected = _selected(matcher, events, moments, found, numbers, selecting) if selecting else None
    return MatchedEvents(event[first].astype(np.int64), np.append(first, len(numbers)), numbers, found.score, selected)


def _selected(
    matcher: Matcher,
    events: EventBatch,
    moments: NDArray[np.int64],
    found: MatchBatch,
    numbers: NDArray[np.int64],
    selecting: AbstractSet[int],
) -> NDArray[np.object_] | None:
    """What is selected of each pair, as JSON."""
    pairs = np.flatnonzero(np.isin(numbers, list(selecting))).tolist()
    if not pairs:
        return None
    texts = np.full(len(numbers), None, object)
    for pair in pairs:
        place = int(found.event_index[pair])
        id = found.subscription_ids[int(found.subscription_index[pair])]
        said = matcher.selected(events[place], id, int(moments[place]), score=float(found.score[pair]))
        texts[pair] = msgspec.json.encode(said).decode()
    return texts
