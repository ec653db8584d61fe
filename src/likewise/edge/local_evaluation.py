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

    def matrix(self, requested: Sequence[Term], event_terms: Sequence[Term]) -> NDArray[float32]:
        """Return the relatedness of each requested term to each event term."""
        import numpy as np

        known = [self._scores.get(term, {}) for term in requested]
        return np.array([[row.get(term, 0.0) for term in event_terms] for row in known], np.float32)

    def opposed(self, requested: str, observed: str) -> bool:
        """Return whether one name being true means that the other is false."""
        return (requested, observed) in self._opposed

    def configuration(self) -> dict[str, object]:
        """Return its name; it cannot be rebuilt from that."""
        return {"name": self.name}


class Undecided(Exception):
    """The scores do not say: a value that matters was not judged, or they are those of other terms."""


class LocalEvaluator:
    """One relaxed subscription, about events of one group.

    >>> import likewise as lw
    >>> group = SourceGroupSpec("g", (), terms=(TermSpec("temp", kind="number"),))
    >>> spec = LocalSubscriptionSpec(1, "f", (0.5, 0.4, 0.5), ((0.75,),))
    >>> warm = LocalEvaluator(lw.parse("{warmth~ > 25}"), spec, group)
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
            requested = [term for term in condition.terms if term.role == role]
            if len(requested) != len(rows) or any(len(row) != len(columns) for row in rows):
                raise Undecided(f"the scores of subscription {sent.subscription} are not those of its terms")
            for term, row in zip(requested, rows, strict=True):
                scores[term] = {event_term: number for event_term, number in zip(columns, row, strict=True) if number}
        self._measure = ReceivedScores(scores, frozenset(sent.opposed))

    def score(self, event: Event, types: Hierarchy | None = None) -> float | None:
        """Return the score of an event, None if it does not match. Raise `Undecided` if a text could change that."""
        scored_event = EventView(event, self._measure) if types is None else EventView(event, self._measure, types)
        self._check(scored_event)
        evaluation = evaluate(self._condition, scored_event, self._needed)
        return None if evaluation is None else evaluation.score

    def _check(self, scored_event: EventView) -> None:
        """Raise if a value that was not judged stands where a relaxed value looks."""
        theme = self._condition.theme
        for conjunction in self._condition.conjunctions:
            for predicate, name in zip(conjunction.positive, conjunction.folded, strict=True):
                if not predicate.value_relaxed:
                    continue
                related = (
                    scored_event.related(predicate_attribute_term(predicate, theme))
                    if predicate.attribute_relaxed
                    else ()
                )
                for place, value in enumerate(event_value_terms(scored_event.event)):
                    matters = (
                        related[place] >= self._needed.part
                        if predicate.attribute_relaxed
                        else scored_event.tuples[place] in scored_event.by_attribute.get(name, ())
                    )
                    if matters and value is not None and value not in self._values:
                        raise Undecided(scored_event.tuples[place].attribute)


def _terms(sent: Sequence[TermSpec], role: Role) -> list[Term]:
    return [Term(each.text, role, each.theme, each.unit, each.kind, each.context) for each in sent]  # type: ignore[arg-type]
