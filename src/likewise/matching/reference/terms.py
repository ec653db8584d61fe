"""The terms a measure is asked about: one place says how predicates and tuples become `Term`s.

The plain evaluation and every engine that keeps relatedness build terms here, so that what is kept for
one is right for the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from likewise.model.event import Event, EventTuple
from likewise.model.predicate import TEXT_OPERATORS, Predicate
from likewise.model.text import attribute_names, fold
from likewise.model.values import Interval, Quantity
from likewise.semantics.concepts.magnitudes import unit_by_size
from likewise.semantics.concepts.surroundings import adjacent_unit, event_contexts, name_of
from likewise.semantics.concepts.values.states import generic_sign
from likewise.semantics.measure import Term, ValueKind
from likewise.units import stated_units

STATE_NUMBERS = (0, 1)  # numbers that may stand for a state


def theme_of(tags: Iterable[str]) -> tuple[str, ...]:
    """Theme tags as a term carries them: folded, sorted, each once.

    >>> theme_of(["Power", "computers", "power"])
    ('computers', 'power')
    """
    return tuple(sorted({fold(tag) for tag in tags}))


def predicate_attribute_term(predicate: Predicate, theme: tuple[str, ...]) -> Term:
    """The attribute a predicate asks for, with the unit and the kind of the value it wants.

    >>> predicate_attribute_term(Predicate("temperature", ">", Quantity(25.0, "degC"), True), ())
    Term(text='temperature', role='attribute', theme=(), unit='degC', kind='number', context=())
    """
    return Term(predicate.attribute, "attribute", theme, predicate.unit, _predicate_kind(predicate))


def predicate_value_term(predicate: Predicate, theme: tuple[str, ...]) -> Term:
    """The text a predicate asks for after `=`; what says no more than yes or no has its attribute as context.

    >>> predicate_value_term(Predicate("device", "=", "laptop", value_relaxed=True), ("it",)).text
    'laptop'
    >>> predicate_value_term(Predicate("heating", "=", "on", value_relaxed=True), ()).context
    ('heating',)
    """
    return _value(str(predicate.value), predicate.attribute, theme, "text")


def event_attribute_terms(event: Event) -> tuple[Term, ...]:
    """For each tuple its attribute, with the unit stated beside it, the kind of its value and its context.

    Text that reads as a number is of the kind `number`. A stated unit that is not in the table counts
    as not stated.

    >>> seen = Event((EventTuple("temp", "81.2 °F"), EventTuple("on", True)))
    >>> [(term.text, term.unit, term.kind) for term in event_attribute_terms(seen)]
    [('temp', 'degF', 'number'), ('on', '', 'boolean')]
    """
    theme = theme_of(event.themes)
    return tuple(
        attribute_term(t, theme, context) for t, context in zip(event.tuples, event_contexts(event), strict=True)
    )


def attribute_term(item: EventTuple, theme: tuple[str, ...], context: tuple[str, ...] = ()) -> Term:
    """The attribute of one tuple, as `seen_attributes` says; a bare number may have the unit that its size says.

    >>> attribute_term(EventTuple("temp", 21, "C"), ()).unit, attribute_term(EventTuple("battery", 3.6), ()).unit
    ('degC', 'V')
    """
    kind, symbol = _reading_kind(named_reading(item, context))
    return Term(item.attribute, "attribute", theme, symbol, kind, context)


def event_value_terms(event: Event) -> tuple[Term | None, ...]:
    """For each tuple its value as a term, None for a number that no text is related to.

    >>> [None if t is None else t.text for t in event_value_terms(Event((EventTuple("a", "x"), EventTuple("b", 3))))]
    ['x', None]
    """
    theme = theme_of(event.themes)
    pairs = zip(event.tuples, event_contexts(event), strict=True)
    return tuple(value_term(item, theme, context) for item, context in pairs)


def value_term(item: EventTuple, theme: tuple[str, ...], context: tuple[str, ...] = ()) -> Term | None:
    """The value of one tuple: text, a Boolean, or a 0 or 1, which may say a state; None for any other number.

    >>> value_term(EventTuple("door_open", True), ())
    Term(text='true', role='value', theme=(), unit='', kind='boolean', context=('door_open',))
    >>> value_term(EventTuple("level", 1, "m"), ()), value_term(EventTuple("mode", "eco"), ()).context
    (None, ())
    """
    value, name = item.value, name_of(item.attribute, context)
    if isinstance(value, bool):
        return _value("true" if value else "false", name, theme, "boolean")
    if isinstance(value, str):
        return _value(value, name, theme, "text")
    return _value(str(value), name, theme, "number") if value in STATE_NUMBERS and not item.unit else None


def named_reading(item: EventTuple, context: tuple[str, ...]) -> EventTuple:
    """Return a tuple under the name that stands beside its value, which may hold its unit; else the tuple itself.

    >>> named_reading(EventTuple("r[].value", 3, group=1), ("≡power_kW",)).attribute
    'power_kW'
    """
    name = name_of(item.attribute, context)
    if name == item.attribute:
        return item
    return EventTuple(name, item.value, item.unit or adjacent_unit(context), item.group)


def _value(text: str, attribute: str, theme: tuple[str, ...], kind: ValueKind) -> Term:
    """The term of a value; its attribute is its context where it says nothing without it, so that others are shared."""
    return Term(text, "value", theme, kind=kind, context=(attribute,) if generic_sign(fold(text)) else ())


def term_names(term: Term) -> tuple[str, ...]:
    """The folded texts a seen term is equal to: an attribute of a list has its name without `[]`, too.

    >>> term_names(Term("Tags[]", "attribute")), term_names(Term("a[]", "value"))
    (('tags[]', 'tags'), ('a[]',))
    """
    return attribute_names(term.text) if term.role == "attribute" else (fold(term.text),)


def _predicate_kind(predicate: Predicate) -> ValueKind:
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


def _reading_kind(item: EventTuple) -> tuple[ValueKind, str]:
    reading = item.reading()
    if reading is None:
        return _kind(item.value), ""
    if not reading[1]:
        return "number", unit_by_size(item.attribute, reading[0])
    unit_read = next(iter(stated_units(reading[1])), None)
    return "number", "" if unit_read is None else unit_read.symbol
