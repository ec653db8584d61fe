"""Printer of subscriptions: text that parses to the same value."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from likewise.errors import InputError
from likewise.language.literals import bare_value, number_text
from likewise.language.rdf_terms import quote, term_text
from likewise.model.alerts.clauses import CLAUSES, Alert, SelectColumn
from likewise.model.condition import All, Any, Node, Some
from likewise.model.predicate import Predicate
from likewise.model.rdf import TriplePattern
from likewise.model.rendering import print_with
from likewise.model.subscription import (
    FARTHEST,
    Body,
    Condition,
    Distance,
    GraphPattern,
    Interest,
    NearbyTriple,
    Relatedness,
    Scoring,
    Statements,
    Subscription,
    Top,
    ValueOf,
    WeightedSum,
)
from likewise.model.time import DURATIONS
from likewise.model.timestamps import MOMENT, TimestampValue, timestamp_text
from likewise.model.values import Interval, Quantity

# Words divided by single blanks, none of which means something somewhere in the language.
_RESERVED = r"(?!(?:between|in|contains|exists|under|is-a|starts|ends|and|or|not)(?: |\Z))"
_WORD = r'(?:[^\s,{}()~=<>:!"\x00-\x1f\x7f-\x9f]++|!(?!=))+'
_BARE = re.compile(rf"(?!!){_RESERVED}{_WORD}(?: {_RESERVED}{_WORD})*")  # `!` at the start reads as a negation
_NAME = re.compile(r"[^\W\d_]\w*")
# The longest first, but for weeks: `7 d` says more.
_SPANS: Final = tuple((symbol, size) for symbol, size in reversed(DURATIONS.items()) if symbol != "wk")


def subscription_text(subscription: Subscription) -> str:
    """Return the canonical text of a subscription, without its id.

    >>> from likewise.language import parse
    >>> subscription_text(parse('({ power }, {device~: "laptop"~, t between 1 and 2 degC}) valid for 48 h'))
    '{power} {device~ = laptop~, t between 1 and 2 degC} valid for 2 d'
    """
    body, top = subscription.body, subscription.top
    nearest = isinstance(body, NearbyTriple) and body.radius == FARTHEST and top is not None and top.highest
    text = _nearest_text(body, top) if nearest else body_text(body)  # type: ignore[arg-type]
    if subscription.themes:
        text = f"{{{', '.join([term(tag) for tag in subscription.themes])}}} {text}"
    if top is not None and not nearest:
        text += _top_text(top)
    if subscription.threshold is not None:
        text += f" threshold {number_text(subscription.threshold)}"
    if subscription.valid_for is not None:
        text += f" valid for {_span_text(subscription.valid_for)}"
    if subscription.confidence is not None:
        text += f" confidence {number_text(subscription.confidence)}"
    if subscription.using is not None:
        text += f" using {subscription.using}"
    if subscription.best is not None:
        text += f" best {subscription.best}"
    if subscription.select:
        text += f" select ({', '.join([column_text(column) for column in subscription.select])})"
    if subscription.alert is not None and subscription.alert.per:
        text += f" per {', '.join([_name(name) for name in subscription.alert.per])}"
    if subscription.from_one_source:
        text += " from one source"
    return text if subscription.alert is None else f"{text} {alert_text(subscription.alert)}"


print_with(subscription_text)  # what `str()` of a subscription says


def subscription_id(subscription: Subscription) -> str:
    """Return the default id of a subscription: a short hash of its canonical text.

    >>> from likewise.language import parse
    >>> subscription_id(parse("{a = 1}", id="mine")) == parse("{ a: 1.0 }").id
    True
    """
    return digest(subscription_text(subscription))


def digest(text: str) -> str:
    """Return sixteen hexadecimal digits: among 2**32 subscriptions two collide with a probability of one half."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def column_text(column: SelectColumn) -> str:
    """Return one column of `select` as text.

    >>> column_text(SelectColumn("temperature", True, "degC", "t")), column_text(SelectColumn(fact="source"))
    ('temperature~ in degC as t', '@source')
    """
    if column.fact is not None:
        text = f"@{column.fact}"
    else:
        text = _name(column.attribute) + "~" * column.relaxed + (f" in {column.unit}" if column.unit else "")
    return f"{text} as {_name(column.name)}" if column.name else text


