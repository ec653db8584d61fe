"""Events and subscriptions in a line, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from likewise.errors import LikewiseError, ParseError
from likewise.language import parse, subscription_text, value_text
from likewise.model import All, Condition, GraphPattern, Interest, Interval, Not, Predicate, Quantity, Subscription
from likewise.model.condition import Node

VERDICTS: Final = {
    "match": "It matches.",
    "below_threshold": "Not related enough.",
    "exact_part_false": "A part that must hold does not.",
    "missing_attribute": "Nothing in the event answers a part.",
    "unit_mismatch": "The units cannot be compared.",
    "not_in_top_k": "Others are better placed.",
    "expired": "Its time is over.",
}
_OPERATORS: Final = {
    "=": "is", "!=": "is not", "<": "below", "<=": "at most", ">": "above", ">=": "at least", "between": "between",
    "in": "one of", "contains": "holding", "starts with": "beginning with", "ends with": "ending with",
    "exists": "of any value", "under": "at or below the topic", "is-a": "a kind of",
}  # fmt: skip


def event_line(event: Mapping[str, object], longest: int = 180) -> str:
    """The tuples of an event's envelope, in a line.

    >>> event_line({"v": 1, "tuples": [{"attribute": "no2", "value": 45, "unit": "ug/m3"}]})
    'no2: 45 ug/m3'
    """
    items = event.get("tuples")
    parts = []
    for item in items if isinstance(items, list) else []:
        parts.append(f"{item.get('attribute')}: {item.get('value')} {item.get('unit', '')}".rstrip())
    line = " · ".join(parts) or "(no tuples)"
    return line if len(line) <= longest else line[: longest - 1] + "…"


class Understood(msgspec.Struct, frozen=True):
    """How the text of a subscription was understood, or what is wrong with it."""

    subscription: Subscription | None
    printed: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    problem: str = ""
    excerpt: str = ""


def understand(text: str) -> Understood:
    """Read a subscription while it is being typed.

    >>> understand("{temperature~ > 25 degC}").parts
    (('temperature, in any words', 'above 25 degC'),)
    >>> understand("{temperature~ >").problem
    'line 1, column 16: the text ends too early; expected a value'
    """
    if not text.strip():
        return Understood(None, problem="Say what you want, such as {temperature~ > 25 degC}.")
    try:
        found = parse(text)
    except ParseError as error:
        said = f"line {error.line}, column {error.column}: {error.problem}"
        said += f"; expected {error.expected}" if error.expected else ""
        return Understood(None, problem=said, excerpt=f"{error.excerpt}\n{error.caret}")
    except LikewiseError as error:
        return Understood(None, problem=str(error))
    return Understood(found, subscription_text(found), tuple(_parts(found)))


def _parts(subscription: Subscription) -> Iterator[tuple[str, str]]:
    body = subscription.body
    if subscription.themes:
        yield "in the sense of", ", ".join(subscription.themes)
    if isinstance(body, Condition):
        for item in body.items:
            yield from _node(item, "")
    elif isinstance(body, GraphPattern):
        yield "triples", f"{len(body.patterns)} patterns that hold together"
    elif isinstance(body, Interest):
        yield "properties", f"{len(body.vector)}, each true, false or either"
    else:
        for statement in body.items:
            yield f"{statement.property}, in any words", f"like “{statement.value}”"
    if subscription.top is not None:
        yield "of these", f"the {subscription.top.k} best of the window"
    if subscription.threshold is not None:
        yield "score", f"at least {subscription.threshold:g}"


def _node(node: Node, lead: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Predicate):
        name = node.attribute + (", in any words" if node.attribute_relaxed else "")
        yield lead + name, _value(node)
    elif isinstance(node, Not):
        yield lead + "never", ""
        yield from _node(node.item, lead + "    ")
    else:
        yield lead + ("all of" if isinstance(node, All) else "one of"), ""
        for item in node.items:
            yield from _node(item, lead + "    ")


def _value(predicate: Predicate) -> str:
    word, value = _OPERATORS[predicate.operator], predicate.value
    if value is None:
        return word
    if isinstance(value, Interval):
        return value.text()
    said = f"{value.value:g} {value.unit}" if isinstance(value, Quantity) else value_text(value)
    return f"{word} {said}{', or what means the same' if predicate.value_relaxed else ''}"
