"""The demand of many sources, kept up to date while subscriptions and announcements come and go.

Sources that offer the same share what was compiled. A new subscription is compiled against the offers that its access
predicate names, a new offer with the subscriptions that need something of it (`access`); neither visits all of the
others. When feedback or annotations change, what was compiled is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.growing_array import GrowingArray
from likewise.matching.demand.compiler import (
    CompiledFilter,
    compile_demand,
    demanded_conditions,
    is_unfilterable,
    subscription_terms,
)
from likewise.matching.demand.demand_filter import Demand, DemandFilter, Judged
from likewise.matching.demand.expected_keys import expected_key
from likewise.matching.demand.offers import Offer, Offers, offers_of
from likewise.matching.demand.score_rows import ScoreColumns, Scored, columns_of, scored
from likewise.matching.demand.term_scores import TermScores
from likewise.matching.enrichment.step import AnnotationStep
from likewise.matching.reference.conditions import prepare_condition
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.terms import predicate_attribute_term
from likewise.matching.registry import EngineSelection, Profile
from likewise.model import Event, Predicate, Subscription, fold
from likewise.model.alerts.notification import Key
from likewise.model.announcements.announcement import Announcement
from likewise.model.text import attribute_names
from likewise.semantics.interpretation import Interpretation
from likewise.semantics.measure import Term

Texts = Callable[[str], Iterable[str]]
SCORED = 64  # groups of subscriptions whose scores against the same offers are kept
TOGETHER = 2_000  # subscriptions whose terms are asked of the measure at once


class Needs(NamedTuple):
    """Necessary condition of one conjunction: a name and perhaps a text or a range, or a related term."""

    name: str
    text: str | None = None
    low: float = -np.inf
    high: float = np.inf
    term: Term | None = None


def needs_of(subscription: Subscription) -> tuple[Needs, ...] | None:
    """Return what each conjunction of a subscription needs; None if one of them may need nothing of an event."""
    needs: dict[Needs, None] = {}
    for each in demanded_conditions(subscription):
        condition = prepare_condition(each)
        for conjunction in condition.conjunctions:
            if not conjunction.positive:
                return None
            chosen = min(conjunction.positive, key=_rank)
            needs[_needs(chosen, condition.theme)] = None
    return tuple(needs)


def _rank(predicate: Predicate) -> int:
    if predicate.attribute_relaxed:
        return 5
    if predicate.value_relaxed:
        return 4
    if predicate.operator == "=" and isinstance(predicate.value, str):
        return 0
    interval = predicate.interval()
    if interval is None or interval.unit:
        return 3
    return 1 if interval.low is not None and interval.high is not None else 2


def _needs(predicate: Predicate, theme: tuple[str, ...]) -> Needs:
    if predicate.attribute_relaxed:
        return Needs("", term=predicate_attribute_term(predicate, theme))
    name = fold(predicate.attribute)
    if predicate.operator == "=" and isinstance(predicate.value, str) and not predicate.value_relaxed:
        return Needs(name, fold(predicate.value))
    interval = predicate.interval()
    if interval is None or interval.unit:
        return Needs(name)
    return Needs(
        name,
        None,
        -np.inf if interval.low is None else interval.low,
        np.inf if interval.high is None else interval.high,
    )


class _Ranges:
    """Numbers of subscriptions with the range that each needs; what was removed is passed over."""

    def __init__(self) -> None:
        self._number = GrowingArray(np.int64)
        self._low = GrowingArray(np.float64)
        self._high = GrowingArray(np.float64)

    def add(self, number: int, low: float, high: float) -> None:
        self._number.append(number)
        self._low.append(low)
        self._high.append(high)

    def within(self, low: float, high: float) -> NDArray[np.int64]:
        """Those whose range overlaps another."""
        overlap = (self._low.view() <= high) & (self._high.view() >= low)
        numbers: NDArray[np.int64] = self._number.view()[overlap]
        return numbers


class AccessIndex:
    """Subscriptions by what they need of an offer."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, set[int]]] = {}
        self._ranges: dict[str, _Ranges] = {}
        self._terms: dict[Term, set[int]] = {}
        self._always: set[int] = set()
        self._needs: dict[int, tuple[Needs, ...] | None] = {}

    def __len__(self) -> int:
        return len(self._needs)

    def __contains__(self, number: int) -> bool:
        return number in self._needs

    def add(self, number: int, needs: tuple[Needs, ...] | None) -> None:
        """Hold a subscription."""
        self._needs[number] = needs
        if needs is None:
            self._always.add(number)
            return
        for name, text, low, high, term in needs:
            if term is not None:
                self._terms.setdefault(term, set()).add(number)
            elif text is not None:
                self._texts.setdefault(name, {}).setdefault(text, set()).add(number)
            else:
                self._ranges.setdefault(name, _Ranges()).add(number, low, high)

    def remove(self, number: int) -> None:
        """Let a subscription go."""
        for name, text, _, _, term in self._needs.pop(number, None) or ():
            if term is not None:
                self._terms[term].discard(number)
                if not self._terms[term]:
                    del self._terms[term]
            elif text is not None:
                self._texts[name][text].discard(number)
        self._always.discard(number)

    def terms(self) -> list[Term]:
        """The terms of which a related one is needed."""
        return list(self._terms)

    def by_term(self, term: Term) -> set[int]:
        """The subscriptions that need what is related to a term."""
        return self._terms.get(term, set())

    def by_offer(self, offer: Offer) -> Iterator[int]:
        """The subscriptions whose exact need an offer may meet."""
        names = {name for form in offer.forms for name in attribute_names(form.term.text)}
        for name in names:
            texts = self._texts.get(name)
            if texts:
                if offer.listed:
                    for value in offer.values:
                        yield from texts.get(fold(str(value)), ())
                else:  # a number or a truth value may be spelled as text
                    yield from (number for numbers in texts.values() for number in numbers)
            ranges = self._ranges.get(name)
            if ranges is not None:
                result = ranges.within(*_range_of(offer)).tolist()
                yield from (number for number in result if number in self._needs)

    def always(self) -> set[int]:
        """The subscriptions that any offer may concern."""
        return self._always


