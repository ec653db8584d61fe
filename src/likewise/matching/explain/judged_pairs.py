"""Which term pairs a judgement of a match is about: those of its best mapping that are not equal anyway."""

from __future__ import annotations

from likewise.errors import NotServed
from likewise.matching.reference.conditions import evaluate, plain_condition, rows_of
from likewise.matching.reference.mappings import best_mapping
from likewise.matching.reference.needed import Needed
from likewise.matching.reference.similarity import SeenEvent
from likewise.model import Condition, Event, Subscription, fold
from likewise.semantics.feedback import Pair, pair_of
from likewise.semantics.measure import Measure


def judged_pairs(event: Event, subscription: Subscription, measure: Measure) -> list[Pair]:
    """The pairs of asked and seen terms behind the best mapping, whatever its score.

    Where no mapping has a score above 0, each predicate is taken with the tuple nearest to it.
    """
    if not isinstance(subscription.body, Condition) or not subscription.body.is_relaxed():
        raise NotServed(
            f"{subscription.id!r} has no relaxed part (~): feedback moves the relatedness of terms, and there are none"
        )
    condition = plain_condition(subscription)
    seen = SeenEvent(event, measure)
    met = evaluate(condition, seen, Needed.at(0.0))
    conjunction = condition.conjunctions[0 if met is None else met.conjunction]
    rows = rows_of(conjunction, seen, condition.theme)
    found = best_mapping([row.similarity for row in rows])
    if found is not None:
        chosen: tuple[int, ...] = found[1]
    else:
        places = range(len(event.tuples))
        chosen = tuple(max(places, key=lambda i, row=row: (row.similarity[i], row.attribute[i])) for row in rows)  # type: ignore[misc]
    pairs = []
    for predicate, place in zip(conjunction.positive, chosen, strict=True):
        item = event.tuples[place]
        if predicate.attribute_relaxed and fold(predicate.attribute) != fold(item.attribute):
            pairs.append(pair_of("attribute", predicate.attribute, item.attribute))
        if predicate.value_relaxed and fold(str(predicate.value)) != fold(str(item.value)):
            pairs.append(pair_of("value", str(predicate.value), str(item.value)))
    return pairs
