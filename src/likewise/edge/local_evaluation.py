"""Relaxed subscriptions decided without a space: `plain` over the scores that the broker above has sent.

What stands in no column was not judged; where that could matter nothing is decided, and the event goes up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from likewise.api.edge_frames import LocalSubscriptionSpec, SourceGroupSpec, TermSpec
from likewise.matching.reference.conditions import evaluate, prepare_condition
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.terms import event_value_terms, predicate_attribute_term
from likewise.model import Subscription
from likewise.model.event import Event
from likewise.model.hierarchies.types import Hierarchy
from likewise.semantics.measure import Role, Term

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


class ReceivedScores:
    """A measure that says what it was sent; what it was not sent is related to nothing."""

    name = "sent"

    def __init__(self, scores: dict[Term, dict[Term, float]], opposed: frozenset[tuple[str, str]]) -> None:
        self._scores = scores
        self._opposed = opposed

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[float32]:
        """The relatedness of every asked term with every seen one."""
        import numpy as np

        known = [self._scores.get(term, {}) for term in asked]
        return np.array([[row.get(term, 0.0) for term in seen] for row in known], np.float32)

    def opposed(self, asked: str, seen: str) -> bool:
        """Whether being true of one name is being false of the other."""
        return (asked, seen) in self._opposed

    def configuration(self) -> dict[str, object]:
        """It cannot be rebuilt from a name."""
        return {"name": self.name}


class Undecided(Exception):
    """The scores do not say: a value that matters was not judged, or they are those of other terms."""


class LocalEvaluator:
    """One relaxed subscription, about events of one group.

    >>> import likewise as lw
    >>> group = SourceGroupSpec("g", (), terms=(TermSpec("temp", kind="number"),))
    >>> warm = Deciding(lw.parse("{warmth~ > 25}"), LocalSubscriptionSpec(1, "f", (0.5, 0.4, 0.5), ((0.75,),)), group)
    >>> warm.score(lw.event({"temp": 30})), warm.score(lw.event({"temp": 20}))
    (0.75, None)
    """

    def __init__(self, subscription: Subscription, sent: LocalSubscriptionSpec, group: SourceGroupSpec) -> None:
        self._condition = condition = prepare_condition(
            msgspec.structs.replace(subscription, select=(), from_one_source=False)
        )
        self._needed = MatchThreshold(*sent.needed)
        self._values = frozenset(_terms(group.values, "value"))
        scores: dict[Term, dict[Term, float]] = {}
        for role, rows, columns in (
            ("attribute", sent.attributes, _terms(group.terms, "attribute")),
            ("value", sent.values, _terms(group.values, "value")),
        ):
            asked = [term for term in condition.terms if term.role == role]
            if len(asked) != len(rows) or any(len(row) != len(columns) for row in rows):
                raise Undecided(f"the scores of subscription {sent.subscription} are not those of its terms")
            for term, row in zip(asked, rows, strict=True):
                scores[term] = {seen: number for seen, number in zip(columns, row, strict=True) if number}
        self._measure = ReceivedScores(scores, frozenset(sent.opposed))

    def score(self, event: Event, types: Hierarchy | None = None) -> float | None:
        """How well a judged event meets it, None if it does not; `Undecided` if a text in it could change that."""
        seen = EventView(event, self._measure) if types is None else EventView(event, self._measure, types)
        self._check(seen)
        met = evaluate(self._condition, seen, self._needed)
        return None if met is None else met.score

    def _check(self, seen: EventView) -> None:
        """Raise if a value that was not judged stands where a relaxed value looks."""
        theme = self._condition.theme
        for conjunction in self._condition.conjunctions:
            for predicate, name in zip(conjunction.positive, conjunction.folded, strict=True):
                if not predicate.value_relaxed:
                    continue
                related = (
                    seen.related(predicate_attribute_term(predicate, theme)) if predicate.attribute_relaxed else ()
                )
                for place, value in enumerate(event_value_terms(seen.event)):
                    matters = (
                        related[place] >= self._needed.part
                        if predicate.attribute_relaxed
                        else seen.tuples[place] in seen.by_attribute.get(name, ())
                    )
                    if matters and value is not None and value not in self._values:
                        raise Undecided(seen.tuples[place].attribute)


def _terms(sent: Sequence[TermSpec], role: Role) -> list[Term]:
    return [Term(each.text, role, each.theme, each.unit, each.kind, each.context) for each in sent]  # type: ignore[arg-type]
