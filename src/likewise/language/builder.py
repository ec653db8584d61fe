"""Builder of subscriptions: one method per grammar rule, called while parsing, without a parse tree.

Each method has the name of a rule or alias of `grammar` and gets its parts. The methods keep no state, so one
`SubscriptionBuilder` serves every parse in every thread. Errors of the model leave the parser as they are.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from likewise.defaults import MAX_NESTING, MAX_TERM_LENGTH
from likewise.errors import InvalidSubscription, LimitExceeded
from likewise.language.errors import GrammarError, InvalidUnit
from likewise.language.literals import (
    Value,
    make_interval,
    read_count,
    read_number_token,
    read_span,
    read_text,
    read_unit,
    read_value,
    unquote,
)
from likewise.language.prefixes import PREFIXES
from likewise.language.rdf_terms import read_iri, read_term
from likewise.model.alerts.clauses import CLAUSES, FACTS, Alert, SelectColumn
from likewise.model.condition import All, Any, Node, Not, Some
from likewise.model.predicate import Predicate
from likewise.model.rdf import TriplePattern
from likewise.model.subscription import (
    FARTHEST,
    Condition,
    Distance,
    GraphPattern,
    Interest,
    NearbyTriple,
    Relatedness,
    Scoring,
    Statement,
    Statements,
    Subscription,
    Top,
    ValueOf,
    WeightedSum,
)
from likewise.model.timestamps import MOMENT, TimestampValue
from likewise.model.values import Interval
from likewise.units.names import unfit_unit

_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SCORINGS: Final = frozenset({Distance, WeightedSum, ValueOf, Relatedness})
_OF_ALERTS: Final = frozenset(("per", "stale", *CLAUSES))


class LexerToken(Protocol):
    """A lexer token: text with its terminal and its position."""

    type: str
    start_pos: int | None

    def __str__(self) -> str: ...
    def __getitem__(self, index: int | slice) -> str: ...


class Clause(NamedTuple):
    """One clause after the body: the field of a subscription that it sets, and the value."""

    field: str
    value: object
    position: int | None


class NearestTriples(NamedTuple):
    """The body of `near (s, p, o) top k by meaning`, and its clause `top`."""

    body: NearbyTriple
    clause: Clause


def start_of(token: object) -> int | None:
    """Return the position of a token; None for other values."""
    return getattr(token, "start_pos", None)


def error_at(token: str, problem: str, expected: str) -> GrammarError:
    """Return an error at a token."""
    return GrammarError(problem, position=start_of(token), expected=expected)


def attribute_of(token: object) -> str:
    """Return the attribute that a scoring names, checked as the model checks attributes."""
    return _checked_name(read_text(token)[0])  # type: ignore[arg-type]


def _attribute(token: str) -> tuple[str, bool]:
    """Return the attribute of a condition and whether `~` relaxes it; one that `!` negates as elsewhere is refused."""
    if token[0] == "!":
        name = token.lstrip("! ").rstrip("~ ")
        expected = f"`not {name} ...` for what must not hold, or the name in quotation marks"
        raise error_at(token, "`!` before a name would be a part of the name", expected)
    return read_text(token)


def _checked_name(name: str) -> str:
    if not name.strip():
        raise InvalidSubscription("the attribute is empty; give it some text")
    if len(name) > MAX_TERM_LENGTH:
        raise LimitExceeded("characters of an attribute", allowed=MAX_TERM_LENGTH, found=len(name))
    return name


def _term(token: LexerToken, prefixes: dict[str, str] | None) -> str:
    try:
        return read_term(token.type, str(token), prefixes or PREFIXES)
    except GrammarError as found:
        found.position = token.start_pos
        raise


def _near_triple(before: list[object], terms: object, radius: float, by: object) -> NearbyTriple:
    prefixes = {**PREFIXES, **dict(before)} if before else None  # type: ignore[arg-type]
    pattern = TriplePattern(*[_term(token, prefixes) for token in terms])  # type: ignore[attr-defined]
    return NearbyTriple(pattern, radius, str(by))  # type: ignore[arg-type]


def _range(attribute: str, low: str, high: str, *, low_open: bool, high_open: bool) -> Predicate:
    name, relaxed = _attribute(attribute)
    lower, lower_relaxed = read_number_token(low)
    upper, upper_relaxed = read_number_token(high)
    if isinstance(lower, TimestampValue) and isinstance(upper, TimestampValue):
        first = lower.span.last + 1 if low_open else lower.span.first
        last = upper.span.first - 1 if high_open else upper.span.last
        period = Interval(first, last, unit=MOMENT)
        return Predicate(name, "between", period, relaxed, lower_relaxed or upper_relaxed)
    interval = make_interval(lower, upper, low_open=low_open, high_open=high_open)
    if interval is None:
        wrong: Value = lower if isinstance(lower, (str, bool, TimestampValue)) else upper
        token = low if wrong is lower else high
        raise error_at(token, f"`{str(token)[:40]}` is no number", "a number, with or without a unit, or two dates")
    return _with_fitting_unit(Predicate(name, "between", interval, relaxed, lower_relaxed or upper_relaxed), high)


def _with_fitting_unit(predicate: Predicate, token: str) -> Predicate:
    """Return a predicate whose unit may measure what its attribute asks for by meaning; refuse another."""
    unfit = unfit_unit(predicate.attribute, predicate.unit) if predicate.attribute_relaxed and predicate.unit else None
    if unfit is None:
        return predicate
    kind, units = unfit
    problem = f"`{predicate.unit}` is not a unit of {kind}; without `~` any attribute of this name counts"
    raise InvalidUnit(problem, position=start_of(token), expected=f"a unit of {kind} such as {units}")


def _duration_clause(field: str, parts: list[str]) -> Clause:
    """A clause of one span of time."""
    span, _ = read_span(parts[1])
    if span is None:
        raise error_at(parts[1], f"`{parts[1]}` is no time", "a time such as `5 min`")
    return Clause(field, span, start_of(parts[0]))


class SubscriptionBuilder:
    """Callbacks of the grammar's rules."""

    def subscription(self, parts: list[object]) -> Subscription:
        """Build the whole, without an id: a body with optional themes and clauses."""
        first = parts[0]
        if isinstance(first, NearestTriples):
            parts = [first.body, first.clause, *parts[1:]]
            first = parts[0]
        themes, body = first if type(first) is tuple else ((), first)
        clauses: dict[str, Clause] = {}
        for clause in parts[1:]:
            assert isinstance(clause, Clause)
            if clause.field in clauses:
                name = CLAUSES.get(clause.field) or clause.field.replace("_", " ")
                raise GrammarError(f"`{name}` is given a second time", position=clause.position, expected="it once")
            clauses[clause.field] = clause
        values = {field: clause.value for field, clause in clauses.items() if field not in _OF_ALERTS}
        try:
            if len(values) < len(clauses):
                values["alert"] = Alert(**{f: c.value for f, c in clauses.items() if f in _OF_ALERTS})  # type: ignore[arg-type]
            return Subscription(body, "", themes, **values)  # type: ignore[arg-type]
        except InvalidSubscription as error:
            # The model names the clause that does not fit; its position makes the message point into the text.
            at = clauses.get(error.clause)
            if at is None:
                raise
            raise GrammarError(str(error), position=at.position) from None

    # Conditions: themes, alternatives, negations, and a predicate for each operator.

    def condition(self, items: list[Node]) -> Condition:
        """`{item, item}`."""
        return Condition(tuple(items))

    def themed(self, parts: list[object]) -> tuple[object, ...]:
        """Themes, then a condition."""
        return tuple(parts)

    def themes(self, tags: list[str]) -> tuple[str, ...]:
        """`{tag, tag}`."""
        tags_read = []
        for tag in tags:
            text, relaxed = read_text(tag)
            if relaxed:
                raise error_at(tag, "a theme tag takes no `~`", "`~` after an attribute or a value only")
            tags_read.append(text)
        return tuple(tags_read)

    def tags_alone(self, parts: list[tuple[str, ...]]) -> Condition:
        """A single group is the condition; one without operators is a mistake."""
        if not parts[0]:
            return Condition(())
        problem = f"`{parts[0][0][:40]}` has no operator, and there is no second group"
        if " in " in parts[0][0]:
            problem += "; the operator `in` takes values in parentheses"
        raise GrammarError(
            problem,
            expected="`attribute = value`, `attribute exists`, or a condition in a second pair of braces",
        )

    def no_condition(self, parts: list[object]) -> Condition:
        """Themes, then nothing: refused by the model."""
        return Condition(())

    def both(self, items: list[Node]) -> All:
        """Items joined by `,` inside parentheses."""
        return All(tuple(items))

    def group(self, items: list[Node]) -> Any:
        """Alternatives joined by `or`."""
        return Any(tuple(items))

    def negation(self, parts: list[object]) -> Node:
        """`not` once or several times."""
        node: Node = parts[-1]  # type: ignore[assignment]
        if len(parts) > MAX_NESTING:
            raise LimitExceeded("nesting of a condition", allowed=MAX_NESTING)
        for _ in parts[1:]:
            node = Not(node)
        return node

    def equality(self, parts: list[str]) -> Predicate:
        """`a = v`, `a : v`, `a != v`."""
        attribute, relaxed = _attribute(parts[0])
        value, value_relaxed = read_value(parts[2])
        equal = Predicate(attribute, "!=" if parts[1] == "!=" else "=", value, relaxed, value_relaxed)
        return _with_fitting_unit(equal, parts[2])

    def comparison(self, parts: list[str]) -> Predicate:
        """`a < v`; also `5 < a`, with the number first."""
        left, operator, right = parts
        value, value_relaxed = read_number_token(right)
        if type(value) is str and right[0] != '"':
            number, number_relaxed = read_value(left)
            if left[0] != '"' and not isinstance(number, (str, bool)) and not number_relaxed:
                flipped = Predicate(value, _FLIPPED[operator], number, value_relaxed)  # type: ignore[arg-type]
                return _with_fitting_unit(flipped, left)
        attribute, relaxed = _attribute(left)
        compared = Predicate(attribute, str(operator), value, relaxed, value_relaxed)  # type: ignore[arg-type]
        return _with_fitting_unit(compared, right)

    def chain(self, parts: list[str]) -> Predicate:
        """`1 <= a < 2`, or `2 > a >= 1`."""
        left, first, middle, second, right = parts
        if first[0] != second[0]:
            raise error_at(second, f"`{first}` and `{second}` point in different directions", f"`{first[0]}`")
        if first[0] == ">":
            left, first, second, right = right, second, first, left
        return _range(middle, left, right, low_open=len(first) == 1, high_open=len(second) == 1)

    def between(self, parts: list[str]) -> Predicate:
        """`a between 1 and 2`, both ends inside."""
        return _range(parts[0], parts[1], parts[2], low_open=False, high_open=False)

    def one_of(self, parts: list[str]) -> Predicate:
        """`a in (v, w)`."""
        attribute, relaxed = _attribute(parts[0])
        read = [read_value(part) for part in parts[1:]]
        return Predicate(attribute, "in", tuple(v for v, _ in read), relaxed, any(r for _, r in read))

    def text_test(self, parts: list[str]) -> Predicate:
        """`a contains v` and its like; the value is text, quoted or not."""
        attribute, relaxed = _attribute(parts[0])
        value, value_relaxed = read_text(parts[2])
        operator = " ".join(parts[1].split())
        return Predicate(attribute, operator, value, relaxed, value_relaxed)  # type: ignore[arg-type]

    def exists(self, parts: list[str]) -> Predicate:
        """`a exists`."""
        attribute, relaxed = _attribute(parts[0])
        return Predicate(attribute, "exists", None, relaxed)

    def matches(self, parts: list[str]) -> Predicate:
        """`a matches "b/+/#"`, the filter as it is."""
        attribute, relaxed = _attribute(parts[0])
        return Predicate(attribute, "matches", unquote(parts[1]), relaxed)

    def some(self, parts: list[object]) -> Some:
        """`some list (items)`: one item of the list meets all of it."""
        name, relaxed = _attribute(parts[-2])  # type: ignore[arg-type]
        inside: Node = parts[-1]  # type: ignore[assignment]
        return Some(name, inside.items if isinstance(inside, All) else (inside,), relaxed)

    def not_some(self, parts: list[object]) -> Node:
        """`not some list (items)`."""
        return self.negation([*parts[:-3], self.some(parts)])

    # Clauses: rankings, thresholds, the content of a delivery and the policy of an alert.

    def top(self, parts: list[object]) -> Clause:
        """`top k within w by scoring order`."""
        order = str(parts.pop()) if type(parts[-1]) not in _SCORINGS else ""
        by: Scoring = parts[-1]  # type: ignore[assignment]
        span: str = parts[1]  # type: ignore[assignment]  # a scoring if there is no window
        duration, events = read_span(span) if len(parts) == 3 else (None, None)
        highest = order == "highest" if order else type(by) is Relatedness
        return Clause("top", Top(read_count(str(parts[0])), by, duration, events, highest), start_of(parts[0]))

    def threshold(self, parts: list[str]) -> Clause:
        """`threshold 0.6`."""
        return Clause("threshold", float(parts[0]), start_of(parts[0]))

    def validity(self, parts: list[str]) -> Clause:
        """`valid for 7 d`."""
        duration, _ = read_span(parts[0])
        if duration is None:
            raise error_at(parts[0], f"`{parts[0]}` is no time", "a time such as `7 d`")
        return Clause("valid_for", duration, start_of(parts[0]))

    def confidence(self, parts: list[str]) -> Clause:
        """`confidence 0.8`."""
        return Clause("confidence", float(parts[0]), start_of(parts[0]))

    def using(self, parts: list[str]) -> Clause:
        """`using sameness`."""
        return Clause("using", str(parts[0]), start_of(parts[0]))

    def best(self, parts: list[str]) -> Clause:
        """`best 3`."""
        return Clause("best", read_count(str(parts[0])), start_of(parts[0]))

    def select(self, parts: list[object]) -> Clause:
        """`select (column, column)`."""
        return Clause("select", tuple(parts[1:]), start_of(parts[0]))

    def column(self, parts: list[LexerToken]) -> SelectColumn:
        """`temperature~ in degC as t`, `@source as device`."""
        first, symbol, name = parts[0], "", ""
        for part in parts[1:]:
            if part.type == "COLUMN_UNIT":
                symbol = read_unit(str(part), part).symbol
            else:
                name = read_text(str(part))[0]
                if not name.strip():
                    raise GrammarError("the name after `as` is empty", position=start_of(part), expected="some text")
        if first.type != "FACT":
            attribute, relaxed = read_text(str(first))
            return SelectColumn(_checked_name(attribute), relaxed, symbol, name)
        fact = str(first)[1:]
        if fact not in FACTS:
            known = ", ".join(f"`@{each}`" for each in FACTS)
            raise GrammarError(
                f"`@{fact[:40]}` is no fact about a match", position=start_of(first), expected=f"one of {known}"
            )
        return SelectColumn(name=name, fact=fact)  # type: ignore[arg-type]

    def per(self, parts: list[str]) -> Clause:
        """`per room, floor`."""
        for part in parts[1:]:
            if part.startswith("@"):
                raise GrammarError(
                    f"`{part[:40]}` is no attribute; without `per` each source has a state of its own",
                    position=start_of(part),
                    expected='an attribute, quoted if it begins with "@"',
                )
        return Clause("per", tuple(read_text(part)[0] for part in parts[1:]), start_of(parts[0]))

    def from_one_source(self, parts: list[str]) -> Clause:
        """`from one source`."""
        return Clause("from_one_source", True, start_of(parts[0]))

    def held_for(self, parts: list[str]) -> Clause:
        """`for 5 min`."""
        return _duration_clause("held_for", parts)

    def once_until(self, parts: list[object]) -> Clause:
        """`once until false`, `once until {condition}`."""
        until = parts[1]
        return Clause("once_until", until.items if isinstance(until, Condition) else "false", start_of(parts[0]))

    def at_most_every(self, parts: list[str]) -> Clause:
        """`at most every 1 h`."""
        return _duration_clause("at_most_every", parts)

    def absent_for(self, parts: list[str]) -> Clause:
        """`absent for 10 min`."""
        return _duration_clause("absent_for", parts)

    def digest_every(self, parts: list[str]) -> Clause:
        """`digest every 1 d`."""
        return _duration_clause("digest_every", parts)

    def stale(self, parts: list[str]) -> Clause:
        """`stale 24 h`."""
        return _duration_clause("stale", parts)

    def distance(self, parts: list[str]) -> Distance:
        """`distance(a 1, b 2 degC)`."""
        point: list[tuple[str, float]] = []
        units: list[str] = []
        for token in parts:
            kind = token.type  # type: ignore[attr-defined]
            if kind == "POINT":
                point.append((attribute_of(token), 0.0))
                units.append("")
            elif kind == "NUMBER":
                point[-1] = (point[-1][0], float(token))
            else:
                units[-1] = read_unit(str(token), token).symbol
        return Distance(tuple(point), tuple(units) if any(units) else ())

    def weighted_sum(self, parts: list[LexerToken]) -> WeightedSum:
        """`sum(2*a in ug/m3 + b - c)`."""
        terms: list[tuple[float, str]] = []
        units: list[str] = []
        weight, sign = 1.0, 1.0
        for part in parts:
            match part.type:
                case "SIGN":
                    sign = -1.0 if str(part) == "-" else 1.0
                case "WEIGHT":
                    weight = float(str(part))
                case "UNIT":
                    units[-1] = read_unit(str(part), part).symbol
                case _:
                    terms.append((sign * weight, attribute_of(part)))
                    units.append("")
                    weight, sign = 1.0, 1.0
        return WeightedSum(tuple(terms), tuple(units) if any(units) else ())

    def value_of(self, parts: list[str]) -> ValueOf:
        """`value(a)`, `value(a in degC)`."""
        return ValueOf(attribute_of(parts[0]), read_unit(str(parts[1]), parts[1]).symbol if len(parts) > 1 else "")

    def relatedness(self, parts: list[object]) -> Relatedness:
        """`relatedness`."""
        return Relatedness()

    # Bodies without a condition: statements, graph patterns and interest vectors.

    def statement(self, parts: list[str]) -> Statement:
        """`event property "value"`."""
        return Statement(read_text(parts[0])[0], unquote(parts[1]))

    def statements(self, items: list[Statement]) -> Statements:
        """Statements joined by `.`."""
        return Statements(tuple(items))

    def prefix(self, parts: list[str]) -> tuple[str, str]:
        """`PREFIX p: <namespace>`."""
        return parts[0][:-1], read_iri(parts[1])[1:-1]

    def triples(self, parts: list[LexerToken]) -> list[LexerToken]:
        """The terms of one subject, with the `;` and `,` between them; read once all prefixes are known."""
        return parts

    def pattern(self, parts: list[object]) -> GraphPattern:
        """Prefixes, then triples joined by `.`."""
        prefixes: dict[str, str] | None = None
        triples: list[TriplePattern] = []
        for part in parts:
            if isinstance(part, tuple):
                prefixes = dict(PREFIXES) if prefixes is None else prefixes
                prefixes[part[0]] = part[1]
                continue
            assert isinstance(part, list)
            terms = iter(part)
            subject, verb = _term(next(terms), prefixes), _term(next(terms), prefixes)
            for token in terms:
                match token.type:
                    case "SEMICOLON":
                        verb = _term(next(terms), prefixes)
                    case "COMMA":
                        continue
                    case _:
                        triples.append(TriplePattern(subject, verb, _term(token, prefixes)))
        return GraphPattern(tuple(triples))

    def near(self, parts: list[object]) -> NearbyTriple:
        """Prefixes, then `near (s, p, o) radius r by meaning`."""
        *before, triple, radius, by = parts
        return _near_triple(before, triple, float(str(radius)), by)

    def nearest(self, parts: list[object]) -> NearestTriples:
        """Prefixes, then `near (s, p, o) top k within w by meaning`: any distance at which something is in common."""
        place = next(place for place, part in enumerate(parts) if type(part) is list)
        count, by = parts[place + 1], parts[-1]
        span = parts[place + 2] if len(parts) - place == 4 else None
        duration, events = (None, None) if span is None else read_span(span)  # type: ignore[arg-type]
        top = Top(read_count(str(count)), Relatedness(), duration, events, highest=True)
        body = _near_triple(parts[:place], parts[place], FARTHEST, by)
        return NearestTriples(body, Clause("top", top, start_of(count)))

    def near_triple(self, parts: list[object]) -> list[object]:
        """`near (s, p, o)`."""
        return parts

    def interest(self, bits: list[str]) -> Interest:
        """`[1, 0, *]`."""
        return Interest("".join(bits))
