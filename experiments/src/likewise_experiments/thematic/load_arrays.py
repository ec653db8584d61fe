"""A thematic load as arrays: distinct terms, tuples and predicates by number.

Relatedness is asked for once for each pair of distinct terms; everything else is gathering.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.matching.reference.terms import attribute_term, predicate_attribute_term, predicate_value_term
from likewise.model import Event, EventTuple, Predicate, Subscription, fold
from likewise.semantics.measure import Measure, Term
from likewise_experiments.thematic.load import predicates_of


class LoadArrays(msgspec.Struct, frozen=True, eq=False):
    """Distinct terms of both sides, and who uses them.

    Row i of `subscriptions` and of `events` holds numbers of predicates and of tuples, padded with -1; a
    predicate or tuple is a pair of numbers of terms. `relaxed` says of each predicate which of the two it relaxes.
    """

    asked_attributes: tuple[Term, ...]
    asked_values: tuple[Term, ...]
    seen_attributes: tuple[Term, ...]
    seen_values: tuple[Term, ...]
    predicates: NDArray[np.int64]
    relaxed: NDArray[np.bool_]
    tuples: NDArray[np.int64]
    subscriptions: NDArray[np.int64]
    events: NDArray[np.int64]

    def similarities(
        self, measure: Measure, asked: tuple[str, ...] = (), seen: tuple[str, ...] = (), floor: float = 0.0
    ) -> NDArray[np.float32]:
        """The similarity of every predicate (row) and tuple (column), the sides under these themes.

        A relaxed part below `floor` counts 0, as in a matcher (`likewise.matching.reference.match_threshold`).
        """
        terms = ((self.asked_attributes, self.seen_attributes), (self.asked_values, self.seen_values))
        parts = []
        for side, (wanted, had) in enumerate(terms):
            place = np.ix_(self.predicates[:, side], self.tuples[:, side])
            found = measure.matrix(_under(wanted, asked), _under(had, seen))[place]
            if not self.relaxed[:, side].all():
                found = np.where(self.relaxed[:, side, None], found, _equal(wanted, had)[place])
            parts.append(np.where((found >= np.float32(floor)) | ~self.relaxed[:, side, None], found, np.float32(0)))
        product: NDArray[np.float32] = parts[0] * parts[1]
        return product

    def parts(self) -> NDArray[np.int64]:
        """How many relaxed parts each subscription has."""
        known = self.subscriptions >= 0
        found: NDArray[np.int64] = np.where(known, self.relaxed.sum(axis=1)[self.subscriptions], 0).sum(axis=1)
        return found


def load_arrays(subscriptions: Sequence[Subscription], events: Sequence[Event]) -> LoadArrays:
    """The arrays of subscriptions of one conjunction each and of events whose values are text.

    >>> from likewise.model import Condition, Predicate, event
    >>> wanted = Subscription(Condition((Predicate("city", "=", "Galway", True, True),)), "q")
    >>> arrays = load_arrays([wanted], [event({"town": "Galway", "country": "Ireland"})])
    >>> arrays.predicates.tolist(), arrays.tuples.tolist(), arrays.events.tolist()
    ([[0, 0]], [[0, 0], [1, 1]], [[0, 1]])
    """
    asked: tuple[dict[Term, int], dict[Term, int]] = ({}, {})
    seen: tuple[dict[Term, int], dict[Term, int]] = ({}, {})
    predicates: dict[tuple[int, int, bool, bool], int] = {}
    tuples: dict[tuple[int, int], int] = {}
    known: dict[EventTuple, int] = {}
    rows = []
    for subscription in subscriptions:
        rows.append([_number(predicates, _predicate(p, asked)) for p in predicates_of(subscription)])
    columns = []
    for event in events:
        for item in event.tuples:
            if item not in known:
                pair = (attribute_term(item, ()), Term(str(item.value), "value", kind="text"))
                known[item] = _number(tuples, (_number(seen[0], pair[0]), _number(seen[1], pair[1])))
        columns.append([known[item] for item in event.tuples])
    table = np.array(list(predicates), np.int64).reshape(-1, 4)
    return LoadArrays(
        tuple(asked[0]),
        tuple(asked[1]),
        tuple(seen[0]),
        tuple(seen[1]),
        table[:, :2],
        table[:, 2:].astype(bool),
        np.array(list(tuples), np.int64),
        _padded(rows),
        _padded(columns),
    )


def _predicate(p: Predicate, asked: tuple[dict[Term, int], dict[Term, int]]) -> tuple[int, int, bool, bool]:
    terms = predicate_attribute_term(p, ()), predicate_value_term(p, ())
    return _number(asked[0], terms[0]), _number(asked[1], terms[1]), p.attribute_relaxed, p.value_relaxed


def _equal(wanted: Sequence[Term], had: Sequence[Term]) -> NDArray[np.float32]:
    """1 where texts are equal when folded: what a part that is not relaxed asks for."""
    folded = np.array([fold(term.text) for term in had])
    return np.array([folded == fold(term.text) for term in wanted], np.float32)


def _number(numbers: dict, key: object) -> int:  # type: ignore[type-arg]
    return int(numbers.setdefault(key, len(numbers)))


def _padded(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    out = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
    for number, row in enumerate(rows):
        out[number, : len(row)] = row
    return out


def _under(terms: tuple[Term, ...], theme: tuple[str, ...]) -> tuple[Term, ...]:
    return tuple(Term(t.text, t.role, theme, t.unit, t.kind, t.context) for t in terms) if theme else terms
