"""What decides a relaxed subscription where no space is: the scores of its asked terms with every judged one.

Rows stand in the order of the subscription's own terms (`plain_condition`), columns in that of the judged attributes,
and of the values whose relatedness may matter. What is not among them was not judged, and is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from likewise.matching.demand.compiler import asked_texts, demanded
from likewise.matching.demand.offers import Offers
from likewise.matching.demand.scores import Scores
from likewise.matching.reference.conditions import PlainCondition, plain_condition
from likewise.matching.reference.needed import Needed
from likewise.matching.reference.terms import seen_value
from likewise.model import Condition, Subscription, fold
from likewise.model.event import EventTuple
from likewise.model.predicate import Predicate
from likewise.semantics.measure import Term

Rows = tuple[tuple[float, ...], ...]


class Scored(msgspec.Struct, frozen=True):
    """What an event must reach, how related each asked term is with each judged one, and which names are opposites."""

    needed: tuple[float, float, float]
    attributes: Rows
    values: Rows
    opposed: tuple[tuple[str, str], ...]


class Columns(NamedTuple):
    """The judged terms that scores are given for, in their order."""

    attributes: tuple[Term, ...]
    values: tuple[Term, ...]


def decidable(subscription: Subscription) -> bool:
    """Whether scores of judged terms are all that it needs: conditions by meaning without lists, and without a relaxed
    value after `not`, whose texts no demand asks for.

    >>> import likewise as lw
    >>> decidable(lw.parse("{temperature~ > 25 degC}")), decidable(lw.parse("{t > 25}"))
    (True, False)
    >>> decidable(lw.parse("{temperature~ > 25, not device = laptop~}"))
    False
    """
    if subscription.kind != "approximate" or not isinstance(subscription.body, Condition):
        return False
    for conjunction in plain_condition(demanded(subscription)[0]).conjunctions:
        if conjunction.some or conjunction.none or any(each.value_relaxed for each in conjunction.negative):
            return False
        if any(each.operator == "is-a" for each in (*conjunction.positive, *conjunction.negative)):
            return False  # by the types that are known at the hub
    return True


def columns_of(
    subscriptions: Iterable[tuple[Subscription, Needed]], offers: Offers, scores: Scores, judged: Iterable[Term]
) -> Columns:
    """The attributes that were judged, and the known values under names of which a relaxed value may ask."""
    names: set[str] = set()
    for subscription, needed in subscriptions:
        condition = plain_condition(demanded(subscription)[0])
        for conjunction in condition.conjunctions:
            names.update(asked_texts(conjunction, offers, scores, condition.theme, needed))
    found = (
        seen_value(EventTuple(offer.name, value), offers.theme)
        for offer in offers.offers
        if offer.constant is None and fold(offer.name) in names
        for value in offer.values
    )
    return Columns(tuple(sorted(judged)), tuple(sorted({term for term in found if term is not None})))


def scored(subscription: Subscription, needed: Needed, columns: Columns, scores: Scores) -> Scored:
    """The scores of one subscription."""
    condition = plain_condition(demanded(subscription)[0])
    scores.relate(condition.terms, [*columns.attributes, *columns.values])
    attributes = tuple(
        tuple(scores.of(term, seen) for seen in columns.attributes)
        for term in condition.terms
        if term.role == "attribute"
    )
    values = tuple(
        tuple(scores.of(term, seen) for seen in columns.values) for term in condition.terms if term.role == "value"
    )
    opposed = _opposed(condition, columns.attributes, scores)
    return Scored((needed.score, needed.part, needed.against), attributes, values, opposed)


def _opposed(condition: PlainCondition, seen: Sequence[Term], scores: Scores) -> tuple[tuple[str, str], ...]:
    """Pairs of names of which being true of the one is being false of the other, where truth is asked for."""
    asked = {
        predicate.attribute
        for conjunction in condition.conjunctions
        for predicate in (*conjunction.positive, *conjunction.negative)
        if _asks_for_truth(predicate)
    }
    names = sorted({term.text for term in seen})
    return tuple((one, other) for one in sorted(asked) for other in names if scores.opposed(one, other))


def _asks_for_truth(predicate: Predicate) -> bool:
    return predicate.attribute_relaxed and isinstance(predicate.value, bool)
