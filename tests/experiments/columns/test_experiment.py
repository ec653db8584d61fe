"""Columns of published tables: the labels are in form, and what is taken is right."""

from __future__ import annotations

import pytest

from likewise.tables.requested import requested_columns
from likewise_experiments.columns.experiment import SYSTEMS, labelled_tables, score

TABLES = labelled_tables()


def test_the_tables_are_labelled_in_form() -> None:
    """Ids once, columns equally long, labels that are headers, requests that parse, a third set aside."""
    assert len({table.id for table in TABLES}) == len(TABLES) >= 30
    assert sum(table.set == "test" for table in TABLES) * 3 == len(TABLES)
    for table in TABLES:
        assert set(table.requests.values()) <= {*table.columns, None}
        assert len(requested_columns(list(table.requests))) == len(table.requests)
        assert table.licence
        assert table.source


def test_few_columns_are_wrong_and_more_are_found_than_by_words() -> None:
    """On the tables for development."""
    tables = [table for table in TABLES if table.set == "dev"]
    ours, words = score("likewise", tables), score("common words", tables)
    assert ours.precision >= 0.97
    assert ours.recall >= 0.8 > words.recall


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_decides_every_request(system: str) -> None:
    """A request is right, wrong, missed or rightly left out."""
    counted = score(system, TABLES[:3])
    assert counted.right + counted.missed == sum(
        right is not None for table in TABLES[:3] for right in table.requests.values()
    )
