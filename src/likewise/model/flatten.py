"""Conversion of nested objects into flat tuples: the function `likewise.event` (docs/interface.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Any, Final

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
    tz: tzinfo | None = None,
) -> Event:
    """Create an event from a mapping, such as a decoded JSON object.

    Nested objects flatten to `a.b`, list items to repeated `a[]`, what is missing (None, and NaN, NaT and NA of NumPy
    and pandas) is dropped, scalars of NumPy are numbers, `{value, unit}` objects become one quantity, and the fields of
    one list item share a group. A top-level `vector` of 0 and 1 becomes the interest vector.

    Args:
        obj: Attributes and values. Keys are text; values are text, numbers, Booleans, dates, None, lists and mappings.
        themes: Theme tags, which tell the domain of the event (`energy`, `air quality`).
        id: Id of the event. A broker assigns one to an event without it.
        source: Id of the device or service that the event comes from.
        time: When the event happened: µs since 1970 in UTC, an aware datetime, or ISO 8601 text with an offset.
        expires: When the event stops being valid, in the same forms.
        graph: RDF triples of the event, each as `Triple` or as three N-Triples terms.
        tz: Time zone of times without one (`zoneinfo.ZoneInfo("Europe/Dublin")`); without it they are refused.

    Returns:
        The event, immutable.

    Raises:
        InvalidEvent: The mapping has no attribute, a name is no text, or a value is impossible (infinity, a naive time
            without `tz`).
        LimitExceeded: The event has too many tuples or triples, nests too deep, or a text is too long.

    >>> e = event({"room": {"temp": {"value": 21, "unit": "C"}}, "tags": ["a", "b"], "note": None})
    >>> [(t.attribute, t.value, t.unit) for t in e.tuples]
    [('room.temp', 21, 'C'), ('tags[]', 'a', ''), ('tags[]', 'b', '')]
    """
    if not isinstance(obj, Mapping):
        raise InvalidEvent(f"an event is an object with attributes, not {type(obj).__name__}")
    if tz is not None and not isinstance(tz, tzinfo):
        raise InvalidEvent(f'a time zone is a tzinfo such as zoneinfo.ZoneInfo("Europe/Dublin"), not {tz!r:.60}')
    vector = _vector(obj.get("vector"))
    flat = _Flattening(tz)
    flat.mapping({k: v for k, v in obj.items() if k != "vector"} if vector else obj, "", 0, 1)
    return Event(
        tuples=tuple(flat.tuples),
        themes=tuple(themes),
        id=id,
        source=source,
        time=None if is_missing(time) else microseconds(_in_zone(time, tz)),
        expires=None if is_missing(expires) else microseconds(_in_zone(expires, tz)),
        graph=tuple(map(_triple, graph)),
        vector=vector,
    )


def _triple(triple: Triple | tuple[str, str, str]) -> Triple:
    """Return a triple, or make one from its three terms."""
    if isinstance(triple, Triple):
        return triple
    if isinstance(triple, (list, tuple)) and len(triple) == 3 and all(isinstance(term, str) for term in triple):
        return Triple(*triple)
    raise InvalidEvent(f"a triple is three N-Triples terms, such as '<http://e.org/a>', not {triple!r:.80}")


def _vector(value: object) -> str:
    """Return an interest vector from a list of 0 and 1 (or Booleans); '' for any other value."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (bool, int)) and v in (0, 1) for v in value):
        return "".join("1" if v else "0" for v in value)
    return ""


_PLAIN: Final = frozenset((str, int, float, bool))


class _Flattening:
    """Collected tuples, and the number of the last group."""

    def __init__(self, tz: tzinfo | None = None) -> None:
        self.tuples: list[EventTuple] = []
        self.groups = 0
        self.tz = tz

    def mapping(self, obj: Mapping[str, object], path: str, group: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise LimitExceeded("nesting of an event", allowed=MAX_DEPTH)
        units = units_of_fields(obj)
        if units and path and len(obj) == 2 and "value" in units:
            self.add(path, obj["value"], units["value"], group, depth)
            return
        if path and len(obj) == 2 and "value" in obj and has_blank_unit(obj):
            self.add(path, obj["value"], "", group, depth)
            return
        if not group and units and is_senml_record(obj):
            self.groups += 1
            group = self.groups  # its name is what its value is called, as in a list of records
        for key, value in obj.items():
            if not isinstance(key, str):
                raise InvalidEvent(f"an attribute's name must be text, not {key!r}")
            stated = units.get(key, "") if units else ""
            self.add(f"{path}.{key}" if path else key, value, stated, group, depth)

    def add(self, path: str, value: object, unit: str, group: int, depth: int) -> None:
        if value is None or (type(value) is float and value != value):
            return
        plain = type(value) in _PLAIN  # most values; asking whether they are a `Mapping` takes longer than the rest
        if not plain and hasattr(value, "dtype"):  # of NumPy, or a type of its own that pandas has
            value = _python_value(value)
        if not plain and isinstance(value, Mapping):
            self.mapping(value, path, group, depth + 1)
        elif not plain and isinstance(value, (list, tuple)):
            self.items(value, path + "[]", group, depth + 1)
        elif plain or not is_missing(value):
            if len(self.tuples) >= MAX_TUPLES:
                raise LimitExceeded("tuples of an event", allowed=MAX_TUPLES)
            self.tuples.append(EventTuple(path, value if plain else _scalar(path, value, self.tz), unit, group))  # type: ignore[arg-type]

    def items(self, items: Iterable[object], path: str, group: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise LimitExceeded("nesting of an event", allowed=MAX_DEPTH)
        for item in items:
            item_group = group
            if isinstance(item, Mapping):
                self.groups += 1
                item_group = self.groups
            self.add(path, item, "", item_group, depth)


def is_missing(value: object) -> bool:
    """Return whether a value stands for a missing one: None, NaN, and pandas' NaT and NA.

    >>> is_missing(None), is_missing(float("nan")), is_missing(0), is_missing("")
    (True, True, False, False)
    """
    if value is None or type(value).__name__ in ("NaTType", "NAType"):  # comparing NA is an error
        return True
    return isinstance(value, (float, Decimal)) and value != value


def _python_value(value: object) -> object:
    """Return a scalar or an array of NumPy as plain Python; a time in microseconds, as Python knows no nanoseconds."""
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "kind", "") == "M":
        value = value.astype("datetime64[us]")  # type: ignore[attr-defined]
    convert = getattr(value, "tolist", None)
    return value if convert is None else convert()


def _in_zone(value: object, tz: tzinfo | None) -> Any:
    """Return a time in its zone: one without a zone, as a value or as text, is in `tz` if that is given."""
    value = _python_value(value) if hasattr(value, "dtype") else value
    if isinstance(value, str) and tz is not None:
        with suppress(ValueError):  # refused with words where it is read
            value = datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is None and tz is not None:
        return value.replace(tzinfo=tz)
    return value


def _scalar(path: str, value: object, tz: tzinfo | None) -> str | int | float | bool:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Decimal):
        whole = value.is_finite() and abs(value) <= LARGEST_WHOLE and value == value.to_integral_value()
        return int(value) if whole else float(value)
    if isinstance(value, datetime):
        zoned: datetime = _in_zone(value, tz)
        microseconds(zoned)
        return zoned.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    raise InvalidEvent(f"{path!r} holds a {type(value).__name__}; send text, a number, a Boolean, an object or a list")
