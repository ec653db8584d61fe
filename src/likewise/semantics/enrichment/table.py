"""A version of the annotations: rows that never change, and where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, Protocol

from likewise.defaults import MAX_ANNOTATIONS, MAX_RELAXED_ANNOTATIONS
from likewise.errors import FormatError, LimitExceeded
from likewise.model.text import fold
from likewise.semantics.enrichment.annotation import Annotation


class AnnotationTable:
    """Rows in their order; rows that contradict each other are refused.

    >>> table = Annotations([Annotation("source", "s1", "room", "112")])
    >>> len(table), table.current() is table, len(table.version)
    (1, True, 12)
    """

    def __init__(self, rows: Iterable[Annotation] = (), name: str = "annotations") -> None:
        self.rows: Final = tuple(rows)
        self.name: Final = name
        if len(self.rows) > MAX_ANNOTATIONS:
            raise LimitExceeded(f"rows of {name}", allowed=MAX_ANNOTATIONS, found=len(self.rows))
        self.relaxed: Final = sum(row.relaxed for row in self.rows)  # how many have a relaxed key
        if self.relaxed > MAX_RELAXED_ANNOTATIONS:
            raise LimitExceeded(f"rows of {name} with `~`", allowed=MAX_RELAXED_ANNOTATIONS, found=self.relaxed)
        _check_agreement(self.rows, name)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Annotation]:
        return iter(self.rows)

    @cached_property
    def version(self) -> str:
        """A name for what the rows say: equal rows have equal versions."""
        said = hashlib.sha256()
        for row in self.rows:
            said.update("\x1f".join(row.cells()).encode() + b"\x1e")
        return said.hexdigest()[:12]

    @property
    def problem(self) -> str:
        """Why a newer version cannot be used; these rows are all there are."""
        return ""

    def current(self) -> AnnotationTable:
        """The rows that hold now: these."""
        return self


class AnnotationSource(Protocol):
    """What gives the rows that hold now: a table, or a file that is followed."""

    @property
    def problem(self) -> str:
        """Why a newer version cannot be used, if one cannot."""
        ...

    def current(self) -> AnnotationTable:
        """The rows that hold now."""
        ...


def _check_agreement(rows: Iterable[Annotation], name: str) -> None:
    """Refuse two units, or two meanings, of one attribute under one key."""
    units: dict[tuple[object, ...], Annotation] = {}
    meanings: dict[tuple[object, ...], Annotation] = {}
    for row in rows:
        if row.value:
            continue
        key = (fold(row.key), row.relaxed, fold(row.equals), fold(row.target))
        for said, seen, what in ((row.unit, units, "unit"), (row.means, meanings, "means")):
            if not said:
                continue
            first = seen.setdefault(key, row)
            if fold(getattr(first, what)) != fold(said):
                raise FormatError(
                    f"{name}, line {row.line}: {row.target!r} has the {what} {said!r} here and "
                    f"{getattr(first, what)!r} in line {first.line}; take one of them out"
                )


NO_ANNOTATIONS: Final = AnnotationTable()
