"""What subscriptions found in stored events: counts, scores and examples, and what changes between two versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from likewise.formats.arrow.event_batch import EventBatch
from likewise.spark.streaming.matched_events import MatchedEvents

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXAMPLES: Final = 5  # of each subscription, if nothing else is said


class Example(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event that met a subscription: where it stands, its id, and the score."""

    inlet: str
    offset: int
    event_id: str | None = None
    score: float = 1.0


class MatchSummary(msgspec.Struct):
    """What one subscription found: how many events, the sum, the lowest and the highest of the scores, some of them."""

    events: int = 0
    total: float = 0.0
    lowest: float = 1.0
    highest: float = 0.0
    examples: list[Example] = []

    def add(self, other: MatchSummary, most: int) -> None:
        """Count what another task found, too."""
        self.events += other.events
        self.total += other.total
        self.lowest, self.highest = min(self.lowest, other.lowest), max(self.highest, other.highest)
        self.examples = (self.examples + other.examples)[:most]


class SubscriptionChange(msgspec.Struct):
    """What a subscription of one id finds in one version and not in the other."""

    gained: int = 0
    lost: int = 0
    gained_examples: list[Example] = []
    lost_examples: list[Example] = []

    def add(self, other: SubscriptionChange, most: int) -> None:
        """Count what another task found, too."""
        self.gained += other.gained
        self.lost += other.lost
        self.gained_examples = (self.gained_examples + other.gained_examples)[:most]
        self.lost_examples = (self.lost_examples + other.lost_examples)[:most]


class BacktestTally(msgspec.Struct):
    """What was found so far, by the subscriptions' numbers; what changes, by their ids."""

    events: int = 0
    matched: int = 0
    bad: int = 0
    found: dict[int, MatchSummary] = {}
    changed: dict[str, SubscriptionChange] = {}

    def add(self, other: BacktestTally, most: int) -> None:
        """Count what another task found, too."""
        self.events += other.events
        self.matched += other.matched
        self.bad += other.bad
        for number, found in other.found.items():
            self.found.setdefault(number, MatchSummary()).add(found, most)
        for id, changed in other.changed.items():
            self.changed.setdefault(id, SubscriptionChange()).add(changed, most)


class ExampleLocator:
    """Where the events of a batch stand, to give examples by."""

    def __init__(self, inlet: str, offsets: NDArray[np.int64], events: EventBatch) -> None:
        self._inlet = inlet
        self._offsets = offsets
        self._events = events

    def examples(self, places: Iterable[int], scores: Iterable[float]) -> list[Example]:
        """The events at some places, with their scores."""
        return [
            Example(self._inlet, int(self._offsets[place]), self._events[place].id, round(float(score), 4))
            for place, score in zip(places, scores, strict=True)
        ]


def count_matches(tally: BacktestTally, found: MatchedEvents, place: ExampleLocator, most: int) -> None:
    """Count what was found in a batch; examples are the first events."""
    tally.matched += len(found.places)
    event = np.repeat(found.places, np.diff(found.offsets))
    order = np.argsort(found.numbers, kind="stable")
    numbers, starts = np.unique(found.numbers[order], return_index=True)
    for number, start, stop in zip(numbers.tolist(), starts, np.append(starts, len(order))[1:], strict=True):
        own = order[start:stop]
        scores = found.scores[own]
        said = tally.found.setdefault(number, MatchSummary())
        missing = max(0, most - len(said.examples))
        examples = place.examples(event[own[:missing]].tolist(), scores[:missing].tolist())
        said.add(
            MatchSummary(
                len(own), float(scores.sum(dtype=np.float64)), float(scores.min()), float(scores.max()), examples
            ),
            most,
        )


def count_changes(
    tally: BacktestTally,
    found: MatchedEvents,
    before: MatchedEvents,
    ids: Mapping[str, tuple[int, int]],
    place: ExampleLocator,
    most: int,
) -> None:
    """Count what changed ids find in one version and not in the other; `ids` has their numbers in both, -1 for none."""
    now, then = _by_number(found), _by_number(before)
    nothing: dict[int, float] = {}
    for id, (number, former) in ids.items():
        new, old = now.get(number, nothing), then.get(former, nothing)
        gained = [event for event in new if event not in old]
        lost = [event for event in old if event not in new]
        if gained or lost:
            more = SubscriptionChange(
                len(gained),
                len(lost),
                place.examples(gained[:most], [new[event] for event in gained[:most]]),
                place.examples(lost[:most], [old[event] for event in lost[:most]]),
            )
            tally.changed.setdefault(id, SubscriptionChange()).add(more, most)


def _by_number(found: MatchedEvents) -> dict[int, dict[int, float]]:
    """For each number the events it met, and their scores."""
    event = np.repeat(found.places, np.diff(found.offsets))
    listed: dict[int, dict[int, float]] = {}
    for number, place, score in zip(found.numbers.tolist(), event.tolist(), found.scores.tolist(), strict=True):
        listed.setdefault(number, {})[place] = score
    return listed
