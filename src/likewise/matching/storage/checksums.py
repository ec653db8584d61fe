"""Checksums of a saved matcher: of every file, and of the manifest that lists them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing
from likewise.semantics.spaces.manifest import file_sha256

Sealed = TypeVar("Sealed", bound=msgspec.Struct)


def files_below(folder: Path, *but: str) -> dict[str, str]:
    """The SHA-256 of every file of a folder by its place there, those below some names left out.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a").write_text("x"); (folder / "cache").mkdir(); _ = (folder / "cache" / "b").write_text("y")
    >>> list(files_below(folder, "cache"))
    ['a']
    """
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    places = {path.relative_to(folder): path for path in files}
    return {place.as_posix(): file_sha256(path) for place, path in places.items() if place.parts[0] not in but}


def manifest_checksum(manifest: msgspec.Struct) -> str:
    """The SHA-256 of what a manifest says, its own `seal` left out."""
    bare: Any = msgspec.structs.replace(manifest, seal="")
    return hashlib.sha256(msgspec.json.encode(bare)).hexdigest()


def with_checksum(manifest: Sealed) -> Sealed:
    """A manifest with its seal."""
    return msgspec.structs.replace(manifest, seal=manifest_checksum(manifest))


def check_files(folder: Path, files: dict[str, str]) -> None:
    """Refuse a folder in which a file is missing, or not what was saved."""
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            raise ArtefactMissing(f"{path} is missing, and the matcher was saved with it; restore a copy of the folder")
        digest = file_sha256(path)
        if digest != expected:
            raise ArtefactDamaged(
                f"{path} is not what was saved: its SHA-256 is {digest}, the manifest says {expected}; restore a copy"
            )
