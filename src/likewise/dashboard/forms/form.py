"""The values of a form. Every field is text as a person types it; an empty field is no condition."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

TriggerMode = Literal["holds", "held", "absent"]
Repeating = Literal["each", "once", "every"]
Sending = Literal["now", "gathered"]
Where = Literal["anywhere", "named", "area"]

COMPARISONS: Final = {
    ">": "is above",
    ">=": "is at least",
    "<": "is below",
    "<=": "is at most",
    "between": "is between",
    "=": "is",
    "!=": "is not",
    "in": "is one of",
    "contains": "contains",
    "starts with": "begins with",
    "ends with": "ends with",
    "exists": "is there",
    "is-a": "is a kind of",
    "under": "is at or below the topic",
    "matches": "is a topic like",
}
TRIGGER_MODES: Final[dict[TriggerMode, str]] = {
    "holds": "as soon as it holds",
    "held": "once it has held for",
    "absent": "when nothing came for",
}
REPEATING: Final[dict[Repeating, str]] = {
    "each": "each time",
    "once": "once, until it is over",
    "every": "at most every",
}
SENDING: Final[dict[Sending, str]] = {"now": "at once", "gathered": "gathered every"}
WHERE: Final[dict[Where, str]] = {"anywhere": "anywhere", "named": "where the", "area": "within the corners"}
# Attributes that say where something is; a condition that ends with one of them is about a place.
PLACES: Final = ("city", "room", "place", "building", "floor", "street", "site", "station", "zone", "district")
LATITUDES: Final = ("lat", "latitude")
LONGITUDES: Final = ("long", "lon", "lng", "longitude")


class ReadingCondition(msgspec.Struct, frozen=True):
    """One thing to know: a reading, in any words if `alike`, and how it compares with a value, perhaps to another.

    >>> ReadingCondition("temperature", comparison=">", value="25", unit="degC").what
    'temperature'
    """

    what: str = ""
    alike: bool = True
    comparison: str = ">"
    value: str = ""
    to: str = ""
    unit: str = ""
    value_alike: bool = False


class PlaceCondition(msgspec.Struct, frozen=True):
    """A place: anywhere, where an attribute has a value, or between two latitudes and two longitudes."""

    kind: Where = "anywhere"
    attribute: str = "city"
    name: str = ""
    alike: bool = False
    south: str = ""
    north: str = ""
    west: str = ""
    east: str = ""
    latitude: str = "lat"
    longitude: str = "long"


class SubscriptionForm(msgspec.Struct, frozen=True):
    """A whole form; spans of time are as the language writes them (`5 min`)."""

    readings: tuple[ReadingCondition, ...] = (ReadingCondition(),)
    place: PlaceCondition = PlaceCondition()
    senses: str = ""
    trigger: TriggerMode = "holds"
    trigger_span: str = "5 min"
    repeating: Repeating = "each"
    repeating_span: str = "10 min"
    sending: Sending = "now"
    sending_span: str = "1 d"
    per: str = ""
    valid_for: str = ""
