"""Announcement: what a source can produce (sources.md C, Figures 7 and 12; docs/guides/catalogue.md).

It names attributes with their units and ranges or values, and how long it holds: its lease. Everything it says is
checked when it is made, so that a bad one is refused before anybody counts on it.

Announcements as events: what became of a source, for whoever subscribes to that by meaning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from likewise.defaults import (
    LEASE_SECONDS,
    MAX_ANNOUNCED_ATTRIBUTES,
    MAX_ANNOUNCED_VALUES,
    MAX_LEASE_SECONDS,
    MAX_TERM_LENGTH,
)
from likewise.errors import InputError, LimitExceeded, UnitError
from likewise.model.event import Event
from likewise.model.flatten import event
from likewise.model.predicate import Predicate
from likewise.model.subscription import check_themes
from likewise.model.text import fold
from likewise.model.values import Interval, Quantity
from likewise.units import any_unit, suggestion

AnnouncedKind = Literal["number", "text", "boolean", ""]
_ENCODE = msgspec.json.Encoder().encode
SPEAKER = "likewise/catalogue"  # the source of what the catalogue says by itself
LARGEST = 1.7e308  # of a number: what is announced to be a number lies between it and its negative


class AnnouncedAttribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One attribute that a source can produce: its unit, the kind of its values, and their range.

    Numbers lie between `low` and `high`, in the unit; `values` lists all there are. Without either, any.

    >>> AnnouncedAttribute("temp", "°C", low=-40, high=85).kind
    'number'
    """

    name: str
    unit: str = ""
    kind: AnnouncedKind = ""
    low: float | None = None
    high: float | None = None
    values: tuple[str | float | bool, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MAX_TERM_LENGTH:
            raise InputError(f"an announced attribute has a name of 1 to {MAX_TERM_LENGTH:,} characters")
        if self.unit:
            unit_row = any_unit(self.unit)
            if unit_row is None:
                raise UnitError(
                    f"the unit {self.unit[:40]!r} of {self.name!r} is not known; {suggestion(self.unit)}, "
                    "or leave it out if it has no unit"
                )
            msgspec.structs.force_setattr(self, "unit", unit_row.symbol)
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if not all(math.isfinite(bound) for bound in bounds):
            raise InputError(f"a bound of {self.name!r} is not finite; leave it out if there is none")
        if len(bounds) == 2 and bounds[0] > bounds[1]:
            raise InputError(
                f"the range of {self.name!r} is reversed: {bounds[0]:g} is above {bounds[1]:g}; `low` comes first"
            )
        if len(self.values) > MAX_ANNOUNCED_VALUES:
            raise LimitExceeded(f"values of {self.name!r}", allowed=MAX_ANNOUNCED_VALUES, found=len(self.values))
        if any(isinstance(value, str) and len(value) > MAX_TERM_LENGTH for value in self.values):
            raise LimitExceeded(f"characters of a value of {self.name!r}", allowed=MAX_TERM_LENGTH)
        if bounds and self.values:
            raise InputError(f"{self.name!r} has a range and values; give the one or the other")
        kind = self.kind or self._kind(bool(bounds))
        if kind in ("text", "boolean") and (bounds or self.unit):
            raise InputError(f"{self.name!r} is announced as {kind}, so it has no unit and no range; leave them out")
        msgspec.structs.force_setattr(self, "kind", kind)
        try:
            self.predicate()
        except InputError as error:  # a bound that no number holds once it is brought to the unit's base
            raise InputError(f"the range or values of {self.name!r} cannot be compared: {error}") from None

    def _kind(self, ranged: bool) -> AnnouncedKind:
        if ranged or self.unit:
            return "number"
        kinds = {bool: "boolean", str: "text", int: "number", float: "number"}
        announced = {kinds[type(value)] for value in self.values}
        return announced.pop() if len(announced) == 1 else ""  # type: ignore[return-value]

    def predicate(self) -> Predicate:
        """Return the predicate that every announced value meets.

        >>> AnnouncedAttribute("temp", low=0).predicate().operator
        '>='
        """
        if self.values:
            return Predicate(self.name, "in", self.values)
        if self.low is not None and self.high is not None:
            return Predicate(self.name, "between", Interval(self.low, self.high, unit=self.unit))
        bound = self.low if self.high is None else self.high
        if bound is None:
            return Predicate(self.name, "exists")
        return Predicate(
            self.name, ">=" if self.high is None else "<=", Quantity(bound, self.unit) if self.unit else bound
        )


class Area(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Area of a source's readings: its latitudes and longitudes in degrees."""

    lat: tuple[float, float]
    long: tuple[float, float]

    def __post_init__(self) -> None:
        for name, (low, high), most in (("lat", self.lat, 90), ("long", self.long, 180)):
            if not (-most <= low <= high <= most):
                raise InputError(f"the area's {name} is [{low:g}, {high:g}]; give two degrees within {most}, low first")


class Announcement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Attributes that a source can produce, and the lease of the announcement.

    `complete` says that it sends no other attributes. `interval` is the seconds between two readings, `battery` and
    `reputation` lie between 0 and 1. Only a `controllable` source is ever told to rest or to wake. `lease` is the
    seconds after which the announcement is over unless it is made again.

    >>> Announcement("sensor-17", (AnnouncedAttribute("temp", "degC"),), model="SHT31").lease
    600.0
    >>> Announcement("sensor-17", ())
    Traceback (most recent call last):
    likewise.errors.InputError: the announcement of 'sensor-17' names no attribute; say what it can produce
    """

    source: str
    attributes: tuple[AnnouncedAttribute, ...]
    complete: bool = False
    themes: tuple[str, ...] = ()
    model: str = ""
    place: str = ""
    area: Area | None = None
    interval: float | None = None
    battery: float | None = None
    reputation: float | None = None
    controllable: bool = False
    lease: float = LEASE_SECONDS

    def __post_init__(self) -> None:
        for what, text in (("source", self.source), ("model", self.model), ("place", self.place)):
            if len(text) > MAX_TERM_LENGTH:
                raise LimitExceeded(f"characters of an announcement's {what}", allowed=MAX_TERM_LENGTH, found=len(text))
        if not self.source.strip():
            raise InputError("the announcement names no source; say whose it is")
        if self.source == SPEAKER:
            raise InputError(f"{SPEAKER!r} is the catalogue's own voice; announce a source under a name of its own")
        if not self.attributes:
            raise InputError(f"the announcement of {self.source!r} names no attribute; say what it can produce")
        if len(self.attributes) > MAX_ANNOUNCED_ATTRIBUTES:
            raise LimitExceeded(
                f"attributes announced by {self.source!r}", allowed=MAX_ANNOUNCED_ATTRIBUTES, found=len(self.attributes)
            )
        _check_once(self.attributes)
        check_themes(self.themes, InputError)
        if not (isinstance(self.lease, (int, float)) and 0 < self.lease <= MAX_LEASE_SECONDS):
            raise InputError(
                f"the lease of {self.source!r} is {self.lease!r}; an announcement must end: give seconds, at most "
                f"{MAX_LEASE_SECONDS:,}, and announce again before they are over"
            )
        if self.interval is not None and not (0 < self.interval < math.inf):
            raise InputError(f"the interval of {self.source!r} is {self.interval!r}; give seconds above 0")
        for what, share in (("battery", self.battery), ("reputation", self.reputation)):
            if share is not None and not 0 <= share <= 1:
                raise InputError(f"the {what} of {self.source!r} is {share!r}; give a share from 0 to 1")

    def all_attributes(self) -> tuple[AnnouncedAttribute, ...]:
        """Return its attributes, and the latitude and longitude of its area unless it announces them itself.

        >>> made = Announcement("s", (AnnouncedAttribute("no2"),), area=Area((45.8, 45.9), (15.9, 16.0)))
        >>> [(each.name, each.low) for each in made.all_attributes()]
        [('no2', None), ('lat', 45.8), ('long', 15.9)]
        """
        if self.area is None:
            return self.attributes
        known = {fold(each.name) for each in self.attributes}
        more = (("lat", self.area.lat), ("long", self.area.long))
        return (
            *self.attributes,
            *(AnnouncedAttribute(name, low=low, high=high) for name, (low, high) in more if name not in known),
        )

    def same_as(self, other: Announcement) -> bool:
        """Return whether two announcements are equal apart from their leases. `true` is not 1."""
        return _ENCODE(msgspec.structs.replace(other, lease=self.lease)) == _ENCODE(self)


SourceEventKind = Literal["announcement", "revocation", "sense on", "sense off"]


def announcement_event(announcement: Announcement, id: str | None = None) -> Event:
    """Return the event of an announcement.

    >>> from likewise.model.announcements.announcement import AnnouncedAttribute
    >>> said = announcement_event(Announcement("sensor-17", (AnnouncedAttribute("temp", "degC"),), place="room 112"))
    >>> [(t.attribute, t.value) for t in said.tuples][:4]
    [('type', 'announcement'), ('device', 'sensor-17'), ('place', 'room 112'), ('announced[].name', 'temp')]
    """
    payload: dict[str, object] = {"type": "announcement", "device": announcement.source}
    for name in ("model", "place", "battery", "controllable"):
        if value := getattr(announcement, name):
            payload[name] = value
    payload["announced"] = [
        {"name": each.name, **({"unit": each.unit} if each.unit else {})} for each in announcement.attributes
    ]
    return event(payload, id=id, source=SPEAKER, themes=announcement.themes)


def source_event(kind: SourceEventKind, source: str, reason: str = "", interval: float | None = None) -> Event:
    """Return the event of another change of a source: revoked, woken, or allowed to rest.

    >>> [(t.attribute, t.value) for t in source_event("sense on", "sensor-17", interval=60).tuples]
    [('type', 'sense on'), ('device', 'sensor-17'), ('interval', 60)]
    """
    payload: dict[str, object] = {"type": kind, "device": source}
    if reason:
        payload["reason"] = reason
    if interval is not None:
        payload["interval"] = interval
    return event(payload, source=SPEAKER)


def _check_once(attributes: Sequence[AnnouncedAttribute]) -> None:
    keys: set[tuple[str, str]] = set()
    for each in attributes:
        key = (fold(each.name), each.unit)
        if key in keys:
            raise InputError(f"{each.name!r} is announced twice; name every attribute once")
        keys.add(key)
