"""Versions of the published formats: readers accept the current one and the one before (docs/formats.md)."""

from __future__ import annotations

from typing import Final

from likewise.errors import FormatError

JSON_VERSION: Final = 1
BATCH_VERSION: Final = 2


def check_version(version: object, what: str, *, current: int = JSON_VERSION) -> int:
    """Return the version; refuse all but the current one and the one before. Versions count from 1.

    >>> check_version(1, "event")
    1
    >>> check_version(3, "event", current=4)
    3
    """
    if type(version) is int and max(1, current - 1) <= version <= current:
        return version
    readable = f"v {current}" if current == 1 else f"v {current - 1} or {current}"
    shown = repr(version)[:40]
    raise FormatError(f"this {what} says v is {shown}, this version reads {readable}; convert it or update Likewise")
