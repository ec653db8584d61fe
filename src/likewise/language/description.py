"""Descriptions of subscriptions in plain sentences, for people who do not write them."""

from __future__ import annotations

from typing import Final

from likewise.language.printer import node_text, predicate_text, subscription_text, value_text
from likewise.model.alerts.clauses import Alert
from likewise.model.condition import All, Any, Node, Not, Some
from likewise.model.predicate import Predicate
from likewise.model.subscription import Condition, Subscription
from likewise.model.time import duration_text
from likewise.model.values import Interval

_OPERATORS: Final = {
    "=": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "in": "is one of",
    "contains": "contains",
    "starts with": "starts with",
    "ends with": "ends with",
    "under": "is under",
    "is-a": "is a kind of",
    "matches": "matches",
}


def describe_subscription(subscription: Subscription) -> str:
    """Describe what a subscription asks for.

    >>> from likewise.language import parse
    >>> describe_subscription(parse("{temperature~ > 25 degC, city = Galway} for 5 min once until false"))
    'temperature is above 25 degC, and city is Galway; once it held for 5 min, until that ends'
    """
    if not isinstance(subscription.body, Condition):
        return subscription_text(subscription)
    text = _all(subscription.body.items)
    if subscription.top is not None:
        text += f"; the best {subscription.top.k}"
    return text if subscription.alert is None else f"{text}; {_when(subscription.alert)}"


def _all(items: tuple[Node, ...]) -> str:
    return ", and ".join(_node(item) for item in items)


def _node(node: Node) -> str:
    match node:
        case Predicate():
            return _predicate(node)
        case All(items=items):
            return _all(items)
        case Any(items=items):
            return "either " + ", or ".join(_node(item) for item in items)
        case Not(item=Predicate() as item):
            return f"not: {_predicate(item)}"
        case Some(attribute=attribute, items=items):
            return f"one of {attribute} where {_all(items)}"
    return node_text(node)


def _predicate(predicate: Predicate) -> str:
    name = predicate.attribute
    if predicate.operator == "exists":
        return f"there is {name}"
    value = predicate.value
    if isinstance(value, Interval):
        if value.low_open or value.high_open:
            return predicate_text(predicate)
        return f"{name} is between {value_text(value)}"
    return f"{name} {_OPERATORS[predicate.operator]} {value_text(value)}"


def _when(alert: Alert) -> str:
    words: list[str] = []
    if alert.absent_for is not None:
        words.append(f"when nothing came for {duration_text(alert.absent_for)}")
    if alert.held_for is not None:
        words.append(f"once it held for {duration_text(alert.held_for)}")
    if alert.once_until is not None:
        end = "that ends" if alert.once_until == "false" else _all(alert.once_until)
        words.append(f"until {end}" if words else f"once, until {end}")
    if alert.at_most_every is not None:
        words.append(f"at most every {duration_text(alert.at_most_every)}")
    if alert.digest_every is not None:
        words.append(f"all together every {duration_text(alert.digest_every)}")
    if alert.per:
        words.append(f"for each {' and '.join(alert.per)}")
    if alert.stale is not None:
        words.append(f"where a source that is silent for {duration_text(alert.stale)} blocks no other")
    return ", ".join(words)
