"""Text to subscriptions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from likewise.defaults import MAX_NESTING, MAX_SUBSCRIPTION_LENGTH
from likewise.errors import InputError, LimitExceeded, UnitError, UnitMistake
from likewise.language.construction import Parts
from likewise.language.grammar import GRAMMAR, QUOTED
from likewise.language.mistakes import Mistake, mistake, unexpected
from likewise.language.printer import digest, parts_text
from likewise.model.subscription import Subscription

if TYPE_CHECKING:
    from lark import Lark

_PARENTHESES = re.compile(rf"{QUOTED}|[()]")


@cache
def grammar(*, bare: bool = False) -> Lark:
    """The parser, made on first use; a bare one builds plain trees, as a yardstick."""
    from lark import Lark

    from likewise.language.construction import Construction

    # A plain object with a method for each rule serves as the transformer; it need not be Lark's.
    transformer = None if bare else Construction()
    return Lark(
        GRAMMAR,
        parser="lalr",
        lexer="contextual",
        start="subscription",
        maybe_placeholders=False,
        transformer=transformer,
    )


def parse(text: str | Mapping[str, object] | Subscription, *, id: str | None = None) -> Subscription:
    """The subscription a text describes, in any form of the language (docs/language.md).

    A mapping with its `text`, or with its structure (docs/formats.md), and a subscription are taken as well.
    Without an id it gets a short hash of its printed form. Text that is not in the language is a
    `ParseError` with line, column and caret; a subscription that cannot exist is the model's error.

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
    parts = read_parts(text)
    name = digest(parts_text(parts)) if id is None else id
    return Subscription(parts.body, name, *parts[1:])


def _from_mapping(found: Mapping[str, object], id: str | None) -> Subscription:
    """A subscription from a mapping with its text, or with its structure as docs/formats.md has it."""
    said = {key: value for key, value in found.items() if key != "v"}
    if "text" in said:
        if unknown := sorted(set(said) - {"text", "id"}):
            raise InputError(f"beside `text` only `id` may stand, not {unknown[0]!r}; write options into the text")
        given = str(said["id"]) if id is None and said.get("id") else id
        return parse(str(said["text"]), id=given)
    try:
        made = msgspec.convert(said, Subscription)
    except msgspec.ValidationError as error:
        raise InputError(
            f"the mapping is no subscription: {error}; give `text`, or a structure as docs/formats.md says"
        ) from None
    name = id if id is not None else made.id or digest(str(made))
    return msgspec.structs.replace(made, id=name)


def read_parts(text: str) -> Parts:
    """What a text describes, but for the id."""
    check_text(text)
    from lark import UnexpectedCharacters, UnexpectedToken

    try:
        return grammar().parse(text)  # type: ignore[return-value]
    except Mistake as found:
        raise mistake(
            text, found.problem, position=found.position, expected=found.expected, error=found.error
        ) from None
    except UnitError as found:  # two units of one condition that cannot be compared: the model knows no places
        at = text.rfind(found.unit) if found.unit else -1
        raise mistake(text, str(found), position=at if at >= 0 else None, error=UnitMistake) from None
    except UnexpectedCharacters as found:
        raise unexpected(text, found.pos_in_stream, _acceptable(found.state)) from None
    except UnexpectedToken as found:
        position = None if found.token.type == "$END" else found.token.start_pos
        raise unexpected(text, position, _acceptable(found.state)) from None


def _acceptable(state: object) -> set[str]:
    """The terminals that could follow; a state's own table names too many, since LALR merges states."""
    trial = grammar().parse_interactive("")
    trial.parser_state = state  # type: ignore[assignment]
    return set(trial.accepts())  # type: ignore[no-untyped-call]


def check_text(text: str) -> None:
    """Refuse what is no text, is too long, holds what is no character, or nests too deep, before parsing."""
    if not isinstance(text, str):
        raise InputError(f"a subscription is text, not {type(text).__name__}; decode bytes as UTF-8 first")
    if len(text) > MAX_SUBSCRIPTION_LENGTH:
        raise LimitExceeded("characters of a subscription", allowed=MAX_SUBSCRIPTION_LENGTH, found=len(text))
    if "\0" in text:
        raise mistake(text, "a NUL character cannot stand here", position=text.index("\0"), expected="text")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as found:
            raise mistake(
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
