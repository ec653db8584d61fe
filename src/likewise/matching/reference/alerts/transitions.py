"""Transitions of an alert by an event: it holds, it fails, it clears, or it is not about it (docs/guides/alerts.md).

With `once until`, a condition of its own clears the alert, not the end of the one that raised it: hysteresis.

An event is about a subscription if it meets its condition, or the condition with every comparison replaced by `exists`
and the negative parts left out. One that meets the condition with less than the asked confidence moves nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from likewise.matching.reference.conditions import PreparedCondition, evaluate, prepare_condition
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.model.alerts.clauses import about
from likewise.model.alerts.notification import Key
from likewise.model.event import Event
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Condition, Subscription
from likewise.model.text import attribute_names, fold


class Transition(NamedTuple):
    """Effect of an event on an alert, with its score; `marks` is true if it shows how far its source has come."""

    holds: bool
    fails: bool
    clears: bool
    marks: bool
    score: float = 1.0
    product: float = 1.0


class AlertConditions(NamedTuple):
    """The conditions of an alert: its own, what is about it (None: nothing but itself), and what arms it again."""

    condition: Subscription
    about: Subscription | None
    until: Subscription | None


def alert_conditions(subscription: Subscription) -> AlertConditions:
    """The conditions an alert asks about every event.

    >>> from likewise.language import parse
    >>> found = alert_conditions(parse("{door = open, not mode = away} once until false"))
    >>> str(found.condition), str(found.about), found.until
    ('{door = open, not mode = away}', '{door exists}', None)
    """
    alert, body = subscription.alert, subscription.body
    assert alert is not None
    assert isinstance(body, Condition)
    bare = msgspec.structs.replace(
        subscription, id="", alert=None, valid_for=None, select=(), from_one_source=False, confidence=None
    )
    sure = msgspec.structs.replace(bare, confidence=subscription.confidence)
    near = until = None
    if alert.follows_failing:
        near = msgspec.structs.replace(sure, body=Condition(about(body.conjunctions())))
    if isinstance(alert.once_until, tuple):
        until = msgspec.structs.replace(sure, body=Condition(alert.once_until))
    return AlertConditions(bare, near, until)


class AlertEvaluator:
    """The conditions of one alert, evaluated plainly."""

    def __init__(self, subscription: Subscription, threshold: float, curve: ProbabilityCurve = AS_SCORED) -> None:
        self.watched = alert_conditions(subscription)
        self._sure = MatchThreshold.of(subscription, threshold, curve)
        self._any = MatchThreshold.of(self.watched.condition, threshold, curve)
        self.condition = prepare_condition(self.watched.condition)
        self._about = None if self.watched.about is None else prepare_condition(self.watched.about)
        self._until = None if self.watched.until is None else prepare_condition(self.watched.until)

    def transition(self, view: EventView) -> Transition | None:
        """Return what an event does; None if it is not about the alert."""
        result = evaluate(self.condition, view, self._any)
        near = self._about is not None and evaluate(self._about, view, self._sure) is not None
        clears = self._until is not None and evaluate(self._until, view, self._sure) is not None
        holds = result is not None and result.score >= self._sure.score
        fails = result is None and near
        if not (holds or near or clears):
            return None
        if result is None or not holds:
            return Transition(False, fails, clears, near or clears)
        return Transition(True, False, clears, True, result.score, result.product)

    def terms(self) -> list[PreparedCondition]:
        """Its conditions."""
        return [each for each in (self.condition, self._about, self._until) if each is not None]


def key_of(event: Event, per: tuple[str, ...]) -> Key | None:
    """The key of an event: its source, or the values of the named attributes; None if it lacks one.

    >>> from likewise.model import event
    >>> key_of(event({"room": "Hall", "t": 3}, source="s1"), ("room",)), key_of(event({"t": 3}), ())
    (('hall',), ('',))
    """
    if not per:
        return (event.source or "",)
    values: list[str] = []
    for name in per:
        folded = fold(name)
        value = next((t for t in event.tuples if folded in attribute_names(t.attribute)), None)
        if value is None:
            return None
        values.append(fold(f"{value.value} {value.unit}".rstrip()))
    return tuple(values)
