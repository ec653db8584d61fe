"""Parser of the subscription language.

Many subscriptions in one text, one a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from likewise.defaults import MAX_NESTING, MAX_SUBSCRIPTION_LENGTH
from likewise.errors import InputError, LikewiseError, LimitExceeded, ParseError, UnitError, UnitSyntaxError
from likewise.language.corrections import correction
from likewise.language.errors import GrammarError, parse_error, unexpected_token
from likewise.language.grammar import GRAMMAR, QUOTED
from likewise.language.printer import digest, subscription_text
from likewise.model.subscription import Subscription

if TYPE_CHECKING:
    from lark import Lark

_STATED_UNIT = re.compile(r"[\s\d.+-]*([^\s\d,{}()][^,{}()]*)")
_PARENTHESES = re.compile(rf"{QUOTED}|[()]")


@cache
def grammar(*, bare: bool = False) -> Lark:
    """Return the cached parser; a bare one builds plain trees, as a baseline for measurements."""
    from lark import Lark

    from likewise.language.builder import SubscriptionBuilder

    # A plain object with a method for each rule serves as the transformer; it need not be Lark's.
    transformer = None if bare else SubscriptionBuilder()
    return Lark(
        GRAMMAR,
        parser="lalr",
        lexer="contextual",
        start="subscription",
        maybe_placeholders=False,
        transformer=transformer,
    )


def parse(text: str | Mapping[str, object] | Subscription, *, id: str | None = None) -> Subscription:
    """Parse a subscription in any form of the language (docs/language.md).

    A mapping with its `text`, or with its structure (docs/formats.md), and a subscription are taken as well.
    Without an id it gets a short hash of its printed form. Text that is not in the language is a
    `ParseError` with line, column and caret; a subscription that cannot exist is the model's error.

    Args:
        text: Text of the language, a mapping with `text` or with the structure of docs/formats.md, or a
            `Subscription`.
        id: Id of the subscription. Default: the id in a mapping, else a hash of the canonical text.

    Returns:
        The subscription. Printing it gives canonical text that parses to an equal one.

    Raises:
        ParseError: The text is not in the language; the error has line, column and a caret.
        InvalidSubscription: The subscription is impossible or can never match.
        UnitSyntaxError: A unit is unknown, or does not fit the other units of its attribute.
        LimitExceeded: The text or a part of it is too large.

    >>> s = parse("{power, computers} {device~ = laptop~, office = room 112}", id="s1")
    >>> s.kind, s.themes, [p.value for p in s.body.items]
    ('approximate', ('power', 'computers'), ['laptop', 'room 112'])
    >>> parse({"text": "{t > 25}", "id": "warm"}).id
    'warm'
    >>> parse("{temperature~ >> 25}")
    Traceback (most recent call last):
    likewise.errors.ParseError: line 1, column 16: `>` cannot stand here; expected a value
      {temperature~ >> 25}
                     ^
    """
    if isinstance(text, Subscription):
        return text if id is None else msgspec.structs.replace(text, id=id)
    if isinstance(text, Mapping):
        return _from_mapping(text, id)
    parsed = _parse_without_id(text)
    if id is not None:
        return msgspec.structs.replace(parsed, id=id)
    # Nobody else has seen the value yet: setting the field saves a second check of everything.
    msgspec.structs.force_setattr(parsed, "id", digest(subscription_text(parsed)))
    return parsed


_PREFIX_LINE = re.compile(r"prefix\s+[^\s<]*:\s*<[^<>]*>\s*", re.IGNORECASE)
_OTHER_FORMS = re.compile(r'[{(\[]|event[\s"]')


def read_subscriptions(text: str) -> list[Subscription]:
    """Parse a text with one subscription per line. Blank lines and lines that begin with `#` are skipped.

    A line that is a PREFIX declaration holds for the graph patterns below it. An error names its line; one
    of the model's as a note. (`likewise.formats.json` reads lines of JSON as well.)

    Args:
        text: One subscription per line, with optional `PREFIX` lines.

    Returns:
        The subscriptions, in order.

    Raises:
        ParseError: A line is not in the language; the position is that in the whole text.

    >>> [s.kind for s in read_subscriptions("# two of them\\n{t > 5}\\n\\n[1, 0, *]\\n")]
    ['exact', 'interest']
    """
    subscriptions: list[Subscription] = []
    prefixes = ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if _PREFIX_LINE.fullmatch(line):
            prefixes += line + " "
            continue
        before = "" if _OTHER_FORMS.match(line) else prefixes
        try:
            subscriptions.append(parse(before + line))
        except ParseError as error:
            raise _relocated(error, raw, number, len(before)) from None
        except LikewiseError as error:
            error.add_note(f"in line {number}")
            raise
    return subscriptions


def _relocated(error: ParseError, line: str, number: int, before: int) -> ParseError:
    """Return the error at its position in the whole text; `before` characters of prefixes preceded the line."""
    indent = len(line) - len(line.lstrip())
    column = max(1, error.column - before) + indent if error.line == 1 else 1 + indent
    text = "\n" * (number - 1) + " ".join(line.splitlines())
    facts = {"expected": error.expected, "correction": error.correction}
    return type(error)(error.problem, text=text, line=number, column=column, **facts)


def _from_mapping(mapping: Mapping[str, object], id: str | None) -> Subscription:
    """Convert a mapping with text, or with the structure of docs/formats.md, into a subscription."""
    fields = {key: value for key, value in mapping.items() if key != "v"}
    if "text" in fields:
        if unknown := sorted(set(fields) - {"text", "id"}):
            raise InputError(f"beside `text` only `id` may stand, not {unknown[0]!r}; write options into the text")
        chosen_id = str(fields["id"]) if id is None and fields.get("id") else id
        return parse(str(fields["text"]), id=chosen_id)
    try:
        made = msgspec.convert(fields, Subscription)
    except msgspec.ValidationError as error:
        raise InputError(
            f"the mapping is no subscription: {error}; give `text`, or a structure as docs/formats.md says"
        ) from None
    name = id if id is not None else made.id or digest(str(made))
    return msgspec.structs.replace(made, id=name)


def _parse_without_id(text: str) -> Subscription:
    """Parse a subscription without its id; an error proposes a correction if one parses."""
    check_text(text)
    try:
        return _parse_strictly(text)
    except InputError as error:
        better = correction(text, _unit_at_fault)
        if not better:
            raise
        if isinstance(error, ParseError):
            place = {"line": error.line, "column": error.column}
            raise type(error)(error.problem, text=text, expected=error.expected, correction=better, **place) from None
        raise parse_error(text, str(error), position=0, correction=better) from None


def _unit_at_fault(text: str) -> str | None:
    """Return None if a text parses, else the unit that does not, or "" if another part does not."""
    try:
        _parse_strictly(text)
    except UnitSyntaxError as error:
        stated = _STATED_UNIT.match(text, error.column - 1)
        return error.unit or (stated.group(1).strip() if stated else "")
    except LikewiseError:
        return ""
    return None


def _parse_strictly(text: str) -> Subscription:
    """Parse a subscription without its id and without proposals."""
    from lark import UnexpectedCharacters, UnexpectedToken

    try:
        return grammar().parse(text)  # type: ignore[return-value]
    except GrammarError as found:
        raise parse_error(
            text, found.problem, position=found.position, expected=found.expected, error=found.error
        ) from None
    except UnitError as found:  # two units of one condition that cannot be compared: the model knows no places
        at = text.rfind(found.unit) if found.unit else -1
        raise parse_error(text, str(found), position=at if at >= 0 else None, error=UnitSyntaxError) from None
    except UnexpectedCharacters as found:
        raise unexpected_token(text, found.pos_in_stream, _acceptable(found.state)) from None
    except UnexpectedToken as found:
        position = None if found.token.type == "$END" else found.token.start_pos
        raise unexpected_token(text, position, _acceptable(found.state)) from None


def _acceptable(state: object) -> set[str]:
    """Return the terminals that can follow. A state's own table has too many, since LALR merges states."""
    trial = grammar().parse_interactive("")
    trial.parser_state = state  # type: ignore[assignment]
    return set(trial.accepts())  # type: ignore[no-untyped-call]


def check_text(text: str) -> None:
    """Refuse values that are no text, too long, invalid Unicode, or nested too deep, before parsing."""
    if not isinstance(text, str):
        raise InputError(f"a subscription is text, not {type(text).__name__}; decode bytes as UTF-8 first")
    if len(text) > MAX_SUBSCRIPTION_LENGTH:
        raise LimitExceeded("characters of a subscription", allowed=MAX_SUBSCRIPTION_LENGTH, found=len(text))
    if "\0" in text:
        raise parse_error(text, "a NUL character cannot stand here", position=text.index("\0"), expected="text")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as found:
            raise parse_error(
                text.encode(errors="replace").decode(),
                "half a character (a lone surrogate) cannot stand here",
                position=found.start,
                expected="text that is valid Unicode",
            ) from None
    if text.count("(") > MAX_NESTING:
        depth = 0
        for hit in _PARENTHESES.finditer(text):
            depth += {"(": 1, ")": -1}.get(hit.group(), 0)
            if depth > MAX_NESTING:
                raise LimitExceeded("nesting of a condition", allowed=MAX_NESTING)
