"""Many subscriptions in one text, one a line."""

from __future__ import annotations

import re

from likewise.errors import LikewiseError, ParseError
from likewise.language.parser import parse
from likewise.model.subscription import Subscription

_PREFIX_LINE = re.compile(r"prefix\s+[^\s<]*:\s*<[^<>]*>\s*", re.IGNORECASE)
_OTHER_FORMS = re.compile(r'[{(\[]|event[\s"]')


def read_subscriptions(text: str) -> list[Subscription]:
    """The subscriptions of a text with one a line; blank lines and lines that begin with `#` are skipped.

    A line that is a PREFIX declaration holds for the graph patterns below it. An error names its line; one
    of the model's as a note. (`likewise.formats.json` reads lines of JSON as well.)

    >>> [s.kind for s in read_subscriptions("# two of them\\n{t > 5}\\n\\n[1, 0, *]\\n")]
    ['exact', 'interest']
    """
    found: list[Subscription] = []
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
            found.append(parse(before + line))
        except ParseError as error:
            raise _moved(error, raw, number, len(before)) from None
        except LikewiseError as error:
            error.add_note(f"in line {number}")
            raise
    return found


def _moved(error: ParseError, line: str, number: int, before: int) -> ParseError:
    """The same error, placed in the whole text; `before` characters of prefixes stood in front of the line."""
    indent = len(line) - len(line.lstrip())
    column = max(1, error.column - before) + indent if error.line == 1 else 1 + indent
    text = "\n" * (number - 1) + " ".join(line.splitlines())
    return type(error)(error.problem, text=text, line=number, column=column, expected=error.expected)
