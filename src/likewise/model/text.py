"""Text folding: comparison without case and white space; names of list items."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import normalize


@lru_cache(maxsize=65_536)
def fold(text: str) -> str:
    """Return the form in which text is compared: NFC, case folded, white space collapsed, ends trimmed.

    >>> fold("  Room\\t112 ") == fold("ROOM 112"), fold("Cafe\\u0301") == fold("caf\\u00e9")
    (True, True)
    """
    return " ".join(_cases(text).split())


@lru_cache(maxsize=65_536)
def fold_part(text: str) -> str:
    """Fold text that is searched inside another: blanks at its ends count.

    >>> fold_part(" Cat  1 "), fold_part("cat")
    (' cat 1 ', 'cat')
    """
    folded = " ".join(_cases(text).split())
    if not folded:
        return " " if text else ""
    return f"{' ' * text[0].isspace()}{folded}{' ' * text[-1].isspace()}"


def _cases(text: str) -> str:
    """Fold case, in NFC before and after."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).casefold())


@lru_cache(maxsize=65_536)
def attribute_names(attribute: str) -> tuple[str, ...]:
    """Return the folded names that find an event's attribute. That of a list may be named without `[]`.

    >>> attribute_names("Temp"), attribute_names("Readings[].Value")
    (('temp',), ('readings[].value', 'readings.value'))
    """
    folded = fold(attribute)
    return (folded, folded.replace("[]", "")) if "[]" in folded else (folded,)
