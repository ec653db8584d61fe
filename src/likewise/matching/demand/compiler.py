"""A subscription against what a source offers: the exact filter that every event that matches it meets.

Each predicate of a conjunction needs something offered: the same name, or, relaxed, one that is related well enough;
and a value that both sides may have. With r relaxed parts the best mapping that the offers allow must reach the
threshold, and so must every part. What no event can meet is left out; negative parts are dropped, so that the filter is
met by too many rather than too few, and the hub decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from likewise.matching.covering.compatibility import compatible
from likewise.matching.demand.demand_filter import DemandFilter, Part, Parts
from likewise.matching.demand.offers import Offer, OfferForm, Offers
from likewise.matching.demand.term_scores import TermScores
from likewise.matching.reference.alerts.transitions import alert_conditions
from likewise.matching.reference.conditions import PreparedConjunction, prepare_condition
from likewise.matching.reference.mappings import best_mapping, score_of
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.operators import register_operators
from likewise.matching.reference.polarity import meets_with_polarity
from likewise.matching.reference.terms import predicate_attribute_term, predicate_value_term, value_term
from likewise.model import Condition, Interval, Predicate, Subscription, fold, read_number
from likewise.model.announcements.announcement import LARGEST
from likewise.model.event import EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import COMPARISONS, TEXT_OPERATORS
from likewise.model.text import attribute_names
from likewise.semantics.concepts.customary import CustomaryUnit, candidate_units
from likewise.semantics.measure import Term
from likewise.units import unit

SLACK = 1e-6  # engines compute with 32 bits; what is so near to a bound is let through

# What an offer must have to meet an operator: the name alone; a value that fits; a value that fits, or its opposite
# where the offered name is an antonym of the requested one.
_OFFERED: Final = register_operators(
    "demand",
    {
        "exists": "presence",
        "=": "truth",
        "!=": "truth",
        "in": "value",
        "between": "value",
        **dict.fromkeys(COMPARISONS, "value"),
        **dict.fromkeys(TEXT_OPERATORS, "value"),
    },
)


class OfferMatch(NamedTuple):
    """Match of one offer with one predicate: the best score, and the exact predicates for it."""

    similarity: float
    predicates: tuple[Predicate, ...]  # none of them needed: it is there for sure


class CompiledFilter(NamedTuple):
    """A filter, and the names whose texts a relaxed value of it asks about."""

    filter: DemandFilter
    texts: frozenset[str]


def demanded_conditions(subscription: Subscription) -> list[Subscription]:
    """The conditions whose events a subscription needs: its own; of an alert, also what is about it and what ends it.

    >>> import likewise as lw
    >>> [str(each) for each in demanded_conditions(lw.parse("{t > 25, not mode = away} for 5 min", id="hot"))]
    ['{t > 25, not mode = away}', '{t exists}']
    """
    plain = replace(subscription, alert=None, top=None, select=(), from_one_source=False)
    if subscription.alert is None:
        return [plain]
    conditions = alert_conditions(subscription)
    return [plain, *(each for each in (conditions.about, conditions.until) if each is not None)]


def is_unfilterable(subscription: Subscription) -> bool:
    """Return whether no filter can be compiled: statements, graphs and vectors need the whole event."""
    return not isinstance(subscription.body, Condition)


def compile_demand(
    subscription: Subscription, offers: Offers, scores: TermScores, needed: MatchThreshold, types: Hierarchy = NO_TYPES
) -> CompiledFilter | None:
    """The filter of a subscription against offers; None if no event of them can meet it."""
    alternatives: dict[Parts, None] = {}
    texts: set[str] = set()
    for each in demanded_conditions(subscription):
        condition = prepare_condition(each)
        for conjunction in condition.conjunctions:
            texts.update(relaxed_value_names(conjunction, offers, scores, condition.theme, needed))
            parts = _conjunction(conjunction, offers, scores, condition.theme, needed, types)
            if parts is not None:
                alternatives[parts] = None
    if not alternatives and not texts:
        return None
    if () in alternatives:
        alternatives = {(): None}
    return CompiledFilter(DemandFilter(subscription.id, tuple(alternatives)), frozenset(texts))


def subscription_terms(subscriptions: Iterable[Subscription]) -> Iterator[Term]:
    """Every term that the relaxed parts of some subscriptions ask about."""
    for subscription in subscriptions:
        for each in demanded_conditions(subscription) if not is_unfilterable(subscription) else ():
            yield from prepare_condition(each).terms


def _conjunction(
    conjunction: PreparedConjunction,
    offers: Offers,
    scores: TermScores,
    theme: tuple[str, ...],
    needed: MatchThreshold,
    types: Hierarchy,
) -> Parts | None:
    """The parts of one conjunction; None if no event can meet it. One of `not` alone is met by everything."""
    every = [(True,) * len(offers.offers)] * len(conjunction.positive)
    return filter_parts(conjunction, offers, every, scores, theme, needed, types)


def filter_parts(
    conjunction: PreparedConjunction,
    offers: Offers,
    allowed: Sequence[Sequence[bool]],
    scores: TermScores,
    theme: tuple[str, ...],
    needed: MatchThreshold,
    types: Hierarchy,
) -> Parts | None:
    """The parts of one conjunction, of the offers that are `allowed` to meet each predicate."""
    if conjunction.some and not offers.listed:
        return None
    rows: list[list[OfferMatch | None]] = []
    for predicate, may in zip(conjunction.positive, allowed, strict=True):
        row = [
            _offer_match(predicate, offer, scores, theme, needed, types) if fits else None
            for offer, fits in zip(offers.offers, may, strict=True)
        ]
        if not any(row):
            return None
        rows.append(row)
    if conjunction.relaxed_parts and rows and not conjunction.some:
        reachable = _reachable(rows, conjunction.relaxed_parts, needed)
        if reachable is None:
            return None
        rows = reachable
    parts: dict[Part, None] = {}
    for row in rows:
        candidates = [match for match in row if match is not None]
        if not all(match.predicates for match in candidates):
            continue  # an annotation says it
        parts[tuple(dict.fromkeys(p for match in candidates for p in match.predicates))] = None
    return tuple(parts)


def _reachable(
    rows: list[list[OfferMatch | None]], parts: int, needed: MatchThreshold
) -> list[list[OfferMatch | None]] | None:
    """Without what cannot be in a mapping that reaches the threshold, every other predicate at its best."""
    least = needed.score - SLACK
    best = best_mapping([tuple(0.0 if m is None else m.similarity for m in row) for row in rows])
    if best is None or score_of(best[0], parts) < least:
        return None
    tops = [max(m.similarity for m in row if m is not None) for row in rows]
    reachable: list[list[OfferMatch | None]] = []
    for place, row in enumerate(rows):
        others = 1.0
        for other, top in enumerate(tops):
            others *= 1.0 if other == place else top
        reachable.append(
            [m if m is not None and score_of(m.similarity * others, parts) >= least else None for m in row]
        )
    return reachable if all(any(row) for row in reachable) else None


def _offer_match(
    predicate: Predicate,
    offer: Offer,
    scores: TermScores,
    theme: tuple[str, ...],
    needed: MatchThreshold,
    types: Hierarchy,
) -> OfferMatch | None:
    """Return how an offer may meet a predicate, over all of its forms."""
    best, alternatives = 0.0, dict[Predicate, None]()
    for form in offer.forms:
        related = _related(predicate, form, scores, theme, needed)
        if related <= 0:
            continue
        if predicate.value_relaxed:
            value, predicates = _relaxed_value(predicate, offer, form, scores, theme, needed)
        else:
            value, predicates = 1.0, _exact_values(predicate, offer, form, scores, types)
        if offer.constant is not None:
            item = EventTuple(form.term.text, offer.constant.value, offer.constant.unit)
            holds = bool(predicates) if predicate.value_relaxed else bool(_holds(predicate, item, scores, types))
            if holds:
                return OfferMatch(related * value, ())
            continue
        if predicates:
            best = max(best, related * value)
            alternatives.update(dict.fromkeys(predicates))
    return OfferMatch(best, tuple(alternatives)) if alternatives else None


def _holds(predicate: Predicate, item: EventTuple, scores: TermScores, types: Hierarchy) -> object:
    return meets_with_polarity(predicate, item, types, scores.measure)


def _related(
    predicate: Predicate, form: OfferForm, scores: TermScores, theme: tuple[str, ...], needed: MatchThreshold
) -> float:
    if not predicate.attribute_relaxed:
        return 1.0 if fold(predicate.attribute) in attribute_names(form.term.text) else 0.0
    relatedness = scores.of(predicate_attribute_term(predicate, theme), form.term)
    return relatedness if relatedness >= needed.part - SLACK else 0.0


def _exact_values(
    predicate: Predicate, offer: Offer, form: OfferForm, scores: TermScores, types: Hierarchy
) -> tuple[Predicate, ...]:
    """The predicate on the offer's own name, as it is and in the unit that an annotation adds; none if nothing fits."""
    value = predicate.value
    target = Predicate(offer.name, predicate.operator, value)
    turned = (
        isinstance(value, bool)
        and predicate.attribute_relaxed
        and _OFFERED[predicate.operator] == "truth"
        and scores.opposed(predicate.attribute, form.term.text)
    )
    if turned:
        target = replace(target, value=not value)
    units = candidate_units(predicate, form.term.text, form.added_unit or form.term.unit) or ()
    predicates = (target,) if _fits(target, offer, form) else ()
    for each in units:
        brought = (
            _converted(predicate, offer.name, each.unit.symbol, each) if each.unit.symbol != predicate.unit else None
        )
        if brought is not None and compatible((brought, offer.allowed)):
            predicates = (*predicates, brought)
    if form.added_unit:
        brought = _converted(predicate, offer.name, form.added_unit)
        if brought is not None and (brought.operator == "exists" or compatible((brought, offer.allowed))):
            predicates = (*predicates, brought)
    return predicates


