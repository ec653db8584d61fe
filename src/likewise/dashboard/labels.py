"""Events and subscriptions in a line, for people."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from html import escape
from typing import Final

import msgspec

from likewise.errors import LikewiseError, ParseError
from likewise.language import parse, subscription_text, value_text
from likewise.model import (
    All,
    Condition,
    GraphPattern,
    Interest,
    Interval,
    NearbyTriple,
    Not,
    Predicate,
    Quantity,
    Subscription,
)
from likewise.model.condition import Node

POLICIES: Final = {
    "drop-oldest": "the oldest go",
    "dead-letter": "new ones are set aside",
    "block": "publishers wait",
}
REASONS: Final = {
    "unreadable": "could not be read",
    "queue_full": "a queue was full",
    "unmatched": "could not be matched",
    "undelivered": "a target refused it",
}
_OPERATORS: Final = {
    "=": "is",
    "!=": "is not",
    "<": "below",
    "<=": "at most",
    ">": "above",
    ">=": "at least",
    "between": "between",
    "in": "one of",
    "contains": "holding",
    "starts with": "beginning with",
    "ends with": "ending with",
    "exists": "of any value",
    "under": "at or below the topic",
    "is-a": "a kind of",
}


def reading_texts(event: Mapping[str, object]) -> list[str]:
    """Return the readings of an event's envelope as texts.

    >>> reading_texts({"v": 1, "tuples": [{"attribute": "no2", "value": 45, "unit": "ug/m3"}]})
    ['no2: 45 ug/m3']
    """
    items = event.get("tuples")
    tuples = items if isinstance(items, list) else []
    return [f"{item.get('attribute')}: {item.get('value')} {item.get('unit', '')}".rstrip() for item in tuples]


def marked_line(event: Mapping[str, object], answers: Collection[int], longest: int = 180) -> str:
    """Return an event as a line of HTML, the matched readings first and marked.

    >>> event = {"tuples": [{"attribute": "battery", "value": 91}, {"attribute": "noise", "value": 77, "unit": "dB"}]}
    >>> marked_line(event, [1])
    '<mark>noise: 77 dB</mark> · battery: 91'
    """
    texts = reading_texts(event)
    first = [f"<mark>{escape(text)}</mark>" for place, text in enumerate(texts) if place in answers]
    rest = cut(" · ".join(text for place, text in enumerate(texts) if place not in answers), longest)
    return " · ".join([*first, *([escape(rest)] if rest else [])]) or "(no readings)"


def cut(text: str, longest: int) -> str:
    """Return a text, cut to a length.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def sentence(text: str) -> str:
    """Return a text as a sentence, such as the message of an error.

    >>> sentence("the broker is away")
    'The broker is away.'
    """
    return f"{text[:1].upper()}{text[1:]}."


def code_html(text: str) -> str:
    """Return a text as HTML, what stands between backquotes as code.

    >>> code_html("`a<b` says 3")
    '<code>a&lt;b</code> says 3'
    """
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def event_line(event: Mapping[str, object], longest: int = 180) -> str:
    """Return the readings of an event's envelope in a line.

    >>> event_line({"v": 1, "tuples": [{"attribute": "no2", "value": 45, "unit": "ug/m3"}]})
    'no2: 45 ug/m3'
    """
    return cut(" · ".join(reading_texts(event)) or "(no readings)", longest)


class ParsedText(msgspec.Struct, frozen=True):
    """The subscription that a text means, or what is wrong with it."""

    subscription: Subscription | None
    printed: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    problem: str = ""
    excerpt: str = ""


def parse_typed_text(text: str) -> ParsedText:
    """Read a subscription while it is being typed.

    >>> parse_typed_text("{temperature~ > 25 degC}").parts
    (('temperature, in any words', 'above 25 degC'),)
    >>> parse_typed_text("{temperature~ >").problem
    'line 1, column 16: the text ends too early; expected a value'
    """
    if not text.strip():
        return ParsedText(None, problem="Say what you want, such as {temperature~ > 25 degC}.")
    try:
        subscription = parse(text)
    except ParseError as error:
        problem = f"line {error.line}, column {error.column}: {error.problem}"
        if error.correction:
            problem += f". Did you mean {error.correction}?"
        elif error.expected:
            problem += f"; expected {error.expected}"
        return ParsedText(None, problem=problem, excerpt=f"{error.excerpt}\n{error.caret}")
    except LikewiseError as error:
        return ParsedText(None, problem=str(error))
    return ParsedText(subscription, subscription_text(subscription), tuple(_parts(subscription)))


def _parts(subscription: Subscription) -> Iterator[tuple[str, str]]:
    body = subscription.body
    if subscription.themes:
        yield "in the sense of", ", ".join(subscription.themes)
    if isinstance(body, Condition):
        for item in body.items:
            yield from _node(item, "")
    elif isinstance(body, GraphPattern):
        yield "triples", f"{len(body.patterns)} patterns that hold together"
    elif isinstance(body, NearbyTriple):
        yield "a triple", f"like this one by {body.by}, at most {body.radius:g} apart"
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
    text = f"{value.value:g} {value.unit}" if isinstance(value, Quantity) else value_text(value)
    return f"{word} {text}{', or what means the same' if predicate.value_relaxed else ''}"
