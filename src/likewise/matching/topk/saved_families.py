"""Windows of the top-k engine on disk: two Arrow files, so that a saved matcher repeats no delivery.

`publications.arrow` has a row for each publication of each family, `members.arrow` one for each member with
what was delivered to it. A family is named by the smallest ordinal among its members.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import ArtefactDamaged, ArtefactVersion
from likewise.matching.topk.family import PublishedEvent, WindowFamily

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = b"1"
Saved = tuple[int, list[tuple[int, PublishedEvent, bool, list[float]]], dict[int, tuple[int, list[int]]], int]


def write_families(folder: Path, now: int | None, families: Iterable[tuple[int, WindowFamily]]) -> None:
    """Write every family's window and members."""
    import pyarrow as pa

    all_families = list(families)
    rows = [(name, *row) for name, family in all_families for row in family.publications()]
    publications: dict[str, pa.Array[Any]] = {
        "family": pa.array([r[0] for r in rows], pa.int64()),
        "number": pa.array([r[1] for r in rows], pa.int64()),
        "event_id": pa.array([r[2].event_id for r in rows], pa.string()),
        "time": pa.array([r[2].time for r in rows], pa.int64()),
        "score": pa.array([r[2].score for r in rows], pa.float64()),
        "product": pa.array([r[2].product for r in rows], pa.float64()),
        "counts": pa.array([r[3] for r in rows], pa.bool_()),
        "values": pa.array([r[4] for r in rows], pa.list_(pa.float64())),
    }
    joined = [(name, family.next, *row) for name, family in all_families for row in family.members()]
    members: dict[str, pa.Array[Any]] = {
        "family": pa.array([r[0] for r in joined], pa.int64()),
        "next": pa.array([r[1] for r in joined], pa.int64()),
        "ordinal": pa.array([r[2] for r in joined], pa.int64()),
        "since": pa.array([r[3] for r in joined], pa.int64()),
        "delivered": pa.array([r[4] for r in joined], pa.list_(pa.int64())),
    }
    metadata = {"likewise.windows": VERSION, "now": b"" if now is None else str(now).encode()}
    for name, columns in (("publications", publications), ("members", members)):
        table = pa.table(columns).replace_schema_metadata(metadata)
        with pa.OSFile(str(folder / f"{name}.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)


def read_families(folder: Path) -> tuple[int | None, list[Saved]]:
    """The engine's time and every family: its name, publications, members by ordinal, and next number."""
    publications, members = _read(folder / "publications.arrow"), _read(folder / "members.arrow")
    now = members.schema.metadata[b"now"]
    families: dict[int, Saved] = {}
    for row in members.to_pylist():
        family = families.setdefault(row["family"], (row["family"], [], {}, row["next"]))
        family[2][row["ordinal"]] = (row["since"], row["delivered"])
    for row in publications.to_pylist():
        entry = PublishedEvent(row["event_id"], row["time"], row["score"], row["product"])
        if row["family"] not in families:
            raise ArtefactDamaged(
                f"{folder}: a publication belongs to the family {row['family']}, which has no members"
            )
        families[row["family"]][1].append((row["number"], entry, row["counts"], row["values"]))
    return int(now) if now else None, list(families.values())


def _read(path: Path) -> pa.Table:
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy") from None
    version = (table.schema.metadata or {}).get(b"likewise.windows")
    if version != VERSION:
        raise ArtefactVersion(
            f"{path} holds windows of version {version!r}; this one reads {VERSION!r}: upgrade likewise"
        )
    return table
