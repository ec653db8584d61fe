"""What the rules are made of: tokens of the lexer, clauses, and mistakes that say where."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InvalidSubscription, LimitExceeded
from likewise.language.mistakes import Mistake
from likewise.language.reading import read_text


class Token(Protocol):
    """What a token of the lexer is: text that knows its terminal and where it begins."""

    type: str
    start_pos: int | None

    def __str__(self) -> str: ...
    def __getitem__(self, index: int | slice) -> str: ...


class Clause(NamedTuple):
    """One option at the end: the field of a subscription it fills, and its value."""

    field: str
    value: object
    position: int | None


def start_of(token: object) -> int | None:
    """Where a token begins, if it is one."""
    return getattr(token, "start_pos", None)


def mistake_at(token: str, problem: str, expected: str) -> Mistake:
    """A mistake at a token."""
    return Mistake(problem, position=start_of(token), expected=expected)


def attribute_of(token: object) -> str:
    """An attribute the scoring names; the model asks no more of it than that it is text."""
    name = read_text(token)[0]  # type: ignore[arg-type]
    if not name.strip():
        raise InvalidSubscription("the attribute is empty; give it some text")
    if len(name) > MAX_TERM_LENGTH:
        raise LimitExceeded("characters of an attribute", allowed=MAX_TERM_LENGTH, found=len(name))
    return name
