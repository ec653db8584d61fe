"""The file of common names: what a kind of reading is called, in which unit or with which words it is written."""

from __future__ import annotations

import csv
import io
import math
import re
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import FormatError, InputError
from likewise.model import Predicate
from likewise.model.text import fold
from likewise.model.values import Quantity
from likewise.semantics.measure import Term
from likewise.units import any_unit

COLUMNS: Final = (
    *("name", "means", "unit", "usual", "bare", "true", "false", "aliases", "device_class", "state_class"),
)
_NAME: Final = re.compile(r"[^\s/+#{}]+")


class CommonName(msgspec.Struct, frozen=True, dict=True):
    """A kind of reading as everybody shall call it.

    Attributes:
        name: The common name; a level of a topic.
        means: The kind in plain words, as a subscription would ask for it.
        unit: The common unit, '' for a number without one and for a state.
        low: The lowest usual number in the common unit.
        high: The highest.
        bare: The unit of numbers that state none, where the encyclopaedia knows no customary one; '' to abstain.
        true: The word for a state that is so; '' for a number.
        false: The word for a state that is not so.
        aliases: Names of attributes that are this kind beyond what their words say, where the value fits.
        device_class: The class of Home Assistant; '' if there is none.
        state_class: Home Assistant's kind of statistics; '' for none.
    """

    name: str
    means: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    bare: str = ""
    true: str = ""
    false: str = ""
    aliases: tuple[str, ...] = ()
    device_class: str = ""
    state_class: str = ""

    @property
    def is_state(self) -> bool:
        """Whether its values are words for so and not so."""
        return bool(self.true)

    @cached_property
    def predicate(self) -> Predicate:
        """What a subscription for it would ask."""
        known = any_unit(self.unit) if self.unit else None
        value = True if self.is_state else Quantity(0.0, known.symbol) if known is not None else 0.0
        return Predicate(self.means, "=", value, attribute_relaxed=True)

    @cached_property
    def term(self) -> Term:
        """The term that readings are compared with."""
        return Term(self.means, "attribute", (), self.predicate.unit, "boolean" if self.is_state else "number")


class CommonNames:
    """The common names of a file, in its order.

    >>> names = read_common_names("name,means,unit\\nindoor,room temperature,°C\\n")
    >>> [(each.name, each.predicate.unit) for each in names.rows]
    [('indoor', 'degC')]
    """

    def __init__(self, rows: tuple[CommonName, ...]) -> None:
        self.rows: Final = rows
        self.terms: Final = [row.term for row in rows]
        self.by_alias: Final[dict[str, list[int]]] = {}
        for place, row in enumerate(rows):
            for alias in row.aliases:
                self.by_alias.setdefault(fold(alias), []).append(place)


def default_text() -> str:
    """Return the file that comes with Likewise."""
    return (resources.files("likewise") / "data" / "common_names.csv").read_text("utf-8")


def read_common_names(text: str, where: str = "common names") -> CommonNames:
    """Decode a file of common names; a bad row is refused with its line.

    Args:
        text: CSV with a header; `name` and `means` are required columns.
        where: The file's name, for messages.

    Raises:
        FormatError: The text is no such table.

    >>> read_common_names("name,means,unit\\nheat,temperature,degX\\n", "mine.csv")
    Traceback (most recent call last):
    likewise.errors.FormatError: mine.csv, line 2: 'degX' is no unit
    """
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    made: dict[str, CommonName] = {}
    try:
        header = tuple(rows.fieldnames or ())
        unknown = [column for column in header if column not in COLUMNS]
        if unknown or "name" not in header or "means" not in header:
            raise FormatError(f"{where}, line 1: expected columns of {','.join(COLUMNS)}; name and means are needed")
        for cells in rows:
            row = _row(
                {column: (cells.get(column) or "").strip() for column in COLUMNS}, f"{where}, line {rows.line_num}"
            )
            if made.setdefault(row.name, row) is not row:
                raise FormatError(f"{where}, line {rows.line_num}: the name {row.name!r} stands twice")
    except csv.Error as error:
        raise FormatError(f"{where}, line {rows.line_num}: this is no CSV: {error}") from None
    return CommonNames(tuple(made.values()))


def read_names(path: str | None) -> CommonNames:
    """Return the common names of a file, or those that come with Likewise."""
    try:
        text = default_text() if path is None else Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file of common names {path!r} cannot be read: {error}") from None
    return read_common_names(text, path or "common names")


def _row(cells: dict[str, str], where: str) -> CommonName:
    if not _NAME.fullmatch(cells["name"]) or not cells["means"]:
        raise FormatError(f"{where}: a row has a name without blanks, / and wildcards, and says what it means")
    for symbol in (cells["unit"], cells["bare"]):
        if symbol and any_unit(symbol) is None:
            raise FormatError(f"{where}: {symbol[:40]!r} is no unit")
    known, bare = any_unit(cells["unit"]), any_unit(cells["bare"])
    if bare is not None and (known is None or known.dimension != bare.dimension):
        raise FormatError(
            f"{where}: bare numbers in {cells['bare'][:40]!r} cannot be brought to {cells['unit'][:40]!r}"
        )
    if cells["true"] and cells["true"] == cells["false"]:
        raise FormatError(f"{where}: the two words of a state differ")
    if bool(cells["true"]) != bool(cells["false"]) or (cells["true"] and cells["unit"]):
        raise FormatError(f"{where}: a state has two words, `true` and `false`, and no unit")
    aliases = tuple(each.strip() for each in cells["aliases"].split("|") if each.strip())
    low, _, high = cells.pop("usual").partition("..")
    try:
        usual = {"low": float(low or -math.inf), "high": float(high or math.inf)}
    except ValueError:
        raise FormatError(f"{where}: a usual range is written like -40..80") from None
    if not usual["low"] <= usual["high"]:
        raise FormatError(f"{where}: a usual range begins with its lower end, as in -40..80")
    return msgspec.convert({**cells, "aliases": aliases, **usual}, CommonName)
