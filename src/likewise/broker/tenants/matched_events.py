"""Matches of a batch as arrays, up to the stored row: subscriptions by number, and their owners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.broker.log.deliveries import OwnerIndex
from likewise.broker.log.packed_sets import Numbers, pack_scores

NumbersAndScores = tuple[list[int], list[float]]  # numbers of subscriptions, and their scores


class BatchMatchIndex(msgspec.Struct, frozen=True, gc=False):
    """The subscriptions that each event of a batch matched, in the order of addition.

    `named` are the numbers of subscriptions, ascending. Event i met those at `index[starts[i]:starts[i + 1]]`, with the
    scores beside them; without scores all are 1.

    >>> met = BatchMatchIndex.of({1: ([7, 9], [1.0, 0.5])}, count=3)
    >>> list(met), met.numbers(1).tolist(), met.listed(1)
    ([1], [7, 9], ([7, 9], [1.0, 0.5]))
    """

    named: Numbers
    index: NDArray[np.signedinteger[Any]]
    starts: NDArray[np.intp]
    scores: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, matches: Mapping[int, NumbersAndScores], count: int) -> BatchMatchIndex:
        """Build it from the matches of each of `count` events, by the event's index."""
        counts = np.zeros(count + 1, np.intp)
        for event, (numbers, _) in matches.items():
            counts[event + 1] = len(numbers)
        flat = np.array([number for numbers, _ in matches.values() for number in numbers], np.int64)
        named, index = np.unique(flat, return_inverse=True)
        scores = np.array([score for _, scores in matches.values() for score in scores], np.float32)
        return cls(named, index, np.cumsum(counts), scores)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the events with matches."""
        return iter(np.flatnonzero(np.diff(self.starts)).tolist())

    def __contains__(self, event: object) -> bool:
        return isinstance(event, int) and bool(self.starts[event] < self.starts[event + 1])

    def numbers(self, event: int) -> Numbers:
        """Return the numbers of the subscriptions an event matched."""
        numbers: Numbers = self.named[self.index[self.starts[event] : self.starts[event + 1]]]
        return numbers

    def packed_scores(self, event: int) -> bytes:
        """Return the scores of an event's matches as they are stored."""
        if self.scores is None:
            return b""
        return pack_scores(self.scores[self.starts[event] : self.starts[event + 1]])

    def listed(self, event: int) -> NumbersAndScores:
        """Return numbers and scores as lists; for few."""
        numbers = self.numbers(event).tolist()
        if self.scores is None:
            return numbers, [1.0] * len(numbers)
        return numbers, self.scores[self.starts[event] : self.starts[event + 1]].tolist()


class EventRecipients(msgspec.Struct, frozen=True, gc=False):
    """The recipients of a batch: by event, then by owner, and by owner, then by event."""

    recipients: Numbers
    starts: NDArray[np.intp]  # of each event among the recipients
    owners: list[int]  # who gets any
    events: NDArray[np.intp]  # what they get, one owner after the other
    cuts: list[int]  # where each owner's begin and end

    @classmethod
    def of(cls, matches: BatchMatchIndex, owned: OwnerIndex, chosen: NDArray[np.bool_]) -> EventRecipients:
        """Compute the recipients of the `chosen` events.

        >>> met = BatchMatchIndex(np.array([5, 6]), np.array([0, 1, 1]), np.array([0, 2, 3]))
        >>> shares = EventRecipients.of(met, OwnerIndex.of([30, 20]), np.array([True, True]))
        >>> shares.recipients.tolist(), shares.owners, shares.events.tolist(), shares.cuts
        ([20, 30, 20], [20, 30], [0, 1, 0], [0, 2, 3])
        """
        count, width = len(chosen), len(owned.owners)
        event = np.repeat(np.where(chosen, np.arange(count) * width, -width), np.diff(matches.starts))
        keys = event + owned.place[matches.index]
        if not chosen.all():
            keys = keys[keys >= 0]
        if count * width <= 20 * len(keys) + 4_096:
            delivered = np.zeros((count, width), bool)
            delivered.ravel()[keys] = True
            by_event, owner = np.nonzero(delivered)
            by_owner, events = np.nonzero(delivered.T)
        else:  # many owners, each of few
            by_event, owner = np.divmod(np.unique(keys), width)
            order = np.argsort(owner, kind="stable")
            by_owner, events = owner[order], by_event[order]
        cuts = np.flatnonzero(np.diff(by_owner, prepend=-1, append=-1)) if len(by_owner) else np.zeros(1, np.intp)
        return cls(
            owned.owners[owner],
            np.searchsorted(by_event, np.arange(count + 1)),
            owned.owners[by_owner[cuts[:-1]]].tolist(),
            events,
            cuts.tolist(),
        )
