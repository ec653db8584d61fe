"""Scores that decide a relaxed subscription without a space: of its terms with every judged one.

Rows stand in the order of the subscription's own terms (`prepare_condition`), columns in that of the judged attributes,
and of the values whose relatedness may matter. What is not among them was not judged, and is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from likewise.matching.demand.compiler import demanded_conditions, relaxed_value_names
from likewise.matching.demand.offers import Offers
from likewise.matching.demand.term_scores import TermScores
from likewise.matching.reference.conditions import PreparedCondition, prepare_condition
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.terms import value_term
from likewise.model import Condition, Subscription, fold
from likewise.model.event import EventTuple
from likewise.model.predicate import Predicate
from likewise.semantics.measure import Term

Rows = tuple[tuple[float, ...], ...]


class Scored(msgspec.Struct, frozen=True):
    """Threshold, relatedness of each requested term to each judged one, and names that are opposites."""

    needed: tuple[float, float, float]
    attributes: Rows
    values: Rows
    opposed: tuple[tuple[str, str], ...]


class ScoreColumns(NamedTuple):
    """The judged terms that scores are given for, in their order."""

    attributes: tuple[Term, ...]
    values: tuple[Term, ...]


def is_decidable_by_scores(subscription: Subscription) -> bool:
    """Return whether scores of judged terms decide it: relaxed conditions without lists, and without a relaxed
    value after `not`, whose texts no demand asks for.

    >>> import likewise as lw
    >>> is_decidable_by_scores(lw.parse("{temperature~ > 25 degC}")), is_decidable_by_scores(lw.parse("{t > 25}"))
    (True, False)
    >>> is_decidable_by_scores(lw.parse("{temperature~ > 25, not device = laptop~}"))
    False
    """
    if subscription.kind != "approximate" or not isinstance(subscription.body, Condition):
        return False
    for conjunction in prepare_condition(demanded_conditions(subscription)[0]).conjunctions:
        if conjunction.some or conjunction.none or any(each.value_relaxed for each in conjunction.negative):
            return False
        if any(each.operator == "is-a" for each in (*conjunction.positive, *conjunction.negative)):
            return False  # by the types that are known at the hub
    return True


def columns_of(
    subscriptions: Iterable[tuple[Subscription, MatchThreshold]],
    offers: Offers,
    scores: TermScores,
    judged: Iterable[Term],
) -> ScoreColumns:
    """The attributes that were judged, and the known values under names of which a relaxed value may ask."""
    names: set[str] = set()
    for subscription, needed in subscriptions:
        condition = prepare_condition(demanded_conditions(subscription)[0])
        for conjunction in condition.conjunctions:
            names.update(relaxed_value_names(conjunction, offers, scores, condition.theme, needed))
    terms = (
        value_term(EventTuple(offer.name, value), offers.theme)
        for offer in offers.offers
        if offer.constant is None and fold(offer.name) in names
        for value in offer.values
    )
    return ScoreColumns(tuple(sorted(judged)), tuple(sorted({term for term in terms if term is not None})))


def scored(subscription: Subscription, needed: MatchThreshold, columns: ScoreColumns, scores: TermScores) -> Scored:
    """The scores of one subscription."""
    condition = prepare_condition(demanded_conditions(subscription)[0])
    scores.relate(condition.terms, [*columns.attributes, *columns.values])
    attributes = tuple(
        tuple(scores.of(term, event_term) for event_term in columns.attributes)
        for term in condition.terms
        if term.role == "attribute"
    )
    values = tuple(
        tuple(scores.of(term, event_term) for event_term in columns.values)
        for term in condition.terms
        if term.role == "value"
    )
    opposed = _opposed(condition, columns.attributes, scores)
    return Scored((needed.score, needed.part, needed.against), attributes, values, opposed)


def _opposed(
    condition: PreparedCondition, event_terms: Sequence[Term], scores: TermScores
) -> tuple[tuple[str, str], ...]:
    """Pairs of names of which being true of the one is being false of the other, where truth is asked for."""
    requested_names = {
        predicate.attribute
        for conjunction in condition.conjunctions
        for predicate in (*conjunction.positive, *conjunction.negative)
        if _compares_boolean(predicate)
    }
    names = sorted({term.text for term in event_terms})
    return tuple((one, other) for one in sorted(requested_names) for other in names if scores.opposed(one, other))


def _compares_boolean(predicate: Predicate) -> bool:
    return predicate.attribute_relaxed and isinstance(predicate.value, bool)
