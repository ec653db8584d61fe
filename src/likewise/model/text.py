"""Text folding: comparison without case and white space; names of list items."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from unicodedata import normalize

DENIAL: Final = " (not "  # begins what a person said that an attribute is not, behind its name


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
def without_denials(attribute: str) -> tuple[str, tuple[str, ...]]:
    """Return an attribute's name, and what a person said that it is not.

    >>> without_denials("power_outage_count (not power; energy)"), without_denials("t (not read)x")
    (('power_outage_count', ('power', 'energy')), ('t (not read)x', ()))
    """
    name, sign, rest = attribute.rpartition(DENIAL) if attribute.endswith(")") else ("", "", "")
    return (name, tuple(part.strip() for part in rest[:-1].split(";"))) if sign and name else (attribute, ())


@lru_cache(maxsize=65_536)
def attribute_names(attribute: str) -> tuple[str, ...]:
    """Return the folded names that find an event's attribute. That of a list may be named without `[]`.

    >>> attribute_names("Temp"), attribute_names("Readings[].Value")
    (('temp',), ('readings[].value', 'readings.value'))
    >>> attribute_names("Power_Count (not power)")
    ('power_count',)
    """
    folded = fold(without_denials(attribute)[0])
    return (folded, folded.replace("[]", "")) if "[]" in folded else (folded,)
