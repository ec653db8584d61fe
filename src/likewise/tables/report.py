"""What was decided about each requested column, for people and for the next table of the same kind."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from likewise.errors import InputError
from likewise.tables.requested import RequestedColumn

VERSION: Final = 1
HEADINGS: Final = ("name", "requested", "column", "unit", "probability", "note")


class RunnerUp(msgspec.Struct, frozen=True):
    """Another column that came near.

    Attributes:
        column: Header of the column.
        probability: Probability that the column is what was requested.
    """

    column: str
    probability: float


class ColumnSource(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a requested column comes from.

    Attributes:
        requested: The requested column.
        column: Header of the column that it is taken from, None if it was left out.
        index: Position of that column in the table, None if it was left out.
        unit: Unit that the column is in, '' if no unit matters.
        probability: Probability that the column is what was requested; 1 if `overrides` names it.
        note: What a reader must know: a unit taken for granted, why nothing was taken.
        runners_up: The next best columns, the best first.
    """

    requested: RequestedColumn
    column: str | None = None
    index: int | None = None
    unit: str = ""
    probability: float = 0.0
    note: str = ""
    runners_up: tuple[RunnerUp, ...] = ()


class ColumnReport(msgspec.Struct, frozen=True):
    """The decisions about all requested columns of one table, in the order of the request.

    A report can be saved, read and changed by a person, and given as the request for the next table of the same kind:
    its columns are then taken by their headers, and nothing is decided anew.

    Attributes:
        columns: The decision about each requested column.
        v: Version of the format.
    """

    columns: tuple[ColumnSource, ...]
    v: int = VERSION

    def __iter__(self) -> Iterator[ColumnSource]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> ColumnSource:
        """Return the decision about a requested column.

        Args:
            name: Name of the requested column.

        Raises:
            KeyError: No such column was requested.
        """
        return {each.requested.name: each for each in self.columns}[name]

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the names of the requested columns that were left out."""
        return tuple(each.requested.name for each in self.columns if each.column is None)

    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """Return the report as rows of text: name, phrase, column, unit, probability, note with runners-up."""
        listed = []
        for each in self.columns:
            others = ", ".join(f"{other.column} ({other.probability:.2f})" for other in each.runners_up)
            note = "; ".join(filter(None, (each.note, f"next: {others}" if others else "")))
            phrase = each.requested.attribute + (f" in {each.requested.unit}" if each.requested.unit else "")
            probability = f"{each.probability:.2f}" if each.column is not None else ""
            listed.append((each.requested.name, phrase, each.column or "-", each.unit, probability, note))
        return listed

    def save(self, path: str | Path) -> None:
        """Write the report as JSON.

        Args:
            path: File that is created or replaced.
        """
        Path(path).write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")

    @classmethod
    def load(cls, path: str | Path) -> ColumnReport:
        """Read a saved report.

        Args:
            path: File that `save` wrote.

        Raises:
            InputError: The file is no report of columns.
        """
        try:
            report = msgspec.json.decode(Path(path).read_bytes(), type=cls)
        except (msgspec.DecodeError, OSError) as error:
            raise InputError(f"{path} is no report of columns: {error}") from None
        names = [each.requested.name for each in report]
        if len(set(names)) < len(names):
            raise InputError(f"{path} has two decisions about one name; names are {names}")
        if report.v != VERSION:
            raise InputError(f"{path} is a report of version {report.v}; this release reads version {VERSION}")
        return report

    def __str__(self) -> str:
        widths = [max(map(len, cells)) for cells in zip(HEADINGS, *self.rows(), strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in (HEADINGS, *self.rows()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        rows = ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


class ColumnResult(NamedTuple):
    """The result of `likewise.columns`.

    Attributes:
        table: The requested columns that were found, as a table of the type that was given.
        report: The decision about each requested column.
    """

    table: Any
    report: ColumnReport
