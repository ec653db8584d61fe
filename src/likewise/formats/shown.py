"""Answers of a broker's interface that it writes and that others, such as the dashboard, read: the same types."""

from __future__ import annotations

from typing import Literal

import msgspec

Policy = Literal["drop-oldest", "dead-letter", "block"]  # what a full queue does
Cause = Literal["arrival", "promoted", "initial", "replayed"]  # why an event was delivered


class MetSubscription(msgspec.Struct, frozen=True):
    """One subscription an event met, or would meet."""

    subscriber: str
    subscription: str
    score: float


class SeenMatch(msgspec.Struct, frozen=True):
    """An event (by its position) and the subscriptions it met, the first few of `total`."""

    sequence: int
    position: int
    cause: Cause
    total: int
    met: tuple[MetSubscription, ...]


class SubscriberShown(msgspec.Struct, frozen=True):
    """A registered subscriber and its queue."""

    id: str
    policy: Policy
    limit: int
    pending: int
    acknowledged: int
    dropped: int
    subscriptions: int
    connected: bool


class Stated(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value as an event says it, with the unit it stands beside."""

    attribute: str
    value: str | int | float
    unit: str = ""


class Place(msgspec.Struct, frozen=True):
    """One of the k best of a window now: the event's id and source, and the `value` it is ranked by.

    `value` is in the base of its unit, so that readings in different units can be compared; `stated` are the
    attributes it comes from as the event says them (none if events are ranked by relatedness).
    """

    rank: int
    event: str
    source: str
    value: float
    stated: tuple[Stated, ...]
    time: int

    @property
    def said(self) -> str:
        """What it is ranked by, as the event says it if it is one reading, else as a number.

        >>> Place(1, "e", "/roof", 4.51e-08, (Stated("NO2", 45.1, "ug/m3"),), 0).said
        '45.1 ug/m3'
        >>> Place(1, "e", "/roof", 0.75, (), 0).said
        '0.75'
        """
        if len(self.stated) != 1:
            return f"{self.value:.4g}"
        return f"{self.stated[0].value} {self.stated[0].unit}".strip()
