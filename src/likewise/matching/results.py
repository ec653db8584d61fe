"""Results of engines for the slices of a batch, as the arrays of one `MatchBatch`.

Ordinals become indices into a list of subscription ids. At first the ids that occur are listed; once there were as many
matches as there are subscriptions, the list of all ids is made and kept until a subscription comes or goes, so that a
match costs nothing or one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from likewise.matching.engine import EngineBatchResult
from likewise.model import Event
from likewise.model.subscription import Subscription

if TYPE_CHECKING:
    from numpy import float32, int32, int64, signedinteger
    from numpy.typing import NDArray

    from likewise.formats.arrow.event_batch import EventBatch

    Ordinals = NDArray[signedinteger[Any]]


def merge(pieces: Sequence[tuple[int, EngineBatchResult]]) -> tuple[NDArray[int32], Ordinals, NDArray[float32]]:
    """Event, ordinal and score of every match, by event, then by ordinal; each piece says where its stretch begins.

    Scores that are all 1 take no memory of their own and are read-only.

    >>> import numpy as np
    >>> one = EngineBatchResult(np.array([1, 1]), np.array([7, 4]))
    >>> other = EngineBatchResult(np.array([1, 0]), np.array([2]))
    >>> [array.tolist() for array in merge([(5, one), (5, other)])]
    [[5, 5, 6], [2, 7, 4], [1.0, 1.0, 1.0]]
    """
    import numpy as np

    ones = np.broadcast_to(np.float32(1), sum(len(piece.ordinals) for _, piece in pieces))
    if len(pieces) == 1:
        start, piece = pieces[0]
        event_index = piece.event_index
        event_index += np.int32(start)
        return event_index, piece.ordinals, ones if piece.scores is None else piece.scores
    none = np.empty(0, np.int32)
    event_index = np.concatenate([none, *(piece.event_index + np.int32(start) for start, piece in pieces)])
    ordinals: Ordinals = np.concatenate([none, *(piece.ordinals for _, piece in pieces)])
    scores: NDArray[float32] = ones
    if any(piece.scores is not None for _, piece in pieces):
        scores = np.concatenate(
            [np.ones(len(f.ordinals), np.float32) if f.scores is None else f.scores for _, f in pieces]
        )
    # pieces are in order, so a stable sort of their keys is a merge
    order = np.argsort(event_index.astype(np.int64) << 32 | ordinals, kind="stable")
    return event_index[order], ordinals[order], scores[order]


class SubscriptionNumbering:
    """Numbers the ordinals of the subscriptions in `held`, which must be in the order of their ordinals.

    >>> import numpy as np
    >>> held = {n: Subscription(None, id=f"s{n}") for n in (2, 5)}
    >>> index, ids, numbers = SubscriptionNumbering(held).number(np.array([5]), {})
    >>> [(ids[i], int(numbers[i])) for i in index.tolist()]
    [('s5', 5)]
    """

    def __init__(self, subscriptions: Mapping[int, Subscription], ordinals: Mapping[str, int] | None = None) -> None:
        """`ordinals`, if given, has the ordinal of each id in the same order: no subscription is looked at then."""
        self._held = subscriptions
        self._by_id = ordinals
        self.forget()

    def forget(self) -> None:
        """A subscription came or went."""
        self._ids: tuple[str, ...] = ()
        self._first = 0
        self._numbers: Ordinals | None = None
        self._matches = 0  # numbered since
        self._places: NDArray[int64] | None = None  # of the ordinals from the first on; None if none is missing

    def number(self, ordinals: Ordinals, ended: Mapping[int, str]) -> tuple[Ordinals, Sequence[str], Ordinals]:
        """For each ordinal an index into the ids that come with it, and the ordinals of these ids.

        `ended` names those no longer held.
        """
        import numpy as np

        subscriptions = self._held
        self._matches += len(ordinals)
        if ended or self._matches < len(subscriptions):
            used, index = np.unique(ordinals, return_inverse=True)
            return index, [subscriptions[o].id if o in subscriptions else ended[o] for o in used.tolist()], used
        if self._numbers is None:
            self._numbers = np.fromiter(subscriptions, np.int64, len(subscriptions))
            self._list(self._numbers)
        if self._places is not None:
            return self._places[ordinals - self._first], self._ids, self._numbers
        return (ordinals - self._first if self._first else ordinals), self._ids, self._numbers

    def _list(self, ordinals: NDArray[int64]) -> None:
        import numpy as np

        by_id = self._by_id
        self._ids = tuple(s.id for s in self._held.values()) if by_id is None else tuple(by_id)
        if len(ordinals):
            self._first = int(ordinals[0])
            span = int(ordinals[-1]) - self._first + 1
            if span > len(ordinals):
                self._places = np.zeros(span, np.int64)
                self._places[ordinals - self._first] = np.arange(len(ordinals))


def moments_of(
    events: Sequence[Event] | EventBatch, at: Sequence[int] | None, clock: Callable[[], int]
) -> tuple[NDArray[int64], NDArray[int64]]:
    """Return when each event counts, and which events are past their validity by then.

    An event counts as said (`at`), else by its own time, else by the clock.

    >>> from likewise.model import event
    >>> moments, over = moments_of([event({"a": 1}, time=5), event({"a": 2}, expires=7)], None, lambda: 9)
    >>> moments.tolist(), over.tolist()
    ([5, 9], [1])
    """
    import numpy as np

    from likewise.formats.arrow.columns import NO_TIME
    from likewise.formats.arrow.event_batch import EventBatch

    if isinstance(events, EventBatch):
        columns = events.columns()
        times, ends = columns.time, columns.expires
    else:
        times = np.fromiter((NO_TIME if e.time is None else e.time for e in events), np.int64, len(events))
        ends = np.fromiter((NO_TIME if e.expires is None else e.expires for e in events), np.int64, len(events))
    if at is not None:
        moments = np.array(at, np.int64)
    elif (times == NO_TIME).any():
        moments = np.where(times == NO_TIME, clock(), times)
    else:
        moments = times
    return moments, np.flatnonzero((ends != NO_TIME) & (ends <= moments))


def slice_batch(moments: NDArray[int64], over: NDArray[int64], first_end: int | None) -> list[tuple[int, int]]:
    """Runs of events between which no subscription ends; events past their validity are left out.

    `first_end` is when the first subscription ends, None if none does.

    >>> import numpy as np
    >>> slice_batch(np.array([1, 2, 3, 4]), np.array([1]), None), slice_batch(np.array([1, 2]), np.array([], int), 2)
    ([(0, 1), (2, 4)], [(0, 1), (1, 2)])
    """
    cuts = {0, len(moments)}
    if first_end is not None and len(moments) and int(moments.max()) >= first_end:
        cuts.update(range(len(moments)))  # some subscription ends during the batch: one event at a time
    removed = set(over.tolist())
    cuts.update(removed)
    cuts.update(place + 1 for place in removed)
    return [(a, b) for a, b in pairwise(sorted(cuts)) if a not in removed]
