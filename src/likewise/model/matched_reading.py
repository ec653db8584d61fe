"""The readings of an event that met a subscription, in the units that the subscription names."""

from __future__ import annotations

import msgspec


class MatchedReading(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reading that met a predicate.

    Attributes:
        requested: Attribute that the subscription names.
        attribute: Attribute of the event.
        value: Value as it was sent.
        unit: Unit that the reading is in, '' if it has none.
        converted: Number in the unit of the subscription, None if no number was compared in a unit.
        converted_unit: Unit of the subscription, '' if it names none.
    """

    requested: str
    attribute: str
    value: str | int | float | bool
    unit: str = ""
    converted: float | None = None
    converted_unit: str = ""
