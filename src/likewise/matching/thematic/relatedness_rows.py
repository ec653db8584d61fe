"""Relatedness of each seen term with everything asked, computed once and kept (docs/engines/thematic.md).

A row belongs to one seen term and has one number for each column asked about so far. Terms new in a batch
are given to the measure together; a row that is shorter than the columns is completed, not recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.matching.cache_use import CacheUse
from likewise.matching.reference.terms import term_names
from likewise.matching.thematic.subscription_predicates import RelatednessColumns
from likewise.model import fold
from likewise.semantics.measure import Measure, Term

CELLS = 4_000_000  # how many numbers a measure is asked for at once: 16 MB of float32
ROW_BYTES = 400  # a term, its entry and an array's head, beside the numbers themselves


class RelatednessRows:
    """Rows by seen term, least recently used first, within a number of bytes.

    >>> columns = RelatednessColumns()
    >>> columns.number("office"), columns.number(Term("device"))
    (0, 1)
    >>> rows = RelatednessRows(columns, None, 10_000)
    >>> [row.tolist() for row in rows.of([Term("Office"), Term("device")])]
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self, columns: RelatednessColumns, measure: Measure | None, limit: int, use: CacheUse | None = None
    ) -> None:
        self._columns = columns
        self._measure = measure
        self._limit = limit
        self._rows: dict[Term, NDArray[np.float32]] = {}
        self._equal: dict[str, list[int]] = {}  # folded text -> columns that ask for just that text
        self._known = 0
        self.use = CacheUse() if use is None else use
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, event_terms: Sequence[Term]) -> list[NDArray[np.float32]]:
        """The row of each seen term, complete."""
        self._note_columns()
        width = len(self._columns)
        lacking: dict[int, list[Term]] = {}
        distinct = dict.fromkeys(event_terms)
        for term in distinct:
            row = self._rows.pop(term, None)
            if row is not None:
                self._rows[term] = row  # now the most recently used
            have = 0 if row is None else len(row)
            if have < width or row is None:
                lacking.setdefault(have, []).append(term)
        self.use.count(len(distinct), sum(map(len, lacking.values())))
        for have, terms in lacking.items():
            self._complete(terms, have, width)
        rows = [self._rows[term] for term in event_terms]
        self._bound()
        return rows

    def forget(self, concerns: Callable[[str], bool]) -> None:
        """Drop the rows of some seen texts, because what is known about them has changed."""
        for term in [term for term in self._rows if concerns(term.text)]:
            self.bytes -= ROW_BYTES + self._rows.pop(term).nbytes

    def _note_columns(self) -> None:
        for number in range(self._known, len(self._columns)):
            column = self._columns.items[number]
            if isinstance(column, str):
                self._equal.setdefault(column, []).append(number)
            elif self._measure is None:  # else the measure says what is equal
                self._equal.setdefault(fold(column.text), []).append(number)
        self._known = len(self._columns)

    def _complete(self, terms: list[Term], have: int, width: int) -> None:
        requested = [(n, c) for n, c in enumerate(self._columns.items[have:width], have) if isinstance(c, Term)]
        numbers = np.array([n for n, _ in requested], np.int64)
        step = max(1, CELLS // max(1, len(requested)))
        for start in range(0, len(terms), step):
            part = terms[start : start + step]
            matrix = None
            if requested and self._measure is not None:
                matrix = self._measure.matrix([c for _, c in requested], part)
            for index, term in enumerate(part):
                row = np.zeros(width, np.float32)
                old = self._rows.get(term)
                if old is not None:
                    row[:have] = old
                    self.bytes -= old.nbytes + ROW_BYTES
                if matrix is not None:
                    row[numbers] = matrix[:, index]
                for name in term_names(term):
                    for number in self._equal.get(name, ()):
                        row[number] = 1.0
                self._rows[term] = row
                self.bytes += row.nbytes + ROW_BYTES

    def _bound(self) -> None:
        while self.bytes > self._limit and self._rows:
            oldest = next(iter(self._rows))
            self.bytes -= self._rows.pop(oldest).nbytes + ROW_BYTES
