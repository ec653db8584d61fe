"""The tables of docs/explanation/sources.md: each feature of a source is shown by a command, which is run here."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from likewise.cli.main import run
from tests.documentation.test_life_of_an_event import ROOT

PAGE = (ROOT / "docs" / "explanation" / "sources.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^\|[^|]*\|[^|]*\| `(likewise [^`]*)` → `([^`]*)` \|", re.MULTILINE)
SHOWN = [(found[1], found[2]) for found in COMMAND.finditer(PAGE)]
SECTIONS = [part.splitlines() for part in PAGE.split("### Section by section: ")[1:]]
FILES = {
    "match.ttl": '<http://e.org/m> <http://e.org/type> "Soccer Match" ; <http://e.org/place> "Johannesburg" ;\n'
    '  <http://e.org/homeTeam> "Spain" .\n',
    "wanted.txt": '{"v":1,"id":"s1","text":"{no2 > 40}"}\n',
    "readings.txt": "{no2: 45}\n",
    "near.txt": '{"v":1,"id":"near","text":"near (?m, <http://e.org/homeTeams>, ?t) radius 1.2 by spelling"}\n',
    "graphs.txt": '{"v":1,"id":"graph","text":"?m <http://e.org/homeTeam> ?t"}\n',
    "vectors.txt": '{"v":1,"id":"v1","text":"[1, 0, *, 1]"}\n',
    "bits.txt": '{"v":1,"payload":{"vector":[1,0,1,1]}}\n',
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("command", "expected"), SHOWN)
def test_a_feature_is_shown_by_its_command(
    command: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert run(shlex.split(command)[1:]) == 0
    assert expected in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("section", SECTIONS, ids=lambda lines: str(lines[0]))
def test_every_row_has_a_command_and_says_what_departs(section: list[str]) -> None:
    rows = [line for line in section if line.startswith("| ")][1:]
    rows = rows[: next((n for n, line in enumerate(rows) if line.count(" | ") != 3), len(rows))]
    assert len(rows) >= 4
    assert all(COMMAND.match(row) and row.rstrip(" |").rpartition("|")[2].strip() for row in rows)


def test_each_of_the_five_sources_has_a_table() -> None:
    assert [lines[0] for lines in SECTIONS] == ["T", "H", "C", "L", "M"]
    assert len(SHOWN) > 30