def _fits(target: Predicate, offer: Offer, form: OfferForm) -> bool:
    """Return whether an announced value, of the kind of the form, may meet a predicate."""
    if _OFFERED[target.operator] == "presence":
        return True
    kind = form.term.kind
    stated = form.term.unit if kind == "number" and not form.added_unit else ""
    if stated and target.unit and unit(stated).dimension != unit(target.unit).dimension:
        return False
    allowed = offer.allowed
    if allowed.operator == "exists" and kind == "number":
        allowed = Predicate(offer.name, "between", Interval(-LARGEST, LARGEST))
    elif allowed.operator == "exists" and kind == "boolean":
        allowed = Predicate(offer.name, "in", (True, False))
    return compatible((target, allowed))


def _converted(predicate: Predicate, name: str, added: str, possible: CustomaryUnit | None = None) -> Predicate | None:
    """A comparison in a unit that is not beside the number, as bare numbers (of a customary unit those that are
    possible); None if it does not fit.
    """
    interval = predicate.interval()
    if interval is None or not interval.unit:
        return Predicate(name, "exists")
    known, added_unit = unit(interval.unit), unit(added)
    if known.dimension != added_unit.dimension:
        return None
    low = -LARGEST if interval.low is None else known.to(added_unit, interval.low)
    high = LARGEST if interval.high is None else known.to(added_unit, interval.high)
    low, high = min(low, high), max(low, high)
    if possible is not None:
        low, high = max(low, _bare(possible, possible.low)), min(high, _bare(possible, possible.high))
        if low > high:
            return None
    return Predicate(name, "between", Interval(low - _room(low), high + _room(high)))


