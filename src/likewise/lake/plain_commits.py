"""A lake of plain Parquet: a batch's parts count once one file names them all.

    _commits/<query>-<batch>.json   the parts of a batch
    _commits/tidy-<number>.json     parts that were put together or are over: what came, what went

A commit is one file made once, so that a batch is there wholly or not at all, in all tables, and once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactVersion
from likewise.lake.once import create_once
from likewise.lake.parts import Part

FORMAT: Final = "likewise-lake"
VERSION: Final = 1


class Commit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of `_commits`."""

    format: str
    v: int
    added: tuple[Part, ...]
    removed: tuple[str, ...] = ()


class PlainCommits:
    """The commits of a lake in plain Parquet.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lake = PlainCommits(Path(folder))
    ...     [lake.commit("q", 0, [Part("matches", "matches/a.parquet", 1, 9)]) for _ in range(2)]
    [True, False]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def committed(self, query: str, batch: int) -> bool:
        """Whether a batch is there."""
        return self._path(query, batch).is_file()

    def commit(self, query: str, batch: int, parts: list[Part]) -> bool:
        """Let the parts of a batch count, all at once; False if they do already."""
        made = Commit(FORMAT, VERSION, tuple(parts))
        return create_once(self._path(query, batch), msgspec.json.encode(made))

    def tidy(self, added: list[Part], removed: list[str]) -> bool:
        """Let parts count in place of others, all at once; False if somebody else tidied up meanwhile."""
        number = sum(path.name.startswith("tidy-") for path in self._commits())
        made = Commit(FORMAT, VERSION, tuple(added), tuple(removed))
        return create_once(self.folder / "_commits" / f"tidy-{number:010d}.json", msgspec.json.encode(made))

    def parts(self, table: str | None = None) -> list[Part]:
        """The parts that count, in the order of their paths."""
        found: dict[str, Part] = {}
        for path in self._commits():
            found |= {each.path: each for each in _read(path).added}
        gone = self.gone()
        return [found[path] for path in sorted(found) if path not in gone and table in (None, found[path].table)]

    def gone(self) -> set[str]:
        """The paths of parts that counted once."""
        return {path for commit in self._commits() if commit.name.startswith("tidy-") for path in _read(commit).removed}

    def _path(self, query: str, batch: int) -> Path:
        return self.folder / "_commits" / f"{query}-{batch:010d}.json"

    def _commits(self) -> list[Path]:
        return sorted((self.folder / "_commits").glob("[!.]*.json"))


def _read(path: Path) -> Commit:
    try:
        raw = msgspec.json.decode(path.read_bytes())
        if isinstance(raw, dict) and isinstance(raw.get("v"), int) and raw["v"] > VERSION:
            raise ArtefactVersion(
                f"{path} was written in version {raw['v']}; this one reads up to {VERSION}: upgrade likewise"
            )
        return msgspec.convert(raw, Commit)
    except msgspec.MsgspecError as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy") from None
