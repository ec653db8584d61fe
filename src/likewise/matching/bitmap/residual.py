"""A condition checked plainly against an event: what engines do for the few things they keep no index for."""

from __future__ import annotations

from likewise.matching.plain.operators import meets
from likewise.model.condition import Conjunction
from likewise.model.event import Event
from likewise.model.predicate import Predicate
from likewise.model.subscription import Condition, Subscription
from likewise.model.text import fold


def predicate_holds(predicate: Predicate, event: Event) -> bool:
    """Whether some tuple with the predicate's attribute meets it."""
    name = fold(predicate.attribute)
    return any(fold(item.attribute) == name and meets(predicate, item) for item in event.tuples)


def conjunction_holds(conjunction: Conjunction, event: Event) -> bool:
    """Whether every positive predicate holds and no negative one does."""
    return all(predicate_holds(p, event) for p in conjunction.positive) and not any(
        predicate_holds(p, event) for p in conjunction.negative
    )


def holds(subscription: Subscription, event: Event) -> bool:
    """Whether an event meets an exact condition.

    >>> from likewise.model import event
    >>> holds(Subscription(Condition((Predicate("a", ">", 1.0),))), event({"A": 2}))
    True
    """
    body = subscription.body
    return isinstance(body, Condition) and any(conjunction_holds(c, event) for c in body.conjunctions())
