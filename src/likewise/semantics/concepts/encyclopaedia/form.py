"""The form of a domain of the encyclopaedia: what its author must mend, with the line.

`docs/contributing/encyclopaedia.md` states the rules; the number in each message is that of the rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from likewise.semantics.concepts.encyclopaedia.entries import (
    GENERAL,
    GENERAL_ONLY,
    LANGUAGES,
    LONGEST_ID,
    MEASURED,
    NO_UNIT,
    REQUIRED_LANGUAGES,
    ROLES,
    DomainEntry,
    is_code,
    plain_words,
)
from likewise.semantics.concepts.encyclopaedia.lexicon import canonical, phrase_of
from likewise.semantics.concepts.facets import FacetParser
from likewise.semantics.concepts.inventory import LONGEST_LABEL, Inventory
from likewise.semantics.measure import Term
from likewise.units import any_unit

_LISTS: Final = ("qualifiers", "labels", "names", "short", "other_units", "default", "group", "states")


def problems(entries: Sequence[DomainEntry], inventory: Inventory, parser: FacetParser) -> list[str]:
    """Return what is wrong with some domains, taken together.

    Args:
        entries: the entries of all domains that are used together.
        inventory: the inventory with these entries in it.
        parser: takes names apart by that inventory.

    Returns:
        One message for each fault, with domain, line and rule; empty if the form is right.
    """
    known = _Known(entries, inventory)
    out = [f"{e.domain}, line {e.line}: {said}" for e in entries for said in _entry(e, known, parser)]
    return [*out, *_same_ids(entries), *_same_labels(entries)]


class _Known:
    """The names that rows may refer to."""

    def __init__(self, entries: Iterable[DomainEntry], inventory: Inventory) -> None:
        by_category: dict[str, set[str]] = {}
        self.entries = {(e.category, e.id): e for e in entries}
        for category, id in self.entries:
            by_category.setdefault(category, set()).add(id)
        self.kinds = set(inventory.kinds)
        self.qualifiers = set(inventory.qualifiers) | by_category.get("qualifier", set()) | self.kinds
        self.values = by_category.get("value", set())
        self.dimensions = {name: set(kind.dimensions) for name, kind in inventory.kinds.items()}


def _entry(e: DomainEntry, known: _Known, parser: FacetParser) -> Iterator[str]:
    yield from _words(e)
    yield from _units(e, known)
    yield from _references(e, known)
    if e.category in GENERAL_ONLY and e.domain != GENERAL:
        yield f"3: only the general domain has the category {e.category}"
    general = e.category in MEASURED and not e.kind  # another domain may have said it already
    for language in REQUIRED_LANGUAGES:
        if not e.languages.get(language) and not (general and e.default):
            yield f"9: {language} is empty"
    if e.category in MEASURED and e.compound:
        yield from _taken_apart(e, parser)


def _words(e: DomainEntry) -> Iterator[str]:
    if (
        not e.id
        or e.id != e.id.casefold()
        or len(e.id.split()) > LONGEST_ID
        or phrase_of(e.id) != phrase_of(plain_words(e.id))
    ):
        yield f"2: expected an id of at most {LONGEST_ID} words in small letters, found {e.id!r}"
    for column in _LISTS:
        yield from _twice(column, getattr(e, column))
    for language in LANGUAGES:
        yield from _twice(language, e.languages.get(language, ()))
    for label in (*e.labels, *(x for labels in e.languages.values() for x in labels)):
        if len(label.split()) > LONGEST_LABEL:
            yield f"1: a label has at most {LONGEST_LABEL} words, found {label!r}"


def _twice(column: str, entries: Sequence[str]) -> Iterator[str]:
    for label in {x for x in entries if entries.count(x) > 1}:
        yield f"1: {label!r} stands twice in {column}"


def _units(e: DomainEntry, known: _Known) -> Iterator[str]:
    if e.role and e.role not in ROLES:
        yield f"3: expected a role ({', '.join(sorted(ROLES))}), found {e.role!r}"
    units = [u for u in (e.unit, *e.other_units) if u and u != NO_UNIT]
    unknown = [u for u in units if any_unit(u) is None]
    for unit in unknown:
        yield f"3: no unit is spelled {unit!r}"
    allowed = known.dimensions.get(e.kind) if e.kind else None
    if allowed and e.unit in units and not unknown and e.role != "command":
        dimension = e.dimensions[0]
        if dimension not in allowed:
            yield f"3: {e.unit} is a unit of {dimension}, but {e.kind} is in units of {', '.join(sorted(allowed))}"
    bounded = not (math.isinf(e.low) and math.isinf(e.high))
    if e.category == "quantity" and e.unit and e.unit != NO_UNIT and not bounded:
        yield "4: a quantity with a unit needs a range"
    if e.category == "count" and e.low < 0:
        yield "4: a count begins at 0: write 0.."


def _references(e: DomainEntry, known: _Known) -> Iterator[str]:
    kinds = known.qualifiers if e.category == "qualifier" else known.kinds
    if e.kind and e.kind not in kinds:
        yield f"5: no kind is named {e.kind!r}"
    for name in (*e.qualifiers, *e.default):
        if name not in known.qualifiers:
            yield f"5: no qualifier is named {name!r}"
    for name in e.states:
        if name not in known.values:
            yield f"5: no value is named {name!r}"
    if e.states and len(e.states) < 2:
        yield "8: a state has at least two states"
    if e.category == "state" and not e.states:
        yield "8: a state names its states"
    if e.opposite:
        other = known.entries.get((e.category, e.opposite))
        if other is None:
            yield f"5: no {e.category} is named {e.opposite!r}"
        elif other.opposite != e.id:
            yield f"8: {e.opposite!r} does not name {e.id!r} as its opposite"
    if e.category in MEASURED and e.kind and not e.compound and not (e.labels or e.names or e.short):
        yield f"6: neither qualifiers, role nor a name of its own: make it a label of {e.kind!r}"


def _taken_apart(e: DomainEntry, parser: FacetParser) -> Iterator[str]:
    facets = parser.facets(Term(canonical(e)))
    named = {q.name for q in facets.qualifiers} | set(facets.kinds)
    missing = [q for q in e.qualifiers if q not in named]
    if e.kind not in facets.kinds or missing or (e.role and facets.role != e.role):
        read = f"kind {' or '.join(facets.kinds)}, qualifiers {sorted(named)}, role {facets.role or 'none'}"
        yield f"10: {canonical(e)!r} is taken apart into {read}"


def _same_ids(entries: Sequence[DomainEntry]) -> Iterator[str]:
    first: dict[tuple[bool, str], DomainEntry] = {}
    for e in entries:
        key = (e.category == "value", e.id)
        other = first.setdefault(key, e)
        if other is e:
            continue
        adds = e.category == other.category and not e.compound and not other.compound and e.domain != other.domain
        # A word may be a kind and a qualifier: `power outage`, and the count of these.
        two_sorts = e.category != other.category and {e.category, other.category} <= {"qualifier", *MEASURED}
        if not adds and not two_sorts:
            yield f"{e.domain}, line {e.line}: 2: {e.id!r} is also in {other.domain}, line {other.line}"


def _same_labels(entries: Sequence[DomainEntry]) -> Iterator[str]:
    """Labels under two rows that exclude each other, and short forms under two rows of one domain."""
    labels: dict[tuple[str, tuple[str, ...]], DomainEntry] = {}
    shorts: dict[tuple[str, str], DomainEntry] = {}
    for e in entries:
        if e.category in GENERAL_ONLY:
            continue
        where = f"{e.domain}, line {e.line}"
        english = [("", label) for label in (e.id, *e.labels, *e.names) if not is_code(label)]
        foreign = [(language, label) for language, found in e.languages.items() for label in found]
        for language, label in (*english, *foreign):
            other = labels.setdefault((language, phrase_of(label)), e)
            if other is not e and _exclude(e, other):
                yield f"{where}: 7: {label!r} also stands for {other.id!r} ({other.domain}, line {other.line})"
        for short in e.short:
            other = shorts.setdefault((e.domain, short.casefold()), e)
            if other is not e and len(short) > 1:
                yield f"{where}: 7: the short form {short!r} also stands for {other.id!r} (line {other.line})"


def _exclude(one: DomainEntry, other: DomainEntry) -> bool:
    """Whether two rows exclude each other: a common group, or kinds that differ."""
    if (one.category == "value") != (other.category == "value"):
        return False
    if set(one.group) & set(other.group):
        return True
    if {one.category, other.category} <= MEASURED and one.domain == other.domain:
        return (one.kind or one.id) != (other.kind or other.id)
    return False
