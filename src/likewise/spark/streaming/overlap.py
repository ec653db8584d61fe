"""Folders that must lie apart: what a stream writes is not what it reads, and nothing of a person's is overwritten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from likewise.errors import InputError
from likewise.lake.storage import StoragePath
from likewise.spark.streaming.sources.files import is_ignored_path


def check_disjoint(read: Path | None, written: Mapping[str, StoragePath | None]) -> None:
    """Refuse places that are the same, or that lie where files are read (`read`) and would be read, too.

    >>> check_disjoint(Path("/in"), {"--to": Path("/in/lake"), "--checkpoint": Path("/in/_checkpoint")})
    Traceback (most recent call last):
    likewise.errors.InputError: --to lies in /in, which is read, so that the stream would read it; choose another folder
    """
    places = {name: place.resolve() if isinstance(place, Path) else place for name, place in written.items() if place}
    for (one, place), (other, same) in combinations(places.items(), 2):
        if str(place) == str(same):
            raise InputError(f"{one} and {other} are both {place}; choose a folder for each")
    for name, place in places.items():
        if read is None or not isinstance(place, Path) or not place.is_relative_to(read.resolve()):
            continue
        if not is_ignored_path(place.relative_to(read.resolve())):
            raise InputError(
                f"{name} lies in {read}, which is read, so that the stream would read it; choose another folder"
            )


def check_overwrite(out: Path, others: Iterable[StoragePath], made: frozenset[str]) -> None:
    """Refuse to write a folder in the place of, around or in one of others, or over other files than these, `made`."""
    place = out.resolve()
    for other in others:
        if not isinstance(other, Path):
            continue
        theirs = other.resolve()
        if place.is_relative_to(theirs) or theirs.is_relative_to(place):
            raise InputError(f"{out} is, holds or lies in {other}, which is read; choose another folder")
    if not out.exists():
        return
    found = {path.name for path in out.iterdir()} if out.is_dir() else {out.name}
    if found - made or not out.is_dir():
        raise InputError(f"{out} holds {min(found - made or found)!r}, so it is not replaced; choose another folder")
