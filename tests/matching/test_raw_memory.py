"""Compiled kernels and what is kept of them between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from likewise.matching import raw_memory


def test_a_kept_kernel_is_named_after_the_sources_it_was_made_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Any change of the package gives kernels another name, so none is read that fits another layout."""
    (tmp_path / "layout.py").write_text("WIDTH = 1\n")
    monkeypatch.setattr(raw_memory, "__file__", str(tmp_path / "raw_memory.py"))
    names = []
    for width in (1, 2, 1):
        (tmp_path / "layout.py").write_text(f"WIDTH = {width}\n")
        raw_memory.fingerprint.cache_clear()

        def double(number: int) -> int:
            return 2 * number

        names.append(raw_memory.kernel(double).py_func.__qualname__)
    raw_memory.fingerprint.cache_clear()
    assert names[0] == names[2] != names[1]
