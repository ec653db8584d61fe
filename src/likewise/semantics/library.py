"""Registry of spaces: the embedded one, named ones in the user's folder, and folders by path."""

from __future__ import annotations

import os
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from likewise.errors import ArtefactMissing
from likewise.extras import require
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.wordnet import embedded
from likewise.semantics.wordnet.unpacked import embedded_files

if TYPE_CHECKING:
    from likewise.semantics.space import Space

_lock: Final = threading.Lock()


def spaces_folder() -> Path:
    """Return the folder of named spaces: LIKEWISE_SPACES, else the user's data folder."""
    import platformdirs

    chosen = os.environ.get("LIKEWISE_SPACES")
    return Path(chosen) if chosen else platformdirs.user_data_path("likewise") / "spaces"


def named_spaces() -> list[str]:
    """Return the sorted names of the spaces in the user's folder, without the embedded `wordnet`."""
    folder = spaces_folder()
    return sorted(path.parent.name for path in folder.glob("*/manifest.json"))


def load_space(name_or_path: str | Path | None = None) -> Space:
    """Open a space read-only: the embedded one by default, or one by name or path.

    The same space is opened once and shared. The embedded one is unpacked into the user's cache the first
    time, which takes a few seconds.

    Args:
        name_or_path: None or `wordnet` for the embedded space, the name of a space in the user's folder, or a folder.

    Returns:
        The space; the same object for the same folder and content.

    Raises:
        ArtefactMissing: No such space exists.
        ArtefactDamaged: Its files are truncated or altered.
        MissingDependency: The extra `match` is not installed.

    >>> load_space().name
    'wordnet'
    >>> load_space("no-such-space")
    Traceback (most recent call last):
    ...
    likewise.errors.ArtefactMissing: there is no space named 'no-such-space'; ...
    """
    require("match", "a space")
    with _lock:
        if name_or_path is None or name_or_path == embedded.NAME:
            return _embedded()
        folder = _space_path(name_or_path)
        return _by_checksum(folder.resolve(), SpaceFiles(folder).manifest.checksum)


def _space_path(name_or_path: str | Path) -> Path:
    named = spaces_folder() / name_or_path
    if isinstance(name_or_path, str) and os.sep not in name_or_path and (named / "manifest.json").is_file():
        return named
    path = Path(name_or_path)
    if path.is_dir() or isinstance(name_or_path, Path) or os.sep in str(name_or_path):
        return path
    known = ", ".join([embedded.NAME, *named_spaces()])
    raise ArtefactMissing(
        f"there is no space named {str(name_or_path)!r}; there are {known}; "
        "build one with `likewise space build` or give the path of its folder"
    )


@lru_cache(maxsize=8)
def _by_checksum(folder: Path, checksum: str) -> Space:
    from likewise.semantics.space import Space

    return Space(SpaceFiles(folder))


@lru_cache(maxsize=1)
def _embedded() -> Space:
    from likewise.semantics.space import Space

    return Space(embedded_files())
