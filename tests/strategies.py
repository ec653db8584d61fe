"""Hypothesis strategies of subscriptions and events; hypothesis is needed to use them, not to install Likewise.

`subscriptions` and `events` come from the small vocabularies of `likewise.testing.generators`, so that
they meet often. `written_subscriptions` are all the language can say, with any text in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, get_args

import msgspec
from hypothesis import strategies as st

from likewise.defaults import MAX_BEST
from likewise.errors import InputError, InvalidSubscription
from likewise.model import (
    All,
    Condition,
    Distance,
    Event,
    GraphPattern,
    Interest,
    Interval,
    Kind,
    NearbyTriple,
    Node,
    Not,
    Predicate,
    Quantity,
    Relatedness,
    Scoring,
    Statement,
    Statements,
    Subscription,
    Top,
    TriplePattern,
    ValueOf,
    WeightedSum,
    fold,
)
from likewise.model import Any as Either
from likewise.model.alerts.clauses import FACTS, Alert, SelectColumn
from likewise.model.subscription import Variant
from likewise.testing.generators import DrawnChoice, event, subscription

KINDS: Final[tuple[Kind, ...]] = ("exact", "approximate", "top", "statements", "pattern", "interest", "near")


@st.composite
def subscriptions(draw: Callable[[Any], Any], kinds: Iterable[Kind] = KINDS, id: str = "s") -> Subscription:
    """Draw subscriptions of some kinds, from small vocabularies."""
    return subscription(DrawnChoice(draw), draw(st.sampled_from(tuple(kinds))), id)


@st.composite
def events(draw: Callable[[Any], Any], kinds: Iterable[Kind] = KINDS, id: str | None = "e", at: int = 0) -> Event:
    """Draw events that subscriptions of these kinds may match: ties, units, repeated attributes, groups."""
    return event(DrawnChoice(draw), frozenset(kinds), id, at)


# Text that means something to the language, or nearly does, beside any other text.
PITFALLS: Final = (
    "in",
    "check in time",
    "or",
    "this or that",
    "and",
    "not",
    "not now",
    "between",
    "is-a",
    "starts with",
    "ends",
    "exists",
    "true",
    "False",
    "nan",
    "-inf",
    "Infinity",
    "25",
    "1e5",
    "1e999",
    "5 pm",
    "25 degC",
    "5 in",
    ".5",
    "room 112",
    "a, b",
    "{",
    "}",
    "(a)",
    "a~",
    "~",
    "a=b",
    "a: b",
    "!=",
    "hello!",
    "!",
    '"',
    'say "hi"',
    "\\",
    "a\\nb",
    "a\nb",
    " a ",
    "a  b",
    "a\u00a0b",
    "a\u2028b",
    "a\tb",
    "\x00",
    "東京 タワー",
    "Größe",
    "हिन्दी",
    "🚲",
    "event",
    "top 10",
    "threshold 0.5",
    "*",
    "+",
    "-",
    "a-b",
    "pm2.5",
    "x[].name",
    "a.b/c",
    "#",
    "?x",
    "<a>",
    "a:b",
    "µg/m³",
    "%",
    "'",
    "it's",
)


def texts() -> st.SearchStrategy[str]:
    """Draw text that is not blank: words, pitfalls, anything."""
    anything = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
    return st.one_of(
        st.sampled_from(PITFALLS), st.from_regex(r"[a-z]{1,6}( [a-z]{1,6})?", fullmatch=True), anything
    ).filter(lambda text: not text.isspace())


def numbers() -> st.SearchStrategy[float]:
    """Draw finite numbers: small whole ones, or any."""
    return st.one_of(st.integers(-5, 50).map(float), st.floats(allow_nan=False, allow_infinity=False))


_UNITS: Final = ("degC", "degF", "km/h", "%", "kWh", "inch", "ug/m3", "dB")
# 1e308 km is no number of metres, and refused.
_quantities = st.builds(Quantity, numbers().filter(lambda n: abs(n) < 1e250), st.sampled_from(_UNITS))
_amounts = st.one_of(numbers(), _quantities)
_values = st.one_of(texts(), _amounts, st.booleans())


@st.composite
def _intervals(draw: Callable[[Any], Any]) -> Interval:
    low, high = sorted((draw(numbers()), draw(numbers())))
    open_low, open_high = (draw(st.booleans()), draw(st.booleans())) if low < high else (False, False)
    try:
        return Interval(low, high, open_low, open_high, draw(st.sampled_from(("", *_UNITS))))
    except InputError:  # in the unit's base nothing is left between the bounds, or one is no number
        return Interval(low, high, open_low, open_high)


@st.composite
def predicates(draw: Callable[[Any], Any]) -> Predicate:
    """Draw predicates with any operator, attribute and value."""
    attribute, relaxed = draw(texts()), draw(st.booleans())
    match draw(st.integers(0, 7)):
        case 0:
            return Predicate(attribute, "=", draw(texts()), relaxed, draw(st.booleans()))
        case 1:
            return Predicate(attribute, "=", draw(_values), relaxed)
        case 2:
            return Predicate(attribute, "!=", draw(_values), relaxed)
        case 3:
            return Predicate(attribute, draw(st.sampled_from(("<", "<=", ">", ">="))), draw(_amounts), relaxed)
        case 4:
            return Predicate(attribute, "between", draw(_intervals()), relaxed)
        case 5:
            return Predicate(attribute, "in", tuple(draw(st.lists(_values, min_size=1, max_size=4))), relaxed)
        case 6:
            return Predicate(attribute, "exists", None, relaxed)
        case _:
            operator = draw(st.sampled_from(("contains", "starts with", "ends with", "under", "is-a")))
            return Predicate(attribute, operator, draw(texts()), relaxed)


def nodes() -> st.SearchStrategy[Node]:
    """Draw items of a condition: predicates under `and`, `or` and `not`."""

    def wider(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(several.map(All), several.map(Either), inner.map(Not))

    return st.recursive(predicates(), wider, max_leaves=6)


def _exists(items: list[Node]) -> bool:
    try:
        Condition(tuple(items))
    except InputError:  # an empty interval, clashing units, too many conjunctions
        return False
    return True


def conditions() -> st.SearchStrategy[Condition]:
    """Draw valid conditions."""
    items = st.lists(nodes(), min_size=1, max_size=3).filter(_exists)
    return items.map(lambda found: Condition(tuple(found)))


_scorings: st.SearchStrategy[Scoring] = st.one_of(
    st.lists(st.tuples(texts(), numbers()), min_size=1, max_size=3).map(lambda found: Distance(tuple(found))),
    st.lists(st.tuples(numbers(), texts()), min_size=1, max_size=3).map(lambda found: WeightedSum(tuple(found))),
    texts().map(ValueOf),
    st.just(Relatedness()),
)
_spans = st.one_of(st.integers(1, 2**60), st.integers(1, 1_000).map(lambda hours: hours * 3_600_000_000))


@st.composite
def _tops(draw: Callable[[Any], Any]) -> Top:
    duration, count = draw(st.sampled_from(((True, False), (False, True), (False, False))))
    return Top(
        draw(st.integers(1, 100_000)),
        draw(_scorings),
        draw(_spans) if duration else None,
        draw(st.integers(1, 10_000_000)) if count else None,
        draw(st.booleans()),
    )


_IRIS: Final = (
    "<http://dbpedia.org/ontology/Event>",
    "<http://e.org/a>",
    "<http://www.w3.org/ns/sosa/Sensor-1>",
    "<urn:x:é%20>",
    "<http://dbpedia.org/resource/Galway_(city)>",
    "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
    "<http://www.w3.org/2001/XMLSchema#>",
    "<http://dbpedia.org/ontology/a.b>",
    "<http://dbpedia.org/ontology/1>",
)
_VARIABLES: Final = ("?e", "?x", "?größe_1")


def _literals() -> st.SearchStrategy[str]:
    from likewise.language.rdf_terms import quote

    text = st.text(st.characters(codec="utf-8"), max_size=8).map(quote)
    suffix = st.sampled_from(("", "@en", "@de-ch", "^^<http://www.w3.org/2001/XMLSchema#date>", "^^<http://e.org/t>"))
    return st.builds(lambda quoted, end: quoted + end, text, suffix)


@st.composite
def graph_patterns(draw: Callable[[Any], Any]) -> GraphPattern:
    """Draw Basic Graph Patterns, their terms in canonical text."""
    resources = st.sampled_from((*_VARIABLES, *_IRIS))
    triples = st.builds(TriplePattern, resources, resources, st.one_of(resources, _literals()))
    return GraphPattern(tuple(draw(st.lists(triples, min_size=1, max_size=3))))


@st.composite
def nears(draw: Callable[[Any], Any]) -> NearbyTriple:
    """Draw triples to be near to, with at least one term."""
    resources = st.sampled_from((*_VARIABLES, *_IRIS))
    terms = [draw(resources), draw(resources), draw(st.one_of(resources, _literals()))]
    if all(term.startswith("?") for term in terms):
        terms[1] = _IRIS[0]
    radius = draw(st.sampled_from((0.0, 0.3, 1.4)) | st.floats(0, 1.4))
    return NearbyTriple(TriplePattern(*terms), radius, draw(st.sampled_from(("meaning", "spelling"))))


_columns = st.one_of(
    st.builds(SelectColumn, texts(), st.booleans(), st.sampled_from(("", *_UNITS)), texts()),
    st.builds(SelectColumn, name=texts(), fact=st.sampled_from(FACTS)),
)


@st.composite
def _alerts(draw: Callable[[Any], Any]) -> Alert:
    per = tuple(draw(st.lists(texts(), max_size=2, unique_by=fold)))
    spans = [draw(_spans) if draw(st.booleans()) else None for _ in range(4)]
    until = draw(st.none() | st.just("false") | conditions().map(lambda found: found.items))
    if draw(st.integers(0, 3)) == 0:
        spans[0], until, spans[2] = None, None, draw(_spans)
    else:
        spans[2] = None
    return Alert(per, spans[0], until, spans[1] if until or any(spans) else draw(_spans), *spans[2:])


@st.composite
def written_subscriptions(draw: Callable[[Any], Any]) -> Subscription:
    """Draw every subscription that the language can express, with any text in it."""
    statements = st.lists(st.builds(Statement, texts(), texts()), min_size=1, max_size=3)
    body = draw(
        st.one_of(
            conditions(),
            statements.map(lambda items: Statements(tuple(items))),
            graph_patterns(),
            st.text("01*", min_size=1, max_size=20).map(Interest),
            nears(),
        )
    )
    themes: tuple[str, ...] = ()
    top = None
    if isinstance(body, Condition):
        themes = tuple(draw(st.lists(texts(), max_size=3)))
        top = draw(st.none() | _tops())
    elif isinstance(body, Statements | NearbyTriple):
        top = draw(st.none() | _tops().map(lambda ranked: msgspec.structs.replace(ranked, by=Relatedness())))
    threshold = draw(st.none() | st.floats(0, 1))
    confidence = draw(st.none() | st.floats(0, 1))
    using, best = None, None
    if isinstance(body, Statements):
        using = draw(st.none() | st.sampled_from(get_args(Variant)))
        best = draw(st.none() | st.integers(1, MAX_BEST))
    valid_for = draw(st.none() | _spans)
    select: tuple[SelectColumn, ...] = ()
    alert = None
    if isinstance(body, Condition) and draw(st.integers(0, 2)) == 0:
        select = tuple(draw(st.lists(_columns, max_size=3, unique_by=lambda column: column.label)))
        if top is None:
            alert = draw(_alerts())
    one = draw(st.booleans())
    id = draw(texts())
    try:
        return Subscription(body, id, themes, top, threshold, valid_for, confidence, using, best, select, one, alert)
    except InvalidSubscription:  # a condition that no event can fail
        return Subscription(body, id, themes, top, threshold, valid_for, confidence, using, best, select, one)
