"""The change log of subscriptions: a folder with several readers and writers, where each change is a version.

    snapshots/00000000000000000020.jsonl   what was held at version 20: a line about it, then one a subscription
    changes/00000000000000000021.json      what changed from version 20 to 21
    matchers/00000000000000000021-.../     saved matchers of whoever runs them on Spark, made again where one is missing

A version's file is made once and never changes, so whoever pins a version sees the same for ever, and two writers
cannot make the same version: the second looks again and makes the next. A subscription's number is dealt out when it
comes and is never another one's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing, InputError, UnknownId
from likewise.formats.json.subscriptions import with_default_id
from likewise.lake.atomic_create import create_once, remove_below
from likewise.lake.storage import StoragePath, files_below, storage_path
from likewise.lake.subscription_snapshot import (
    NOTHING_KNOWN,
    Change,
    LoggedSubscription,
    SnapshotKnowledge,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionSnapshot,
)
from likewise.lake.versioned import decoded
from likewise.model import Subscription

FORMAT: Final = "likewise-subscriptions"
VERSION: Final = 2  # 1 held subscriptions alone; what has nothing else is still written so
KEPT: Final = 100  # versions that a compaction leaves, for who has pinned one
MATCHERS: Final = "matchers"
T = TypeVar("T")


class Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of `_commits`."""

    format: str
    v: int
    version: int
    changes: tuple[Change, ...]


class SnapshotHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line of a snapshot."""

    format: str
    v: int
    version: int
    next_number: int
    subscriptions: int
    known: SnapshotKnowledge | None = None


class ChangeLog:
    """The change log in a folder, which need not exist before the first change.

    >>> import tempfile
    >>> from likewise.language import parse
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = ChangeLog(folder)
    ...     _ = log.add([parse("{t > 25}", id="warm")], at=0), log.add([parse("{t > 26}", id="warm")], at=0)
    ...     [(h.version, [n for n in h.subscriptions]) for h in (log.snapshot(1), log.snapshot())]
    [(1, [0]), (2, [1])]
    """

    def __init__(self, folder: str | StoragePath) -> None:
        self.folder = storage_path(folder)
        self._last = SubscriptionSnapshot()  # what was looked at last, to go on from

    @classmethod
    def opened(cls, folder: str | StoragePath) -> ChangeLog:
        """Open the change log of a folder that must exist."""
        log = cls(folder)
        if not log.is_there():
            raise ArtefactMissing(
                f"there is no change log of subscriptions in {folder}; `likewise stream subscriptions add` makes one"
            )
        return log

    def is_there(self) -> bool:
        """Return whether anything was ever written."""
        return bool(_numbers(self.folder / "changes", ".json") or _numbers(self.folder / "snapshots", ".jsonl"))

    # -- reading --------------------------------------------------------------------------------

    def newest(self) -> int:
        """Return the newest version; 0 before the first change."""
        changes, snapshots = _numbers(self.folder / "changes", ".json"), self._snapshots()
        return max([0, *changes[-1:], *snapshots[-1:]])

    def snapshot(self, version: int | None = None) -> SubscriptionSnapshot:
        """Return the snapshot of a version, by default the newest; raise if it is gone or not there yet."""
        newest = self.newest()
        version = newest if version is None else version
        if not 0 <= version <= newest:
            raise InputError(f"{self.folder} has the versions up to {newest}; there is no version {version}")
        snapshot = self._last if self._last.version <= version else SubscriptionSnapshot()
        before = [each for each in self._snapshots() if snapshot.version < each <= version]
        if before and (snapshot.version == 0 or not self._path(snapshot.version + 1).is_file()):
            snapshot = self._snapshot(before[-1])
        while snapshot.version < version:
            snapshot = snapshot.after(self.changes(snapshot.version + 1))
        self._last = snapshot
        return snapshot

    def changes(self, version: int) -> tuple[Change, ...]:
        """Return the changes that made a version."""
        path = self._path(version)
        if not path.is_file():
            oldest = min(self._snapshots(), default=0)
            raise ArtefactMissing(
                f"version {version} of the subscriptions in {self.folder} is no longer kept; the oldest is {oldest}. "
                "Compact with a larger --keep where versions are looked at later"
            )
        record = _decoded(path, path.read_bytes(), Changes)
        if record.version != version:
            raise ArtefactDamaged(f"{path} says it is version {record.version}; restore a copy")
        return record.changes

    def _path(self, version: int) -> StoragePath:
        return self.folder / "changes" / f"{version:020d}.json"

    def _snapshots(self) -> list[int]:
        return _numbers(self.folder / "snapshots", ".jsonl")

    def _snapshot(self, version: int) -> SubscriptionSnapshot:
        path = self.folder / "snapshots" / f"{version:020d}.jsonl"
        head, *lines = path.read_bytes().splitlines()
        decoded_head = _decoded(path, head, SnapshotHead)
        if len(lines) != decoded_head.subscriptions or decoded_head.version != version:
            raise ArtefactDamaged(
                f"{path} holds {len(lines)} subscriptions of version {decoded_head.version}, "
                f"and says {decoded_head.subscriptions} of {version}; restore a copy"
            )
        subscriptions = [_decoded(path, line, LoggedSubscription) for line in lines]
        return SubscriptionSnapshot(
            version, decoded_head.next_number, subscriptions, decoded_head.known or NOTHING_KNOWN
        )

    # -- changing -------------------------------------------------------------------------------

    def add(self, subscriptions: Iterable[Subscription], at: int) -> SubscriptionSnapshot:
        """Hold subscriptions from the moment `at` on, in place of those with the same id; what is held then.

        What is held already, word for word, is no change.
        """
        added = {each.id: each for each in map(with_default_id, subscriptions)}

        def changes(snapshot: SubscriptionSnapshot) -> list[Change]:
            records: list[Change] = []
            number = snapshot.next_number
            for id, subscription in added.items():
                former = snapshot.number(id)
                if former is not None:
                    if snapshot.subscriptions[former].subscription == subscription:
                        continue
                    records.append(SubscriptionRemoved(former, id))
                records.append(SubscriptionAdded(number, subscription, at))
                number += 1
            return records

        return self.change(changes)

    def remove(self, ids: Iterable[str]) -> SubscriptionSnapshot:
        """Hold some subscriptions no longer, or raise `UnknownId` and change nothing; what is held then."""
        unwanted = list(dict.fromkeys(ids))

        def changes(snapshot: SubscriptionSnapshot) -> list[Change]:
            records: list[Change] = []
            for id in unwanted:
                number = snapshot.number(id)
                if number is None:
                    raise UnknownId(id)
                records.append(SubscriptionRemoved(number, id))
            return records

        return self.change(changes)

    def change(self, changes: Callable[[SubscriptionSnapshot], Sequence[Change]]) -> SubscriptionSnapshot:
        """Make the next version, of what `changes` says of what is held; none if it says nothing.

        Another writer's version that came first is looked at, and ours comes after it.
        """
        while True:
            snapshot = self.snapshot()
            requested = changes(snapshot)
            if not requested:
                return snapshot
            upcoming = snapshot.after(requested)
            v = VERSION if any(isinstance(each, SnapshotKnowledge) for each in requested) else 1
            made = Changes(FORMAT, v, upcoming.version, tuple(requested))
            if create_once(self._path(upcoming.version), msgspec.json.encode(made)):
                self._last = upcoming
                return upcoming

    def compact(self, keep: int = KEPT) -> int:
        """Write a snapshot, and forget what lies more than `keep` versions back; how many files went."""
        snapshot = self.snapshot()
        known = None if snapshot.known == NOTHING_KNOWN else snapshot.known
        v = 1 if known is None else VERSION
        head = SnapshotHead(FORMAT, v, snapshot.version, snapshot.next_number, len(snapshot.subscriptions), known)
        lines = [msgspec.json.encode(each) for each in (head, *snapshot.subscriptions.values())]
        create_once(self.folder / "snapshots" / f"{snapshot.version:020d}.jsonl", b"\n".join(lines) + b"\n")
        # What is kept must be reachable from a snapshot that is kept, else from the very first change.
        first = max((each for each in self._snapshots() if each <= snapshot.version - keep), default=0)
        removed = [self._path(each) for each in _numbers(self.folder / "changes", ".json") if each <= first]
        removed += [self.folder / "snapshots" / f"{each:020d}.jsonl" for each in self._snapshots() if each < first]
        for path in removed:
            path.unlink(missing_ok=True)
        return len(removed) + sum(map(remove_below, self._saved_before(snapshot.version - keep)))

    def _saved_before(self, version: int) -> list[StoragePath]:
        """Return the saved matchers of earlier versions."""
        folder = self.folder / MATCHERS
        saved = sorted({name.partition("/")[0] for name, _ in files_below(folder)})
        return [folder / name for name in saved if name[:20].isdecimal() and int(name[:20]) < version]


def _numbers(folder: StoragePath, ending: str) -> list[int]:
    """Return the versions that have a file in a folder, in order."""
    if not folder.is_dir():
        return []
    names = (path.name.removesuffix(ending) for path in folder.iterdir() if path.name.endswith(ending))
    return sorted(int(name) for name in names if name.isdecimal())


def _decoded(path: StoragePath, data: bytes, kind: type[T]) -> T:
    return decoded(path, data, kind, current=VERSION, format=FORMAT)
