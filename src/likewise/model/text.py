"""Folding of text: how two pieces of text are compared without case and white space."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=65_536)
def fold(text: str) -> str:
    """The form in which text is compared: case folded, white space collapsed, ends trimmed.

    >>> fold("  Room\\t112 ") == fold("ROOM 112")
    True
    """
    return " ".join(text.casefold().split())
