"""Maintenance of a lake: compaction of the parts of each day, and expiry of old days.

In plain Parquet one commit names what came and what went, so that a reader by commits sees all of it or none; then the
files go. Files that no commit names, which an upkeep that died may leave, go a day later.
"""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from typing import Final

import msgspec

from likewise.errors import ArtefactMissing, Conflict
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.parts import BY_DAY, DAY, TABLES, LakePart, day_text, read_part, write_part
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import StoragePath, files_below

_MADE: Final = "together-"  # what files are called that compaction makes
_LEFT: Final = 86_400  # seconds until a file that nobody names is nobody's


class MaintenanceReport(msgspec.Struct, frozen=True):
    """The number of parts before and after."""

    before: int
    after: int


def open_lake(folder: StoragePath) -> PlainCommits | DeltaCommits:
    """Open the lake of a folder, in either format."""
    if (folder / "_commits").is_dir():
        return PlainCommits(folder)
    if any((folder / name / "_delta_log").is_dir() for name in TABLES):
        return DeltaCommits(folder)
    raise ArtefactMissing(f"there is no lake in {folder}; `likewise stream run --to parquet:{folder}` makes one")


def compact(folder: StoragePath) -> MaintenanceReport:
    """Put the parts of each day together."""
    lake = open_lake(folder)
    before = len(lake.parts())
    if isinstance(lake, DeltaCommits):
        for name in TABLES:
            table = lake.table(name)
            table.optimize.compact()
            table.vacuum(dry_run=False)  # what was read a week ago stays readable, as Delta has it
        return MaintenanceReport(before, len(lake.parts()))
    groups: dict[tuple[str, str, str], list[LakePart]] = defaultdict(list)
    for part in lake.parts():
        groups[part.table, part.tenant, part.day].append(part)
    several = {key: parts for key, parts in groups.items() if len(parts) > 1}
    added = [_together(folder, *key, parts) for key, parts in several.items()]
    _tidy(lake, added, [part.path for parts in several.values() for part in parts])
    return MaintenanceReport(before, len(lake.parts()))


def expire(folder: StoragePath, older: int, now: int) -> MaintenanceReport:
    """Take out the days that ended more than `older` µs before `now`; what the numbers stand for stays."""
    lake = open_lake(folder)
    before = len(lake.parts())
    first = day_text((now - older) // DAY)  # a day that is not over yet by then stays
    if isinstance(lake, DeltaCommits):
        for name in BY_DAY:
            table = lake.table(name)
            table.delete(f"day < '{first}'")
            table.vacuum(dry_run=False)
        return MaintenanceReport(before, len(lake.parts()))
    _tidy(lake, [], [part.path for part in lake.parts() if part.day and part.day < first])
    return MaintenanceReport(before, len(lake.parts()))


def _together(folder: StoragePath, table: str, tenant: str, day: str, parts: list[LakePart]) -> LakePart:
    import pyarrow as pa

    rows = pa.concat_tables([read_part(folder, part) for part in parts])
    return write_part(folder, table, rows, _MADE + uuid.uuid4().hex[:12], tenant, day)


def _tidy(lake: PlainCommits, added: list[LakePart], removed: list[str]) -> None:
    if (added or removed) and not lake.replace_parts(added, removed):
        for part in added:
            (lake.folder / part.path).unlink(missing_ok=True)
        raise Conflict("somebody else looks after this lake at the moment; nothing was changed, try again")
    for path in removed:
        (lake.folder / path).unlink(missing_ok=True)
    live = {part.path for part in lake.parts()}
    removed_earlier = lake.removed_paths()
    for table in TABLES:
        for below, written in list(files_below(lake.folder / table)):
            path, name = f"{table}/{below}", below.rpartition("/")[2]
            made = name.startswith(_MADE) and time.time() - written > _LEFT
            if path in removed_earlier or (made and path not in live):
                (lake.folder / path).unlink(missing_ok=True)
    lake.checkpoint()
