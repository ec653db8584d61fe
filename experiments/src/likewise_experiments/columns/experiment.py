"""Precision and recall of `likewise.columns` on the headers of published tables, beside simple yardsticks.

`tables.jsonl` has the headers of 36 published tables with two or three values in each column's form, and for each
table requested columns with the header that a competent engineer would take, or none. Every third table is set aside
for testing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from importlib import resources

import msgspec

from likewise.tables import columns
from likewise.tables.requested import requested_columns

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


def by_words(table: LabelledTable) -> dict[str, str | None]:
    """Choose the header with the largest share of common words, if it is half."""
    return _best(table, lambda a, b: len(_words(a) & _words(b)) / max(1, len(_words(a) | _words(b))), 0.5)


def by_letters(table: LabelledTable) -> dict[str, str | None]:
    """Choose the header with the most similar letters."""
    return _best(table, lambda a, b: SequenceMatcher(None, a.casefold(), b.casefold()).ratio(), 0.6)


SYSTEMS: Mapping[str, Chooser] = {"likewise": by_meaning, "common words": by_words, "similar letters": by_letters}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)}


def _best(table: LabelledTable, similarity: Callable[[str, str], float], least: float) -> dict[str, str | None]:
    chosen: dict[str, str | None] = {}
    for each in requested_columns(list(table.requests)):
        best = max(table.columns, key=lambda header: similarity(each.attribute, header))
        chosen[each.name] = best if similarity(each.attribute, best) >= least else None
    return chosen


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
