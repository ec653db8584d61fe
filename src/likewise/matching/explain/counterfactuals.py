"""Counterfactuals: changes of the event or of the threshold that make it match, each matched before it is proposed.

A change is written so that a reader can make it: `attr` said `26` instead of `20`, the event also said `attr: 26`,
`temp` were called `temperature`, the event did not say `status: off`, a threshold of at most 0.62.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from math import floor
from typing import Final, NamedTuple

import msgspec

from likewise.defaults import SENSIBLE_THRESHOLD
from likewise.matching.reference.operators import meets
from likewise.model.event import Event, EventTuple
from likewise.model.explanation import PredicateReport
from likewise.model.predicate import Predicate
from likewise.model.subscription import Subscription
from likewise.model.timestamps import MOMENT, TimestampValue
from likewise.model.values import Interval
from likewise.semantics.concepts.customary import candidate_units
from likewise.units import reading_unit, unit

MOST_EDITS: Final = 2  # a sentence with more of them helps nobody
STEPS: Final = 1000  # thresholds are proposed in thousandths
_ALSO: Final = "the event also said"
MATCHES: Final = "It would match"
HOLDS: Final = "Its condition would hold"  # of a ranking or an alert, which other events decide, too

Score = Callable[[Event, float | None], float]
"""Return the score of an event at a threshold (None: the one in force), 0 if it does not match."""


class FailingPart(NamedTuple):
    """A part of a condition that fails, and the report on it."""

    predicate: Predicate
    report: PredicateReport


class Edit(NamedTuple):
    """A change of one tuple: `place` is its index, None for a new one; `item` takes its place, None removes it."""

    text: str
    place: int | None
    item: EventTuple | None


def shown_value(value: object) -> str:
    """Return a value as a reader would type it: text that would be read as something else is quoted.

    >>> shown_value(26.0), shown_value("open"), shown_value("26"), shown_value(True)
    ('26', 'open', '"26"', 'true')
    """
    if isinstance(value, float):
        return str(_short(value))
    if not isinstance(value, str):
        return json.dumps(value)
    return value if value == value.strip() and value and typed_value(value) == value else json.dumps(value)


def typed_value(text: str) -> str | int | float | bool:
    """Return the value that a text stands for: `shown_value`, backwards.

    >>> typed_value("26"), typed_value('"26"'), typed_value("open")
    (26, '26', 'open')
    """
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text


def propose(subscription: Subscription, event: Event, failing: Sequence[FailingPart], score: Score) -> str:
    """Return a sentence with the smallest change that makes the event match; '' if none is known.

    Args:
        subscription: The subscription that does not match. Of a ranking or an alert, its condition counts.
        event: The event.
        failing: The parts of the nearest conjunction that fail.
        score: Returns the score of a changed event at a threshold.
    """
    remembered = subscription.top is not None or subscription.alert is not None
    begin = HOLDS if remembered else MATCHES
    if all(part.report.verdict == "below_threshold" for part in failing) and (least := _threshold(event, score)):
        return f"{begin} with a threshold of at most {least}."
    for edits in _edits(event, failing):
        changed = _edited(event, edits)
        if changed is None:
            continue
        texts = [edit.text for edit in sorted(edits, key=lambda edit: edit.place is None)]
        if all(text.startswith(_ALSO) for text in texts):
            texts[1:] = [text.removeprefix(_ALSO).strip() for text in texts[1:]]
        said = f"{begin} if {' and '.join(texts)}"
        if score(changed, None) > 0:
            return f"{said}."
        if least := _threshold(changed, score):
            return f"{said}, with a threshold of at most {least}."
    return ""


def _edits(event: Event, failing: Sequence[FailingPart]) -> Iterator[tuple[Edit, ...]]:
    """Yield changes that may mend all failing parts: other values first, then other names as well."""
    if not failing or len(failing) > MOST_EDITS:
        return
    for renamed in (False, True):
        edits = [_edit(event, part, renamed=renamed) for part in failing]
        if all(edits):
            yield tuple(edit for edit in edits if edit is not None)


def _edited(event: Event, edits: Sequence[Edit]) -> Event | None:
    """Return the event after all edits; None if two are about one tuple or nothing is left."""
    places = [edit.place for edit in edits if edit.place is not None]
    if len(set(places)) < len(places):
        return None
    by_place = {edit.place: edit.item for edit in edits}
    tuples = [by_place.get(place, item) for place, item in enumerate(event.tuples)]
    tuples += [edit.item for edit in edits if edit.place is None]
    left = tuple(item for item in tuples if item is not None)
    return msgspec.structs.replace(event, tuples=left) if left else None


def _edit(event: Event, part: FailingPart, *, renamed: bool) -> Edit | None:
    """Return the change that mends one part; `renamed` gives the reading the asked name, too."""
    predicate, report = part
    item = None if report.tuple is None else event.tuples[report.tuple]
    if report.negated:
        return None if item is None else Edit(f"the event did not say `{_reading(item)}`", report.tuple, None)
    if item is None or report.verdict == "missing_attribute":
        value = next(iter(_witnesses(predicate, EventTuple(predicate.attribute, ""))), None)
        if value is None:
            return None
        added = EventTuple(predicate.attribute, value)
        return Edit(f"{_ALSO} `{_reading(added)}`", None, added)
    name = predicate.attribute if renamed else item.attribute
    if report.value_relatedness == 1 and renamed:
        called = msgspec.structs.replace(item, attribute=name)
        return (
            None if name == item.attribute else Edit(f"`{item.attribute}` were called `{name}`", report.tuple, called)
        )
    # The unit that the reading states goes on, unless it fits no question.
    kept = EventTuple(name, "") if report.verdict == "unit_mismatch" else msgspec.structs.replace(item, attribute=name)
    value = next(iter(_witnesses(predicate, kept)), None)
    if value is None:
        return None
    changed = EventTuple(name, value, group=item.group)
    if not renamed:
        text = f"`{item.attribute}` said `{shown_value(value)}` instead of `{_value(item)}`"
    else:
        text = f"the event said `{_reading(changed)}` instead of `{_reading(item)}`"
    return Edit(text, report.tuple, changed)


def _reading(item: EventTuple) -> str:
    return f"{item.attribute}: {_value(item)}"


def _value(item: EventTuple) -> str:
    return f"{shown_value(item.value)} {item.unit}".rstrip()


def _witnesses(predicate: Predicate, item: EventTuple) -> Iterator[str | int | float | bool]:
    """Yield values that satisfy a predicate's operator under an attribute, in the unit that the reading is in."""
    for value in _candidates(predicate, item):
        if meets(predicate, EventTuple(item.attribute, value)):
            yield value


