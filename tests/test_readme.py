"""The README and the tutorial show what really happens: their commands are run, the program is a doctest."""

from __future__ import annotations

import doctest
import json
import re
import tomllib
from pathlib import Path

import pytest

import likewise as lw
from tools import make_pages

README = make_pages.PAGES[0].read_text(encoding="utf-8")
# Blocks marked `city` are checked with the demo itself (tests/cli/demo).
BLOCKS = [block for page in make_pages.PAGES for block in make_pages.blocks(page) if not block.beside]
DEVICES = re.findall(r"^\| `(\{.*\})` \| (yes, ([\d.]+)|no) \| (.*) \|$", README, re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.command[:40])
def test_the_commands_print_what_is_shown(block: make_pages.Block, tmp_path: Path) -> None:
    """Each command, with the files the README shows, prints what the page shows, scores included (`make pages`)."""
    for name, text in make_pages.files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert make_pages.run(block.command, tmp_path) == block.shown


def test_the_program_does_what_is_shown() -> None:
    """The README's Python is a doctest that passes."""
    results = doctest.testfile(str(make_pages.PAGES[0]), module_relative=False)
    assert results.attempted >= 4
    assert results.failed == 0


def test_the_table_of_devices_is_what_the_matcher_says() -> None:
    """Each row has the answer, the score and the reason of an explanation."""
    assert len(DEVICES) == 4
    matcher = lw.Matcher()
    warm = matcher.add("{temperature~ > 25 degC, city = Galway}")
    for device, answer, score, why in DEVICES:
        explanation = matcher.explain({**json.loads(device), "city": "Galway"}, warm)
        assert (explanation.verdict == "match") is answer.startswith("yes"), device
        assert not score or f"{explanation.score:.2f}" == score, device
        assert why in str(explanation), device


def test_the_readme_is_read_in_some_minutes() -> None:
    """At most 120 lines, code on the first screen, one picture."""
    lines = README.splitlines()
    assert len(lines) <= 120
    assert "```python" in lines[:10]
    assert len(re.findall(r"!\[", README)) == 1


def test_what_the_readme_installs_is_an_extra() -> None:
    """Each extra of a command `pip install` exists."""
    project = tomllib.loads((make_pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = re.findall(r'pip install "likewise\[([a-z,]+)\]"', README)
    assert installed
    assert {extra for each in installed for extra in each.split(",")} <= set(project["optional-dependencies"])
