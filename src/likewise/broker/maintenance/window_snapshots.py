"""Save windows, and replay the log to bring them up to date after a restart.

Matching without windows needs no memory of past events. Top-k windows do: `Matcher.save` writes them to
`windows/TENANT-POSITION`, and a restart loads the folder the store names and replays the log from there
to the last position matched. What that yields was stored before the restart and is let go.

`checksums` beside the saved files says what each of them must be. Windows that are missing or damaged are made
again from what the log holds: nothing comes twice then, but what was over or withdrawn before is not in them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import deque
from collections.abc import Callable, Container, Iterable
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
import structlog

from likewise.broker.dispatch.commands import apply_absence_command, apply_feedback_command, rename_in_alerts
from likewise.broker.dispatch.match_events import match_alerts, match_windows
from likewise.broker.log.checksums import refuse
from likewise.broker.log.entries import (
    EVENT,
    AnnounceCommand,
    Entry,
    ExpectCommand,
    JudgeCommand,
    RenameSourceCommand,
    ResumeCommand,
    RevokeCommand,
    SuspendAbsenceCommand,
    TickCommand,
    WithdrawCommand,
)
from likewise.broker.log.files import DATABASE
from likewise.broker.log.registry_tables import read_subscriptions, read_tenants
from likewise.broker.log.rows import SubscriptionRow
from likewise.broker.log.tables import StoreTables
from likewise.broker.pool.migration import saved_shards
from likewise.broker.tenants.numbered_matcher import NumberedMatch
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.errors import ArtefactDamaged, ArtefactMissing, Unavailable
from likewise.matching.matcher import Matcher
from likewise.model import Event
from likewise.model.alerts.notification import Key

ENDS: Final = ("cleared", "returned")
_log = structlog.get_logger("likewise.windows")
H = TypeVar("H", StoredSubscription, SubscriptionRow)
CHECKSUMS: Final = "checksums"
ALERTS: Final = "alerts"
MakeMatcher = Callable[[Path | None], Matcher]  # as the configuration says, with what a folder keeps


def folder_of(data: Path, tenant: int, position: int) -> Path:
    """Return the folder of a tenant's windows as of a position."""
    return data / "windows" / f"{tenant}-{position}"


class _Checksums(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file `checksums`: the SHA-256 of every file, and the newest arrival that the windows have processed."""

    files: dict[str, str]
    newest_arrival: int
    v: int = 1


class LoadedWindows(NamedTuple):
    """Windows as they were saved; empty if they were not `found` whole."""

    matcher: Matcher
    complete: bool
    newest_arrival: int = 0
    alerts: Matcher | None = None
    shares: tuple[list[Path], list[Path]] = ([], [])  # where shares of windows, and of alerts, were saved


def save_windows(data: Path, tenant: Tenant, position: int) -> None:
    """Save a tenant's windows as they are at a position, synced."""
    if not (data / DATABASE).is_file():
        raise Unavailable(f"the store in {data} is gone, so its windows are not saved")
    folder = folder_of(data, tenant.number, position)
    tenant.windows.save(folder)
    if len(tenant.alerts):
        tenant.alerts.save(folder / ALERTS)
    checksums = _Checksums(_digests(folder), tenant.newest_arrival)
    (folder / CHECKSUMS).write_bytes(_with_checksum(checksums))
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


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / CHECKSUMS)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _with_checksum(checksums: _Checksums) -> bytes:
    """Return a line of JSON followed by its SHA-256."""
    line = msgspec.json.encode(checksums) + b"\n"
    return line + hashlib.sha256(line).hexdigest().encode() + b"\n"


def check_windows(folder: Path) -> int:
    """Refuse saved windows that are not what was written; the newest arrival they have seen.

    Those of a release that wrote no checksums are taken as they are.
    """
    if not (folder / CHECKSUMS).is_file():
        return 0
    raw = (folder / CHECKSUMS).read_bytes()
    try:
        checksums = msgspec.json.decode(raw.partition(b"\n")[0], type=_Checksums)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise refuse(f"{folder / CHECKSUMS} ({error})") from None
    if raw != _with_checksum(checksums):
        raise refuse(str(folder / CHECKSUMS))
    digests = _digests(folder)
    for name in sorted(checksums.files.keys() | digests.keys()):
        if checksums.files.get(name) != digests.get(name):
            raise refuse(str(folder / name))
    return checksums.newest_arrival


def load_windows(data: Path | None, tenant: int, windows_from: int | None, make: MakeMatcher) -> LoadedWindows:
    """Load a tenant's saved windows; empty ones if there are none.

    Space, measure, threshold and clock are those of the configuration, whatever they were when it was saved.
    """
    if data is None or windows_from is None:
        return LoadedWindows(make(None), False)
    folder = folder_of(data, tenant, windows_from - 1)
    if not folder.is_dir():
        return LoadedWindows(make(None), False)
    try:
        arrival = check_windows(folder)
        windows = make(folder)
        alerts = None
        if (folder / ALERTS).is_dir():
            alerts = windows.alike(folder / ALERTS)
        return LoadedWindows(windows, True, arrival, alerts, (saved_shards(folder), saved_shards(folder / ALERTS)))
    except (ArtefactDamaged, ArtefactMissing, OSError) as error:
        _log.error("saved_windows_damaged", folder=str(folder), error=str(error))
        return LoadedWindows(make(None), False)


