"""Which of many conditions does an event meet? What holds state about events (windows) asks this first.

Exact conditions are found by interval bitmaps, which say all there is to say: their score is 1. Relaxed ones are found
through posting lists and then evaluated, for the score in 64 bits; a few of them are evaluated one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from likewise.matching.bitmap.engine import BitmapEngine
from likewise.matching.cache_use import CacheUse
from likewise.matching.reference.conditions import ConditionMatch, PreparedCondition, evaluate, prepare_condition
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.thematic.engine import ThematicEngine
from likewise.model import Event, Subscription
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure

FEW: Final = 8  # up to so many relaxed conditions are evaluated one by one
EXACTLY: Final = ConditionMatch(1.0, 1.0, 0)


class ConditionIndex:
    """Conditions by number. Their scores are those of the plain evaluation.

    >>> from likewise.language import parse
    >>> from likewise.model import event
    >>> index = ConditionIndex(None, 0.5, 0)
    >>> index.add(4, parse("{x > 1}")); index.add(7, parse("{x > 2}"))
    >>> [(number, met.score) for number, met in index.match(event({"x": 2}), 0)]
    [(4, 1.0)]
    """

    def __init__(
        self,
        measure: Measure | None,
        threshold: float,
        cache_bytes: int,
        curve: ProbabilityCurve = AS_SCORED,
        types: Hierarchy = NO_TYPES,
    ) -> None:
        self._measure = measure
        self._threshold = threshold
        self._curve = curve
        self._types = types
        self._exact = BitmapEngine(types=types)
        self._relaxed: dict[int, tuple[PreparedCondition, MatchThreshold]] = {}
        self._lists: ThematicEngine | None = None  # finds relaxed ones, once they are many
        self._cache_bytes = cache_bytes
        self._held: dict[int, Subscription] = {}

    def __len__(self) -> int:
        return len(self._held)

    def add(self, number: int, condition: Subscription) -> None:
        """Hold a condition under a number of the caller's."""
        if condition.kind == "exact":
            self._exact.add(number, condition)
        else:
            needed = MatchThreshold.of(condition, self._threshold, self._curve)
            self._relaxed[number] = prepare_condition(condition), needed
            if self._lists is not None:
                self._lists.add(number, condition, 0)
            elif len(self._relaxed) > FEW:
                self._lists = ThematicEngine(
                    self._measure, self._threshold, self._cache_bytes, self._curve, self._types
                )
                for number_held in self._relaxed:
                    self._lists.add(number_held, condition if number_held == number else self._held[number_held], 0)
        self._held[number] = condition

    def remove(self, number: int) -> None:
        """Forget a condition."""
        if self._relaxed.pop(number, None) is None:
            self._exact.remove(number)
        elif self._lists is not None:
            self._lists.remove(number)
        del self._held[number]

    def match(self, event: Event, at: int) -> list[tuple[int, ConditionMatch]]:
        """The conditions an event meets, and how well."""
        matches = (
            [(number, EXACTLY) for number in self._exact.find(event).ordinals.tolist()] if len(self._exact) else []
        )
        if self._relaxed:
            view = EventView(event, self._measure, self._types)
            likely = self._relaxed if self._lists is None else self._lists.find(event, at).ordinals.tolist()
            for number in likely:
                result = evaluate(self._relaxed[number][0], view, self._relaxed[number][1])
                if result is not None:
                    matches.append((number, result))
        return matches

    def caches(self) -> dict[str, CacheUse]:
        """Return what is looked up about relaxed conditions."""
        return {} if self._lists is None else self._lists.caches()

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Forget what is known about some seen texts."""
        if self._lists is not None:
            self._lists.forget_relatedness(of)
