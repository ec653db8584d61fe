"""One annotation: the events it applies to, and what it adds to them."""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LimitExceeded
from likewise.model.hierarchies.topic_filters import check_filter
from likewise.model.text import fold
from likewise.model.values import Quantity, read_number
from likewise.units import unit

COLUMNS: Final = ("key", "is", "attribute", "value", "unit", "means")
EXACT_KEYS: Final = ("source", "topic")  # keys that are compared as they are


class Annotation(msgspec.Struct, frozen=True):
    """A row of the annotation table.

    It holds for events whose `key` (the source, the topic, or an attribute such as `model`) has the value `equals`,
    any value if that is empty; with `relaxed`, for those where that is meant. It adds `attribute` with `value` and
    `unit`; without a value it states the unit of `attribute`, or that `attribute` means the concept `means`. No
    attribute: the key itself. `line` is where it stands, `where` what it stands in if that is no table.

    Attributes:
        key: What selects events: `source`, `topic`, `model`, or the name of any attribute.
        equals: Value of the key that selects an event; '' selects every event that has the key.
        attribute: Attribute that is added or described. Default: the key itself.
        value: Value of the added attribute, '' to describe an existing one.
        unit: Unit of the attribute.
        means: Concept that the attribute means.
        relaxed: Whether the key is compared by meaning.
        line: Line in the table, for messages.
        where: Origin of the row if it is no table.

    >>> str(Annotation("source", "sensor-17", "room", "room 112"))
    'source is sensor-17: room = room 112'
    >>> str(Annotation("temp1", unit="degC", means="supply air temperature"))
    'temp1: temp1 is supply air temperature, in degC'
    """

    key: str
    equals: str = ""
    attribute: str = ""
    value: str = ""
    unit: str = ""
    means: str = ""
    relaxed: bool = False
    line: int = 0
    where: str = ""

    def __post_init__(self) -> None:
        """Refuse a row that says nothing, or nothing that can be done."""
        for name, text in zip(COLUMNS, self.cells(), strict=True):
            if len(text) > MAX_TERM_LENGTH:
                raise LimitExceeded(f"characters of an annotation's {name}", allowed=MAX_TERM_LENGTH, found=len(text))
        if not self.key.strip():
            raise InputError("it has no key; write source, model, topic or an attribute's name")
        plain = fold(self.key) in EXACT_KEYS
        if plain and self.relaxed:
            raise InputError(f"a {fold(self.key)} is compared as it is; write the key without `~`")
        if fold(self.key) == "topic" and self.equals:
            check_filter(self.equals)
        if not (self.value or self.unit or self.means):
            raise InputError("it says nothing; give a value to add, a unit, or what the attribute means")
        if not self.attribute and (self.value or plain):
            raise InputError("it names no attribute; say which one is added or meant")
        if self.value and self.means:
            raise InputError("a value adds an attribute and `means` replaces one; use two rows")
        if self.unit:
            unit(self.unit)
            if self.value and not isinstance(read_number(self.value), (int, float)):
                raise InputError(f"{self.value[:40]!r} is no number, so it has no unit; leave the unit out")

    @property
    def target(self) -> str:
        """The attribute that it adds or describes."""
        return self.attribute or self.key

    def cells(self) -> tuple[str, ...]:
        """Return the cells of its CSV row."""
        key = f"{self.key}~" if self.relaxed else self.key
        return (key, self.equals, self.attribute, self.value, self.unit, self.means)

    def added_value(self) -> str | int | float | bool:
        """Return the value it adds: a number if the whole text is one, else the text."""
        number = read_number(self.value)
        if number is None or isinstance(number, Quantity):
            return self.value
        return int(number) if number == int(number) else number

    def __str__(self) -> str:
        holds = f"{self.key} is {self.equals}" if self.equals else self.key
        if self.value:
            return f"{holds}: {self.target} = {self.value} {self.unit}".rstrip()
        meaning = f"is {self.means}" if self.means else ""
        in_unit = f"in {self.unit}" if meaning else f"is in {self.unit}"
        return f"{holds}: {self.target} {', '.join(part for part in (meaning, in_unit if self.unit else '') if part)}"
