"""Immutable annotation table and the protocol of its sources."""

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
    """Rows in order. Contradicting rows are refused.

    Args:
        rows: The rows, in order of precedence.
        name: Name for messages.

    Raises:
        LimitExceeded: There are too many rows, or too many relaxed ones.
        FormatError: Two rows give one attribute two units or two meanings.

    >>> table = AnnotationTable([Annotation("source", "s1", "room", "112")])
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
        """Hash of the rows: equal rows have equal versions."""
        digest = hashlib.sha256()
        for row in self.rows:
            digest.update("\x1f".join(row.cells()).encode() + b"\x1e")
        return digest.hexdigest()[:12]

    @property
    def problem(self) -> str:
        """Always '': a table never has a newer version."""
        return ""

    def current(self) -> AnnotationTable:
        """Return this table."""
        return self


class AnnotationSource(Protocol):
    """Source of the current annotation table: a table, or a watched file."""

    @property
    def problem(self) -> str:
        """The reason why a newer version cannot be used; '' if there is none."""
        ...

    def current(self) -> AnnotationTable:
        """Return the current table."""
        ...


def _check_agreement(rows: Iterable[Annotation], name: str) -> None:
    """Refuse two units, or two meanings, of one attribute under one key."""
    units: dict[tuple[object, ...], Annotation] = {}
    meanings: dict[tuple[object, ...], Annotation] = {}
    for row in rows:
        if row.value:
            continue
        key = (fold(row.key), row.relaxed, fold(row.equals), fold(row.target))
        for text, first_rows, what in ((row.unit, units, "unit"), (row.means, meanings, "means")):
            if not text:
                continue
            first = first_rows.setdefault(key, row)
            if fold(getattr(first, what)) != fold(text):
                raise FormatError(
                    f"{name}, line {row.line}: {row.target!r} has the {what} {text!r} here and "
                    f"{getattr(first, what)!r} in line {first.line}; take one of them out"
                )


NO_ANNOTATIONS: Final = AnnotationTable()
