"""Responses of the live views of a tenant."""

from __future__ import annotations

from typing import Any

import msgspec

from likewise.api.deliveries import Cause


class MatchedSubscription(msgspec.Struct, frozen=True):
    """One subscription an event met, or would meet."""

    subscriber: str
    subscription: str
    score: float


class EventMatches(msgspec.Struct, frozen=True):
    """An event (by its position) and the subscriptions it met, the first few of `total`."""

    sequence: int
    position: int
    cause: Cause
    total: int
    met: tuple[MatchedSubscription, ...]


class Arrival(msgspec.Struct, frozen=True):
    """An event as it came in: its position, the time of its arrival (µs), and its published JSON envelope."""

    position: int
    arrival: int
    event: dict[str, Any]

    @property
    def id(self) -> str:
        """Return the event's id."""
        return str(self.event.get("id", ""))

    @property
    def source(self) -> str:
        """Return the event's source."""
        return str(self.event.get("source", ""))

    @property
    def themes(self) -> list[str]:
        """Return the event's theme tags."""
        themes = self.event.get("themes")
        return [str(tag) for tag in themes] if isinstance(themes, list) else []


class Activity(msgspec.Struct, frozen=True):
    """Events and matches after those seen before; `position` and `sequence` are what to ask with next."""

    events: tuple[Arrival, ...]
    matches: tuple[EventMatches, ...]
    position: int
    sequence: int


class StatedValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value as an event says it, with the unit it stands beside."""

    attribute: str
    value: str | int | float
    unit: str = ""


class BoardEntry(msgspec.Struct, frozen=True):
    """One of the k best of a window now: the event's id and source, and the `value` it is ranked by.

    `value` is in the base of its unit, so that readings in different units can be compared; `stated` are the
    attributes it comes from as the event says them (none if events are ranked by relatedness).
    """

    rank: int
    event: str
    source: str
    value: float
    stated: tuple[StatedValue, ...]
    time: int

    @property
    def label(self) -> str:
        """Return the ranking value: as the event states it if it is one reading, else as a number.

        >>> BoardEntry(1, "e", "/roof", 4.51e-08, (StatedValue("NO2", 45.1, "ug/m3"),), 0).label
        '45.1 ug/m3'
        >>> BoardEntry(1, "e", "/roof", 0.75, (), 0).label
        '0.75'
        """
        if len(self.stated) != 1:
            return f"{self.value:.4g}"
        return f"{self.stated[0].value} {self.stated[0].unit}".strip()
