"""Whom a change concerns: subscriptions by what one predicate of each conjunction needs, so that few are visited.

Of each conjunction one predicate is chosen, the one that says most: an equality, then a range, then any exact one, then
a relaxed one. A subscription is looked at for a source only if the source offers what that predicate needs: the same
name with a value or a range that fits, or a related name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.growing_array import GrowingArray
from likewise.matching.demand.compiler import demanded_conditions
from likewise.matching.demand.offers import Offer, Offers
from likewise.matching.reference.conditions import prepare_condition
from likewise.matching.reference.terms import predicate_attribute_term
from likewise.model import Subscription, fold
from likewise.model.predicate import Predicate
from likewise.model.text import attribute_names
from likewise.semantics.measure import Term


class Needs(NamedTuple):
    """What one conjunction needs at least: a name and perhaps a text or a range, or a related term."""

    name: str
    text: str | None = None
    low: float = -np.inf
    high: float = np.inf
    term: Term | None = None


def needs_of(subscription: Subscription) -> tuple[Needs, ...] | None:
    """What each conjunction of a subscription needs; None if one of them may need nothing of an event."""
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
    """What is offered, by what a subscription may need of it: the other side of `AccessIndex`."""

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
        """Who offers a term."""
        return self._terms.get(term, set())

    def by_need(self, need: Needs) -> set[int]:
        """Who may offer what an exact need asks for."""
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
