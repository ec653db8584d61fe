"""The sources that a kernel is made from: they name the mark that all kernels are stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from likewise.kernels import cache as made_from
from likewise.kernels.cache import fingerprint, sources


def test_the_fingerprint_covers_every_source_a_kernel_is_made_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A change two imports away, in a sub-folder, is another fingerprint; a file that it does not import is not."""
    (tmp_path / "rooms" / "inner").mkdir(parents=True)
    (tmp_path / "rooms" / "__init__.py").write_text("")
    (tmp_path / "rooms" / "inner" / "__init__.py").write_text("")
    (tmp_path / "kernels.py").write_text("from likewise.rooms import block\n")
    (tmp_path / "rooms" / "block.py").write_text("from likewise.rooms.inner.layout import (\n    WIDTH,\n)\n")
    (tmp_path / "other.py").write_text("nobody = 'imports this'\n")
    monkeypatch.setattr(made_from, "ROOT", tmp_path)
    monkeypatch.setattr(made_from, "find_spec", lambda name: type("Spec", (), {"origin": str(tmp_path / "kernels.py")}))
    names = []
    for width, other in ((1, 1), (2, 1), (1, 2)):
        (tmp_path / "rooms" / "inner" / "layout.py").write_text(f"WIDTH = {width}\n")
        (tmp_path / "other.py").write_text(f"nobody_imports = {other}\n")
        sources.cache_clear()
        fingerprint.cache_clear()
        names.append(fingerprint("likewise.kernels"))
    sources.cache_clear()
    fingerprint.cache_clear()
    assert names[0] == names[2] != names[1]


def test_the_matching_kernel_is_made_from_the_layout_it_reads() -> None:
    """What the engine's arrays look like is said in other files of its room."""
    names = {path.name for path in sources("likewise.matching.bitmap.match_kernels")}
    assert {"match_kernels.py", "layout.py", "condition_rows.py", "compile.py"} <= names


def test_a_kernel_of_the_experiments_is_made_from_files_of_both_packages() -> None:
    """Each package is looked for in its own folder: a file of the other with the same name is not taken for it."""
    found = sources("likewise_experiments.thematic.load")
    names = {"/".join(path.parts[-3:]) for path in found}
    assert "likewise_experiments/thematic/load.py" in names
    assert any(name.startswith("likewise_experiments/") and not name.endswith("load.py") for name in names)
    assert any("/likewise/" in path.as_posix() for path in found)
