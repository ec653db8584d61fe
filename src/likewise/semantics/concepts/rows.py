"""An inventory's rows as CSV: what ships in the package, and what users add."""

from __future__ import annotations

import csv
import io
from typing import cast

from likewise.errors import FormatError
from likewise.semantics.concepts.inventory import SORTS, Concept, Sort

COLUMNS = ("sort", "name", "labels", "broader", "dimensions", "values", "default", "apart")


def read_rows(text: str, source: str) -> list[Concept]:
    """The concepts of a CSV text; a bad row is refused with its line.

    >>> read_rows("sort,name,labels\\nkind,humidity,moisture|wetness", "mine")[0].labels
    ('moisture', 'wetness')
    >>> read_rows("sort,name\\nkid,humidity", "mine")
    Traceback (most recent call last):
    ...
    likewise.errors.FormatError: mine, line 2: expected a sort (kind, weak, ...), found 'kid'
    """
    rows = csv.DictReader(io.StringIO(text))
    found = []
    for row in rows:
        sort = row.get("sort") or ""
        if sort not in SORTS:
            raise FormatError(f"{source}, line {rows.line_num}: expected a sort ({', '.join(SORTS)}), found {sort!r}")
        lists = {c: tuple(p.strip() for p in (row.get(c) or "").split("|") if p.strip()) for c in COLUMNS[2:]}
        found.append(Concept(cast(Sort, sort), (row.get("name") or "").strip(), source=source, **lists))
    return found
