"""Versions of the published formats: readers accept the current one and the one before (docs/formats.md)."""

from __future__ import annotations

from typing import Final

from likewise.errors import FormatError

JSON_VERSION: Final = 1
BATCH_VERSION: Final = 2


def check_version(found: object, what: str, *, current: int = JSON_VERSION) -> int:
    """The version, refused unless it is the current one or the one before; versions count from 1.

    >>> check_version(1, "event")
    1
    >>> check_version(3, "event", current=4)
    3
    """
    if type(found) is int and max(1, current - 1) <= found <= current:
        return found
    readable = f"v {current}" if current == 1 else f"v {current - 1} or {current}"
    shown = repr(found)[:40]
    raise FormatError(f"this {what} says v is {shown}, this version reads {readable}; convert it or update Likewise")
