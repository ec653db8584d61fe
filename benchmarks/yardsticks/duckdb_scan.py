"""The yardstick of a Python user with a database: subscriptions as rows of bounds in DuckDB.

A publication is a prepared query; a batch is a join of a table of publications with the table of
subscriptions. One thread, as everything else here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import duckdb
import numpy as np
from numpy.typing import NDArray

Predicates = Sequence[tuple[str, str, float | str]]
Publication = dict[str, float | str]


class DuckdbScan:
    """For each attribute columns for its bounds (or its text) and whether it is asked at all."""

    def __init__(self, subscriptions: Sequence[Predicates]) -> None:
        size = len(subscriptions)
        self.numbers = sorted({a for s in subscriptions for a, _, v in s if not isinstance(v, str)})
        self.texts = sorted({a for s in subscriptions for a, _, v in s if isinstance(v, str)})
        columns: dict[str, NDArray[np.generic]] = {"id": np.arange(size)}
        for attribute in self.numbers:
            low, high, free = np.full(size, -np.inf), np.full(size, np.inf), np.ones(size, np.bool_)
            for index, predicates in enumerate(subscriptions):
                for name, comparison, value in predicates:
                    if name == attribute:
                        free[index] = False
                        bound = float(value)
                        if comparison in (">", ">=", "=="):
                            low[index] = max(
                                low[index], math.nextafter(bound, math.inf) if comparison == ">" else bound
                            )
                        if comparison in ("<", "<=", "=="):
                            high[index] = min(
                                high[index], math.nextafter(bound, -math.inf) if comparison == "<" else bound
                            )
            columns |= {f"{attribute}_low": low, f"{attribute}_high": high, f"{attribute}_free": free}
        for attribute in self.texts:
            asked = [next((v for a, _, v in s if a == attribute), None) for s in subscriptions]
            columns[f"{attribute}_text"] = np.array(asked, object)
        self.connection = duckdb.connect(config={"threads": 1})
        names = {f"c{i}": array for i, array in enumerate(columns.values())}
        chosen = ", ".join(f'{short} AS "{long}"' for short, long in zip(names, columns, strict=True))
        self.connection.register("given", names)
        self.connection.execute(f"CREATE TABLE subscriptions AS SELECT {chosen} FROM given")
        self.connection.unregister("given")
        self.query = f"SELECT id FROM subscriptions WHERE {self._condition('$', '')} ORDER BY id"
        self.join = (
            "SELECT p.number, s.id FROM publications p JOIN subscriptions s ON "
            + self._condition('p."', '"', table="s.")
            + " ORDER BY p.number, s.id"
        )

    def _condition(self, before: str, after: str, table: str = "") -> str:
        """Not asked, or inside the bounds; an attribute a publication lacks is NULL, which no bound holds."""
        parts = [
            f'({table}"{a}_free" OR {before}{a}{after} BETWEEN {table}"{a}_low" AND {table}"{a}_high")'
            for a in self.numbers
        ]
        parts += [f'({table}"{a}_text" IS NULL OR {table}"{a}_text" = {before}{a}{after})' for a in self.texts]
        return " AND ".join(parts)

    def find(self, publication: Publication) -> NDArray[np.int64]:
        asked = {a: publication.get(a) for a in (*self.numbers, *self.texts)}
        return self.connection.execute(self.query, asked).fetchnumpy()["id"]  # type: ignore[no-any-return]

    def find_batch(self, publications: Sequence[Publication]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        given: dict[str, NDArray[np.generic]] = {"number": np.arange(len(publications))}
        for attribute in self.numbers:
            values = np.array([p.get(attribute, math.nan) for p in publications], np.float64)
            given[attribute] = np.ma.masked_invalid(values)
        for attribute in self.texts:
            given[attribute] = np.array([p.get(attribute) for p in publications], object)
        self.connection.register("publications", given)
        found = self.connection.execute(self.join).fetchnumpy()
        self.connection.unregister("publications")
        return found["number"], found["id"]
