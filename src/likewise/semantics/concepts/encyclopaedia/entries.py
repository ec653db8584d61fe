"""The encyclopaedia of measured things: one CSV file for each domain, read and checked.

An entry names a thing that devices measure (or a word that says which one, or a word that a state can have), all its
names in English and other languages, and what it is: its general kind, its qualifiers and its role.
`docs/contributing/encyclopaedia.md` is the schema for authors. `lexicon` is what names are looked up by.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Final, Literal, cast, get_args

import msgspec

from likewise.errors import FormatError
from likewise.semantics.concepts.inventory import LONGEST_LABEL, Concept, label_words
from likewise.semantics.text.identifiers import split_identifier
from likewise.units import any_unit, find_unit

Category = Literal[
    "quantity",
    "state",
    "count",
    "identifier",
    "time",
    "setting",
    "qualifier",
    "value",
    "role",
    "silent",
    "function",
]
CATEGORIES: Final = get_args(Category)
# The words that every domain shares are written once: what a setpoint, a reading, an `of` is called.
GENERAL_ONLY: Final = frozenset({"role", "silent", "function"})
GENERAL: Final = "general"
MEASURED: Final = frozenset({"quantity", "state", "count", "identifier", "time", "setting"})
REQUIRED_LANGUAGES: Final = ("de", "fr", "es", "nl")
LANGUAGES: Final = (*REQUIRED_LANGUAGES, "it", "pl", "pt", "sv")
ROLES: Final = frozenset(
    {"setpoint", "limit", "alarm", "error", "minimum", "maximum", "average", "deviation", "previous", "command"}
    | {"rated", "forecast", "configuration", "instantaneous"}
)
COLUMNS: Final = (
    *("id", "category", "kind", "qualifiers", "role", "labels", "names", "short", "unit", "other_units", "range"),
    *("default", "group", "opposite", "states", *LANGUAGES, "source"),
)
_LISTS: Final = ("qualifiers", "labels", "names", "short", "other_units", "default", "group", "states", *LANGUAGES)
NO_UNIT: Final = "-"
LONGEST_ID: Final = 6  # words
_VALUES: Final = {
    "quantity": ("number",),
    "count": ("number",),
    "state": ("state", "text", "number"),
    "identifier": ("text", "number"),
    "time": ("time", "text", "number"),
    "setting": ("number", "text", "state"),
}


class DomainEntry(msgspec.Struct, frozen=True):
    """One row of a domain.

    Attributes:
        id: the plain English name.
        category: what the row describes.
        kind: the general kind it is one of, '' if it is a kind of its own; the broader one of a qualifier.
        qualifiers: which one of that kind.
        role: '' for the reading itself.
        labels: English phrases.
        names: makers' names, as written.
        short: abbreviations and symbols.
        unit: the customary unit; `-` for a quantity without one; '' for the kind's.
        other_units: units of the same dimension that are in use, or of others that are written in their place.
        low: the lowest value that is physically possible, in the customary unit.
        high: the highest.
        default: qualifiers that an unqualified name of a general kind means.
        group: what shares a group excludes each other.
        opposite: the id of the opposite.
        states: ids of the values of a state, that of `true` first.
        languages: labels by language.
        source: the vocabulary that the names come from, '' for the author's knowledge.
        domain: the file's name.
        line: where it stands in the file.
    """

    id: str
    category: Category
    kind: str = ""
    qualifiers: tuple[str, ...] = ()
    role: str = ""
    labels: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    unit: str = ""
    other_units: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    default: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    opposite: str = ""
    states: tuple[str, ...] = ()
    languages: Mapping[str, tuple[str, ...]] = {}
    source: str = ""
    domain: str = ""
    line: int = 0

    @property
    def compound(self) -> bool:
        """Whether it is a kind with qualifiers or a role, or a qualifier made of others: names of it are rewritten."""
        return bool(self.qualifiers or self.role)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions of its units, the customary one's first."""
        found = (any_unit(u) for u in (self.unit, *self.other_units) if u and u != NO_UNIT)
        return tuple(dict.fromkeys(u.dimension for u in found if u is not None))


def is_domain(text: str) -> bool:
    """Whether a CSV text has the header of a domain."""
    return text.lstrip("\ufeff").startswith("id,category,")


