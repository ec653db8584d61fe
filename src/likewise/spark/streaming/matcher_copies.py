"""Saved matchers where a change log lies in an object store: each machine has a copy, since matchers are memory-mapped.

matchers/<name>/...             the files of a saved matcher
matchers/<name>/_whole.json     what they are; it comes last, so that a matcher is there wholly or not at all
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing
from likewise.lake.atomic_create import create_once
from likewise.lake.storage import ObjectStorePath

WHOLE: Final = "_whole.json"


def copy_folder(folder: ObjectStorePath) -> Path:
    """The folder of this machine for copies of what lies at an address."""
    from platformdirs import user_cache_path

    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return Path(user_cache_path("likewise", appauthor=False), "matchers", name)


def upload_matcher(local: Path, place: ObjectStorePath) -> None:
    """Put a saved matcher where other machines find it."""
    if (place / WHOLE).is_file():
        return
    names = sorted(path.relative_to(local).as_posix() for path in local.rglob("*") if path.is_file())
    for name in names:
        (place / name).put((local / name).read_bytes())
    create_once(place / WHOLE, msgspec.json.encode(names))


def download_matcher(address: str) -> Path:
    """The copy of a saved matcher on this machine, fetched unless it is there."""
    place = ObjectStorePath(address)
    here = copy_folder(place.parent) / place.name
    if (here / "manifest.json").is_file():
        return here
    try:
        names = msgspec.json.decode((place / WHOLE).read_bytes(), type=list[str])
    except FileNotFoundError:
        raise ArtefactMissing(f"there is no saved matcher in {place}; start the stream again") from None
    if any(PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts for name in names):
        raise ArtefactDamaged(f"{place / WHOLE} names files outside its folder; start the stream again")
    here.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making.", dir=here.parent))
    try:
        for name in names:
            path = making / "new" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((place / name).read_bytes())
        if not here.exists():
            try:
                (making / "new").rename(here)
            except OSError:  # another worker of this machine was first
                if not (here / "manifest.json").is_file():
                    raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return here
