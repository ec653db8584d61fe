"""Bare SQLite: the same rows in the same batches, one commit each, WAL and FULL as the broker uses it."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path


def rows_a_second(folder: Path, bodies: list[bytes], batch: int, seconds: float) -> float:
    """How many rows a second are on disk, committed in batches."""
    connection = sqlite3.connect(folder / f"bare-{batch}.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    connection.execute("CREATE TABLE log (position INTEGER PRIMARY KEY, id TEXT, arrival INTEGER, body BLOB)")
    written, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        rows = [(None, str(written + n), written, bodies[(written + n) % len(bodies)]) for n in range(batch)]
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
        written += batch
    took = time.perf_counter() - begun
    connection.close()
    return written / took
