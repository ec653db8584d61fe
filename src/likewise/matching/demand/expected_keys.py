"""Does an announcement meet the condition of an alert? Then its silence is an absence, though nothing of it held yet.

Demand asks what a source might have, and lets through too much. Here too little is better: a text that is asked for
must be among those that the source announced, or be what an annotation, its place or its model says.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from likewise.matching.demand.compiler import filter_parts
from likewise.matching.demand.offers import Annotate, Offer, OfferForm, Offers, offers_of
from likewise.matching.demand.term_scores import TermScores
from likewise.matching.reference.alerts.transitions import key_of
from likewise.matching.reference.conditions import prepare_condition
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.terms import attribute_term
from likewise.model import Event, Predicate, Subscription, fold
from likewise.model.alerts.notification import Key
from likewise.model.announcements.announcement import Announcement
from likewise.model.event import EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.semantics.enrichment.table import AnnotationTable

FACTS: Final = ("place", "model")


def expected_key(
    subscription: Subscription,
    announcement: Announcement,
    annotations: AnnotationTable,
    annotate: Annotate,
    scores: TermScores,
    needed: MatchThreshold,
    types: Hierarchy = NO_TYPES,
) -> Key | None:
    """The key of an alert that a source will have something for, by its announcement; None if that is not known."""
    alert = subscription.alert
    if alert is None or alert.absent_for is None:
        return None
    key = (announcement.source,) if not alert.per else key_of(_announced_event(announcement, annotate), alert.per)
    if key is None:
        return None
    offers = _with_facts(offers_of(announcement, annotations, annotate), announcement)
    condition = prepare_condition(replace(subscription, alert=None, select=(), from_one_source=False))
    for conjunction in condition.conjunctions:
        known = [_certain_offers(predicate, offers) for predicate in conjunction.positive]
        if filter_parts(conjunction, offers, known, scores, condition.theme, needed, types) is not None:
            return key
    return None


def uses_announced_facts(subscription: Subscription) -> bool:
    """Return whether a condition names facts of an announcement beside its attributes; its demand may not show them.

    >>> import likewise as lw
    >>> uses_announced_facts(lw.parse("{t exists, place = hall} absent for 1 h"))
    True
    """
    conjunctions = prepare_condition(replace(subscription, alert=None, select=(), from_one_source=False)).conjunctions
    return any(fold(predicate.attribute) in FACTS for each in conjunctions for predicate in each.positive)


def _certain_offers(predicate: Predicate, offers: Offers) -> tuple[bool, ...]:
    """For each offer, whether it is known that it can have what is asked for."""
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    if predicate.operator == "exists" or not any(isinstance(value, str) for value in values):
        return (True,) * len(offers.offers)
    return tuple(
        offer.constant is not None or any(isinstance(value, str) for value in offer.values) for offer in offers.offers
    )


def _announced_event(announcement: Announcement, annotate: Annotate) -> Event:
    """Return the announced facts of every event of a source: attributes with one value, place and model."""
    tuples = [EventTuple(each.name, each.values[0]) for each in announcement.all_attributes() if len(each.values) == 1]
    tuples += [*_facts(announcement), EventTuple("announced", True)]  # no event is empty
    return annotate(Event(tuple(tuples), announcement.themes, source=announcement.source))


def _facts(announcement: Announcement) -> tuple[EventTuple, ...]:
    named = {each.name for each in announcement.attributes}
    facts = ((name, getattr(announcement, name)) for name in FACTS)
    return tuple(EventTuple(name, value) for name, value in facts if value and name not in named)


def _with_facts(offers: Offers, announcement: Announcement) -> Offers:
    more = tuple(
        Offer(
            item.attribute,
            (OfferForm(attribute_term(item, offers.theme)),),
            Predicate(item.attribute, "exists"),
            (item.value,),
            "",
            item,
        )
        for item in _facts(announcement)
    )
    return offers._replace(offers=(*offers.offers, *more))
