"""What a top-k window ranks by: distance, weighted sum, one attribute, or relatedness (sources.md C, "Top-k/w").

One place computes it, in float64 and in the order written, so that the windows recomputed and the
windows kept incrementally agree to the last bit, ties included.
"""

from __future__ import annotations

import math

from likewise.model.event import Event, EventTuple
from likewise.model.subscription import Distance, Relatedness, Scoring, ValueOf, WeightedSum
from likewise.model.text import fold
from likewise.model.units import find_unit, units_in_name


def number_of(event: Event, attribute: str) -> float | None:
    """The number of the first tuple with this attribute that has one; None if there is none.

    It is in the base of its unit if a unit stands beside it or surely in its name, else as it is.

    >>> from likewise.model import event
    >>> number_of(event({"Lat": 45.8}), "lat"), number_of(event({"wind_km_h": 36}), "wind_km_h")
    (45.8, 10.0)
    """
    item = stated_in(event, attribute)
    reading = None if item is None else item.reading()
    if item is None or reading is None:
        return None
    number, stated = reading
    unit = find_unit(stated) if stated else None
    if unit is None:
        unit = next((found for found, sure in units_in_name(item.attribute) if sure), None)
    return number if unit is None else unit.to_base(number)


def stated_in(event: Event, attribute: str) -> EventTuple | None:
    """The tuple whose number `number_of` takes: the first with this attribute that has one, as the event says it.

    >>> from likewise.model import event
    >>> stated_in(event({"Wind": "36 km/h"}), "wind").value
    '36 km/h'
    """
    wanted = fold(attribute)
    return next((t for t in event.tuples if fold(t.attribute) == wanted and t.reading() is not None), None)


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
    numbers: list[float] = []
    for attribute in scored_attributes(by):
        number = number_of(event, attribute)
        if number is None:
            return None
        numbers.append(number)
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
