"""Does an event meet a condition? The plain evaluation, exact and relaxed (sources.md T and C; docs/language.md).

Without relaxed positive parts a predicate is true if some tuple satisfies it, and predicates may share a
tuple. With any, each predicate gets a tuple of its own, after comparisons on one attribute were merged;
the score is the geometric mean over the relaxed parts. `not p`: no tuple satisfies p (relaxed: none
reaches the threshold). The best conjunction counts.
"""

from __future__ import annotations

from typing import NamedTuple

from likewise.matching.reference.event_view import EventView, SimilarityRow, relaxed_terms
from likewise.matching.reference.list_items import PreparedItem, best_item, prepare_item
from likewise.matching.reference.mappings import best_mapping, describe, score_of
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.operators import meets
from likewise.matching.reference.terms import theme_of
from likewise.model.condition import merge_comparisons
from likewise.model.mapping import Mapping
from likewise.model.predicate import Predicate
from likewise.model.subscription import Condition, Subscription
from likewise.model.text import attribute_names, fold
from likewise.semantics.measure import Term


class PreparedConjunction(NamedTuple):
    """One conjunction, ready to be evaluated; `positive` is merged if anything in it is relaxed."""

    positive: tuple[Predicate, ...]
    negative: tuple[Predicate, ...]
    relaxed_parts: int
    folded: tuple[str, ...]  # the positive predicates' attributes
    some: tuple[PreparedItem, ...] = ()
    none: tuple[PreparedItem, ...] = ()


class PreparedCondition(NamedTuple):
    """A condition's conjunctions, the subscription's theme, and every term its relaxed parts ask about."""

    conjunctions: tuple[PreparedConjunction, ...]
    theme: tuple[str, ...]
    terms: tuple[Term, ...]


class ConditionMatch(NamedTuple):
    """A condition that an event meets: its score, the paper's product, and which conjunction it was.

    `nearness` is what relatedness ranks by where the score, which is at least 0, does not tell events apart.
    """

    score: float
    product: float
    conjunction: int
    nearness: float | None = None

    @property
    def ranked(self) -> float:
        """Return what the k best by relatedness are ranked by."""
        return self.score if self.nearness is None else self.nearness


def prepare_condition(subscription: Subscription) -> PreparedCondition:
    """Return what has to be known of a subscription's condition before any event.

    >>> both = (Predicate("t", ">", 1.0, True), Predicate("t", "<", 2.0, True))
    >>> prepare_condition(Subscription(Condition(both))).conjunctions[0].relaxed_parts
    1
    """
    assert isinstance(subscription.body, Condition)
    theme = theme_of(subscription.themes)
    ready, terms = [], []
    for conjunction in subscription.body.conjunctions():
        positive = conjunction.positive
        if conjunction.relaxed_parts:
            positive = merge_comparisons(positive)
        terms += relaxed_terms(positive, theme) + relaxed_terms(conjunction.negative, theme)
        items: list[tuple[PreparedItem, ...]] = []
        for side in (conjunction.some, conjunction.none):
            made = [prepare_item(item, theme) for item in side]
            items.append(tuple(item for item, _ in made))
            terms += [term for _, item_terms in made for term in item_terms]
        parts = sum(p.relaxed_parts for p in positive) + sum(item.relaxed_parts for item in items[0])
        folded = tuple(fold(p.attribute) for p in positive)
        ready.append(PreparedConjunction(positive, conjunction.negative, parts, folded, *items))
    return PreparedCondition(tuple(ready), theme, tuple(dict.fromkeys(terms)))


def evaluate(condition: PreparedCondition, view: EventView, needed: MatchThreshold) -> ConditionMatch | None:
    """Return how the event meets the condition, or None; of several conjunctions the best one.

    >>> from likewise.model import event
    >>> seen = EventView(event({"t": 3}))
    >>> evaluate(prepare_condition(Subscription(Condition((Predicate("t", ">", 1.0),)))), seen, MatchThreshold.at(0.5))
    ConditionMatch(score=1.0, product=1.0, conjunction=0, nearness=None)
    """
    if condition.terms:
        view.relate(condition.terms)
    best: ConditionMatch | None = None
    for place, conjunction in enumerate(condition.conjunctions):
        if conjunction.relaxed_parts == 0:
            if not exactly_true(conjunction, view):
                continue
            if any(best_item(item, view, condition.theme, needed) <= 0 for item in conjunction.some):
                continue
            result = ConditionMatch(1.0, 1.0, place)
        else:
            score, product = best_score(conjunction, view, condition.theme, needed)
            if score < needed.score or score <= 0:
                continue
            result = ConditionMatch(score, product, place)
        if best is not None and result[:2] <= best[:2]:
            continue
        if all(holds_for_none(p, view, condition.theme, needed) for p in conjunction.negative) and not any(
            item_holds(item, view, condition.theme, needed) for item in conjunction.none
        ):
            best = result
    return best