def verify_windows(tables: StoreTables, data: Path) -> int:
    """Check the saved windows of every tenant; how many there are. Those the store needs must be there."""
    count = 0
    for row in read_tenants(tables):
        start = row.windows_from
        while start is not None:
            folder, needed = folder_of(data, row.number, start - 1), remembering_rows(tables, row.number, start)
            try:
                if folder.is_dir():
                    check_windows(folder)
                    count += 1
                elif needed:
                    raise ArtefactMissing(
                        f"the windows of tenant {row.name!r} are not in {folder}: the next start makes them again from "
                        "the log; restore a copy if the log may lack something"
                    )
                break
            except (ArtefactDamaged, ArtefactMissing, OSError):
                moved = next(r.windows_from for r in read_tenants(tables) if r.number == row.number)
                if moved == start:
                    raise
                start = moved  # a running broker saved them anew meanwhile
    return count


def remembering_rows(tables: StoreTables, tenant: int, windows_from: int) -> bool:
    """Return whether a tenant has windows that reach back before a position."""
    return bool(remembering(read_subscriptions(tables, tenant), windows_from))


def remembering(subscriptions: Iterable[H], windows_from: int) -> list[H]:
    """Return the subscriptions whose windows, or alerts whose keys, reach back before a position."""
    return [
        each
        for each in subscriptions
        if each.subscription.remembers
        and each.number < windows_from
        and (each.ended is None or each.ended >= windows_from)
    ]


def bring_up_to_date(
    tenant: Tenant,
    entries: Iterable[Entry],
    subscriptions: dict[int, StoredSubscription],
    start: int,
    judged: Container[int],
) -> list[NumberedMatch]:
    """Bring the windows up to date with entries from a position on that were matched before a restart.

    Return the alarms that stand by what was repeated: whoever repeats them knows which of them were sent.

    Commands from before `windows_from` are no longer in the log: what they did is known from `held`, and from what was
    withdrawn since. Of feedback, what was `judged` at a position counts; the rest was forgotten with its subscriber.
    """
    tops = [each for each in subscriptions.values() if each.subscription.remembers]
    begun = [(each.number, 0, each.number) for each in tops if each.number >= start]
    ended = [(each.ended, 1, each.number) for each in tops if each.ended is not None and each.ended >= start]
    changes, windows_from = deque(sorted(begun + ended)), tenant.windows_from or 0
    standing: dict[tuple[int, Key], NumberedMatch] = {}
    for entry in entries:
        while changes and changes[0][0] <= entry.position:
            _change(tenant, subscriptions[changes[0][2]], ends=changes.popleft()[1] == 1)
        if not isinstance(entry.value, JudgeCommand) or (windows_from <= entry.position and entry.position in judged):
            for each in _repeat(tenant, entry, subscriptions):
                if each.notification is not None and each.cause in ENDS:
                    standing.pop((each.number, each.notification.key), None)
                elif each.notification is not None and each.cause != "digest":
                    standing[each.number, each.notification.key] = each
        if entry.position < windows_from and entry.position in tenant.withdrawn:
            tenant.windows.withdraw(entry.position)
            tenant.alerts.withdraw(entry.position)
    for _, ends, number in changes:
        _change(tenant, subscriptions[number], ends=ends == 1)
    return list(standing.values())


def _change(tenant: Tenant, stored: StoredSubscription, *, ends: bool) -> None:
    matcher = tenant.matcher_of(stored)
    if not ends:
        matcher.add(stored.number, stored.subscription, at=stored.added)
    elif stored.number in matcher:  # its validity may have ended it
        matcher.remove(stored.number)


def _repeat(tenant: Tenant, entry: Entry, subscriptions: dict[int, StoredSubscription]) -> list[NumberedMatch]:
    """Do again what was done, and return what alerts send by it.

    What fails failed before the restart, too, and whoever asked then was told.
    """
    try:
        match entry.value:
            case Event() if entry.kind == EVENT:
                if len(tenant.windows):
                    match_windows(tenant, entry)
                if len(tenant.alerts):
                    return match_alerts(tenant, entry)
            case WithdrawCommand(event=position):
                tenant.windows.withdraw(position)
                return tenant.alerts.withdraw(position)
            case TickCommand():
                now = tenant.window_time(entry.arrival)
                tenant.windows.advance(now)
                return tenant.alerts.advance(now)
            case (
                ResumeCommand()
                | SuspendAbsenceCommand()
                | ExpectCommand()
                | AnnounceCommand()
                | RevokeCommand() as command
            ):
                apply_absence_command(tenant, command, entry)
            case RenameSourceCommand() as command:
                rename_in_alerts(tenant, command)
            case JudgeCommand() as command:
                rejudge(tenant, command, entry.position, subscriptions)
    except Exception as error:
        _log.warning(
            "window_entry_failed_again",
            position=entry.position,
            tenant=tenant.name,
            error=f"{type(error).__name__}: {error}",
        )
    return []


def rejudge(tenant: Tenant, command: JudgeCommand, position: int, subscriptions: dict[int, StoredSubscription]) -> None:
    """Take feedback in again that was given at a position."""
    for each in subscriptions.values():
        queue = tenant.by_number.get(each.subscriber)
        lived = each.number < position and (each.ended is None or each.ended > position)
        if lived and each.id == command.id and queue is not None and queue.id == command.subscriber:
            try:
                apply_feedback_command(tenant, command, each)
            except Exception as error:  # it was refused, or failed, before the restart, too
                _log.warning(
                    "feedback_failed_again",
                    position=position,
                    tenant=tenant.name,
                    error=f"{type(error).__name__}: {error}",
                )
                return
