"""Parse errors: from what the parser generator reports to a message with position and expectation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from likewise.errors import ParseError, UnitSyntaxError

_WORDS: Final = {
    "ATTRIBUTE": "an attribute",
    "INNER_ATTRIBUTE": "an attribute",
    "VALUE": "a value",
    "INNER_VALUE": "a value",
    "IN_VALUE": "a value",
    "TAG": "a theme tag",
    "BOUND": "a number",
    "NUMBER": "a number",
    "COUNT": "a whole number",
    "SPAN": "a span such as `24 h` or `500 events`",
    "POINT": "an attribute",
    "UNIT": "a unit",
    "_UNIT_IN": "`in` and a unit",
    "SOME": "`some list (...)`",
    "FILTER": "a topic filter in double quotes",
    "TERM": "an attribute",
    "NAME": "an attribute",
    "WEIGHT": "a weight such as `2*`",
    "SIGN": "`+` or `-`",
    "ORDER": "`lowest` or `highest`",
    "BIT": "`0`, `1` or `*`",
    "EQUALITY": "an operator such as `=`, `>`, `contains` or `exists`",
    "COMPARISON": "a second comparison such as `<`",
    "NOT": "`not`",
    "INNER_NOT": "`not`",
    "_AND": "`and`",
    "_OR": "`or`",
    "_EVENT": '`event property "value"`',
    "_NEAR": "`near (s, p, o)`",
    "NEAR_BY": "`meaning` or `spelling`",
    "PROPERTY": "a property",
    "STRING": "text in double quotes",
    "_PREFIX": "`PREFIX`",
    "PREFIX_NAME": "a prefix such as `ex:`",
    "IRI": "an IRI such as `<http://example.org/a>`",
    "PREFIXED": "a name such as `dbo:Event`",
    "VARIABLE": "a variable such as `?e`",
    "LITERAL": "text in quotes",
    "NUMERAL": "a number",
    "A": "`a`",
    "TRUTH": "`true` or `false`",
    "_VALID_FOR": "`valid for`",
    "SELECT": "`select (...)`",
    "COLUMN": "an attribute",
    "COLUMN_UNIT": "a unit",
    "FACT": "a fact such as `@source`",
    "PER": "`per`",
    "ONE_NAME": "a name (one word, or in double quotes)",
    "FROM_ONE_SOURCE": "`from one source`",
    "FOR": "`for`",
    "ONCE_UNTIL": "`once until`",
    "FALSE": "`false`",
    "AT_MOST_EVERY": "`at most every`",
    "ABSENT_FOR": "`absent for`",
    "DIGEST_EVERY": "`digest every`",
    "STALE": "`stale`",
    "VARIANT": "`hybrid`, `background`, `jcn`, `esa` or `sameness`",
    "_VALUE_OF": "`value`",
    "$END": "the end",
    "_COMMA": "`,`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "_DOT": "`.`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "STAR": "`*`",
}
# The other operators always come with `=`, which stands for all of them.
_WITH_EQUALITY: Final = frozenset({"COMPARISON", "TEXT_OPERATOR", "_BETWEEN", "_IN", "_EXISTS", "_MATCHES"})
_ANY_FORM: Final = (
    'a subscription: `{attribute = value}`, `event property "value"`, `?s ?p ?o`, `near (?s, ?p, o) radius 0.5 by '
    "meaning` or `[1, 0, *]`"
)

_CLAUSE_EXAMPLES: Final = {
    "absent": "absent for 1 h",
    "at": "at most every 10 min",
    "digest": "digest every 1 d",
    "for": "for 5 min",
    "from": "from one source",
    "once": "once until false",
    "per": "per room",
    "select": "select (temperature~ in degC as t)",
    "stale": "stale 24 h",
    "valid": "valid for 7 d",
}
_TOKEN = re.compile(r"is-a|(?:starts|ends)\s+with|[<>!]=|\w+|\S")
_OPERATOR_WORDS: Final = frozenset({"between", "in", "contains", "exists", "under", "is-a", "starts with", "ends with"})


class GrammarError(Exception):
    """Text that the grammar accepts but the language does not; becomes a `ParseError` with its position."""

    error: type[ParseError] = ParseError

    def __init__(self, problem: str, *, position: int | None = None, expected: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position
        self.expected = expected


class InvalidUnit(GrammarError):
    """An unknown or unfitting unit; becomes a `UnitSyntaxError`."""

    error = UnitSyntaxError


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return line and column, from 1, of a position in a text.

    >>> line_and_column("a\\nbc", 3)
    (2, 2)
    """
    lines = (text[:position] + "x").splitlines()
    return len(lines), len(lines[-1])


