"""Back up a store with its saved windows while it is in use, once or periodically.

What is copied is one moment: the tables in one transaction, the windows that those tables name, and the record of the
retention clock. A copy is a folder like any other: it is served, verified and copied as it is.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from likewise.broker.log.integrity import copy_store, reading_store, there
from likewise.broker.log.registry_tables import read_tenants
from likewise.broker.log.tables import StoreTables
from likewise.broker.maintenance.window_snapshots import check_windows, folder_of, remembering_rows
from likewise.broker.retention_clock import FILE as CLOCK_RECORD
from likewise.errors import ArtefactDamaged, ArtefactMissing, InputError, StateError, Unavailable

TRIES: Final = 100  # windows are saved seldom, so a copy hardly ever misses them even once
_MADE: Final = re.compile(r"\d{8}T\d{6}Z(-\d+)?")  # how a folder of one copy among others is called


class BackupCopy(NamedTuple):
    """A backup: its folder, its bytes, and the older ones that were removed for it."""

    folder: Path
    bytes: int
    removed: tuple[Path, ...] = ()


def backup(data: Path, target: Path) -> int:
    """Copy the store of a folder, in use or not, into a new folder, whole or not at all; the bytes copied."""
    there(data)
    if target.exists() and any(target.iterdir()):
        raise StateError(f"{target} is not empty; name a new folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    building = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        for _ in range(TRIES):
            shutil.rmtree(building, ignore_errors=True)
            building.mkdir(mode=0o700)
            try:
                size = copy_store(data, building, lambda tables: _copy_windows(tables, data, building))
            except _WindowsReplaced:
                continue
            if (data / CLOCK_RECORD).is_file():  # without it, what a wrong clock must not remove would be unknown
                shutil.copyfile(data / CLOCK_RECORD, building / CLOCK_RECORD)
            _sync(building)
            if target.exists():
                target.rmdir()
            building.rename(target)
            return size
        raise Unavailable(f"the windows in {data} were saved anew {TRIES} times meanwhile; try again")
    finally:
        shutil.rmtree(building, ignore_errors=True)


class _WindowsReplaced(Exception):
    """Newer windows replaced the ones that the tables name."""


def _copy_windows(tables: StoreTables, data: Path, target: Path) -> None:
    """Copy the windows as of the same moment as the tables."""
    for tenant in read_tenants(tables):
        if tenant.windows_from is None:
            continue
        saved = folder_of(data, tenant.number, tenant.windows_from - 1)
        copy = folder_of(target, tenant.number, tenant.windows_from - 1)
        needed = remembering_rows(tables, tenant.number, tenant.windows_from)
        try:
            if saved.is_dir() or needed:
                shutil.copytree(saved, copy)
                check_windows(copy)
        except (ArtefactDamaged, OSError, shutil.Error) as error:
            with reading_store(data) as now:
                named = {each.number: each.windows_from for each in read_tenants(now)}
            if named[tenant.number] != tenant.windows_from:
                raise _WindowsReplaced from error
            if not saved.is_dir():
                raise ArtefactMissing(
                    f"the saved windows {saved} are gone: start the broker again, which makes them from the log"
                ) from error
            raise


def _sync(folder: Path) -> None:
    """Bring a folder to disk, before anybody counts on it."""
    for path in (*folder.rglob("*"), folder):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def copies_in(folder: Path) -> list[Path]:
    """Return the backups in a folder, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and _MADE.fullmatch(path.name))


def copy_again(data: Path, target: Path, *, keep: int, clock: Callable[[], int]) -> BackupCopy:
    """Make one more copy in a folder of copies, named by the moment it began, and remove all but the newest `keep`."""
    if keep < 1:
        raise InputError(f"at least one copy must be kept; --keep says {keep}")
    target.mkdir(parents=True, exist_ok=True)
    name = datetime.fromtimestamp(clock() / 1e6, UTC).strftime("%Y%m%dT%H%M%SZ")
    folder, number = target / name, 1
    while folder.exists():
        number += 1
        folder = target / f"{name}-{number}"
    size = backup(data, folder)
    older = tuple(path for path in copies_in(target)[:-keep] if path != folder)
    for path in older:
        shutil.rmtree(path)
    return BackupCopy(folder, size, older)


def keep_copying(
    data: Path, target: Path, *, every: float, keep: int, clock: Callable[[], int], wait: Callable[[float], bool]
) -> Iterator[BackupCopy | Exception]:
    """Make a backup every so many seconds, until `wait` returns that it is over.

    A copy that fails is told of and tried again in its turn; older ones stay.
    """
    over = False
    while not over:
        try:
            yield copy_again(data, target, keep=keep, clock=clock)
        except InputError:
            raise
        except Exception as error:
            yield error
        over = wait(every)
