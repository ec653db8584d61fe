"""The language reads the same on every Python that is allowed, Debian 12's 3.11.2 among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser
from typing import Any

import pytest

import likewise
from likewise.language import grammar, printer

SOURCE = Path(likewise.__file__).parent
GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+(?![^\[\]]*\])")  # not inside a class of characters


def possessive_groups(parsed: Any) -> Iterator[Any]:
    """What a possessive repetition repeats, where that is more than one character."""
    for operation, argument in parsed:
        if operation is _constants.POSSESSIVE_REPEAT:
            body = argument[2]
            if len(body) != 1 or body[0][0] not in (_constants.IN, _constants.LITERAL, _constants.NOT_LITERAL):
                yield body
        parts = argument if isinstance(argument, tuple | list) else [argument]
        for part in parts:
            for each in part if isinstance(part, list) else [part]:
                if isinstance(each, _parser.SubPattern):
                    yield from possessive_groups(each)


TERMINALS = re.findall(r"(?m)^[A-Z_]+(?:\.\d)?: /(.*)/i?$", grammar.GRAMMAR)


@pytest.mark.parametrize("pattern", [*TERMINALS, printer._BARE.pattern], ids=lambda pattern: pattern[:20])
def test_no_group_is_possessive(pattern: str) -> None:
    """Before 3.11.5 Python loses its place after an attempt in such a group failed: `{x contains a}` was no text."""
    assert not list(possessive_groups(_parser.parse(pattern)))


def test_the_check_finds_such_groups() -> None:
    """Groups of several things are found, repeated characters are not."""
    assert list(possessive_groups(_parser.parse(r"a(?:\s++(?!b)c)*+")))
    assert not list(possessive_groups(_parser.parse(r"a[bc]++(?:\s++d)*e*+")))
    assert len(TERMINALS) > 40


def test_no_other_pattern_has_one() -> None:
    """Nowhere in the source is a group repeated possessively."""
    for path in sorted(SOURCE.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "re.compile" in line or re.search(r"\br[\"']", line):
                assert not GROUP.search(line), f"{path.name}, line {number}: {line.strip()}"
