"""Inventory rows as CSV: the shipped files and the files that users add.

The columns are `sort, name, labels, broader, dimensions, values, default, apart, source`; only the first two must be
there. Several labels, or several of anything else, stand with `|` between them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Final, cast

from likewise.errors import FormatError
from likewise.semantics.concepts.inventory import LONGEST_LABEL, SORTS, Concept, Sort, label_words

COLUMNS: Final = ("sort", "name", "labels", "broader", "dimensions", "values", "default", "apart", "source")
VALUES: Final = ("number", "state", "text", "time")
_LISTS: Final = COLUMNS[2:8]


def read_rows(text: str, source: str) -> list[Concept]:
    """Return the concepts of a CSV text. A bad row is refused with its line number.

    >>> read_rows("sort,name,labels\\nkind,humidity,moisture|wetness", "mine")[0].labels
    ('moisture', 'wetness')
    >>> read_rows("sort,name\\nkid,humidity", "mine")
    Traceback (most recent call last):
    ...
    likewise.errors.FormatError: mine, line 2: expected a sort (kind, weak, ...), found 'kid'
    """
    return [concept for _, concept in numbered_rows(text, source)]


def numbered_rows(text: str, source: str) -> list[tuple[int, Concept]]:
    """Return the concepts of a CSV text, each with its line number."""
    rows = csv.DictReader(io.StringIO(text), strict=True)
    try:
        header = rows.fieldnames or ()
        unknown = [name for name in header if name not in COLUMNS]
        if not {"sort", "name"} <= set(header) or unknown:
            raise FormatError(
                f"{source}, line 1: expected the columns {', '.join(COLUMNS)} (the first two at least), "
                f"found {', '.join(header) or 'nothing'}"
            )
        return [(rows.line_num, _concept(row, f"{source}, line {rows.line_num}", source)) for row in rows]
    except csv.Error as error:
        raise FormatError(f"{source}, line {rows.line_num}: this is no CSV: {error}") from None


def _concept(row: Mapping[str, str | None], where: str, source: str) -> Concept:
    if None in row:
        raise FormatError(f"{where}: there are more fields than columns; quote what holds a comma")
    sort, name = (row.get("sort") or "").strip(), " ".join((row.get("name") or "").split())
    if sort not in SORTS:
        raise FormatError(f"{where}: expected a sort ({', '.join(SORTS)}), found {sort!r}")
    if not name:
        raise FormatError(f"{where}: the concept has no name")
    lists = {c: tuple(p for p in (" ".join(p.split()) for p in (row.get(c) or "").split("|")) if p) for c in _LISTS}
    for label in (name, *lists["labels"]):
        if len(label_words(label)) > LONGEST_LABEL:
            raise FormatError(f"{where}: a label has at most {LONGEST_LABEL} words, found {label!r}")
    wrong = [value for value in lists["values"] if value not in VALUES]
    if wrong:
        raise FormatError(f"{where}: expected values among {', '.join(VALUES)}, found {wrong[0]!r}")
    return Concept(cast(Sort, sort), name, source=(row.get("source") or "").strip() or source, **lists)


def print_rows(concepts: Iterable[Concept]) -> str:
    """Return concepts as CSV. Reading it gives equal concepts."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for c in concepts:
        rows.writerow([c.sort, c.name, *("|".join(getattr(c, column)) for column in _LISTS), c.source])
    return out.getvalue()
