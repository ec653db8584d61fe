"""A condition checked plainly against an event: what the engine does for the few things no point says."""

from __future__ import annotations

from likewise.matching.reference.conditions import evaluate, plain_condition
from likewise.matching.reference.needed import Needed
from likewise.matching.reference.similarity import SeenEvent
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.subscription import Condition, Subscription


def holds(subscription: Subscription, event: Event, types: Hierarchy = NO_TYPES) -> bool:
    """Whether an event meets an exact condition.

    >>> from likewise.model import Predicate, event
    >>> holds(Subscription(Condition((Predicate("a", ">", 1.0),))), event({"A": 2}))
    True
    """
    if not isinstance(subscription.body, Condition):
        return False
    return evaluate(plain_condition(subscription), SeenEvent(event, None, types), Needed.at(1.0)) is not None
