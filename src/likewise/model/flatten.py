"""Nested objects to flat tuples: what `likewise.event` does (docs/interface.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from likewise.defaults import MAX_DEPTH, MAX_TUPLES
from likewise.errors import InvalidEvent, LimitExceeded
from likewise.model.event import Event, EventTuple
from likewise.model.rdf import Triple
from likewise.model.time import microseconds
from likewise.model.unit_fields import has_blank_unit, is_senml_record, units_of_fields
from likewise.units import LARGEST_WHOLE


def event(
    obj: Mapping[str, object],
    *,
    themes: Iterable[str] = (),
    id: str | None = None,
    source: str | None = None,
    time: int | datetime | str | None = None,
    expires: int | datetime | str | None = None,
    graph: Iterable[Triple | tuple[str, str, str]] = (),
) -> Event:
    """An event from a mapping, as JSON gives it.

    Nested objects flatten to `a.b`, list items to repeated `a[]`, null is dropped, `{value, unit}`
    objects become one quantity, and the fields of one list item share a group. A top-level `vector`
    of 0 and 1 becomes the interest vector.

    >>> e = event({"room": {"temp": {"value": 21, "unit": "C"}}, "tags": ["a", "b"], "note": None})
    >>> [(t.attribute, t.value, t.unit) for t in e.tuples]
    [('room.temp', 21, 'C'), ('tags[]', 'a', ''), ('tags[]', 'b', '')]
    """
    if not isinstance(obj, Mapping):
        raise InvalidEvent(f"an event is an object with attributes, not {type(obj).__name__}")
    vector = _vector(obj.get("vector"))
    flat = _Flattening()
    flat.mapping({k: v for k, v in obj.items() if k != "vector"} if vector else obj, "", 0, 1)
    return Event(
        tuples=tuple(flat.tuples),
        themes=tuple(themes),
        id=id,
        source=source,
        time=None if time is None else microseconds(time),
        expires=None if expires is None else microseconds(expires),
        graph=tuple(map(_triple, graph)),
        vector=vector,
    )


def _triple(given: Triple | tuple[str, str, str]) -> Triple:
    """A triple as it is, or from its three terms."""
    if isinstance(given, Triple):
        return given
    if isinstance(given, (list, tuple)) and len(given) == 3 and all(isinstance(term, str) for term in given):
        return Triple(*given)
    raise InvalidEvent(f"a triple is three N-Triples terms, such as '<http://e.org/a>', not {given!r:.80}")


def _vector(value: object) -> str:
    """An interest vector from a list of 0 and 1 (or Booleans); '' if it is none."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (bool, int)) and v in (0, 1) for v in value):
        return "".join("1" if v else "0" for v in value)
    return ""


_PLAIN: Final = frozenset((str, int, float, bool))


class _Flattening:
    """The tuples found so far, and the number of the last group."""

    def __init__(self) -> None:
        self.tuples: list[EventTuple] = []
        self.groups = 0

    def mapping(self, obj: Mapping[str, object], path: str, group: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise LimitExceeded("nesting of an event", allowed=MAX_DEPTH)
        beside = units_of_fields(obj)
        if beside and path and len(obj) == 2 and "value" in beside:
            self.add(path, obj["value"], beside["value"], group, depth)
            return
        if path and len(obj) == 2 and "value" in obj and has_blank_unit(obj):
            self.add(path, obj["value"], "", group, depth)
            return
        if not group and beside and is_senml_record(obj):
            self.groups += 1
            group = self.groups  # its name is what its value is called, as in a list of records
        for key, value in obj.items():
            if not isinstance(key, str):
                raise InvalidEvent(f"an attribute's name must be text, not {key!r}")
            stated = beside.get(key, "") if beside else ""
            self.add(f"{path}.{key}" if path else key, value, stated, group, depth)

    def add(self, path: str, value: object, unit: str, group: int, depth: int) -> None:
        if value is None:
            return
        plain = type(value) in _PLAIN  # most values; asking whether they are a `Mapping` takes longer than the rest
        if not plain and isinstance(value, Mapping):
            self.mapping(value, path, group, depth + 1)
        elif not plain and isinstance(value, (list, tuple)):
            self.items(value, path + "[]", group, depth + 1)
        else:
            if len(self.tuples) >= MAX_TUPLES:
                raise LimitExceeded("tuples of an event", allowed=MAX_TUPLES)
            self.tuples.append(EventTuple(path, value if plain else _scalar(path, value), unit, group))  # type: ignore[arg-type]

    def items(self, items: Iterable[object], path: str, group: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise LimitExceeded("nesting of an event", allowed=MAX_DEPTH)
        for item in items:
            own = group
            if isinstance(item, Mapping):
                self.groups += 1
                own = self.groups
            self.add(path, item, "", own, depth)


def _scalar(path: str, value: object) -> str | int | float | bool:
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Decimal):
        whole = value.is_finite() and abs(value) <= LARGEST_WHOLE and value == value.to_integral_value()
        return int(value) if whole else float(value)
    if isinstance(value, datetime):
        microseconds(value)
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    raise InvalidEvent(f"{path!r} holds a {type(value).__name__}; send text, a number, a Boolean, an object or a list")