def alert_text(alert: Alert) -> str:
    """Return the alert clauses as text, without `per`.

    >>> alert_text(Alert(held_for=300_000_000, once_until="false"))
    'for 5 min once until false'
    """
    clauses: list[str] = []
    for clause, words in CLAUSES.items():
        value = getattr(alert, clause)
        if isinstance(value, int):
            clauses.append(f"{words} {_span_text(value)}")
        elif value is not None:
            clauses.append(f"{words} {value if value == 'false' else '{' + _joined(value) + '}'}")
    if alert.stale is not None:
        clauses.append(f"stale {_span_text(alert.stale)}")
    return " ".join(clauses)


def body_text(body: Body) -> str:
    """Return a body without themes and clauses as text."""
    match body:
        case Condition(items=items):
            return f"{{{', '.join([node_text(item) for item in items])}}}"
        case Statements(items=statements):
            return " . ".join(f"event {_name(s.property)} {quote(s.value)}" for s in statements)
        case GraphPattern(patterns=patterns):
            return " . ".join(
                f"{term_text(p.subject)} {term_text(p.predicate)} {term_text(p.object)}" for p in patterns
            )
        case NearbyTriple(pattern=p, radius=radius, by=by):
            return f"near ({_terms(p)}) radius {number_text(radius)} by {by}"
        case Interest(vector=vector):
            return f"[{', '.join(vector)}]"


def node_text(node: Node) -> str:
    """Return one item of a condition as text.

    >>> from likewise.model import All, Any, Not, Predicate
    >>> a, b, c = (Predicate(x, "=", 1.0) for x in "abc")
    >>> node_text(Any((All((a, b)), Not(c))))
    '(a = 1, b = 1 or not c = 1)'
    """
    if type(node) is Predicate:
        return predicate_text(node)
    match node:
        case All(items=items):
            return f"({_joined(items)})"
        case Any(items=items):
            return f"({' or '.join([_joined(i.items) if type(i) is All else node_text(i) for i in items])})"
        case Some(attribute=attribute, items=items, attribute_relaxed=relaxed):
            inside = node_text(items[0]) if len(items) == 1 and type(items[0]) is Any else f"({_joined(items)})"
            return f"some {term(attribute)}{'~' * relaxed} {inside}"
        case _:
            return f"not {node_text(node.item)}"  # type: ignore[union-attr]


def _joined(items: tuple[Node, ...]) -> str:
    return ", ".join([node_text(item) for item in items])


def predicate_text(predicate: Predicate) -> str:
    """Return one predicate as text.

    >>> predicate_text(Predicate("check in time", "exists", attribute_relaxed=True))
    '"check in time"~ exists'
    """
    attribute, operator, value = predicate.attribute, predicate.operator, predicate.value
    name = term(attribute) + "~" if predicate.attribute_relaxed else term(attribute)
    if operator == "exists":
        return f"{name} exists"
    if operator == "matches":
        return f"{name} matches {quote(str(value))}"
    if type(value) is Interval and (value.low_open or value.high_open):
        unit = f" {value.unit}" if value.unit else ""
        low, high = number_text(value.low or 0.0), number_text(value.high or 0.0)
        return f"{low}{unit} {'<' if value.low_open else '<='} {name} {'<' if value.high_open else '<='} {high}{unit}"
    shown = value_text(value)
    return f"{name} {operator} {shown}~" if predicate.value_relaxed else f"{name} {operator} {shown}"


