"""Events: themes and tuples, and the optional parts of a publication (docs/formats.md; sources.md T, H, C, M)."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from likewise.defaults import MAX_TERM_LENGTH, MAX_TOPIC_LENGTH, MAX_TRIPLES, MAX_TUPLES, MAX_VECTOR
from likewise.errors import InvalidEvent, LimitExceeded
from likewise.model.display import html_of, text_of
from likewise.model.rdf import Triple
from likewise.model.subscription import check_themes
from likewise.model.time import microseconds
from likewise.model.values import Quantity, finite, plain_number, read_magnitude
from likewise.units import LARGEST_WHOLE

_GROUPS = 2**31  # groups are 32-bit numbers in every stored form
# A comma before one, two or four and more digits, or three behind a zero: `1,234` may be a thousand.
_DECIMAL_COMMA: Final = re.compile(r"\s*[+-]?(?:0|\d+(?=,\d{1,2}(?!\d)|,\d{4}))(,)\d+(?![\d.,])")


class EventTuple(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One attribute and its value; `unit` is the unit stated beside the value, as written.

    Tuples of one list item share a `group` above 0. The paper forbids two tuples with one attribute;
    we allow them (departure, sources.md T).
    """

    attribute: str
    value: str | int | float | bool
    unit: str = ""
    group: int = 0

    def __post_init__(self) -> None:
        attribute, value = self.attribute, self.value
        if not attribute or len(attribute) > MAX_TERM_LENGTH or attribute.isspace():
            if len(attribute) > MAX_TERM_LENGTH:
                raise LimitExceeded("characters of an attribute", allowed=MAX_TERM_LENGTH, found=len(attribute))
            raise InvalidEvent("an attribute's name is empty; give it some text")
        if type(value) is str:
            if len(value) > MAX_TERM_LENGTH:
                most = MAX_TOPIC_LENGTH if attribute == "topic" else MAX_TERM_LENGTH
                if len(value) > most:
                    raise LimitExceeded(f"characters of the value of {attribute!r}", allowed=most, found=len(value))
        elif type(value) is int and not -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
            msgspec.structs.force_setattr(self, "value", whole_text(value))  # equal to what is written so
        else:
            finite(value)  # type: ignore[arg-type]
        if self.unit and len(self.unit) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a unit", allowed=MAX_TERM_LENGTH, found=len(self.unit))
        if self.group and not 0 < self.group < _GROUPS:
            raise InvalidEvent(
                f"the group {self.group} is not between 0 (none) and {_GROUPS - 1}; count list items from 1"
            )

    def reading(self) -> tuple[float, str] | None:
        """Return the number and the stated unit ('' if none); None if the value is no number.

        Text that is wholly a number, or a number and a unit, counts as one, with a decimal comma too. A Boolean is no
        number.

        >>> EventTuple("t", "81.2 °F").reading(), EventTuple("t", 3, "degC").reading(), EventTuple("t", True).reading()
        ((81.2, 'degF'), (3.0, 'degC'), None)
        >>> EventTuple("count", 2**53 + 1).reading()
        (9007199254740993, '')
        >>> EventTuple("t", "19,4 °C").reading(), EventTuple("n", "1,234").reading()
        ((19.4, 'degC'), None)
        """
        value = self.value
        if isinstance(value, bool):
            return None
        if isinstance(value, str):
            read = read_magnitude(value)
            if read is None and (comma := _DECIMAL_COMMA.match(value)) is not None:
                read = read_magnitude(value[: comma.start(1)] + "." + value[comma.end(1) :])
            if read is None:
                return None
            return (read.value, read.unit) if isinstance(read, Quantity) else (read, self.unit)
        return plain_number(value), self.unit


