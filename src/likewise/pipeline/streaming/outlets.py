"""Where a stream's rows go: a lake of plain Parquet or of Delta tables."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from likewise.errors import InputError
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.parts import Part
from likewise.lake.plain_commits import PlainCommits


class Outlet(Protocol):
    """What parts are committed to; `folder` is where workers write them."""

    folder: Path

    def committed(self, query: str, batch: int) -> bool:
        """Whether a batch is there."""
        ...

    def commit(self, query: str, batch: int, parts: list[Part]) -> bool:
        """Let the parts of a batch count, once; False if they do already."""
        ...


def open_outlet(address: str) -> Outlet:
    """The outlet of an address.

    >>> open_outlet("parquet:lake").folder.name
    'lake'
    >>> open_outlet("lake")
    Traceback (most recent call last):
    likewise.errors.InputError: a stream goes to parquet:DIR or delta:DIR, not to 'lake'
    """
    kind, _, place = address.partition(":")
    if kind == "parquet" and place:
        return PlainCommits(Path(place).absolute())
    if kind == "delta" and place:
        return DeltaCommits(Path(place).absolute())
    raise InputError(f"a stream goes to parquet:DIR or delta:DIR, not to {address!r}")
