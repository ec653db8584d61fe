"""Subscriptions: all forms of the language as values (docs/language.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from likewise.defaults import MAX_BEST, MAX_K, MAX_TERM_LENGTH, MAX_THEMES, MAX_VECTOR, MAX_WINDOW_EVENTS
from likewise.errors import InvalidSubscription, LimitExceeded
from likewise.model.alerts.clauses import Alert, SelectColumn, check_alert, check_columns
from likewise.model.condition import All, Any, Conjunction, Node, Not, Some, check, conjunctions
from likewise.model.display import html_of, text_of
from likewise.model.predicate import Predicate
from likewise.model.rdf import TriplePattern, is_variable
from likewise.model.values import finite
from likewise.units import unit

Kind = Literal["exact", "approximate", "top", "statements", "pattern", "interest", "near", "alert"]
NearBy = Literal["meaning", "spelling"]
FARTHEST = 1.4  # a radius may reach so far: terms that have nothing in common lie √2 apart


class Condition(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="condition", tag_field="kind"):
    """`{p, q, (r or s)}`: all items hold. Checked on creation."""

    items: tuple[Node, ...]

    def __post_init__(self) -> None:
        check(self.items)

    def conjunctions(self) -> tuple[Conjunction, ...]:
        """Return the conjunctions of its disjunctive normal form; the best-scoring one counts."""
        if all(type(item) is Predicate for item in self.items):
            return (Conjunction(tuple(dict.fromkeys(self.items))),)  # type: ignore[arg-type]
        return conjunctions(All(self.items))

    def is_relaxed(self) -> bool:
        """Return whether any part, also under `not`, is relaxed."""
        return any(
            part.attribute_relaxed or (isinstance(part, Predicate) and part.value_relaxed) for part in self._parts()
        )

    def predicates(self) -> Iterator[Predicate]:
        """Return every predicate as written, also under `not`, `or` and `some`, in no particular order."""
        return (part for part in self._parts() if isinstance(part, Predicate))

    def _parts(self) -> Iterator[Predicate | Some]:
        """Yield every predicate, and every `some` besides its contents."""
        pending: list[Node] = list(self.items)
        while pending:
            match pending.pop():
                case Predicate() as predicate:
                    yield predicate
                case All(items=items) | Any(items=items):
                    pending.extend(items)
                case Some(items=items) as some:
                    yield some
                    pending.extend(items)
                case Not(item=item):
                    pending.append(item)


class Statement(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """`event property "value"`: one approximate statement about an RDF event (sources.md H)."""

    property: str
    value: str

    def __post_init__(self) -> None:
        if not self.property.strip() or not self.value.strip():
            raise InvalidSubscription('a statement needs a property and a value: event type "Football Match"')
        if max(len(self.property), len(self.value)) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a term", allowed=MAX_TERM_LENGTH)


class Statements(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="statements", tag_field="kind"):
    """Statements about one RDF event, all approximate."""

    items: tuple[Statement, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise InvalidSubscription("there are no statements; give at least one")


class GraphPattern(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="pattern", tag_field="kind"):
    """A basic graph pattern over the triples of one event (sources.md L)."""

    patterns: tuple[TriplePattern, ...]

    def __post_init__(self) -> None:
        if not self.patterns:
            raise InvalidSubscription("the graph pattern is empty; give at least one triple pattern")

    def variables(self) -> tuple[str, ...]:
        """Return the distinct variables, in order."""
        return tuple(dict.fromkeys(v for pattern in self.patterns for v in pattern.variables()))


class Interest(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="interest", tag_field="kind"):
    """An interest vector over {0, 1, *} (sources.md M), stored as text: `10*1`."""

    vector: str

    def __post_init__(self) -> None:
        if not self.vector or set(self.vector) - set("01*"):
            raise InvalidSubscription("an interest vector holds 0, 1 and * only, at least one: [1, 0, *, 1]")
        if len(self.vector) > MAX_VECTOR:
            raise LimitExceeded("properties of an interest vector", allowed=MAX_VECTOR, found=len(self.vector))


class NearbyTriple(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="near", tag_field="kind"):
    """`near (s, p, o) radius r by meaning`: a triple of the event lies within the radius of this one (sources.md L).

    Every constant is compared with its counterpart, by the distance of unit vectors: 0 if they say the same, √2 if they
    have nothing in common. A variable is met by anything.

    >>> NearbyTriple(TriplePattern("?e", "<http://e.org/team>", "?t"), 0.5, "spelling").constants()
    1
    """

    pattern: TriplePattern
    radius: float
    by: NearBy

    def __post_init__(self) -> None:
        if not 0 <= self.radius <= FARTHEST:
            raise InvalidSubscription(
                f"a radius lies between 0 (the same) and {FARTHEST} (next to nothing in common), not at {self.radius}"
            )
        if not self.constants():
            raise InvalidSubscription("every part of the triple is a variable, which any triple meets; give one term")

    def constants(self) -> int:
        """Return the number of parts that are terms."""
        parts = (self.pattern.subject, self.pattern.predicate, self.pattern.object)
        return sum(not is_variable(part) for part in parts)


Body = Condition | Statements | GraphPattern | Interest | NearbyTriple


class Distance(
    msgspec.Struct,
    frozen=True,
    gc=False,
    forbid_unknown_fields=True,
    tag="distance",
    tag_field="kind",
    omit_defaults=True,
):
    """Euclidean distance of attributes' numbers to a point; `units` are those of the point, if any is named."""

    point: tuple[tuple[str, float], ...]
    units: tuple[str, ...] = ()


