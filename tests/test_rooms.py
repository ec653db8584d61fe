"""The packages' rooms: none too full, each with a text that says what it is for and names what is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = (PROJECT / "src" / "likewise", PROJECT / "experiments" / "src" / "likewise_experiments")
ROOMS = sorted({path.parent for package in PACKAGES for path in package.rglob("*.py")})
FILES = 24


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_a_room_holds_few_files_and_says_what_it_is_for(room: Path) -> None:
    """Whoever looks for a line finds its room by the folders' names and the room's text."""
    files = [path for path in room.glob("*.py") if path.name != "__init__.py"]
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert len(files) <= FILES, "rooms before prefixes: give some of these files a room of their own"
    assert len(text) > 40, "say in a paragraph what the room is for"


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_a_room_names_nothing_that_is_gone(room: Path) -> None:
    """A plain word in backticks is a file or a room here, or something its files speak of."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    here = {path.stem for path in room.glob("*.py")} | {path.name for path in room.iterdir() if path.is_dir()}
    named = set(re.findall(r"`([a-z_]+)`", text))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in room.glob("*.py") if path.name != "__init__.py")
    gone = {name for name in named - here if not re.search(rf"\b{name}\b", sources) and name not in ("all", room.name)}
    assert not gone, f"not in {room.name}: {sorted(gone)}"
