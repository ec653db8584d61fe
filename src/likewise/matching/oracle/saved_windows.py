"""Windows on disk: one Arrow file, so that a saved matcher goes on without repeating a delivery.

Columns: the subscription's ordinal and everything of a `Publication`. The file's metadata says the
format's version, the engine's time and its count of arrivals (docs/versions.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion
from likewise.matching.reference.window import Publication

FILE = "windows.arrow"
VERSION = 1


class SavedWindows(msgspec.Struct, frozen=True):
    """What a windows file holds: the engine's time (None before the first), its arrivals, and each window."""

    now: int | None
    arrivals: int
    windows: Mapping[int, list[Publication]]


def write_windows(folder: Path, saved: SavedWindows) -> None:
    """Write `windows.arrow` into a folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     write_windows(Path(name), SavedWindows(5, 1, {7: [Publication(0, 3, "a", 1.5, 1.0, 1.0, True)]}))
    ...     read_windows(Path(name)).windows[7][0].rank_value
    1.5
    """
    import pyarrow as pa

    facts = {"format": "likewise-windows", "v": VERSION, "now": saved.now, "arrivals": saved.arrivals}
    columns: dict[str, pa.DataType] = {
        "ordinal": pa.int64(),
        "sequence": pa.int64(),
        "time": pa.int64(),
        "event_id": pa.string(),
        "rank_value": pa.float64(),
        "score": pa.float64(),
        "product": pa.float64(),
        "delivered": pa.bool_(),
        "withdrawn": pa.bool_(),
    }
    schema = pa.schema(columns, metadata={"likewise": msgspec.json.encode(facts)})
    rows = [
        {"ordinal": ordinal, **msgspec.structs.asdict(publication)}
        for ordinal, publications in saved.windows.items()
        for publication in publications
    ]
    table = pa.Table.from_pylist(rows, schema=schema)
    with pa.OSFile(str(folder / FILE), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_windows(folder: Path) -> SavedWindows:
    """Read what `write_windows` wrote; anything else is an `ArtefactError`."""
    import pyarrow as pa

    path = folder / FILE
    if not path.is_file():
        raise ArtefactMissing(f"the saved windows {path} are missing; restore a copy of the folder")
    try:
        with pa.OSFile(str(path), "rb") as source, pa.ipc.open_file(source) as reader:
            table = reader.read_all()
        facts = msgspec.json.decode((table.schema.metadata or {})[b"likewise"], type=dict[str, object])
        if facts.get("v") != VERSION:
            raise ArtefactVersion(f"{path} is in version {facts.get('v')}; this one reads version {VERSION}")
        now = msgspec.convert(facts["now"], int | None)
        arrivals = msgspec.convert(facts["arrivals"], int)
        windows: dict[int, list[Publication]] = {}
        for row in table.to_pylist():
            ordinal = row.pop("ordinal")
            windows.setdefault(ordinal, []).append(msgspec.convert(row, Publication))
    except (pa.ArrowException, msgspec.MsgspecError, UnicodeDecodeError, KeyError, OSError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy of the folder") from None
    return SavedWindows(now, arrivals, windows)