def read_entries(text: str, domain: str) -> list[DomainEntry]:
    """Read the rows of a domain.

    Args:
        text: the CSV file's text.
        domain: its name, for messages and for votes between domains.

    Returns:
        The entries in order.

    Raises:
        FormatError: the header differs or a row cannot be read; the message has the line.

    >>> header = ",".join(COLUMNS)
    >>> row = "torque,quantity,,,,,,,N.m,,0..100,,,,," + "Drehmoment,couple,par,koppel,,,,,"
    >>> read_entries(f"{header}\\n{row}", "machines")[0].languages["de"]
    ('Drehmoment',)
    """
    rows = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), strict=True)
    try:
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise FormatError(f"{domain}, line 1: expected the header {','.join(COLUMNS)}")
        return [_entry(row, domain, rows.line_num) for row in rows]
    except csv.Error as error:
        raise FormatError(f"{domain}, line {rows.line_num}: this is no CSV: {error}") from None


def _entry(row: Mapping[str, str | None], domain: str, line: int) -> DomainEntry:
    where = f"{domain}, line {line}"
    if None in row or None in row.values():
        raise FormatError(f"{where}: expected {len(COLUMNS)} fields; quote a field that holds a comma")
    fields = {name: " ".join((value or "").split()) for name, value in row.items()}
    lists = {name: tuple(p.strip() for p in fields[name].split("|") if p.strip()) for name in _LISTS}
    if fields["category"] not in CATEGORIES:
        raise FormatError(f"{where}: expected a category ({', '.join(CATEGORIES)}), found {fields['category']!r}")
    low, high = _range(fields["range"], where)
    return DomainEntry(
        id=fields["id"],
        category=cast(Category, fields["category"]),
        kind=fields["kind"],
        qualifiers=lists["qualifiers"],
        role=fields["role"],
        labels=lists["labels"],
        names=lists["names"],
        short=lists["short"],
        unit=fields["unit"],
        other_units=lists["other_units"],
        low=low,
        high=high,
        default=lists["default"],
        group=lists["group"],
        opposite=fields["opposite"],
        states=lists["states"],
        languages={name: lists[name] for name in LANGUAGES},
        source=fields["source"],
        domain=domain,
        line=line,
    )


def _range(text: str, where: str) -> tuple[float, float]:
    if not text:
        return -math.inf, math.inf
    low, dots, high = text.partition("..")
    try:
        found = float(low or -math.inf), float(high or math.inf)
    except ValueError:
        dots = ""
        found = (0.0, 0.0)
    if not dots or not found[0] < found[1]:
        raise FormatError(f"{where}: expected a range such as -40..80, 0.. or ..100, found {text!r}")
    return found


def domain_files() -> list[tuple[str, str]]:
    """Return the name and the text of each domain that ships, the general one first."""
    folder = resources.files("likewise") / "data" / "encyclopaedia"
    found = [(f.name.removesuffix(".csv"), f) for f in folder.iterdir() if f.name.endswith(".csv")]
    found.sort(key=lambda named: (named[0] != GENERAL, named[0]))
    return [(name, file.read_text("utf-8")) for name, file in found]


def inventory_concepts(entries: Iterable[DomainEntry]) -> list[Concept]:
    """Return what entries add to the inventory: general kinds and plain qualifiers with their English labels.

    Compounds add nothing: their names are rewritten to the words of their parts (`lexicon`).
    """
    out: list[Concept] = []
    for e in entries:
        source = f"encyclopaedia: {e.domain}"
        labels = tuple(
            label
            for label in dict.fromkeys(plain_words(n) for n in (*e.labels, *e.names) if not is_code(n))
            if label != e.id and 0 < len(label_words(label)) <= LONGEST_LABEL and not _is_symbol(label)
        )
        broader = (e.kind,) if e.kind else ()
        if e.compound:
            continue
        if e.category in MEASURED:
            out.append(
                Concept("kind", e.id, labels, broader, e.dimensions, _VALUES[e.category], e.default, source=source)
            )
        elif e.category == "qualifier":
            out.append(Concept("qualifier", e.id, labels, broader, apart=e.group, source=source))
        elif e.category in ("role", "silent"):
            out.append(Concept(cast(Literal["role"], e.category), e.id, labels, source=source))
    return out


def _is_symbol(label: str) -> bool:
    """Whether a label is a letter or a unit's symbol: as a label it would hide the unit in a name."""
    return len(label) == 1 or (len(label) == 2 and label[1].isdigit()) or find_unit(label) is not None


def is_code(name: str) -> bool:
    """Whether a maker's name is a code such as OBIS 1-0:1.8.0: it is compared as a whole.

    >>> is_code("1-0:1.8.0"), is_code("SA_TEMP"), is_code("U12"), is_code("0100010800FF")
    (True, False, False, True)
    """
    letters = sum(c.isalpha() for c in name)
    return sum(c.isdigit() for c in name) >= 3 and letters <= 2


def plain_words(name: str) -> str:
    """A maker's name as words.

    >>> plain_words("SupplyAirTemp"), plain_words("SA_TEMP")
    ('supply air temp', 'sa temp')
    """
    return " ".join(word.casefold() for word in split_identifier(name))
