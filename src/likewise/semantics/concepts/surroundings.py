"""What the rest of an event says about a reading: the name beside its value, and what the device is.

`{"code": "temp_current", "value": 215}` has a current temperature, though the attribute is called `value`. A bare
`temperature` beside relay, power and uptime fields is the device's own, in a heating circuit the water's, and neither
is the room's. Both follow from the event alone and are part of a term's context, as marked texts, so that scores of
pairs can be cached and all engines agree.

What fields and types are signs of which surroundings, and what these say about a bare name, is data
(`surroundings.csv`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources
from typing import Final, NamedTuple

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.model.event import Event, contexts
from likewise.semantics.concepts.adjacent_names import LONGEST_TEXT, adjacent_names, is_name_key, is_nameless
from likewise.semantics.concepts.inventory import singular
from likewise.semantics.text.identifiers import split_identifier
from likewise.units import stated_units

NAMED: Final = "\u2261"  # begins a text of the context that is the name of the reading
UNIT: Final = "\u2259"  # begins a text of the context that is the unit of the reading
WITHIN: Final = "\u2208"  # begins a text of the context that is the name of a rule
MARKS: Final = (NAMED, UNIT, WITHIN)
LONGEST_SIGN: Final = 3  # words
MOST_CASES: Final = 1_024  # of signs that the events of one source may show
_TYPE_WORDS: Final = frozenset(
    {"type", "kind", "class", "category", "medium", "commodity", "model", "product", "domain", "species", "feature"}
    | {"description", "name", "customname", "topic", "profile", "appliance", "typ", "modell", "stationtype"}
)


class _Rule(NamedTuple):
    """Surroundings: what they imply, for which kinds, beside which qualifiers, and by which signs they are known."""

    name: str
    implies: tuple[str, ...]
    kinds: int
    beside: frozenset[str]
    own: int
    typed: int
    fields: int
    needs: int
    together: tuple[int, ...]
    unless: int

    def holds(self, fields: int, typed: int) -> bool:
        """Return whether fields and types of an event show these surroundings."""
        if typed & self.typed:
            return True
        if (fields | typed) & self.unless:
            return False
        enough = bool(self.needs) and (fields & self.fields).bit_count() >= self.needs
        return enough or any(fields & each == each for each in self.together)


class _Table(NamedTuple):
    """Signs and words for kinds, each with its bit, and the rules in their order."""

    signs: dict[tuple[str, ...], int]
    kinds: dict[tuple[str, ...], int]
    dimensions: dict[str, int]
    rules: dict[str, _Rule]


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split("|") if part.strip()]


@lru_cache(maxsize=1)
def _table() -> _Table:
    lines = (resources.files("likewise") / "data" / "surroundings.csv").read_text("utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    bits = {
        sort: {r["name"]: 1 << at for at, r in enumerate(r for r in rows if r["sort"] == sort)}
        for sort in ("sign", "kind")
    }
    words: dict[str, dict[tuple[str, ...], int]] = {"sign": {}, "kind": {}}
    for row in rows:
        if row["sort"] in words:
            for label in _list(row["words"]):
                key, table = tuple(singular(word) for word in label.split()), words[row["sort"]]
                table[key] = table.get(key, 0) | bits[row["sort"]][row["name"]]

    def mask(text: str, sort: str = "sign") -> int:
        return sum(bits[sort][name] for name in _list(text))

    rules = {}
    for row in rows:
        if row["sort"] == "rule":
            fields = _list(row["fields"])
            rules[row["name"]] = _Rule(
                row["name"],
                tuple(_list(row["words"])),
                mask(row["kinds"], "kind"),
                frozenset(_list(row["beside"])),
                mask(row["own"]),
                mask(row["typed"]),
                mask("|".join(each for each in fields if "+" not in each)),
                int(row["needs"] or 0),
                tuple(mask(each.replace("+", "|")) for each in fields if "+" in each),
                mask(row["unless"]),
            )
    dimensions = {name: bits["kind"][name] for name in ("temperature", "frequency", "volume")}
    return _Table(words["sign"], words["kind"], dimensions, rules)


def _words(text: str) -> list[str]:
    return [singular(word.casefold()) for word in split_identifier(text)]


def _bits(words: Sequence[str], table: dict[tuple[str, ...], int]) -> int:
    out = 0
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + LONGEST_SIGN) + 1):
            out |= table.get(tuple(words[start:end]), 0)
    return out


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def signs_of(text: str) -> int:
    """Return what a name or a text is a sign of, as bits."""
    words = _words(text)
    return _bits(words, _table().signs) | _table().signs.get(("".join(words),), 0)


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def is_type_name(attribute: str) -> bool:
    """Return whether the text under a name says what the device, or the message, is.

    >>> is_type_name("deviceType"), is_type_name("info.model"), is_type_name("state")
    (True, True, False)
    """
    words = _words(attribute.rpartition(".")[2])
    return bool(words) and words[-1] in _TYPE_WORDS


def surroundings(event: Event) -> tuple[str, ...]:
    """Return the names of the rules that an event's fields, types and themes show; mostly none.

    >>> from likewise.model import event
    >>> surroundings(event({"temperature": 51, "apower": 2254.1, "uptime": 81200}))
    ('electronics', 'electricity')
    """
    fields, telling = _shape(tuple([item.attribute for item in event.tuples]))
    typed = theme_signs(event.themes) if event.themes else 0
    for place in telling:
        item = event.tuples[place]
        if type(item.value) is str:
            said = text_signs(item.attribute, item.value)
            fields, typed = fields | said[0], typed | said[1]
    return rules_that_hold(fields, typed)


@lru_cache(maxsize=4096)
def _shape(attributes: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    """Return what the attributes of an event are signs of, and the places of those whose texts may be signs, too."""
    fields = 0
    for attribute in attributes:
        fields |= signs_of(attribute)
    return fields, tuple(at for at, name in enumerate(attributes) if is_type_name(name) or is_name_key(name))


def text_signs(attribute: str, text: str) -> tuple[int, int]:
    """Return what a text is a sign of as one of the event's fields (a name in a list), and as what the device is."""
    if len(text) > LONGEST_TEXT:
        return 0, 0
    if "[]" in attribute:
        return (signs_of(text), 0) if is_name_key(attribute) else (0, 0)
    return (0, signs_of(text)) if is_type_name(attribute) else (0, 0)


