"""The README and the tutorial show what really happens: their commands are run, the program is a doctest."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from likewise.cli import main

README = Path(__file__).resolve().parent.parent / "README.md"
TUTORIAL = README.parent / "docs" / "tutorial.md"  # its blocks marked `city` are checked with the demo itself


def blocks(kind: str, page: Path = README) -> list[tuple[str, str]]:
    """The fenced blocks of a kind: what stands beside the kind, and the text."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{kind} ?([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def without_scores(text: str) -> list[str]:
    """The lines with every score between 0 and 1 made equal: they move when measures get better."""
    tidy = "\n".join(re.sub(" +", " ", line.rstrip()) for line in text.splitlines()).strip("\n")
    return re.sub(r"\b0\.\d{1,3}\b(?! mg)", "0.x", tidy).splitlines()


@pytest.mark.parametrize(
    "block",
    [text for page in (README, TUTORIAL) for beside, text in blocks("console", page) if not beside],
    ids=lambda text: text.split()[2],
)
def test_the_commands_print_what_is_shown(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command, with the files the README shows, prints what the page shows, but for scores."""
    for name, text in blocks("text"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    command, _, shown = block.partition("\n")
    main.run(shlex.split(command.removeprefix("$ likewise ")))
    assert without_scores(capsys.readouterr().out) == without_scores(shown)


def test_the_program_does_what_is_shown() -> None:
    """The README's Python is a doctest that passes."""
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted >= 5
    assert results.failed == 0