def _candidates(predicate: Predicate, item: EventTuple) -> Iterator[str | int | float | bool]:
    value = predicate.value
    values = value if isinstance(value, tuple) else (value,)
    if predicate.operator == "exists":
        yield 1
    elif predicate.operator == "!=":
        if not isinstance(value, str | bool):
            yield from _numbers(predicate, Interval(1, 1, unit=predicate.unit), item)
        yield from ("other", 0, 1, True)
    elif predicate.operator == "matches":
        yield "/".join("x" if level in "+#" else level for level in str(value).split("/"))
    else:
        for each in values:
            if isinstance(each, str | bool):
                yield each
            elif isinstance(each, TimestampValue):
                yield each.text
            else:
                alone = predicate if each is value else Predicate(predicate.attribute, "=", each)
                interval = alone.interval()
                yield from () if interval is None else _numbers(predicate, interval, item)


def _numbers(predicate: Predicate, interval: Interval, item: EventTuple) -> Iterator[str | int | float]:
    """Yield numbers inside an interval, in the unit of the reading, else in the one asked for."""
    if interval.unit == MOMENT:
        return
    number = _inside(interval)
    if not interval.unit:
        yield from _counts(interval)
        yield _short(number)
        return
    target = unit(interval.unit)
    reading = item.reading()
    stated = reading[1] if reading is not None else item.unit
    taken = reading_unit(item.attribute, stated, target)
    if taken is None and reading is None:
        yield f"{_short(number)} {interval.unit}"
    elif taken is None:
        units = candidate_units(predicate, item.attribute, stated) or ()
        # The unit that the number which is there was taken in comes first: 18 where 55 is 55 %, not 0.18.
        for each in sorted(units, key=lambda each: reading is None or not each.holds(reading[0])):
            for digits in (3, 6, 12):
                yield _short(float(f"{target.to(each.unit, number):.{digits}g}"))
        yield _short(number)
    elif taken.dimension == target.dimension:
        for digits in (3, 6, 12):
            converted = _short(float(f"{target.to(taken, number):.{digits}g}"))
            yield f"{converted} {stated}" if stated else converted
    else:
        yield f"{_short(number)} {interval.unit}"


def _counts(interval: Interval) -> Iterator[int]:
    """Yield the whole number next to a whole bound where a round one is a fraction: nobody counts 5.5 people.

    >>> [list(_counts(each)) for each in (Interval(5, low_open=True), Interval(None, 3), Interval(50))]
    [[6], [2], []]
    """
    bounds = [bound for bound in (interval.low, interval.high) if bound is not None]
    if len(bounds) == 1 and float(bounds[0]).is_integer() and not float(_inside(interval)).is_integer():
        yield int(bounds[0]) + (1 if interval.high is None else -1)


def _inside(interval: Interval) -> float:
    """Return a round number inside an interval.

    >>> [_inside(each) for each in (Interval(25, low_open=True), Interval(None, 15), Interval(10, 20), Interval(-5))]
    [28.0, 14.0, 15.0, -4]
    """
    low, high = interval.low, interval.high
    if low is not None and high is not None:
        return low if low == high else (low + high) / 2
    if low is not None:
        return float(f"{low * 1.1:.2g}") if low > 0 else floor(low) + 1
    assert high is not None
    return float(f"{high * 0.9:.2g}") if high > 0 else floor(high) - 1


def _short(number: float) -> int | float:
    return int(number) if float(number).is_integer() and abs(number) < 1e15 else float(number)


def _threshold(event: Event, score: Score) -> float:
    """Return the highest threshold, in thousandths, at which an event matches; 0 if no sensible one does."""
    low, best = round(SENSIBLE_THRESHOLD * STEPS), score(event, SENSIBLE_THRESHOLD)
    if best <= 0:
        return 0.0
    high = floor(best * STEPS) + 1
    while high - low > 1:  # it matches at `low`, and not at `high`
        middle = (low + high) // 2
        low, high = (middle, high) if score(event, middle / STEPS) > 0 else (low, middle)
    return low / STEPS
