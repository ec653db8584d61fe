"""A lake of Delta tables: written parts are added to each table's log, with (query, batch).

Each of the tables has a log of its own. A batch that was committed to some of them and repeated is added to the
others alone: a table's log says which batch of a query came last.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from likewise.extras import require
from likewise.lake.parts import BY_DAY, TABLES, LakePart, lake_schema
from likewise.lake.storage import ObjectStorePath, StoragePath

if TYPE_CHECKING:
    from deltalake import DeltaTable


class DeltaCommits:
    """The commits of a lake of Delta tables."""

    def __init__(self, folder: StoragePath) -> None:
        require("delta", "a lake of Delta tables", or_else="parquet:DIR needs nothing more")
        self.folder = folder

    def committed(self, query: str, batch: int) -> bool:
        """Return whether a batch is committed in all tables."""
        return len(self.tables_with(query, batch)) == len(TABLES)

    def is_committed(self, query: str, batch: int) -> bool:
        """Return whether a batch is committed in any table; an older lake has not all of them."""
        return bool(self.tables_with(query, batch))

    def tables_with(self, query: str, batch: int) -> frozenset[str]:
        """Return the tables in which a batch is committed."""
        known = [name for name in TABLES if (self.folder / name / "_delta_log").is_dir()]
        return frozenset(name for name in known if self._last(self.table(name), query) >= batch)

    def commit(self, query: str, batch: int, parts: list[LakePart]) -> bool:
        """Let the parts of a batch count, table by table; False if they do already."""
        changed = False
        for name in TABLES:
            table = self.table(name)
            if self._last(table, query) < batch:
                self._add(table, name, query, batch, [part for part in parts if part.table == name])
                changed = True
        return changed

    def parts(self, table: str | None = None) -> list[LakePart]:
        """Return the current parts, ordered by path."""
        import pyarrow as pa

        parts = []
        for name in TABLES if table is None else [table]:
            for row in pa.table(self.table(name).get_add_actions(flatten=True)).to_pylist():
                partition = (row.get("partition.tenant") or "", str(row.get("partition.day") or ""))
                parts.append(
                    LakePart(name, f"{name}/{unquote(row['path'])}", row["num_records"], row["size_bytes"], *partition)
                )
        return sorted(parts, key=lambda part: part.path)

    def table(self, name: str) -> DeltaTable:
        """Return a table, created if it does not exist."""
        from deltalake import DeltaTable

        place = self.folder / name
        if not (place / "_delta_log").is_dir():
            if not isinstance(place, ObjectStorePath):
                place.mkdir(parents=True, exist_ok=True)
            by = ["tenant", "day"] if name in BY_DAY else None
            DeltaTable.create(str(place), _delta_schema(name), mode="ignore", partition_by=by)
        return DeltaTable(str(place))

    def _last(self, table: DeltaTable, query: str) -> int:
        version = table.transaction_version(query)
        return -1 if version is None else int(version)

    def _add(self, table: DeltaTable, name: str, query: str, batch: int, parts: list[LakePart]) -> None:
        from deltalake import CommitProperties, Transaction
        from deltalake.transaction import AddAction

        now = time.time_ns() // 1_000_000
        by_day = name in BY_DAY
        actions: list[Any] = [
            AddAction(
                part.path.removeprefix(f"{name}/"),
                part.bytes,
                {"tenant": part.tenant, "day": part.day} if by_day else {},
                now,
                True,
                json.dumps({"numRecords": part.rows}),
            )
            for part in parts
        ]
        table.create_write_transaction(
            actions,
            "append",
            table.schema(),
            ["tenant", "day"] if by_day else None,
            commit_properties=CommitProperties(app_transactions=[Transaction(query, batch)]),
        )


def _delta_schema(name: str) -> Any:
    import pyarrow as pa

    schema = lake_schema(name)
    if name in BY_DAY:
        schema = schema.append(pa.field("tenant", pa.string())).append(pa.field("day", pa.string()))
    return schema
