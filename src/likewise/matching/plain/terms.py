"""The terms a measure is asked about: one place says how predicates and tuples become `Term`s.

The plain evaluation and every engine that keeps relatedness build terms here, so that what is kept for
one is right for the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from likewise.model.event import Event, EventTuple, contexts
from likewise.model.predicate import TEXT_OPERATORS, Predicate
from likewise.model.text import fold
from likewise.model.units import find_unit
from likewise.model.values import Interval, Quantity
from likewise.semantics.measure import Term, ValueKind


def theme_of(tags: Iterable[str]) -> tuple[str, ...]:
    """Theme tags as a term carries them: folded, sorted, each once.

    >>> theme_of(["Power", "computers", "power"])
    ('computers', 'power')
    """
    return tuple(sorted({fold(tag) for tag in tags}))


def asked_attribute(predicate: Predicate, theme: tuple[str, ...]) -> Term:
    """The attribute a predicate asks for, with the unit and the kind of the value it wants.

    >>> asked_attribute(Predicate("temperature", ">", Quantity(25.0, "degC"), True), ())
    Term(text='temperature', role='attribute', theme=(), unit='degC', kind='number', context=())
    """
    return Term(predicate.attribute, "attribute", theme, predicate.unit, _asked_kind(predicate))


def asked_value(predicate: Predicate, theme: tuple[str, ...]) -> Term:
    """The text a predicate asks for after `=`.

    >>> asked_value(Predicate("device", "=", "laptop", value_relaxed=True), ("it",)).text
    'laptop'
    """
    return Term(str(predicate.value), "value", theme, kind="text")


def seen_attributes(event: Event) -> tuple[Term, ...]:
    """For each tuple its attribute, with the unit stated beside it, the kind of its value and its context.

    Text that reads as a number is of the kind `number`. A stated unit that is not in the table counts
    as not stated.

    >>> seen = Event((EventTuple("temp", "81.2 °F"), EventTuple("on", True)))
    >>> [(term.text, term.unit, term.kind) for term in seen_attributes(seen)]
    [('temp', 'degF', 'number'), ('on', '', 'boolean')]
    """
    theme = theme_of(event.themes)
    return tuple(seen_attribute(t, theme, context) for t, context in zip(event.tuples, contexts(event), strict=True))


def seen_attribute(item: EventTuple, theme: tuple[str, ...], context: tuple[str, ...] = ()) -> Term:
    """The attribute of one tuple, as `seen_attributes` says.

    >>> seen_attribute(EventTuple("temp", 21, "C"), ()).unit
    'degC'
    """
    kind, symbol = _seen_kind(item)
    return Term(item.attribute, "attribute", theme, symbol, kind, context)


def seen_values(event: Event) -> tuple[Term | None, ...]:
    """For each tuple its value if that is text; None for a number or a Boolean, which no text is related to.

    >>> [None if t is None else t.text for t in seen_values(Event((EventTuple("a", "x"), EventTuple("b", 3))))]
    ['x', None]
    """
    theme = theme_of(event.themes)
    return tuple(Term(t.value, "value", theme, kind="text") if isinstance(t.value, str) else None for t in event.tuples)


def _asked_kind(predicate: Predicate) -> ValueKind:
    value = predicate.value
    if predicate.operator in TEXT_OPERATORS:
        return "text"
    if isinstance(value, tuple):
        kinds = {_kind(one) for one in value}
        return kinds.pop() if len(kinds) == 1 else ""
    return _kind(value)


def _kind(value: object) -> ValueKind:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float, Quantity, Interval)) else ""


def _seen_kind(item: EventTuple) -> tuple[ValueKind, str]:
    reading = item.reading()
    if reading is None:
        return _kind(item.value), ""
    found = find_unit(reading[1]) if reading[1] else None
    return "number", "" if found is None else found.symbol
