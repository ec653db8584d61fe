"""The README and the tutorial show what really happens: their commands are run, the program is a doctest."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tools import make_pages

# Blocks marked `city` are checked with the demo itself (tests/cli/demo).
BLOCKS = [block for page in make_pages.PAGES for block in make_pages.blocks(page) if not block.beside]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.command[:40])
def test_the_commands_print_what_is_shown(block: make_pages.Block, tmp_path: Path) -> None:
    """Each command, with the files the README shows, prints what the page shows, scores included (`make pages`)."""
    for name, text in make_pages.files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert make_pages.run(block.command, tmp_path) == block.shown


def test_the_program_does_what_is_shown() -> None:
    """The README's Python is a doctest that passes."""
    results = doctest.testfile(str(make_pages.PAGES[0]), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0