def exactly_true(conjunction: PreparedConjunction, view: EventView) -> bool:
    """Return whether some tuple satisfies each positive predicate; one tuple may serve several."""
    by_attribute = view.by_attribute
    for predicate, attribute in zip(conjunction.positive, conjunction.folded, strict=True):
        items = by_attribute.get(attribute)
        if items is None:
            return False
        for item in items:
            if meets(predicate, item, view.types):
                break
        else:
            return False
    return True


def best_score(
    conjunction: PreparedConjunction, view: EventView, theme: tuple[str, ...], needed: MatchThreshold
) -> tuple[float, float]:
    """Score and product of the best mapping whose relaxed parts all reach the floor, and of the best item of each
    list; both 0 if there is none."""
    rows: list[tuple[float, ...]] = []
    for predicate in conjunction.positive:
        row = view.row(predicate, theme, needed.part)
        if not any(row.similarity):
            return 0.0, 0.0
        rows.append(row.similarity)
    best = best_mapping(rows)
    product = best[0] if best is not None else 0.0 if rows else 1.0
    for item in conjunction.some:
        product *= best_item(item, view, theme, needed) if product else 0.0
    return (score_of(product, conjunction.relaxed_parts), product) if product else (0.0, 0.0)


def best_mappings(condition: PreparedCondition, view: EventView, needed: MatchThreshold, k: int) -> list[Mapping]:
    """The k best mappings of the conjunction that counts, with P_σ and P, whether or not they reach the threshold.

    Of several conjunctions the one that the event meets counts, else the one it comes nearest to; `not` has no part
    in a mapping.

    >>> from likewise.model import event
    >>> laptop = Predicate("device", "=", "laptop", value_relaxed=True)
    >>> seen = EventView(event({"device": "Laptop"}))
    >>> condition = prepare_condition(Subscription(Condition((laptop,))))
    >>> [m.score for m in best_mappings(condition, seen, MatchThreshold.at(0.5), 3)]
    [1.0]
    """
    if condition.terms:
        view.relate(condition.terms)
    result = evaluate(condition, view, needed)
    chosen = range(len(condition.conjunctions)) if result is None else (result.conjunction,)
    best: list[Mapping] = []
    for place in chosen:
        conjunction = condition.conjunctions[place]
        rows = rows_of(conjunction, view, condition.theme)
        mappings = describe(rows, conjunction.relaxed_parts, k, place) if rows else []
        if mappings and (not best or (mappings[0].score, mappings[0].product) > (best[0].score, best[0].product)):
            best = mappings
    return best


def rows_of(
    conjunction: PreparedConjunction, view: EventView, theme: tuple[str, ...], floor: float = 0.0
) -> list[SimilarityRow]:
    """The similarity matrix: one row for each positive predicate; 0 where a relaxed part is below the floor."""
    return [view.row(predicate, theme, floor) for predicate in conjunction.positive]


def item_holds(item: PreparedItem, view: EventView, theme: tuple[str, ...], needed: MatchThreshold) -> bool:
    """Return whether an item of the list matches a `some` that stands alone; if relaxed, reaches the threshold."""
    product = best_item(item, view, theme, needed)
    return product > 0 and (not item.relaxed_parts or score_of(product, item.relaxed_parts) >= needed.against)


def holds_for_none(predicate: Predicate, view: EventView, theme: tuple[str, ...], needed: MatchThreshold) -> bool:
    """Return whether no tuple satisfies the predicate; if it is relaxed, whether none reaches the threshold."""
    return first_holder(predicate, view, theme, needed) is None


def first_holder(predicate: Predicate, view: EventView, theme: tuple[str, ...], needed: MatchThreshold) -> int | None:
    """The first tuple that satisfies a predicate standing alone, by its index; None if none does.

    >>> from likewise.model import event
    >>> first_holder(Predicate("b", "exists"), EventView(event({"a": 1, "b": 2})), (), MatchThreshold.at(0.5))
    1
    """
    parts = predicate.relaxed_parts
    if parts == 0:
        folded = fold(predicate.attribute)
        for i, t in enumerate(view.tuples):
            if folded in attribute_names(t.attribute) and meets(predicate, t, view.types):
                return i
        return None
    similarity = view.row(predicate, theme, needed.part).similarity
    return next((i for i, s in enumerate(similarity) if s > 0 and score_of(s, parts) >= needed.against), None)