class WeightedSum(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="sum", tag_field="kind", omit_defaults=True
):
    """Weighted sum of attributes' numbers, each in its unit of `units`, if any is named."""

    terms: tuple[tuple[float, str], ...]
    units: tuple[str, ...] = ()


class ValueOf(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="value", tag_field="kind", omit_defaults=True
):
    """One attribute's number, in a unit if one is named."""

    attribute: str
    unit: str = ""


class Relatedness(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="relatedness", tag_field="kind"
):
    """The score: of a condition's best mapping, of statements, or 1 less the mean distance of the nearest triple."""


Scoring = Distance | WeightedSum | ValueOf | Relatedness


class Top(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """`top k within ... by ...`: the k best of a sliding window (sources.md C, "Top-k/w").

    Exactly one of `duration` (µs; an event counts while its age is less) and `events` (the last n
    that pass the condition) is set, or neither for a window without end.
    """

    k: int
    by: Scoring
    duration: int | None = None
    events: int | None = None
    highest: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_K:
            raise LimitExceeded("k of `top k` (from 1)", allowed=MAX_K, found=self.k)
        if self.duration is not None and self.events is not None:
            raise InvalidSubscription("a window is either a time or a number of events; give one of them")
        if self.duration is not None and self.duration <= 0:
            raise InvalidSubscription("a window must be longer than nothing: within 24 h")
        if self.events is not None and not 1 <= self.events <= MAX_WINDOW_EVENTS:
            raise LimitExceeded("events of a window (from 1)", allowed=MAX_WINDOW_EVENTS, found=self.events)
        match self.by:
            case Distance(point=()) | WeightedSum(terms=()):
                raise InvalidSubscription("the scoring names no attribute; give at least one")
            case Distance(point=point, units=units):
                _check_scoring(point, units)
            case WeightedSum(terms=terms, units=units):
                _check_scoring([(name, number) for number, name in terms], units)
            case ValueOf(attribute=name, unit=symbol):
                _check_scoring([(name, 0.0)], (symbol,))


def _check_scoring(terms: Sequence[tuple[str, float]], units: tuple[str, ...]) -> None:
    if units and len(units) != len(terms):
        raise InvalidSubscription(f"a scoring over {len(terms)} attributes has {len(units)} units; give one for each")
    for symbol in units:
        if symbol and unit(symbol).symbol != symbol:
            raise InvalidSubscription(f"the scoring names the unit {symbol!r}; write {unit(symbol).symbol}")
    for name, number in terms:
        if not name.strip():
            raise InvalidSubscription("the scoring names an empty attribute; give it some text")
        if len(name) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of an attribute", allowed=MAX_TERM_LENGTH, found=len(name))
        finite(number)


Variant = Literal["hybrid", "background", "jcn", "esa", "sameness"]


class Subscription(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """One subscription. `threshold` overrides the matcher's; `valid_for` (µs) ends it by itself.

    `confidence` asks that a match is meant with at least that probability. Statements may say by which measures they
    are compared (`using`), and how many properties of an event may answer each (`best`). `select` names what a delivery
    carries; `from_one_source` asks that of several sources that offer the same only one is kept awake; an `alert` says
    when it speaks.

    Attributes:
        body: What an event must meet: `Condition`, `Statements`, `GraphPattern`, `Interest` or `NearbyTriple`.
        id: Id, unique in a matcher; '' before it is assigned.
        themes: Theme tags, under which relaxed parts are compared.
        top: Ranking and window of a top-k subscription, None for all others.
        threshold: Score in [0, 1] that a match needs. Default: the matcher's.
        valid_for: Validity in µs from its addition; None for no end.
        confidence: Least probability in [0, 1] that a match is relevant.
        using: Measure by which statements are compared.
        best: Number of properties of an event that may answer one statement.
        select: Columns that a delivery carries; empty for the whole event.
        from_one_source: Whether only one of several equivalent sources is kept active for it.
        alert: Notification policy, None for a subscription that delivers each match.
    """

    body: Body
    id: str = ""
    themes: tuple[str, ...] = ()
    top: Top | None = None
    threshold: float | None = None
    valid_for: int | None = None
    confidence: float | None = None
    using: Variant | None = None
    best: int | None = None
    select: tuple[SelectColumn, ...] = ()
    from_one_source: bool = False
    alert: Alert | None = None

    def __post_init__(self) -> None:
        if self.themes:
            check_themes(self.themes, InvalidSubscription)
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise InvalidSubscription(f"a threshold lies between 0 and 1, not at {self.threshold}")
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise InvalidSubscription(f"a confidence is a probability between 0 and 1, not {self.confidence}")
        if self.best is not None and not 1 <= self.best <= MAX_BEST:
            raise LimitExceeded("properties of `best` (from 1)", allowed=MAX_BEST, found=self.best)
        if (self.using is not None or self.best is not None) and not isinstance(self.body, Statements):
            raise InvalidSubscription('`using` and `best` go with statements only: event type "Race" using sameness')
        if self.valid_for is not None and self.valid_for <= 0:
            raise InvalidSubscription("a validity must be longer than nothing: valid for 7 d")
        if len(self.id) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of an id", allowed=MAX_TERM_LENGTH, found=len(self.id))
        if self.top is not None and not isinstance(self.body, Condition):
            if not isinstance(self.body, (Statements, NearbyTriple)):
                raise InvalidSubscription("`top` goes with a condition in braces, statements or a near triple")
            if not isinstance(self.top.by, Relatedness):
                raise InvalidSubscription("statements and near triples are ranked `by relatedness` only")
        if self.select:
            check_columns(self.select, condition=isinstance(self.body, Condition))
        if self.alert is not None:
            conjunctions = self.body.conjunctions() if isinstance(self.body, Condition) else None
            check_alert(self.alert, conjunctions, ranked=self.top is not None)
            if isinstance(self.alert.once_until, tuple):
                check(self.alert.once_until)

    @property
    def kind(self) -> Kind:
        """Kind of engine that serves it.

        >>> Subscription(Condition((Predicate("t", ">", 25.0),))).kind
        'exact'
        """
        body = self.body
        if self.top is not None:
            return "top"
        if isinstance(body, Condition):
            if self.alert is not None:
                return "alert"
            return "approximate" if body.is_relaxed() else "exact"
        if isinstance(body, Statements):
            return "statements"
        if isinstance(body, NearbyTriple):
            return "near"
        return "pattern" if isinstance(body, GraphPattern) else "interest"

    @property
    def remembers(self) -> bool:
        """Return whether its result depends on past events: windows and alerts."""
        return self.top is not None or self.alert is not None

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def degree(self) -> float:
        """Degree of approximation: the share of attributes and values that are relaxed, from 0 (exact) to 1.

        Statements and near triples are approximate throughout, graph patterns and interest vectors exact (Hasan and
        Curry 2014, section 3.4).

        >>> laptop = Predicate("device", "=", "laptop", attribute_relaxed=True, value_relaxed=True)
        >>> Subscription(Condition((laptop, Predicate("office", "=", "room 112")))).degree
        0.5
        """
        body = self.body
        if isinstance(body, Condition):
            counted = [(predicate.relaxed_parts, predicate.parts) for predicate in body.predicates()]
            return sum(relaxed for relaxed, _ in counted) / sum(parts for _, parts in counted)
        return float(isinstance(body, (Statements, NearbyTriple)))


def check_themes(themes: tuple[str, ...], error: type[Exception]) -> None:
    """Refuse empty, overlong or too many theme tags."""
    if len(themes) > MAX_THEMES:
        raise LimitExceeded("theme tags", allowed=MAX_THEMES, found=len(themes))
    for tag in themes:
        if not tag.strip():
            raise error("a theme tag is empty; leave it out or give it some text")
        if len(tag) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a theme tag", allowed=MAX_TERM_LENGTH, found=len(tag))