def _bare(each: CustomaryUnit, bound: float) -> float:
    """A bound of a customary unit's numbers, as one writes them."""
    return each.unit.from_base(bound) if abs(bound) < LARGEST else LARGEST if bound > 0 else -LARGEST


def _room(bound: float) -> float:
    return 0.0 if abs(bound) >= LARGEST else 1e-9 * max(1.0, abs(bound))


def _relaxed_value(
    predicate: Predicate,
    offer: Offer,
    form: OfferForm,
    scores: TermScores,
    theme: tuple[str, ...],
    needed: MatchThreshold,
) -> tuple[float, tuple[Predicate, ...]]:
    """Return how well the known values meet a relaxed one at best, and the predicate that names those that do."""
    term = predicate_value_term(predicate, theme)
    best, matching_values = 0.0, []
    for value in offer.values:
        event_term = value_term(EventTuple(form.term.text, value), form.term.theme)
        related = float(fold(str(value)) == fold(term.text)) if event_term is None else scores.of(term, event_term)
        if related > 0 and related >= needed.part - SLACK:
            best = max(best, related)
            matching_values.append(value)
    number = read_number(term.text) if offer.kind in ("number", "") and offer.constant is None else None
    predicates: list[Predicate] = [Predicate(offer.name, "in", tuple(matching_values))] if matching_values else []
    if isinstance(number, (int, float)):  # a number is met by the text that writes it
        best, predicates = 1.0, [*predicates, Predicate(offer.name, "=", number)]
    return best, tuple(predicates)


def relaxed_value_names(
    conjunction: PreparedConjunction, offers: Offers, scores: TermScores, theme: tuple[str, ...], needed: MatchThreshold
) -> Iterator[str]:
    """The names under which a text that is not known might meet a relaxed value."""
    for predicate in conjunction.positive:
        if predicate.value_relaxed:
            for offer in offers.offers:
                if offer.constant is None and any(
                    _related(predicate, form, scores, theme, needed) for form in offer.forms
                ):
                    yield fold(offer.name)