def value_text(value: object) -> str:
    """Return the value of a predicate or a tuple as text.

    >>> value_text("room 112"), value_text("25"), value_text(Quantity(25.0, "degC")), value_text(("a", True))
    ('room 112', '"25"', '25 degC', '(a, true)')
    """
    kind = type(value)
    if kind is str:
        return text_value(value)  # type: ignore[arg-type]
    if kind is bool:
        return "true" if value else "false"
    if kind is Quantity:
        return f"{number_text(value.value)} {value.unit}"  # type: ignore[attr-defined]
    if kind is TimestampValue:
        return value.text  # type: ignore[attr-defined, no-any-return]
    if kind is Interval:
        low, high = value.low, value.high  # type: ignore[attr-defined]
        if value.unit == MOMENT:  # type: ignore[attr-defined]
            return f"{timestamp_text(low)} and {timestamp_text(high, last=True)}"
        unit = f" {value.unit}" if value.unit else ""  # type: ignore[attr-defined]
        return f"{number_text(low)} and {number_text(high)}{unit}"
    if kind is tuple:
        return f"({', '.join([value_text(one) for one in value])})"  # type: ignore[attr-defined]
    return number_text(value)  # type: ignore[arg-type]


def term(text: str) -> str:
    """Return an attribute or tag as text: bare if that parses to the same text, else quoted."""
    return text if _BARE.fullmatch(text) else quote(text)


def text_value(text: str) -> str:
    """Return a text value. Text that would parse as a number or a Boolean is quoted, too."""
    if not _BARE.fullmatch(text):
        return quote(text)
    try:
        return text if bare_value(text) is text else quote(text)
    except InputError:  # a bare NaN would be refused
        return quote(text)


def _terms(pattern: TriplePattern) -> str:
    return ", ".join(term_text(part) for part in (pattern.subject, pattern.predicate, pattern.object))


def _nearest_text(near: NearbyTriple, top: Top) -> str:
    return f"near ({_terms(near.pattern)}) top {top.k}{_window_text(top)} by {near.by}"


def _window_text(top: Top) -> str:
    if top.events is not None:
        return f" within {top.events} events"
    return "" if top.duration is None else f" within {_span_text(top.duration)}"


def _top_text(top: Top) -> str:
    order = "" if top.highest is isinstance(top.by, Relatedness) else " highest" if top.highest else " lowest"
    return f" top {top.k}{_window_text(top)} by {scoring_text(top.by)}{order}"


def scoring_text(scoring: Scoring) -> str:
    """Return the scoring of `top` as text.

    >>> scoring_text(WeightedSum(((2.0, "pm10"), (-1.0, "no2"))))
    'sum(2*pm10 - no2)'
    """
    match scoring:
        case Distance(point=point, units=units):
            named = [f" {symbol}" if symbol else "" for symbol in units] or [""] * len(point)
            places = [f"{_name(a)} {number_text(n)}{u}" for (a, n), u in zip(point, named, strict=True)]
            return f"distance({', '.join(places)})"
        case WeightedSum(terms=terms, units=units):
            shown = ""
            for (weight, attribute), symbol in zip(terms, units or ("",) * len(terms), strict=True):
                size, negative = number_text(abs(weight)), str(weight).startswith("-")
                sign = ("-" if negative else "") if not shown else (" - " if negative else " + ")
                unit = f" in {symbol}" if symbol else ""
                shown += f"{sign}{'' if size == '1' else size + '*'}{_name(attribute)}{unit}"
            return f"sum({shown})"
        case ValueOf(attribute=attribute, unit=unit):
            return f"value({_name(attribute)}{f' in {unit}' if unit else ''})"
        case Relatedness():
            return "relatedness"


def _name(text: str) -> str:
    return text if _NAME.fullmatch(text) and text not in ("in", "as") else quote(text)  # words of units and columns


def _span_text(microseconds: int) -> str:
    for symbol, size in _SPANS:
        if microseconds % size == 0:
            return f"{microseconds // size} {symbol}"
    raise AssertionError("every whole number of microseconds is a multiple of one")
