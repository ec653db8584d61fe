"""Similarity of predicates and tuples, through a measure (sources.md T, "Matching").

sim(p, t) = relatedness of the attributes times relatedness of the values; a part that is not relaxed
is 0 or 1. The formula is that of the thematic matcher's similarity matrix (Hasan and Curry, "Thematic
Event Processing", Middleware 2014, section 3.5).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from likewise.matching.reference.polarity import meets_with_polarity
from likewise.matching.reference.terms import (
    event_attribute_terms,
    event_value_terms,
    named_reading,
    predicate_attribute_term,
    predicate_value_term,
    term_names,
    theme_of,
)
from likewise.model.event import Event, EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import Predicate
from likewise.model.text import attribute_names, fold
from likewise.semantics.concepts.surroundings import event_contexts
from likewise.semantics.measure import Measure, Term


class SimilarityRow(NamedTuple):
    """One predicate against every tuple of an event: both relatednesses, and their product."""

    attribute: tuple[float, ...]
    value: tuple[float, ...]
    similarity: tuple[float, ...]


class EventView:
    """An event as the plain evaluation reads it: tuples by folded attribute, terms, and what was related to them.

    Relatedness is asked of the measure once for each asked term and kept as long as this view. Without
    a measure just equal terms are related.

    >>> from likewise.model import event
    >>> seen = EventView(event({"device": "laptop", "room": 3}))
    >>> seen.row(Predicate("device", "=", "Laptop", True, True), ()).similarity
    (1.0, 0.0)
    """

    def __init__(self, event: Event, measure: Measure | None = None, types: Hierarchy = NO_TYPES) -> None:
        self.event = event
        self.types = types
        self.tuples = event.tuples
        self.measure = measure
        self._by_attribute: dict[str, list[EventTuple]] | None = None
        self._related: dict[Term, tuple[float, ...]] = {}
        self._attributes: tuple[Term, ...] | None = None
        self._named: tuple[EventTuple, ...] | None = None
        self._values: tuple[Term | None, ...] | None = None

    @property
    def theme(self) -> tuple[str, ...]:
        """The event's theme, as terms carry it."""
        return theme_of(self.event.themes)

    @property
    def by_attribute(self) -> dict[str, list[EventTuple]]:
        """The tuples under each folded attribute."""
        index = self._by_attribute
        if index is None:
            index = self._by_attribute = {}
            for item in self.tuples:
                for name in attribute_names(item.attribute):
                    index.setdefault(name, []).append(item)
        return index

    def relate(self, query_terms: Iterable[Term]) -> None:
        """Ask the measure for many terms at once; the same answers as one by one, in less time."""
        fresh = [term for term in dict.fromkeys(query_terms) if term not in self._related]
        for role in ("attribute", "value"):
            terms = [term for term in fresh if term.role == role]
            if terms:
                event_terms = self._event_terms(terms[0])
                self._related.update(zip(terms, related(terms, event_terms, self.measure), strict=True))

    def related(self, term: Term) -> tuple[float, ...]:
        """The relatedness of an asked term with each tuple's attribute or value, by the term's role."""
        cached = self._related.get(term)
        if cached is None:
            (cached,) = related([term], self._event_terms(term), self.measure)
            self._related[term] = cached
        return cached

    def _event_terms(self, term: Term) -> Sequence[Term | None]:
        if term.role == "attribute":
            if self._attributes is None:
                self._attributes = event_attribute_terms(self.event)
            return self._attributes
        if self._values is None:
            self._values = event_value_terms(self.event)
        return self._values

    @property
    def named(self) -> tuple[EventTuple, ...]:
        """The tuples as relaxed attributes see them: under the name beside the value if theirs says nothing."""
        if self._named is None:
            contexts = event_contexts(self.event)
            self._named = tuple(named_reading(item, c) for item, c in zip(self.tuples, contexts, strict=True))
        return self._named

    def row(self, predicate: Predicate, theme: tuple[str, ...], floor: float = 0.0) -> SimilarityRow:
        """The predicate against every tuple; the similarity is 0 where a relaxed part is below the floor."""
        attribute: tuple[float, ...]
        value: tuple[float, ...]
        if predicate.attribute_relaxed:
            attribute = self.related(predicate_attribute_term(predicate, theme))
        else:
            folded = fold(predicate.attribute)
            attribute = tuple(1.0 if folded in attribute_names(t.attribute) else 0.0 for t in self.tuples)
        if predicate.value_relaxed:
            value = self._values_related(predicate, theme)
        else:
            tuples = self.named if predicate.attribute_relaxed else self.tuples
            value = tuple(float(bool(meets_with_polarity(predicate, t, self.types, self.measure))) for t in tuples)
        pairs = zip(attribute, value, strict=True)
        return SimilarityRow(attribute, value, tuple(a * v if a >= floor and v >= floor else 0.0 for a, v in pairs))

    def _values_related(self, predicate: Predicate, theme: tuple[str, ...]) -> tuple[float, ...]:
        """The relatedness of a relaxed value; a number that is no term is met by the text that writes it."""
        query_term = predicate_value_term(predicate, theme)
        relatedness = self.related(query_term)
        written = fold(query_term.text)
        pairs = zip(self.tuples, self._event_terms(query_term), relatedness, strict=True)
        return tuple(float(fold(str(t.value)) == written) if term is None else related for t, term, related in pairs)


def relaxed_terms(predicates: Iterable[Predicate], theme: tuple[str, ...]) -> list[Term]:
    """Every term the relaxed parts of some predicates ask about.

    >>> [t.text for t in relaxed_terms([Predicate("device", "=", "laptop", True, True)], ())]
    ['device', 'laptop']
    """
    terms = []
    for predicate in predicates:
        if predicate.attribute_relaxed:
            terms.append(predicate_attribute_term(predicate, theme))
        if predicate.value_relaxed:
            terms.append(predicate_value_term(predicate, theme))
    return terms


def related(
    terms: Sequence[Term], event_terms: Sequence[Term | None], measure: Measure | None
) -> list[tuple[float, ...]]:
    """Relatedness of asked with seen terms in float64, by the measure; None is related to nothing.

    Without a measure just equal folded text is related. With one it is the measure that says what is equal: the same
    word may say two things (`true` of `door_open` and of `contact`).

    An attribute of a list is equal to its name without `[]`, too.

    >>> related([Term("Room 1")], [Term("room  1"), Term("hall"), None], None)
    [(1.0, 0.0, 0.0)]
    """
    present = [index for index, term in enumerate(event_terms) if term is not None]
    rows = [[0.0] * len(event_terms) for _ in terms]
    if measure is not None:
        if not present or not terms:
            return [tuple(row) for row in rows]
        matrix = measure.matrix(list(terms), [term for term in event_terms if term is not None])
        for row, numbers in zip(rows, matrix.tolist(), strict=True):
            for index, number in zip(present, numbers, strict=True):
                row[index] = number
        return [tuple(row) for row in rows]
    for term, row in zip(terms, rows, strict=True):
        folded = fold(term.text)
        for index, other in enumerate(event_terms):
            if other is not None and folded in term_names(other):
                row[index] = 1.0
    return [tuple(row) for row in rows]
