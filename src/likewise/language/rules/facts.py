"""Conditions: themes, alternatives, negations, and a predicate for each operator."""

from __future__ import annotations

from typing import Final

from likewise.defaults import MAX_NESTING
from likewise.errors import LimitExceeded
from likewise.language.mistakes import Mistake
from likewise.language.reading import Value, make_interval, read_number_token, read_text, read_value, unquote
from likewise.language.rules.tokens import mistake_at
from likewise.model.condition import All, Any, Node, Not, Some
from likewise.model.predicate import Predicate
from likewise.model.subscription import Condition
from likewise.model.timestamps import MOMENT, Moment
from likewise.model.values import Interval

_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Facts:
    """Makes conditions."""

    def condition(self, items: list[Node]) -> Condition:
        """`{item, item}`."""
        return Condition(tuple(items))

    def themed(self, parts: list[object]) -> tuple[object, ...]:
        """Themes, then a condition."""
        return tuple(parts)

    def themes(self, tags: list[str]) -> tuple[str, ...]:
        """`{tag, tag}`."""
        found = []
        for tag in tags:
            text, relaxed = read_text(tag)
            if relaxed:
                raise mistake_at(tag, "a theme tag takes no `~`", "`~` after an attribute or a value only")
            found.append(text)
        return tuple(found)

    def tags_alone(self, parts: list[tuple[str, ...]]) -> Condition:
        """A single group is the condition; one without operators is a mistake."""
        if not parts[0]:
            return Condition(())
        raise Mistake(
            f"`{parts[0][0][:40]}` has no operator, and there is no second group",
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

    # Predicates.

    def equality(self, parts: list[str]) -> Predicate:
        """`a = v`, `a : v`, `a != v`."""
        attribute, relaxed = read_text(parts[0])
        value, value_relaxed = read_value(parts[2])
        return Predicate(attribute, "!=" if parts[1] == "!=" else "=", value, relaxed, value_relaxed)

    def comparison(self, parts: list[str]) -> Predicate:
        """`a < v`; also `5 < a`, with the number first."""
        left, operator, right = parts
        value, value_relaxed = read_number_token(right)
        if type(value) is str and right[0] != '"':
            number, number_relaxed = read_value(left)
            if left[0] != '"' and not isinstance(number, (str, bool)) and not number_relaxed:
                return Predicate(value, _FLIPPED[operator], number, value_relaxed)  # type: ignore[arg-type]
        attribute, relaxed = read_text(left)
        return Predicate(attribute, str(operator), value, relaxed, value_relaxed)  # type: ignore[arg-type]

    def chain(self, parts: list[str]) -> Predicate:
        """`1 <= a < 2`, or `2 > a >= 1`."""
        left, first, middle, second, right = parts
        if first[0] != second[0]:
            raise mistake_at(second, f"`{first}` and `{second}` point in different directions", f"`{first[0]}`")
        if first[0] == ">":
            left, first, second, right = right, second, first, left
        return _range(middle, left, right, low_open=len(first) == 1, high_open=len(second) == 1)

    def between(self, parts: list[str]) -> Predicate:
        """`a between 1 and 2`, both ends inside."""
        return _range(parts[0], parts[1], parts[2], low_open=False, high_open=False)

    def one_of(self, parts: list[str]) -> Predicate:
        """`a in (v, w)`."""
        attribute, relaxed = read_text(parts[0])
        read = [read_value(part) for part in parts[1:]]
        return Predicate(attribute, "in", tuple(v for v, _ in read), relaxed, any(r for _, r in read))

    def text_test(self, parts: list[str]) -> Predicate:
        """`a contains v` and its like; the value is text, quoted or not."""
        attribute, relaxed = read_text(parts[0])
        value, value_relaxed = read_text(parts[2])
        operator = " ".join(parts[1].split())
        return Predicate(attribute, operator, value, relaxed, value_relaxed)  # type: ignore[arg-type]

    def exists(self, parts: list[str]) -> Predicate:
        """`a exists`."""
        attribute, relaxed = read_text(parts[0])
        return Predicate(attribute, "exists", None, relaxed)

    def matches(self, parts: list[str]) -> Predicate:
        """`a matches "b/+/#"`, the filter as it is."""
        attribute, relaxed = read_text(parts[0])
        return Predicate(attribute, "matches", unquote(parts[1]), relaxed)

    def some(self, parts: list[object]) -> Some:
        """`some list (items)`: one item of the list meets all of it."""
        name, relaxed = read_text(parts[-2])  # type: ignore[arg-type]
        inside: Node = parts[-1]  # type: ignore[assignment]
        return Some(name, inside.items if isinstance(inside, All) else (inside,), relaxed)

    def not_some(self, parts: list[object]) -> Node:
        """`not some list (items)`."""
        return self.negation([*parts[:-3], self.some(parts)])


def _range(attribute: str, low: str, high: str, *, low_open: bool, high_open: bool) -> Predicate:
    name, relaxed = read_text(attribute)
    lower, lower_relaxed = read_number_token(low)
    upper, upper_relaxed = read_number_token(high)
    if isinstance(lower, Moment) and isinstance(upper, Moment):
        first = lower.span.last + 1 if low_open else lower.span.first
        last = upper.span.first - 1 if high_open else upper.span.last
        period = Interval(first, last, unit=MOMENT)
        return Predicate(name, "between", period, relaxed, lower_relaxed or upper_relaxed)
    found = make_interval(lower, upper, low_open=low_open, high_open=high_open)
    if found is None:
        wrong: Value = lower if isinstance(lower, (str, bool, Moment)) else upper
        token = low if wrong is lower else high
        raise mistake_at(token, f"`{str(token)[:40]}` is no number", "a number, with or without a unit, or two dates")
    return Predicate(name, "between", found, relaxed, lower_relaxed or upper_relaxed)
