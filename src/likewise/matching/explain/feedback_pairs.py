"""Which term pairs a judgement of a match is about: those of its best mapping that are not equal anyway."""

from __future__ import annotations

from likewise.errors import UnsupportedSubscription
from likewise.matching.reference.conditions import evaluate, prepare_condition, rows_of
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.mappings import best_mapping
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.model import Condition, Event, Subscription, fold
from likewise.semantics.feedback import TermPair, term_pair
from likewise.semantics.measure import Measure


def feedback_pairs(event: Event, subscription: Subscription, measure: Measure) -> list[TermPair]:
    """The pairs of asked and seen terms behind the best mapping, whatever its score.

    Where no mapping has a score above 0, each predicate is taken with the tuple nearest to it.
    """
    if not isinstance(subscription.body, Condition) or not subscription.body.is_relaxed():
        raise UnsupportedSubscription(
            f"{subscription.id!r} has no relaxed part (~): feedback moves the relatedness of terms, and there are none"
        )
    condition = prepare_condition(subscription)
    view = EventView(event, measure)
    result = evaluate(condition, view, MatchThreshold.at(0.0))
    conjunction = condition.conjunctions[0 if result is None else result.conjunction]
    rows = rows_of(conjunction, view, condition.theme)
    best = best_mapping([row.similarity for row in rows])
    if best is not None:
        chosen: tuple[int, ...] = best[1]
    else:
        places = range(len(event.tuples))
        chosen = tuple(max(places, key=lambda i, row=row: (row.similarity[i], row.attribute[i])) for row in rows)  # type: ignore[misc]
    pairs = []
    for predicate, place in zip(conjunction.positive, chosen, strict=True):
        item = event.tuples[place]
        if predicate.attribute_relaxed and fold(predicate.attribute) != fold(item.attribute):
            pairs.append(term_pair("attribute", predicate.attribute, item.attribute))
        if predicate.value_relaxed and fold(str(predicate.value)) != fold(str(item.value)):
            pairs.append(term_pair("value", str(predicate.value), str(item.value)))
    return pairs
