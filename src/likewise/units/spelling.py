"""How units are written: one plain form for the many ways people and machines write the same unit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_SIGNS: Final = str.maketrans(
    {
        "µ": "u",
        "μ": "u",
        "²": "2",
        "³": "3",
        "¹": "1",
        "⁰": "0",
        "⁴": "4",
        "⁵": "5",
        "⁶": "6",
        "⁻": "-",
        "−": "-",
        "₂": "2",
        "₀": "0",
        "·": ".",
        "⋅": ".",
        "•": ".",
        "×": ".",
        "*": ".",
        "⁄": "/",
        "∕": "/",
        "º": "°",
        "˚": "°",
        "\u03a9": "ohm",
        "\u2126": "ohm",
        "^": "",
        "℃": "°C",
        "℉": "°F",
        "′": "'",
        "″": '"',
    }
)
_BLANKS: Final = re.compile(r"\s*([/.])\s*|\s+")


def plain_text(text: str) -> str:
    """The form in which spellings of units are compared, their case kept.

    >>> plain_text("µg / m³"), plain_text("kΩ"), plain_text("m·s⁻¹"), plain_text(" deg  C")
    ('ug/m3', 'kohm', 'm.s-1', 'deg C')
    """
    return _BLANKS.sub(lambda hit: hit.group(1) or " ", text.strip().translate(_SIGNS))


def nearest(text: str, known: Iterable[str]) -> str:
    """The known text that one or two slips of the pen make of another; '' if none is that near.

    >>> nearest("degg C", ["deg C", "km"]), nearest("kWhh", ["kWh"]), nearest("x", ["m"])
    ('deg C', 'kWh', '')
    """
    from difflib import get_close_matches

    if len(text) < 3:
        return ""
    found = get_close_matches(text, [k for k in known if abs(len(k) - len(text)) <= 2 and len(k) > 1], 1, 0.75)
    return found[0] if found else ""
