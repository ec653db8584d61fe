"""Ranking values of top-k windows: distance, weighted sum, one attribute, or relatedness (sources.md C, "Top-k/w").

One place computes it, in float64 and in the order written, so that the windows recomputed and the
windows kept incrementally agree to the last bit, ties included.
"""

from __future__ import annotations

import math

from likewise.model.event import Event, EventTuple
from likewise.model.subscription import Distance, Relatedness, Scoring, ValueOf, WeightedSum
from likewise.model.text import attribute_names, fold
from likewise.units import reading_unit, unit


def number_of(event: Event, attribute: str, symbol: str = "") -> float | None:
    """The number of the first tuple with this attribute that has one, in the unit named; None if there is none.

    Where no unit is named, it is the number as it is written. A reading without a unit is taken in the one named; one
    whose unit does not fit has no number.

    >>> from likewise.model import event
    >>> number_of(event({"temp_celsius": 21}), "temp_celsius"), number_of(event({"t": "77 °F"}), "t", "degC")
    (21.0, 25.0)
    >>> number_of(event({"t": "77 kg"}), "t", "degC") is None
    True
    """
    item = reading_of(event, attribute)
    reading = None if item is None else item.reading()
    if item is None or reading is None:
        return None
    number, stated = reading
    if symbol:
        target = unit(symbol)
        taken_unit = reading_unit(item.attribute, stated, target) or target
        if taken_unit.dimension != target.dimension:
            return None
        number = taken_unit.to(target, number)
    return float(number)


def reading_of(event: Event, attribute: str) -> EventTuple | None:
    """The tuple whose number `number_of` takes: the first with this attribute that has one, as the event says it.

    >>> from likewise.model import event
    >>> reading_of(event({"Wind": "36 km/h"}), "wind").value
    '36 km/h'
    """
    folded = fold(attribute)
    return next((t for t in event.tuples if folded in attribute_names(t.attribute) and t.reading() is not None), None)


def scored_attributes(by: Scoring) -> tuple[str, ...]:
    """The attributes a scoring needs as numbers.

    >>> scored_attributes(WeightedSum(((2.0, "pm10"), (1.0, "no2"))))
    ('pm10', 'no2')
    """
    match by:
        case Distance(point=point):
            return tuple(attribute for attribute, _ in point)
        case WeightedSum(terms=terms):
            return tuple(attribute for _, attribute in terms)
        case ValueOf(attribute=attribute):
            return (attribute,)
        case Relatedness():
            return ()


def scored_units(by: Scoring) -> tuple[str, ...]:
    """The unit each of them is brought to, '' for none.

    >>> scored_units(WeightedSum(((2.0, "pm10"), (1.0, "no2")), ("ug/m3", "")))
    ('ug/m3', '')
    """
    match by:
        case Distance(units=units) | WeightedSum(units=units):
            return units or ("",) * len(scored_attributes(by))
        case ValueOf(unit=symbol):
            return (symbol,)
        case Relatedness():
            return ()


def scored_numbers(by: Scoring, event: Event) -> list[float] | None:
    """The numbers a scoring takes of an event; None if one is missing."""
    numbers: list[float] = []
    for attribute, symbol in zip(scored_attributes(by), scored_units(by), strict=True):
        number = number_of(event, attribute, symbol)
        if number is None:
            return None
        numbers.append(number)
    return numbers


def rank_value(by: Scoring, event: Event, score: float) -> float | None:
    """The value the event is ranked by, `score` being how well it met the condition.

    None if a scored attribute is absent or no number, or the value is not finite: the event is no candidate.

    >>> from likewise.model import event
    >>> rank_value(Distance((("x", 0.0), ("y", 0.0))), event({"x": 3, "y": 4}), 1.0)
    5.0
    >>> rank_value(ValueOf("z"), event({"x": 3}), 1.0) is None
    True
    """
    if isinstance(by, Relatedness):
        return score
    numbers = scored_numbers(by, event)
    if numbers is None:
        return None
    total = 0.0
    match by:
        case Distance(point=point):
            for number, (_, centre) in zip(numbers, point, strict=True):
                total += (number - centre) * (number - centre)
            total = math.sqrt(total)
        case WeightedSum(terms=terms):
            for number, (weight, _) in zip(numbers, terms, strict=True):
                total += weight * number
        case ValueOf():
            total = numbers[0]
    return total if math.isfinite(total) else None
