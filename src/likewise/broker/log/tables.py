"""Access to the tables, for the functions of this package alone.

Outside it nobody writes SQL and nobody knows what keeps the tables: whoever needs something of them finds, or adds,
a function here that says what it does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

Row = tuple[Any, ...]
TOGETHER: Final = (100, 10)  # rows inserted by one statement: of 9 columns, fewer values than any SQLite may refuse


class StoreTables:
    """The tables within one transaction, or as of the last commit.

    >>> tables = StoreTables(sqlite3.connect(":memory:"))
    >>> tables.change("CREATE TABLE t (n INTEGER)")
    -1
    >>> tables.change_all("INSERT INTO t VALUES (?)", [(1,), (2,)])
    >>> tables.rows("SELECT n FROM t WHERE n > ?", 1), tables.row("SELECT n FROM t WHERE n > 2")
    ([(2,)], None)
    >>> tables.insert_all("t (n)", [(n,) for n in range(3, 120)])
    117
    >>> tables.row("SELECT count(*), sum(n) FROM t")
    (119, 7140)
    >>> tables.close()
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, query: str, *values: object) -> list[Row]:
        """Return every row of a query."""
        return self._connection.execute(query, values).fetchall()

    def each(self, query: str, *values: object) -> Iterator[Row]:
        """Yield every row of a query."""
        return iter(self._connection.execute(query, values))

    def row(self, query: str, *values: object) -> Row | None:
        """Return the first row of a query; None if there is none."""
        row: Row | None = self._connection.execute(query, values).fetchone()
        return row

    def one(self, query: str, *values: object) -> Row:
        """Return the row of a query that always has one."""
        row = self.row(query, *values)
        assert row is not None, query
        return row

    def change(self, statement: str, *values: object) -> int:
        """Change something; how many rows it was."""
        return self._connection.execute(statement, values).rowcount

    def change_all(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Change something for each of some rows."""
        self._connection.executemany(statement, rows)

    def insert_all(self, into: str, rows: Sequence[Sequence[object]], otherwise: str = "") -> int:
        """Insert rows, as many as may be with one statement; how many were. `otherwise`: what SQL says of the rest.

        Each step of a statement lets other threads of the interpreter go first. A thousand rows, each with a step of
        its own, wait a thousand times for whoever is busy, and everyone's next commit waits with them.
        """
        marks = f"({', '.join('?' * len(rows[0]))})" if rows else ""
        done = inserted = 0
        while done < len(rows):
            size = next((size for size in TOGETHER if len(rows) - done >= size), len(rows) - done)
            statement = f"INSERT INTO {into} VALUES {', '.join([marks] * size)} {otherwise}"
            values = list(chain.from_iterable(rows[done : done + size]))
            inserted += self._connection.execute(statement, values).rowcount
            done += size
        return inserted

    def add(self, statement: str, *values: object) -> int:
        """Insert a row; the number it was given."""
        number = self._connection.execute(statement, values).lastrowid
        assert number is not None
        return number

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Open a savepoint: changes within it roll back together, and nothing else with them."""
        self._connection.execute("SAVEPOINT apart")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO apart")
            raise
        finally:
            self._connection.execute("RELEASE apart")

    def close(self) -> None:
        """Let go of them."""
        self._connection.close()
