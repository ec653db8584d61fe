"""Folding of text: how two pieces of text are compared without case and white space, and names of list items."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import normalize


@lru_cache(maxsize=65_536)
def fold(text: str) -> str:
    """The form in which text is compared: NFC, case folded, white space collapsed, ends trimmed.

    >>> fold("  Room\\t112 ") == fold("ROOM 112"), fold("Cafe\\u0301") == fold("caf\\u00e9")
    (True, True)
    """
    return " ".join(_cases(text).split())


@lru_cache(maxsize=65_536)
def fold_part(text: str) -> str:
    """As `fold`, for text that is looked for inside another: blanks at its ends count.

    >>> fold_part(" Cat  1 "), fold_part("cat")
    (' cat 1 ', 'cat')
    """
    folded = " ".join(_cases(text).split())
    if not folded:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{folded}{' ' * text[-1].isspace()}"


def _cases(text: str) -> str:
    """Case folded, in NFC before and after."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).casefold())


@lru_cache(maxsize=65_536)
def attribute_names(attribute: str) -> tuple[str, ...]:
    """The folded names under which an event's attribute is asked for: one of a list may be named without `[]`.

    >>> attribute_names("Temp"), attribute_names("Readings[].Value")
    (('temp',), ('readings[].value', 'readings.value'))
    """
    folded = fold(attribute)
    return (folded, folded.replace("[]", "")) if "[]" in folded else (folded,)
