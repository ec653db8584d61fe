"""The readings that met a subscription, converted to the units that it names."""

from __future__ import annotations

from likewise.matching.explain.select import parts_of_report, reading_in_unit
from likewise.model.event import Event, EventTuple
from likewise.model.explanation import Explanation
from likewise.model.matched_reading import MatchedReading
from likewise.model.predicate import Predicate
from likewise.model.timestamps import MOMENT
from likewise.semantics.concepts.customary import in_customary_unit
from likewise.units import reading_unit, unit


def matched_readings(event: Event, explained: Explanation) -> tuple[MatchedReading, ...]:
    """Return the readings that met the predicates of a subscription, in the order of its predicates.

    Args:
        event: The event as it was matched, with its annotations.
        explained: The explanation of the match.

    >>> import likewise as lw
    >>> m = lw.Matcher()
    >>> _ = m.add({"id": "warm", "text": "{temp > 25 degC, city = Galway}"})
    >>> e = lw.event({"temp": {"value": 86, "unit": "degF"}, "city": "Galway"})
    >>> [(r.attribute, r.converted, r.converted_unit) for r in matched_readings(e, m.explain(e, "warm"))]
    [('temp', 30.0, 'degC'), ('city', None, '')]
    """
    readings = []
    for report in explained.predicates:
        if report.tuple is None or report.negated or report.verdict != "match" or report.tuple >= len(event.tuples):
            continue
        predicate = next((part for part in parts_of_report(report.text) if isinstance(part, Predicate)), None)
        item = event.tuples[report.tuple]
        requested = report.text if predicate is None else predicate.attribute
        symbol = "" if predicate is None or predicate.unit == MOMENT else predicate.unit
        if not symbol or predicate is None:
            readings.append(MatchedReading(requested, item.attribute, item.value, item.unit))
            continue
        readings.append(_converted(predicate, item, symbol))
    return tuple(readings)


def _converted(predicate: Predicate, item: EventTuple, symbol: str) -> MatchedReading:
    taken = in_customary_unit(predicate, item) or item
    number, _ = reading_in_unit(taken, symbol)
    reading = taken.reading()
    stated = reading_unit(taken.attribute, reading[1] if reading else taken.unit, unit(symbol))
    converted = float(number) if isinstance(number, (int, float)) else None
    return MatchedReading(
        predicate.attribute, item.attribute, item.value, symbol if stated is None else stated.symbol, converted, symbol
    )