@lru_cache(maxsize=1024)
def theme_signs(themes: tuple[str, ...]) -> int:
    """Return what theme tags are signs of: as if they were types."""
    out = 0
    for tag in themes:
        out |= signs_of(tag)
    return out


@lru_cache(maxsize=4096)
def rules_that_hold(fields: int, typed: int) -> tuple[str, ...]:
    """Return the names of the rules that signs among the fields and types of an event show."""
    return tuple(rule.name for rule in _table().rules.values() if rule.holds(fields, typed))


def possible_rules(
    themes: tuple[str, ...], alternatives: Iterable[Iterable[tuple[int, int]]]
) -> tuple[tuple[str, ...], ...] | None:
    """Return all surroundings that events may show, each of whose attributes may show one of several signs, or none.

    Args:
        themes: The events' theme tags.
        alternatives: For each attribute the signs that it may show, as a field and as a type (`text_signs`).

    Returns:
        The names of the rules, for each case; None if there are too many cases.
    """
    masks = {(0, theme_signs(themes))}
    for signs in alternatives:
        masks |= {(fields | f, typed | t) for fields, typed in masks for f, t in signs}
        if len(masks) > MOST_CASES:
            return None
    return tuple(dict.fromkeys(rules_that_hold(*mask) for mask in sorted(masks)))


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def marks(name: str, unit: str, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Return what surroundings say about a reading, as texts of its context; those of its own path come first.

    >>> marks("modem.temp", "", ()), marks("temperature", "", ("electronics",)), marks("power", "W", ("electronics",))
    (('∈electronics',), ('∈electronics',), ())
    """
    table, kinds = _table(), _kinds(name, unit)
    if not kinds:
        return ()
    own = signs_of(name)
    near = [r.name for r in table.rules.values() if r.kinds & kinds and r.own & own]
    return tuple(WITHIN + rule for rule in (near or [r for r in rules if table.rules[r].kinds & kinds])[:1])


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def _kinds(name: str, unit: str) -> int:
    """Return which kinds that surroundings say something about a name or a unit may be of, as bits."""
    table = _table()
    kinds = _bits(_words(name), table.kinds)
    for each in stated_units(unit) if unit else ():
        kinds |= table.dimensions.get(each.dimension, 0)
    return kinds


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def may_have_context(attribute: str, unit: str) -> bool:
    """Return whether the rest of an event may say something about a reading; where not, its term is always the same."""
    return is_nameless(attribute) or bool(_kinds(attribute, unit))


def implied(mark: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the qualifiers that a mark implies of a bare name, and those beside which it implies them, too."""
    rule = _table().rules[mark.removeprefix(WITHIN)]
    return rule.implies, rule.beside


def event_contexts(event: Event) -> tuple[tuple[str, ...], ...]:
    """Return for each tuple the context of its terms: the name beside it, what surrounds it, and nearby texts."""
    return contexts_within(event, surroundings(event))


def contexts_within(event: Event, rules: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return `event_contexts` of an event whose surroundings are known."""
    near, named = contexts(event), adjacent_names(event)
    out = []
    for place, (item, texts) in enumerate(zip(event.tuples, near, strict=True)):
        name, unit = named.get(place, ("", ""))
        said = (*((NAMED + name,) if name else ()), *((UNIT + unit,) if unit else ()))
        out.append((*said, *marks(name or item.attribute, item.unit or unit, rules), *texts))
    return tuple(out)


def name_of(attribute: str, context: Iterable[str]) -> str:
    """Return the name of a reading: the one beside it, else its attribute.

    >>> name_of("r[].value", ("≡temp", "temp")), name_of("temp", ())
    ('temp', 'temp')
    """
    return next((text[1:] for text in context if text.startswith(NAMED)), attribute)


def adjacent_unit(context: Iterable[str]) -> str:
    """Return the unit that stands in another place of the event than beside the value; mostly ''."""
    return next((text[1:] for text in context if text.startswith(UNIT)), "")


def unmarked(context: tuple[str, ...]) -> tuple[str, ...]:
    """Return the nearby texts of a context alone."""
    return tuple(text for text in context if text[:1] not in MARKS) if context else ()
