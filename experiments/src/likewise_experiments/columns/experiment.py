"""Precision and recall of `likewise.columns` on the headers of published tables, beside simple yardsticks.

`tables.jsonl` has the headers of 36 published tables with two or three values in each column's form, and for each
table requested columns with the header that a competent engineer would take, or none. Every third table is set aside
for testing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import resources

import msgspec
import numpy as np

from likewise.tables import columns
from likewise.tables.requested import requested_columns
from likewise_experiments.columns.yardsticks import SIMILARITIES, Similarity

Value = int | float | str
Chooser = Callable[["LabelledTable"], dict[str, str | None]]  # the header for each request of a table


class LabelledTable(msgspec.Struct, frozen=True):
    """A published table with labelled requests.

    Attributes:
        id: Short name.
        set: `dev` or `test`, which is scored only to report it.
        title: Name of the data set.
        source: Publisher.
        licence: Licence of the data; the file has headers and values of our own in their form.
        columns: Values by header.
        requests: By phrase the header that is right, None if the table has none.
    """

    id: str
    set: str
    title: str
    source: str
    licence: str
    columns: dict[str, list[Value]]
    requests: dict[str, str | None]


class ColumnScore(msgspec.Struct, frozen=True):
    """Counts of one system on a set of tables.

    Attributes:
        system: Name of the system.
        right: Requests for which the right header was taken.
        wrong: Requests for which a wrong one was taken.
        missed: Requests with a right header for which none was taken.
        errors: Table, phrase, header taken and right header of each error.
    """

    system: str
    right: int
    wrong: int
    missed: int
    errors: tuple[tuple[str, str, str | None, str | None], ...]

    @property
    def precision(self) -> float:
        """Return the share of the taken columns that are right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Return the share of the columns to find that were found."""
        return self.right / max(1, self.right + self.missed)


def labelled_tables() -> list[LabelledTable]:
    """Return the tables."""
    text = resources.files("likewise_experiments.columns").joinpath("tables.jsonl").read_text(encoding="utf-8")
    return [msgspec.json.decode(line, type=LabelledTable) for line in text.splitlines()]


def by_meaning(table: LabelledTable) -> dict[str, str | None]:
    """Choose columns with `likewise.columns`."""
    longest = max(map(len, table.columns.values()))
    padded = {name: (values * longest)[:longest] for name, values in table.columns.items()}
    return {each.requested.name: each.column for each in columns(padded, list(table.requests)).report}


def _best(similarity: Similarity, table: LabelledTable) -> dict[str, str | None]:
    """Choose the most similar header, if it is as similar as the development tables ask for."""
    attributes, headers = _named(table)
    least = threshold(similarity)
    return {
        name: headers[int(np.argmax(row))] if row.max() >= least else None
        for name, row in zip(attributes, similarity(tuple(attributes.values()), headers), strict=True)
    }


@cache
def threshold(similarity: Similarity) -> float:
    """Return the similarity from which a header is taken: the one of the best F1 on the development tables.

    Args:
        similarity: Similarity of requested attributes and headers.
    """
    taken: list[tuple[float, bool]] = []
    wanted = 0
    for table in labelled_tables():
        if table.set != "dev":
            continue
        attributes, headers = _named(table)
        rows = similarity(tuple(attributes.values()), headers)
        for row, right in zip(rows, table.requests.values(), strict=True):
            wanted += right is not None
            taken.append((float(row.max()), headers[int(np.argmax(row))] == right))

    def f1(least: float) -> float:
        decided = [right for score, right in taken if score >= least]
        return 2 * sum(decided) / (len(decided) + wanted)

    return max(sorted({score for score, _ in taken}), key=f1)


def _named(table: LabelledTable) -> tuple[dict[str, str], tuple[str, ...]]:
    return {each.name: each.attribute for each in requested_columns(list(table.requests))}, tuple(table.columns)


SYSTEMS: Mapping[str, Chooser] = {
    "likewise": by_meaning,
    **{name: partial(_best, similarity) for name, similarity in SIMILARITIES.items()},
}


def score(system: str, tables: list[LabelledTable]) -> ColumnScore:
    """Score a system on tables.

    Args:
        system: A name in `SYSTEMS`.
        tables: Labelled tables.
    """
    right = wrong = missed = 0
    errors = []
    for table in tables:
        chosen = SYSTEMS[system](table)
        for phrase, name, expected in _requests(table):
            taken = chosen[name]
            right += taken is not None and taken == expected
            wrong += taken is not None and taken != expected
            missed += expected is not None and taken != expected
            if taken != expected:
                errors.append((table.id, phrase, taken, expected))
    return ColumnScore(system, right, wrong, missed, tuple(errors))


def _requests(table: LabelledTable) -> Iterator[tuple[str, str, str | None]]:
    for (phrase, expected), each in zip(table.requests.items(), requested_columns(list(table.requests)), strict=True):
        yield phrase, each.name, expected