def parse_error(
    text: str,
    problem: str,
    *,
    position: int | None = None,
    expected: str = "",
    correction: str = "",
    error: type[ParseError] = ParseError,
) -> ParseError:
    """Return a `ParseError` (or a subclass) at a position, or at the end of the text."""
    at = len(text.rstrip()) if position is None else position
    line, column = line_and_column(text, at)
    return error(problem, text=text, line=line, column=column, expected=expected, correction=correction)


def unexpected_token(text: str, position: int | None, allowed: Iterable[str]) -> ParseError:
    """Return a `ParseError` where text stops fitting the grammar (position None: it ends too early)."""
    names = set(allowed)
    if position is None or not text[position:].strip():
        if not text.strip():
            return parse_error(text, "the text is empty", position=0, expected=_ANY_FORM)
        return parse_error(text, "the text ends too early", expected=describe_terminals(names))
    hit = _TOKEN.search(text, position)
    assert hit is not None  # something other than white space is left
    token = " ".join(hit.group().split())
    problem = _problem(text, hit.start(), token, names)
    return parse_error(text, problem, position=hit.start(), expected=describe_terminals(names))


def _problem(text: str, position: int, token: str, allowed: set[str]) -> str:
    if token == '"':
        closed = text.find('"', position + 1)
        line_end = text.find("\n", position)
        if closed < 0 or 0 <= line_end < closed:
            return "the quote is not closed in this line"
    before = text[:position].rstrip()
    if "_VALID_FOR" in allowed and token in _CLAUSE_EXAMPLES:
        return f"`{token}` is not complete; write it as in `{_CLAUSE_EXAMPLES[token]}`"
    if token == "in" and before[-1:].isdigit() and "WITHIN" not in allowed:
        return "`in` is an operator and cannot stand here; the unit is `inch`"
    if token in _OPERATOR_WORDS and "BY" not in allowed:
        return f"`{token}` is an operator and cannot stand here; put text that holds it in double quotes"
    if token in ("=", ":", "<", ">", "<=", ">=", "!=") and allowed & {"_COMMA", "RBRACE"}:
        if " or " in before:
            return f"`{token}` cannot stand here; `or` counts inside parentheses only, as in {{(a = 1 or b = 2)}}"
        if "EQUALITY" not in allowed:
            return f"a second `{token}` cannot stand here; put text that holds it in double quotes"
    if token == "(" and "EQUALITY" not in allowed and allowed & {"_COMMA", "RBRACE", "VALUE"}:
        return "`(` cannot stand here; put text that holds it in double quotes, or write `in (a, b)`"
    if token == "_" and text[position : position + 2] == "_:":
        return "a blank node cannot stand here; write a variable instead"
    shown = token if len(token) <= 40 else token[:40] + "…"
    return f"`{shown}` cannot stand here" if shown.isprintable() else f"{shown!r} cannot stand here"


def describe_terminals(allowed: set[str]) -> str:
    """Describe the terminals that could have followed.

    >>> describe_terminals({"RBRACE", "_COMMA"})
    '`,` or `}`'
    """
    if "LSQB" in allowed:
        return _ANY_FORM
    if "EQUALITY" in allowed:
        allowed = allowed - _WITH_EQUALITY
    words = sorted({_WORDS.get(name) or f"`{name.strip('_').lower()}`" for name in allowed}, key=_order)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else ""


def _order(word: str) -> tuple[bool, bool, str]:
    """Return the sort key: kinds of things before signs, the end last."""
    return word == "the end", word.startswith("`"), word
