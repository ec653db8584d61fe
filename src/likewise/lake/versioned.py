"""Decode the lake's versioned JSON files (`v`); a later version is refused with an explanation."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactVersion
from likewise.lake.storage import StoragePath

T = TypeVar("T")


def decoded(path: StoragePath, data: bytes, kind: type[T], *, current: int, format: str = "") -> T:
    """Decode a file, or a line of it; `path` is for error messages.

    >>> from pathlib import Path
    >>> decoded(Path("x.json"), b'{"a": 1}', dict[str, int], current=1)
    {'a': 1}
    """
    try:
        raw = msgspec.json.decode(data)
        if isinstance(raw, dict):
            if format and raw.get("format", format) != format:
                raise ArtefactDamaged(f"{path} is {raw['format']!r}, no part of {format}")
            if isinstance(raw.get("v"), int) and raw["v"] > current:
                raise ArtefactVersion(
                    f"{path} was written in version {raw['v']}; this one reads up to {current}: upgrade likewise"
                )
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy") from None
