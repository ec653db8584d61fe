"""Create files atomically: whole or not at all, and by one of several writers."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from likewise.lake.storage import ObjectStorePath, StoragePath, files_below


def create_once(path: StoragePath, data: bytes) -> bool:
    """Write a file that is not there yet, for good; False if somebody else was first, and nothing changed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_once(Path(folder, "1"), b"a"), create_once(Path(folder, "1"), b"b"), Path(folder, "1").read_bytes()
    (True, False, b'a')
    """
    if isinstance(path, ObjectStorePath):
        return path.put(data, new=True)
    with temporary_path(path) as temporary:
        _write(temporary, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
    sync_folder(path.parent)
    return True


def write_whole(path: StoragePath, data: bytes) -> None:
    """Write a file, for good, in place of what is there."""
    if isinstance(path, ObjectStorePath):
        path.put(data)
        return
    with temporary_path(path) as temporary:
        _write(temporary, data)
        temporary.replace(path)
    sync_folder(path.parent)


def remove_below(place: StoragePath) -> int:
    """Remove a folder with all that is in it, at once for who reads it; how many files went.

    In an object store files go by their names: what begins with `_`, and says that the others are there, is first.
    """
    below = sorted(name for name, _ in files_below(place))
    if isinstance(place, ObjectStorePath):
        for name in below:
            (place / name).unlink(missing_ok=True)
    else:
        going = place.rename(place.parent / f".{place.name}.{uuid.uuid4().hex}")
        shutil.rmtree(going)
    return len(below)


@contextmanager
def temporary_path(path: Path) -> Iterator[Path]:
    """Return a temporary name beside a file, which readers ignore."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex}"
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder last, too."""
    if os.name == "nt":  # which cannot open folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
