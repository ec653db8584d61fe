"""The package's own map names every module."""

from __future__ import annotations

from pathlib import Path

import likewise.matching


def test_every_module_stands_in_the_packages_map() -> None:
    """Whoever adds a file says where it belongs, and whoever removes one takes it off the map."""
    words = set((likewise.matching.__doc__ or "").replace("`", " ").replace(",", " ").replace(";", " ").split())
    words |= {word.rstrip(":.)") for word in words}
    folder = Path(likewise.matching.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert modules <= words, f"not on the map: {sorted(modules - words)}"
