"""The marker file of a lake, so that an empty folder is not taken for one."""

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
    """Return whether a folder has the marker."""
    return (folder / MARKER).is_file()
