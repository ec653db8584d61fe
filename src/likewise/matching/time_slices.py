"""A batch in time: when each of its events counts, and the runs of them that are matched together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from likewise.model import Event

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from likewise.formats.arrow.event_batch import EventBatch


def moments_of(
    events: Sequence[Event] | EventBatch, at: Sequence[int] | None, clock: Callable[[], int]
) -> tuple[NDArray[int64], NDArray[int64]]:
    """When each event counts, and which events are past their validity by then.

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
