"""A notice that an attribute of a source was renamed: one stops, and one of the same meaning starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Final

from likewise.broker.catalogue.observations import ObservedAttribute, ObservedSource
from likewise.broker.catalogue.views import observed_term
from likewise.broker.tenants.tenant import Tenant
from likewise.model import Event, event
from likewise.model.announcements.announcement import SPEAKER

LEAST_BEFORE: Final = 10  # readings of the attribute that stopped
MOST_AFTER: Final = 50  # readings of the one that started: later it is old news
LEAST_AFTER: Final = 3
STOPPED_AFTER: Final = 3.0  # intervals without a reading
SHORTEST: Final = 30.0  # seconds that no attribute is missed
SAME_MEANING: Final = 0.8  # the probability that two names mean the same
NO_READINGS: Final = frozenset({"topic", "client"})


def renamed_attributes(tenant: Tenant, sources: Iterable[ObservedSource]) -> Iterator[Event]:
    """Yield an event for each attribute of some sources that seems to be renamed, with an id of its own."""
    for source in sources:
        readings = [each for each in source.readings if each.attribute not in NO_READINGS]
        started = [each for each in readings if LEAST_AFTER <= each.times <= MOST_AFTER]
        stopped = [each for each in readings if each.times >= LEAST_BEFORE and _has_stopped(each, source.last_seen)]
        if not started or not stopped:
            continue
        interpretation = tenant.stateless.interpretation
        curve = interpretation.probability_curve("conditions")
        terms = [[observed_term(each.attribute, each.unit, each.kinds) for each in side] for side in (stopped, started)]
        likely = [curve.each(row) for row in interpretation.measure.matrix(*terms)]
        for row, before in enumerate(stopped):
            pairs = [
                (float(likely[row][column]), after)
                for column, after in enumerate(started)
                if before.last < _began(after) and after is not before and before.kinds & after.kinds
            ]
            probability, found = max(pairs, key=lambda pair: pair[0], default=(0.0, None))
            if found is not None and probability >= SAME_MEANING:
                yield _renamed(source.source, before.attribute, found.attribute, probability)


def _has_stopped(each: ObservedAttribute, last_seen: int) -> bool:
    usual = 0.0 if isnan(each.every) else each.every
    return last_seen - each.last > max(SHORTEST, STOPPED_AFTER * usual) * 1e6


def _began(each: ObservedAttribute) -> float:
    """Return about when an attribute was first read (µs)."""
    return each.last - (each.times - 1) * (0.0 if isnan(each.every) else each.every) * 1e6


def _renamed(source: str, before: str, after: str, probability: float) -> Event:
    payload = {
        "type": "attribute renamed",
        "source": source,
        "before": before,
        "after": after,
        "probability": round(probability, 2),
    }
    return event(payload, id=f"renamed {source} {before} {after}"[:1_000], source=SPEAKER)
