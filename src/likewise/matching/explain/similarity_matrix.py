"""The similarity matrix behind an explanation: every predicate against every tuple (sources.md T, "Matching").

Hasan and Curry, "Thematic Event Processing", Middleware 2014, section 3.5, figure 4, draw it; so does the dashboard.
"""

from __future__ import annotations

from likewise.api.queries import Grid
from likewise.language.printer import predicate_text
from likewise.matching.reference.conditions import evaluate, prepare_condition, rows_of
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.mappings import best_mapping, score_of
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.model.event import Event
from likewise.model.subscription import Condition, Subscription
from likewise.semantics.measure import Measure


def similarity_matrix(
    event: Event, subscription: Subscription, measure: Measure | None, threshold: float
) -> Grid | None:
    """The matrix of the conjunction that counts if the condition is met, else of the one that comes nearest.

    Kinds without predicates over tuples (statements, patterns, vectors) have none.

    >>> from likewise.language import parse
    >>> from likewise.model import event
    >>> found = similarity_matrix(event({"t": 3, "u": 5}), parse("{t > 1, u > 9}"), None, 0.5)
    >>> found.value, found.chosen
    (((1.0, 1.0), (0.0, 0.0)), (None, None))
    """
    if not isinstance(subscription.body, Condition):
        return None
    condition, view = prepare_condition(subscription), EventView(event, measure)
    needed = MatchThreshold.at(threshold)
    result = evaluate(condition, view, needed)
    best: Grid | None = None
    for place, conjunction in enumerate(condition.conjunctions):
        if result is not None and place != result.conjunction:
            continue
        rows = rows_of(conjunction, view, condition.theme, needed.part)
        mappings = best_mapping([row.similarity for row in rows]) if rows else None
        score = score_of(mappings[0], conjunction.relaxed_parts) if mappings else 0.0
        drawn = Grid(
            tuple(predicate_text(predicate) for predicate in conjunction.positive),
            tuple(f"{item.attribute}: {item.value} {item.unit}".rstrip() for item in event.tuples),
            tuple(row.attribute for row in rows),
            tuple(row.value for row in rows),
            tuple(mappings[1]) if mappings else (None,) * len(rows),
            score,
        )
        if best is None or drawn.score > best.score:
            best = drawn
    return best
