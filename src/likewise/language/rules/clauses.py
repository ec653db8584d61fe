"""What stands behind a body: rankings, thresholds, what a delivery carries and when it is made."""

from __future__ import annotations

from typing import Final

from likewise.language.mistakes import Mistake
from likewise.language.reading import read_count, read_span, read_text, read_unit
from likewise.language.rules.tokens import Clause, Token, attribute_of, mistake_at, start_of
from likewise.model.alerts.clauses import FACTS, Column
from likewise.model.subscription import Condition, Distance, Relatedness, Scoring, Top, ValueOf, WeightedSum

_SCORINGS: Final = frozenset({Distance, WeightedSum, ValueOf, Relatedness})


class Clauses:
    """Makes clauses."""

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
            raise mistake_at(parts[0], f"`{parts[0]}` is no time", "a time such as `7 d`")
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

    # What a delivery carries, and when it is made.

    def select(self, parts: list[object]) -> Clause:
        """`select (column, column)`."""
        return Clause("select", tuple(parts[1:]), start_of(parts[0]))

    def column(self, parts: list[Token]) -> Column:
        """`temperature~ in degC as t`, `@source as device`."""
        first, symbol, name = parts[0], "", ""
        for part in parts[1:]:
            if part.type == "COLUMN_UNIT":
                symbol = read_unit(str(part), part).symbol
            else:
                name = read_text(str(part))[0]
                if not name.strip():
                    raise Mistake("the name after `as` is empty", position=start_of(part), expected="some text")
        if first.type != "FACT":
            attribute, relaxed = read_text(str(first))
            return Column(attribute_of(attribute), relaxed, symbol, name)
        fact = str(first)[1:]
        if fact not in FACTS:
            known = ", ".join(f"`@{each}`" for each in FACTS)
            raise Mistake(
                f"`@{fact[:40]}` is no fact about a match", position=start_of(first), expected=f"one of {known}"
            )
        return Column(name=name, fact=fact)  # type: ignore[arg-type]

    def per(self, parts: list[str]) -> Clause:
        """`per room, floor`."""
        for part in parts[1:]:
            if part.startswith("@"):
                raise Mistake(
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
        return _spanning("held_for", parts)

    def once_until(self, parts: list[object]) -> Clause:
        """`once until false`, `once until {condition}`."""
        until = parts[1]
        return Clause("once_until", until.items if isinstance(until, Condition) else "false", start_of(parts[0]))

    def at_most_every(self, parts: list[str]) -> Clause:
        """`at most every 1 h`."""
        return _spanning("at_most_every", parts)

    def absent_for(self, parts: list[str]) -> Clause:
        """`absent for 10 min`."""
        return _spanning("absent_for", parts)

    def digest_every(self, parts: list[str]) -> Clause:
        """`digest every 1 d`."""
        return _spanning("digest_every", parts)

    def stale(self, parts: list[str]) -> Clause:
        """`stale 24 h`."""
        return _spanning("stale", parts)

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

    def weighted_sum(self, parts: list[Token]) -> WeightedSum:
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


def _spanning(field: str, parts: list[str]) -> Clause:
    """A clause of one span of time."""
    span, _ = read_span(parts[1])
    if span is None:
        raise mistake_at(parts[1], f"`{parts[1]}` is no time", "a time such as `5 min`")
    return Clause(field, span, start_of(parts[0]))
