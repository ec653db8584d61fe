"""Offers of a source: every announced attribute in every form in which matching may see it.

A form is a name, a unit and a kind of value. Annotations and corrections may give an attribute another name or a unit,
or add attributes; what they may do, depending on the event, is offered beside what it is without them. So what is
compiled against offers never misses what matching would find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from likewise.matching.reference.terms import attribute_term, theme_of
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.model.event import Event, EventTuple
from likewise.model.predicate import Predicate
from likewise.model.text import attribute_names, fold
from likewise.semantics.concepts.adjacent_names import is_name_key, is_nameless
from likewise.semantics.concepts.magnitudes import is_bare_battery
from likewise.semantics.concepts.surroundings import marks, possible_rules, signs_of, text_signs
from likewise.semantics.enrichment.annotation import Annotation
from likewise.semantics.enrichment.table import AnnotationTable
from likewise.semantics.measure import Term
from likewise.units import stated_units, unit

Value = str | int | float | bool
SAMPLES: Final[dict[str, tuple[Value, ...]]] = {"number": (7,), "text": ("x",), "boolean": (True,)}
SIZES: Final[tuple[Value, ...]] = (3.6, 87, 3300, 12.6, 0.61)  # numbers that may tell the unit of a bare name
Annotate = Callable[[Event], Event]
Rules = tuple[str, ...]


class OfferForm(NamedTuple):
    """One form that an attribute may be seen in: the term, and the unit that an annotation adds to a bare number."""

    term: Term
    added_unit: str = ""


class Offer(NamedTuple):
    """An attribute that events may have: its name as it comes, its forms, what its values meet, and which are known.

    `constant` is what an annotation adds: it is there without the event saying so.
    """

    name: str
    forms: tuple[OfferForm, ...]
    allowed: Predicate
    values: tuple[Value, ...] = ()
    kind: str = ""
    constant: EventTuple | None = None

    @property
    def listed(self) -> bool:
        """Return whether all of its values are texts that are known."""
        return self.allowed.operator == "in" and all(isinstance(value, str) for value in self.values)


class Offers(NamedTuple):
    """Everything that is offered, and the terms of it as they come."""

    offers: tuple[Offer, ...]
    raw_terms: frozenset[Term]
    theme: tuple[str, ...]

    @property
    def listed(self) -> bool:
        """Return whether any of it stands in a list."""
        return any("[]" in offer.name for offer in self.offers)

    def kinds(self) -> tuple[tuple[type, ...], ...]:
        """Return the type of each value: `true` is not 1, though Python calls them equal."""
        return tuple(tuple(map(type, offer.values)) for offer in self.offers)


def offers_of(
    announcement: Announcement,
    annotations: AnnotationTable,
    annotate: Annotate,
    texts: Callable[[str], Iterable[str]] = lambda name: (),
) -> Offers:
    """Return the offers of a source; `annotate` is the annotation step, `texts` returns known texts of an attribute.

    >>> said = Announcement("s", (AnnouncedAttribute("temp", "degC", low=0, high=50),))
    >>> from likewise.semantics.enrichment.table import NO_ANNOTATIONS
    >>> [offer] = offers_of(said, NO_ANNOTATIONS, lambda event: event).offers
    >>> [(form.term.text, form.term.unit) for form in offer.forms]
    [('temp', 'degC'), ('temp', '')]
    """
    theme = theme_of(announcement.themes)
    attributes = announcement.all_attributes()
    names = {name for each in attributes for name in attribute_names(each.name)}
    perhaps = [row for row in annotations.rows if _may_hold(row, names)]
    raw_rules, rules = _surroundings(announcement, attributes, perhaps, annotate, texts)
    names_known = _names_nothing(attributes, perhaps, annotate, announcement)
    made: list[Offer] = []
    raw_terms: set[Term] = set()
    added: dict[EventTuple, None] = {}
    for each in attributes:
        forms: dict[OfferForm, None] = {}
        for item in _samples(each):
            if names_known or not is_nameless(item.attribute):
                raw_terms.update(attribute_term(item, theme, marks(item.attribute, item.unit, r)) for r in raw_rules)
            event = Event((item,), announcement.themes, source=announcement.source)
            annotated = annotate(event).tuples
            added.update(dict.fromkeys(annotated[1:]))
            about = [row for row in perhaps if _about(row, each.name)]
            forms.update(dict.fromkeys(_forms(item, annotated[0], about, theme, rules)))
        known = {(type(value), value): value for value in (*each.values, *texts(each.name), *_states(each))}
        made.append(Offer(each.name, tuple(forms), each.predicate(), tuple(known.values()), each.kind))
    added.update({EventTuple(row.attribute, row.added_value(), row.unit): None for row in perhaps if row.value})
    for item in added:
        forms = {OfferForm(attribute_term(item, theme, marks(item.attribute, item.unit, r))): None for r in rules}
        made.append(Offer(item.attribute, tuple(forms), Predicate(item.attribute, "exists"), (item.value,), "", item))
    return Offers(tuple(made), frozenset(raw_terms), theme)


def _samples(each: AnnouncedAttribute) -> Iterator[EventTuple]:
    """Tuples whose terms are all that announced values can have."""
    kinds = (each.kind,) if each.kind else tuple(SAMPLES)
    for kind in kinds:
        for value in SAMPLES[kind]:
            if kind == "number" and each.unit:
                yield EventTuple(each.name, value, each.unit)
            yield EventTuple(each.name, value)
        if kind == "number" and is_bare_battery(each.name):
            yield from (EventTuple(each.name, value) for value in SIZES)


def _states(each: AnnouncedAttribute) -> tuple[Value, ...]:
    """Values that say a state, whatever was announced of them."""
    if each.values:
        return ()
    return {"boolean": (True, False), "number": (0, 1), "": (True, False, 0, 1), "text": ()}[each.kind]


def _surroundings(
    announcement: Announcement,
    attributes: Sequence[AnnouncedAttribute],
    perhaps: Sequence[Annotation],
    annotate: Annotate,
    texts: Callable[[str], Iterable[str]],
) -> tuple[tuple[Rules, ...], tuple[Rules, ...]]:
    """Return what may surround readings, as events come and after annotations; nothing is judged if it is too much."""
    raw, annotated = [], []
    for each in attributes:
        signs = {(signs_of(each.name), 0)}
        for value in (*each.values, *texts(each.name)):
            if isinstance(value, str):
                fields, typed = text_signs(each.name, value)
                signs.add((fields | signs_of(each.name), typed))
        raw.append(tuple(sorted(signs)))
        seen = set(signs)
        for item in _samples(each):
            for other in annotate(Event((item,), announcement.themes, source=announcement.source)).tuples:
                said = text_signs(other.attribute, other.value) if isinstance(other.value, str) else (0, 0)
                seen.add((signs_of(other.attribute) | said[0], said[1]))
        annotated.append(tuple(sorted(seen)))
    for row in perhaps:
        said = text_signs(row.attribute, row.value) if row.value else (0, 0)
        annotated.append(((signs_of(row.means or row.attribute) | said[0], said[1]),))
    before, after = (possible_rules(announcement.themes, each) for each in (raw, annotated))
    return ((), ((),)) if before is None or after is None else (before, after)


def _names_nothing(
    attributes: Sequence[AnnouncedAttribute],
    perhaps: Sequence[Annotation],
    annotate: Annotate,
    announcement: Announcement,
) -> bool:
    """Return whether no attribute, announced or added, may name a value beside it."""
    names = [each.name for each in attributes]
    names += [row.attribute for row in perhaps]
    for each in attributes:
        for item in _samples(each):
            annotated = annotate(Event((item,), announcement.themes, source=announcement.source))
            names += [other.attribute for other in annotated.tuples]
    return not any(is_name_key(name) for name in names)


def _forms(
    item: EventTuple,
    annotated: EventTuple,
    rows: list[Annotation],
    theme: tuple[str, ...],
    rules: Sequence[Rules],
) -> Iterator[OfferForm]:
    """Return the forms of a tuple: as it is certainly annotated, and with every name and unit that rows may give it."""
    names = dict.fromkeys((annotated.attribute, *(row.means for row in rows if row.means)))
    units = dict.fromkeys((annotated.unit, *(unit(row.unit).symbol for row in rows if row.unit and not item.unit)))
    if rows:
        names.setdefault(item.attribute)
        units.setdefault(item.unit)
    for name in names:
        for symbol in units:
            stated = next(iter(stated_units(symbol)), None) if symbol and symbol != item.unit else None
            for each in rules:
                term = attribute_term(EventTuple(name, item.value, symbol), theme, marks(name, symbol, each))
                yield OfferForm(term, "" if stated is None else stated.symbol)


def _may_hold(row: Annotation, names: set[str]) -> bool:
    """Return whether a row may hold for an event by what the event says; what holds by its source is known for sure."""
    return row.relaxed or (fold(row.key) != "source" and fold(row.key) in names)


def _about(row: Annotation, name: str) -> bool:
    return not row.value and (row.relaxed or fold(row.target) in attribute_names(name))
