"""`likewise concepts`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from likewise.cli.main import run


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CONCEPTS", str(tmp_path / "concepts"))


def test_a_name_is_shown_as_it_is_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["concepts", "show", "waterTemp", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kinds"] == ["temperature"]
    assert [q["name"] for q in found["qualifiers"]] == ["water"]


def test_two_names_are_compared_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["concepts", "show", "pipe temperature", "--against", "air_temp"]) == 0
    assert "you ask for the pipe's, this is the air's" in capsys.readouterr().out


def test_concepts_are_listed_by_sort(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["concepts", "list", "--sort", "role", "--json"]) == 0
    assert "setpoint" in [c["name"] for c in json.loads(capsys.readouterr().out)]
    assert run(["concepts", "list", "--sort", "wish"]) != 0


def test_a_vocabulary_is_added_and_taken_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plant.csv"
    file.write_text("sort,name,labels\nkind,temperature,qwirk\n")
    assert run(["concepts", "add", str(file)]) == 0
    assert run(["concepts", "list", "--source", "plant", "--json"]) == 0
    assert "qwirk" in capsys.readouterr().out
    assert run(["concepts", "add", "plant", "--remove"]) == 0
    file.write_text("sort,name\nkid,a\n")
    assert run(["concepts", "add", str(file)]) != 0
    assert "line 2" in capsys.readouterr().err


def test_a_build_without_a_source_says_what_to_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["concepts", "build", "--out", str(tmp_path / "x.csv")]) != 0
    assert "--brick" in capsys.readouterr().err