class OfferIndex:
    """Index of offers by what a subscription may need: the counterpart of `AccessIndex`."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, set[int]]] = {}
        self._open: dict[str, set[int]] = {}  # offers of a name whose texts are not all known
        self._ranges: dict[str, _Ranges] = {}
        self._terms: dict[Term, set[int]] = {}
        self._there: set[int] = set()

    def add(self, number: int, offers: Offers) -> None:
        """Hold what is offered, by its number."""
        self._there.add(number)
        for name, offer in _named(offers):
            if offer.listed:
                for value in offer.values:
                    self._texts.setdefault(name, {}).setdefault(fold(str(value)), set()).add(number)
            else:
                self._open.setdefault(name, set()).add(number)
            self._ranges.setdefault(name, _Ranges()).add(number, *_range_of(offer))
        for term in _terms(offers):
            self._terms.setdefault(term, set()).add(number)

    def remove(self, number: int, offers: Offers) -> None:
        """Let it go."""
        self._there.discard(number)
        for name, offer in _named(offers):
            self._open.get(name, set()).discard(number)
            for value in offer.values if offer.listed else ():
                self._texts[name][fold(str(value))].discard(number)
        for term in _terms(offers):
            self._terms[term].discard(number)
            if not self._terms[term]:
                del self._terms[term]

    def terms(self) -> list[Term]:
        """Every term that is offered."""
        return list(self._terms)

    def by_term(self, term: Term) -> set[int]:
        """Return who offers a term."""
        return self._terms.get(term, set())

    def by_need(self, need: Needs) -> set[int]:
        """Return who may offer what an exact need asks for."""
        if need.text is not None:
            known = self._texts.get(need.name, {}).get(need.text, set())
            return known | self._open.get(need.name, set())
        ranges = self._ranges.get(need.name)
        return set() if ranges is None else self._there.intersection(ranges.within(need.low, need.high).tolist())


def _named(offers: Offers) -> Iterator[tuple[str, Offer]]:
    for offer in offers.offers:
        for name in {name for form in offer.forms for name in attribute_names(form.term.text)}:
            yield name, offer


def _terms(offers: Offers) -> set[Term]:
    return {form.term for offer in offers.offers for form in offer.forms}


def _range_of(offer: Offer) -> tuple[float, float]:
    """Between which numbers the offer's values lie, as they are written."""
    interval = offer.allowed.interval()
    if interval is None or interval.unit or any(form.added_unit for form in offer.forms):
        return -np.inf, np.inf
    return -np.inf if interval.low is None else interval.low, np.inf if interval.high is None else interval.high


