"""Windows across a restart: saved now and then, and brought up to date from the log.

Matching without windows needs no memory of past events. Top-k windows do: `Matcher.save` writes them to
`windows/TENANT-POSITION`, and a restart loads the folder the store names and replays the log from there
to the last position matched. What that yields was stored before the restart and is let go.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from likewise.broker.delivering.apply_commands import judge
from likewise.broker.delivering.match_events import moment
from likewise.broker.store.entries import EVENT, Entry, Judge, Tick, Withdraw
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.errors import LikewiseError
from likewise.matching.matcher import Matcher
from likewise.model import Event

MakeMatcher = Callable[[Path | None], Matcher]  # as the configuration says, with what a folder keeps


def folder_of(data: Path, tenant: int, position: int) -> Path:
    """Where a tenant's windows as of a position are saved."""
    return data / "windows" / f"{tenant}-{position}"


def save_windows(data: Path, tenant: Tenant, position: int) -> None:
    """Save a tenant's windows as they are at a position, synced."""
    folder = folder_of(data, tenant.number, position)
    tenant.windows.save(folder)
    for path in (*folder.rglob("*"), folder, folder.parent):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def remove_older(data: Path, tenant: int, position: int) -> None:
    """Remove the folders of a tenant other than the one of a position."""
    for folder in (data / "windows").glob(f"{tenant}-*"):
        if folder.name != f"{tenant}-{position}":
            shutil.rmtree(folder)


def load_windows(data: Path | None, tenant: int, windows_from: int | None, make: MakeMatcher) -> Matcher:
    """The windows a tenant's catching up starts with: as saved, else empty.

    Space, measure, threshold and clock are those of the configuration, whatever they were when it was saved.
    """
    if data is None or windows_from is None or not folder_of(data, tenant, windows_from - 1).is_dir():
        return make(None)
    return make(folder_of(data, tenant, windows_from - 1))


def bring_up_to_date(tenant: Tenant, entries: Iterable[Entry], held: dict[int, Held]) -> None:
    """Bring the windows up to date with entries that were matched before a restart."""
    ending: dict[int, list[Held]] = {}
    for each in held.values():
        if each.ended is not None and each.subscription.kind == "top":
            ending.setdefault(each.ended, []).append(each)
    for entry in entries:
        for each in ending.get(entry.position, ()):
            if each.number in tenant.windows:
                tenant.windows.remove(each.number)
        new = held.get(entry.position)
        if new is not None and new.subscription.kind == "top":
            tenant.windows.add(new.number, new.subscription, at=new.added)
        _repeat(tenant, entry, held)


def _repeat(tenant: Tenant, entry: Entry, held: dict[int, Held]) -> None:
    match entry.value:
        case Event() as event if entry.kind == EVENT:
            try:
                tenant.windows.match(entry.position, event, moment(entry))
            except Exception:
                return  # it failed before the restart, too, and is a dead letter since
        case Withdraw(event=position):
            tenant.windows.withdraw(position)
        case Tick():
            tenant.windows.advance(entry.arrival)
        case Judge() as command:
            rejudge(tenant, command, entry.position, held)


def rejudge(tenant: Tenant, command: Judge, position: int, held: dict[int, Held]) -> None:
    """Take feedback in again that was given at a position."""
    for each in held.values():
        queue = tenant.by_number.get(each.subscriber)
        lived = each.number < position and (each.ended is None or each.ended > position)
        if lived and each.id == command.id and queue is not None and queue.id == command.subscriber:
            try:
                judge(tenant, command, each)
            except LikewiseError:
                return  # it was refused before the restart, too
