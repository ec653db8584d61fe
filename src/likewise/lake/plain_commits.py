"""A lake of plain Parquet: a batch's parts count once one file names them all.

    _commits/<query>-<batch>.json   the parts of a batch
    _commits/tidy-<number>.json     parts that were put together or are over: what came, what went
    _commits/base-<number>.json     everything that counted at some time, in place of the files before it

A commit is one file made once, so that a batch is there wholly or not at all, in all tables, and once.
"""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.lake.atomic_create import create_once
from likewise.lake.parts import TABLES, LakePart
from likewise.lake.storage import StoragePath
from likewise.lake.versioned import decoded

FORMAT: Final = "likewise-lake"
TRIES: Final = 5  # looks at commits that are folded meanwhile
VERSION: Final = 2  # 1 had no `base`; everything else is still written so


class LakeCommit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of `_commits`."""

    format: str
    v: int
    added: tuple[LakePart, ...]
    removed: tuple[str, ...] = ()


class LakeCheckpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint: the parts that counted, the last batch of each query and `tidy`, and what was removed last."""

    format: str
    v: int
    parts: tuple[LakePart, ...]
    batches: dict[str, int]
    tidied: int
    removed: tuple[str, ...] = ()


EMPTY_CHECKPOINT: Final = LakeCheckpoint(FORMAT, VERSION, (), {}, -1)


class PlainCommits:
    """The commits of a lake in plain Parquet.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lake = PlainCommits(Path(folder))
    ...     [lake.commit("q", 0, [LakePart("matches", "matches/a.parquet", 1, 9)]) for _ in range(2)]
    [True, False]
    """

    def __init__(self, folder: StoragePath) -> None:
        self.folder = folder

    def committed(self, query: str, batch: int) -> bool:
        """Return whether a batch is committed."""
        return self._path(query, batch).is_file() or self._checkpoint().batches.get(query, -1) >= batch

    def is_committed(self, query: str, batch: int) -> bool:
        """Return whether a batch is committed, so that this is the lake it went to."""
        return self.committed(query, batch)

    def tables_with(self, query: str, batch: int) -> frozenset[str]:
        """Return the tables in which a batch is committed: all or none."""
        return frozenset(TABLES if self.committed(query, batch) else ())

    def commit(self, query: str, batch: int, parts: list[LakePart]) -> bool:
        """Let the parts of a batch count, all at once; False if they do already."""
        made = LakeCommit(FORMAT, 1, tuple(parts))
        return not self.committed(query, batch) and create_once(self._path(query, batch), msgspec.json.encode(made))

    def replace_parts(self, added: list[LakePart], removed: list[str]) -> bool:
        """Let parts count in place of others, all at once; False if somebody else tidied up meanwhile."""
        numbers = [_number(path) for path in self._files() if path.name.startswith("tidy-")]
        number = max([self._checkpoint().tidied, *numbers]) + 1
        made = LakeCommit(FORMAT, 1, tuple(added), tuple(removed))
        path = self.folder / "_commits" / f"tidy-{number:010d}.json"
        if not create_once(path, msgspec.json.encode(made)):
            return False
        base = self._checkpoint()
        counted = {part.path for part in base.parts}
        if number > base.tidied or ({part.path for part in added} <= counted and not counted & set(removed)):
            return True
        path.unlink(missing_ok=True)  # somebody else's of this number was folded meanwhile: ours does not count
        return False

    def checkpoint(self) -> int:
        """Put the commits so far into one file, so that a lake of many batches is read quickly; how many files went.

        A file that `base` stands for no longer counts, whether it is gone already or not.
        """
        files = self._files()
        base = self._checkpoint(files)
        commits = [path for path in files if not _covered(path, base)]
        if len(commits) < 2:
            return 0
        batches = dict(base.batches)
        tidied = base.tidied
        for path in commits:
            query, number = path.name.rpartition("-")[0], _number(path)
            if query == "tidy":
                tidied = max(tidied, number)
            else:
                batches[query] = max(batches.get(query, -1), number)
        number = max((_number(path) for path in files if path.name.startswith("base-")), default=-1) + 1
        removed = tuple(sorted(self.removed_paths()))  # once more: an upkeep that died may have left their files
        made = LakeCheckpoint(FORMAT, VERSION, tuple(_current_parts(base, commits).values()), batches, tidied, removed)
        if not create_once(self.folder / "_commits" / f"base-{number:010d}.json", msgspec.json.encode(made)):
            return 0  # somebody else did so
        for path in files:
            path.unlink(missing_ok=True)
        return len(files)

    def parts(self, table: str | None = None) -> list[LakePart]:
        """Return the current parts, ordered by path."""
        for attempt in range(TRIES):
            try:
                files = self._files()
                base = self._checkpoint(files)
                parts = _current_parts(base, [path for path in files if not _covered(path, base)])
                break
            except FileNotFoundError:  # folded meanwhile: what is there now is looked at
                if attempt == TRIES - 1:
                    raise
        return [parts[path] for path in sorted(parts) if table in (None, parts[path].table)]

    def removed_paths(self) -> set[str]:
        """Return the paths of recently removed parts."""
        commits = [path for path in self._files() if path.name.startswith("tidy-")]
        return {path for commit in commits for path in _read(commit).removed} or set(self._checkpoint().removed)

    def _checkpoint(self, files: list[StoragePath] | None = None) -> LakeCheckpoint:
        """Return the newest checkpoint; an empty one if there is none."""
        for attempt in range(TRIES):
            bases = [path for path in (files or self._files()) if path.name.startswith("base-")]
            try:
                return (
                    decoded(bases[-1], bases[-1].read_bytes(), LakeCheckpoint, current=VERSION)
                    if bases
                    else EMPTY_CHECKPOINT
                )
            except FileNotFoundError:
                if files is not None or attempt == TRIES - 1:
                    raise
        return EMPTY_CHECKPOINT

    def _path(self, query: str, batch: int) -> StoragePath:
        return self.folder / "_commits" / f"{query}-{batch:010d}.json"

    def _files(self) -> list[StoragePath]:
        folder = self.folder / "_commits"
        files = [path for path in folder.iterdir() if path.name.endswith(".json")] if folder.is_dir() else []
        return sorted((path for path in files if not path.name.startswith(".")), key=lambda path: path.name)


def _number(path: StoragePath) -> int:
    return int(path.name.rpartition("-")[2].removesuffix(".json"))


def _covered(path: StoragePath, base: LakeCheckpoint) -> bool:
    """Return whether a checkpoint covers a commit, or is the file itself."""
    name = path.name.rpartition("-")[0]
    if name == "base":
        return True
    return _number(path) <= (base.tidied if name == "tidy" else base.batches.get(name, -1))


def _current_parts(base: LakeCheckpoint, commits: list[StoragePath]) -> dict[str, LakePart]:
    """Return the parts after a checkpoint and the commits since."""
    read = [_read(path) for path in commits]
    parts = {each.path: each for each in base.parts} | {part.path: part for each in read for part in each.added}
    for path in (path for each in read for path in each.removed):
        parts.pop(path, None)
    return parts


def _read(path: StoragePath) -> LakeCommit:
    return decoded(path, path.read_bytes(), LakeCommit, current=VERSION)