class _OfferGroup:
    """Sources with the same offers: the offers, and the filters compiled against them, by subscription."""

    def __init__(self, offers: Offers) -> None:
        self.offers = offers
        self.number = 0
        self.sources: set[str] = set()
        self.compiled: dict[int, CompiledFilter] = {}
        self.scored: dict[tuple[int, ...], tuple[ScoreColumns, dict[int, Scored]]] = {}


class GroupDemand(NamedTuple):
    """Demand on sources with the same offers: filters by their subscriptions' numbers, and their inputs."""

    group: int
    filters: dict[int, DemandFilter]
    judged: Judged
    unfiltered: tuple[int, ...]


class DemandIndex:
    """Subscriptions and announcements, and which of the one concern which of the other.

    >>> import likewise as lw
    >>> from likewise.model.announcements.announcement import AnnouncedAttribute
    >>> index = DemandIndex(lw.Matcher().interpretation)
    >>> index.add(1, lw.parse("{no2 > 40}", id="bad air"))
    {}
    >>> index.announce(Announcement("roof", (AnnouncedAttribute("no2", low=0, high=200), AnnouncedAttribute("t"))))
    {1}
    >>> demand = index.demand("roof")
    >>> [str(each) for each in demand.filters], demand.evaluate(lw.event({"no2": 50})).subscriptions
    (['{no2 > 40}'], ('bad air',))
    >>> demand.evaluate(lw.event({"no2": 5})).is_demanded, demand.evaluate(lw.event({"no2": 500})).outside
    (False, ('no2 = 500',))
    """

    def __init__(self, interpretation: Interpretation, profile: Profile = "full") -> None:
        self._interpretation = interpretation
        self._step = AnnotationStep(interpretation, EngineSelection(profile))
        self._scores = TermScores(interpretation)
        self._subscriptions: dict[int, Subscription] = {}
        self._everything: dict[int, None] = {}
        self._access = AccessIndex()
        self._announced: dict[str, tuple[Announcement, Texts]] = {}
        self._of: dict[str, _OfferGroup] = {}
        self._shared: dict[object, _OfferGroup] = {}  # by the offers and the types of their values
        self._offered = OfferIndex()
        self._numbered: dict[int, _OfferGroup] = {}
        self._last = 0
        self._judged = self._judged_by()

    # -- subscriptions --------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, number: int) -> bool:
        return number in self._subscriptions

    def add(self, number: int, subscription: Subscription) -> dict[str, None]:
        """Hold a subscription; the sources whose demand it changes."""
        self._subscriptions[number] = subscription
        if is_unfilterable(subscription):
            self._everything[number] = None
            return dict.fromkeys(self._of)
        needs = needs_of(subscription)
        self._access.add(number, needs)
        concerned: dict[str, None] = {}
        for shared in self._affected_groups(needs):
            if self._compile(shared, [number]):
                concerned.update(dict.fromkeys(shared.sources))
        return concerned

    def remove(self, number: int) -> dict[str, None]:
        """Let a subscription go; the sources whose demand that changes."""
        subscription = self._subscriptions.pop(number, None)
        if subscription is None:
            return {}
        if number in self._everything:
            del self._everything[number]
            return dict.fromkeys(self._of)
        needs = needs_of(subscription)
        self._access.remove(number)
        concerned: dict[str, None] = {}
        for shared in self._affected_groups(needs):
            if shared.compiled.pop(number, None) is not None:
                concerned.update(dict.fromkeys(shared.sources))
        return concerned

    def _affected_groups(self, needs: tuple[Needs, ...] | None) -> Iterator[_OfferGroup]:
        """The shared offers that may have what a subscription needs."""
        if needs is None:
            yield from list(self._shared.values())
            return
        group_numbers: set[int] = set()
        offered = self._offered.terms()
        for need in needs:
            if need.term is None:
                group_numbers |= self._offered.by_need(need)
            elif offered:
                self._scores.relate([need.term], offered)
                for term in offered:
                    if self._scores.of(need.term, term) > 0:
                        group_numbers |= self._offered.by_term(term)
        for number in sorted(group_numbers):
            yield self._numbered[number]

    # -- announcements --------------------------------------------------------------------------

    def announce(self, announcement: Announcement, texts: Texts = lambda name: (), key: str | None = None) -> set[int]:
        """Hold an announcement, in place of the source's earlier one; the subscriptions that it concerns.

        `texts` gives further texts that an attribute is known to have. Where several speak for one source, each has a
        `key` of its own in place of the source.
        """
        key = announcement.source if key is None else key
        self.revoke(key)
        self._announced[key] = (announcement, texts)
        offers = offers_of(announcement, self._interpretation.annotations.current(), self._step.annotate, texts)
        shared = self._shared.get((offers, offers.kinds()))
        if shared is None:
            shared = self._shared[offers, offers.kinds()] = _OfferGroup(offers)
            self._last += 1
            shared.number = self._last
            self._numbered[shared.number] = shared
            self._offered.add(shared.number, offers)
            self._compile(shared, self._candidates(offers))
        shared.sources.add(key)
        self._of[key] = shared
        return {number for number, made in shared.compiled.items() if made.filter.alternatives} | set(self._everything)

    def revoke(self, source: str) -> None:
        """Let an announcement go, by its source or its key."""
        self._announced.pop(source, None)
        shared = self._of.pop(source, None)
        if shared is None:
            return
        shared.sources.discard(source)
        if not shared.sources:
            del self._shared[shared.offers, shared.offers.kinds()]
            del self._numbered[shared.number]
            self._offered.remove(shared.number, shared.offers)

    def _candidates(self, offers: Offers) -> list[int]:
        """The subscriptions that may need something of these offers."""
        numbers = set(self._access.always())
        for offer in offers.offers:
            numbers.update(self._access.by_offer(offer))
        terms = self._access.terms()
        event_terms = list(dict.fromkeys(form.term for offer in offers.offers for form in offer.forms))
        if terms and event_terms:
            self._scores.relate(terms, event_terms)
            for term in terms:
                if any(self._scores.of(term, other) > 0 for other in event_terms):
                    numbers |= self._access.by_term(term)
        return sorted(numbers)

    # -- demand ---------------------------------------------------------------------------------

    def sources(self) -> list[str]:
        """Every source that announced something."""
        return list(self._of)

    def numbers(self) -> set[int]:
        """The numbers of the subscriptions that are held."""
        return set(self._subscriptions)

    def subscription(self, number: int) -> Subscription:
        """A subscription by its number."""
        return self._subscriptions[number]

    def subscriptions_of(self, source: str) -> list[int]:
        """The subscriptions that a source may have something for."""
        numbers = [number for number, made in self._of[source].compiled.items() if made.filter.alternatives]
        return [*numbers, *self._everything]

    def demand(self, source: str) -> Demand:
        """Return what a source is asked for."""
        group = self.group_demand(source)
        filters = tuple(made for made in group.filters.values())
        return Demand(source, filters, group.judged, tuple(self._subscriptions[n].id for n in group.unfiltered))

    def group_demand(self, source: str) -> GroupDemand:
        """The same by the numbers of subscriptions, and by the number of what sources that offer the same share."""
        shared = self._of[source]
        texts: dict[str, set[str]] = {}
        for made in shared.compiled.values():
            for name in made.texts:
                texts.setdefault(name, set())
        allowed: dict[str, list[Predicate]] = {}
        for offer in shared.offers.offers:
            if offer.constant is None:
                name = fold(offer.name)
                allowed.setdefault(name, []).append(offer.allowed)
                if name in texts:
                    texts[name].update(fold(value) for value in offer.values if isinstance(value, str))
        judged = Judged(
            shared.offers.raw_terms,
            {name: tuple(each) for name, each in allowed.items() if all(p.operator != "exists" for p in each)},
            {name: frozenset(each) for name, each in texts.items()},
        )
        filters = {number: made.filter for number, made in sorted(shared.compiled.items()) if made.filter.alternatives}
        return GroupDemand(shared.number, filters, judged, tuple(self._everything))

    def scored(self, source: str, numbers: Sequence[int]) -> tuple[ScoreColumns, dict[int, Scored]]:
        """Return the scores that decide some subscriptions on events of a source without a space, and their terms."""
        shared, key = self._of[source], tuple(numbers)
        if key not in shared.scored:
            conditions = {n: (self._subscriptions[n], self._needed(self._subscriptions[n])) for n in key}
            columns = columns_of(conditions.values(), shared.offers, self._scores, shared.offers.raw_terms)
            made = {n: scored(*each, columns, self._scores) for n, each in conditions.items()}
            if len(shared.scored) >= SCORED:
                shared.scored.clear()
            shared.scored[key] = columns, made
        return shared.scored[key]

    @property
    def annotates(self) -> bool:
        """Return whether events are matched with more than they say."""
        return self._step.active

    def expected_key(self, source: str, number: int, announcement: Announcement | None = None) -> Key | None:
        """The key of an alert whose silence is an absence by what a source announced; None if there is none.

        `said` is what it announced, if the index was told more of it.
        """
        subscription, interpretation = self._subscriptions[number], self._interpretation
        announcement = announcement or self._announced[source][0]
        return expected_key(
            subscription,
            announcement,
            interpretation.annotations.current(),
            self._step.annotate,
            self._scores,
            self._needed(subscription),
            interpretation.types,
        )

    def up_to_date(self) -> bool:
        """Return whether what was compiled still holds: neither feedback nor annotations have changed since."""
        return self._judged == self._judged_by()

    def recompile(self) -> None:
        """Make everything anew, after feedback or annotations changed."""
        self._judged = self._judged_by()
        self._scores.forget()
        announced = dict(self._announced)
        for source in list(self._of):
            self.revoke(source)
        for key, (announcement, texts) in announced.items():
            self.announce(announcement, texts, key)

    def _judged_by(self) -> tuple[object, ...]:
        feedback = self._interpretation.feedback
        return tuple((each.number, each.relevant) for each in feedback), self._interpretation.annotations.current()

    def _compile(self, shared: _OfferGroup, numbers: list[int]) -> bool:
        """Compile subscriptions against offers; whether any of them can be met."""
        changed = False
        event_terms = [form.term for offer in shared.offers.offers for form in offer.forms]
        for start in range(0, len(numbers), TOGETHER):
            part = [(number, self._subscriptions[number]) for number in numbers[start : start + TOGETHER]]
            terms = [term for term in subscription_terms(each for _, each in part) if term.role == "attribute"]
            if terms:
                self._scores.relate(terms, event_terms)
            for number, subscription in part:
                made = compile_demand(
                    subscription, shared.offers, self._scores, self._needed(subscription), self._interpretation.types
                )
                if made is not None:
                    shared.compiled[number] = made
                    changed = changed or bool(made.filter.alternatives)
        return changed

    def _needed(self, subscription: Subscription) -> MatchThreshold:
        threshold = self._interpretation.threshold
        if subscription.confidence is None:
            return MatchThreshold.of(subscription, threshold)
        return MatchThreshold.of(subscription, threshold, self._interpretation.probability_curve("conditions"))

    def annotated(self, event: Event) -> Event:
        """An event as it is matched."""
        return self._step.annotate(event)
