"""Where a report's parts find their data, and what was chosen."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import ArtefactMissing
from likewise.semantics.library import load_space

if TYPE_CHECKING:
    from rich.console import Console

    from likewise.semantics.space import Space

DEEPEST: Final = 3  # folders below the one named in which files are looked for


class Choices(msgspec.Struct, frozen=True):
    """What can be chosen: the folder of data, thesaurus, space and model, the thematic cells, less of everything."""

    data: str | None = None
    thesaurus: str | None = None
    space: str | None = None
    model: str | None = None
    cells: str | None = None
    master: str | None = None
    quick: bool = False


class Setting:
    """What a part is given: the choices, its own folder, the space, the data, and a console for progress."""

    def __init__(self, choices: Choices, folder: Path, console: Console | None = None) -> None:
        self.choices, self.folder, self.console = choices, folder, console

    @cached_property
    def space(self) -> Space:
        """The space chosen, opened once."""
        return load_space(self.choices.space)

    def within(self, name: str) -> Setting:
        """The same with a folder of its own."""
        inner = Setting(self.choices, self.folder / name, self.console)
        inner.__dict__["space"] = self.space
        return inner

    def found(self, pattern: str) -> Path | None:
        """The first file of that name in the data folder or below it, the nearest first; None if there is none."""
        files = self.all_found(pattern)
        return files[0] if files else None

    def all_found(self, pattern: str) -> list[Path]:
        """Every file of that name, the nearest first, then by name."""
        if self.choices.data is None:
            return []
        folder = Path(self.choices.data)
        levels = ("*/" * depth + pattern for depth in range(DEEPEST + 1))
        return [path for level in levels for path in sorted(folder.glob(level)) if path.is_file()]

    def file(self, pattern: str) -> Path:
        """The file of that name, or a message that says what is missing and what to do."""
        found = self.found(pattern)
        if found is None:
            raise ArtefactMissing(self.missing(pattern))
        return found

    def missing(self, *patterns: str) -> str:
        """What to say if none of these is there.

        >>> Setting(Choices(), Path("out")).missing("lorawan-dev.tsv")
        'this part needs `lorawan-dev.tsv`, and no folder of data was named; give one with --data'
        """
        wanted = ", ".join(f"`{pattern}`" for pattern in patterns)
        if self.choices.data is None:
            return f"this part needs {wanted}, and no folder of data was named; give one with --data"
        return (
            f"this part needs {wanted}, which {self.choices.data} does not hold, nor a folder up to {DEEPEST} below it"
        )