class Event(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One event. Create it with `likewise.event`, which flattens nested objects.

    `time` (event time) and `expires` (end of validity) are microseconds UTC. `graph` holds RDF triples,
    `vector` an interest vector as text over 0 and 1. `received` is when the first broker got it (µs), where that was
    another one; it is no part of an event's JSON.

    Attributes:
        tuples: Attributes and values, flat, in the order of the payload.
        themes: Theme tags of the publisher.
        id: Id of the event, None if it has none yet.
        source: Id of the device or service, None if it is not stated.
        time: When it happened, in µs since 1970 (UTC), None if it is not stated.
        expires: End of its validity in µs since 1970, None if it has no end.
        graph: RDF triples.
        vector: Interest vector as text of 0 and 1, '' if it has none.
        received: When a broker received it, in µs since 1970, None elsewhere.
    """

    tuples: tuple[EventTuple, ...] = ()
    themes: tuple[str, ...] = ()
    id: str | None = None
    source: str | None = None
    time: int | None = None
    expires: int | None = None
    graph: tuple[Triple, ...] = ()
    vector: str = ""
    received: int | None = None

    def __post_init__(self) -> None:
        if not (self.tuples or self.graph or self.vector):
            raise InvalidEvent("the event is empty; give it at least one attribute with a value")
        if len(self.tuples) > MAX_TUPLES:
            raise LimitExceeded("tuples of an event", allowed=MAX_TUPLES, found=len(self.tuples))
        if len(self.graph) > MAX_TRIPLES:
            raise LimitExceeded("triples of an event", allowed=MAX_TRIPLES, found=len(self.graph))
        if self.themes:
            check_themes(self.themes, InvalidEvent)
        for moment in (self.time, self.expires):
            if moment is not None and type(microseconds(moment)) is not type(moment):
                raise InvalidEvent(
                    f"{moment!r} is no time of an event; give whole microseconds, or use `likewise.event`"
                )
        for name in (self.id, self.source):
            if name is not None and len(name) > MAX_TERM_LENGTH:
                raise LimitExceeded("characters of an id or a source", allowed=MAX_TERM_LENGTH, found=len(name))
        if self.vector:
            if set(self.vector) - {"0", "1"}:
                raise InvalidEvent("an event's vector holds 0 and 1 only: [0, 1, 1]")
            if len(self.vector) > MAX_VECTOR:
                raise LimitExceeded("properties of an interest vector", allowed=MAX_VECTOR, found=len(self.vector))

    def interest(self) -> str:
        """Return the interest vector: the payload `vector`, else Boolean properties named p1, p2, ... without a gap.

        >>> Event((EventTuple("p2", True), EventTuple("p1", False))).interest()
        '01'
        """
        if self.vector:
            return self.vector
        named = {t.attribute: t.value for t in self.tuples if isinstance(t.value, bool)}
        bits: list[str] = []
        while (value := named.get(f"p{len(bits) + 1}")) is not None:
            bits.append("1" if value else "0")
        return "".join(bits)

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)


def whole_text(number: int) -> str:
    """Return the digits of an integer beyond 64 bits; one with more digits than a term may have is refused.

    >>> whole_text(2**70)
    '1180591620717411303424'
    """
    if abs(number) >= 10 ** (MAX_TERM_LENGTH - 1):
        raise LimitExceeded("digits of a whole number", allowed=MAX_TERM_LENGTH - 1)
    return str(number)


def contexts(event: Event) -> tuple[tuple[str, ...], ...]:
    """Return for each tuple the other texts of its list item (name, type, unit), which identify its value.

    >>> item = (EventTuple("r[].name", "temp", group=1), EventTuple("r[].value", 3, group=1))
    >>> contexts(Event((*item, EventTuple("x", 1))))
    ((), ('temp',), ())
    """
    groups: dict[int, list[int]] = {}
    for index, item in enumerate(event.tuples):
        if item.group and isinstance(item.value, str):
            groups.setdefault(item.group, []).append(index)
    if not groups:
        return ((),) * len(event.tuples)
    return tuple(
        tuple(str(event.tuples[i].value) for i in groups.get(item.group, ()) if i != index)
        for index, item in enumerate(event.tuples)
    )
