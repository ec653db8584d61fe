"""Codec of annotation tables: CSV with a header, or mappings. All rows are read or none."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from likewise.errors import FormatError, InputError
from likewise.semantics.enrichment.annotation import COLUMNS, Annotation
from likewise.semantics.enrichment.table import AnnotationTable

_EXAMPLE: Final = "key,is,attribute,value,unit,means"


def read_annotations(text: str, name: str = "annotations") -> AnnotationTable:
    """Decode annotations from CSV.

    Args:
        text: CSV with a header of `key, is, attribute, value, unit, means`; only `key` is required.
        name: Name for messages.

    Raises:
        FormatError: The text is no CSV, has other columns, or a row is invalid.

    >>> table = read_annotations("key,is,attribute,value\\nsource,sensor-17,room,room 112\\n")
    >>> [str(row) for row in table]
    ['source is sensor-17: room = room 112']
    >>> read_annotations("key,is,attribute,value\\nsource,sensor-17,room,\\n", "rooms.csv")
    Traceback (most recent call last):
    ...
    likewise.errors.FormatError: rooms.csv, line 2: it says nothing; give a value to add, a unit, or ...
    """
    return AnnotationTable(_read(text.removeprefix("\ufeff"), name), name)


def annotations_from_mappings(rows: Iterable[Mapping[str, object]], name: str = "annotations") -> AnnotationTable:
    """Decode annotations from mappings keyed by column. Rows are numbered from 1.

    Args:
        rows: Mappings from column to cell.
        name: Name for messages.

    >>> len(annotations_from_mappings([{"key": "model", "is": "SHT31", "attribute": "temp1", "unit": "degC"}]))
    1
    """
    made = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(f"{name}, row {number}: a mapping such as {{'key': 'source', 'is': ...}} was expected")
        _check_columns(tuple(map(str, row)), f"{name}, row {number}")
        cells = {str(column): "" if cell is None else str(cell) for column, cell in row.items()}
        made.append(_row(cells, number, f"{name}, row {number}"))
    return AnnotationTable(made, name)


def write_annotations(table: AnnotationTable) -> str:
    """Encode annotations as CSV."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(row.cells() for row in table)
    return out.getvalue()


def _read(text: str, name: str) -> Iterator[Annotation]:
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = tuple(cell.strip() for cell in next(lines, ()))
        _check_columns(header, f"{name}, line 1")
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{name}, line {lines.line_num}"
            if len(cells) > len(header):
                raise FormatError(f"{where}: {len(cells)} cells, but {len(header)} columns; quote what holds a comma")
            yield _row(dict(zip(header, cells, strict=False)), lines.line_num, where)
    except csv.Error as error:
        raise FormatError(f"{name}, line {lines.line_num}: not CSV ({error})") from None


def _check_columns(columns: tuple[str, ...], where: str) -> None:
    unknown = [column for column in columns if column not in COLUMNS]
    if unknown:
        raise FormatError(f"{where}: no column is named {unknown[0][:40]!r}; there are {', '.join(COLUMNS)}")
    if "key" not in columns:
        raise FormatError(f"{where}: the column `key` is missing; begin with the line {_EXAMPLE}")
    if len(set(columns)) < len(columns):
        raise FormatError(f"{where}: a column is named twice; begin with the line {_EXAMPLE}")


def _row(cells: Mapping[str, str], line: int, where: str) -> Annotation:
    texts = {column: cell.strip() for column, cell in cells.items()}
    key = texts.get("key", "")
    try:
        return Annotation(
            key.removesuffix("~").rstrip(),
            texts.get("is", ""),
            texts.get("attribute", ""),
            texts.get("value", ""),
            texts.get("unit", ""),
            texts.get("means", ""),
            key.endswith("~"),
            line,
        )
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None
