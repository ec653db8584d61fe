"""The mark of a lake: a file that says that a lake lies here, so that an empty folder is not taken for one."""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.lake.atomic_create import create_once
from likewise.lake.storage import StoragePath

MARKER: Final = "_lake.json"


def mark_lake(folder: StoragePath, kind: str) -> None:
    """Say that a lake of this kind lies here, unless that is said."""
    if not (folder / MARKER).is_file():
        create_once(folder / MARKER, msgspec.json.encode({"format": "likewise-lake", "v": 1, "kind": kind}))


def is_marked(folder: StoragePath) -> bool:
    """Whether it was said."""
    return (folder / MARKER).is_file()
