"""`likewise bench`: scripts of a source checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from likewise.cli import bench, main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two benchmarks, one of which misses its promise, and a module that is none."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    script = 'import sys\n\nif __name__ == "__main__":\n    print({0!r}, *sys.argv[1:])\n    raise SystemExit({1})\n'
    (folder / "first.py").write_text(script.format("one", 0))
    (folder / "second.py").write_text(script.format("two", 1))
    (folder / "shared.py").write_text("VALUE = 1\n")
    monkeypatch.setattr(bench, "benchmarks_folder", lambda: folder)
    return folder


def test_scripts_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only scripts are benchmarks."""
    assert main.run(["bench", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == ["first", "second"]


def test_one_runs_with_its_own_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands after `--` reaches the script."""
    assert main.run(["bench", "first", "--", "--count", "3"]) == 0
    assert capsys.readouterr().out == "one --count 3\n"


def test_a_missed_promise_ends_with_1_and_the_others_still_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All are run, and the exit code says that one missed."""
    (folder / "third.py").write_text('\nif __name__ == "__main__":\n    print("three")\n')
    assert main.run(["bench"]) == 1
    assert capsys.readouterr().out.splitlines() == ["== first", "one", "== second", "two", "== third", "three"]


def test_an_unknown_benchmark_is_bad_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is none is an error."""
    assert main.run(["bench", "thrid"]) == 2
    assert "thrid" in capsys.readouterr().err


def test_without_a_checkout_it_says_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An installed package has no benchmarks, and says so."""
    monkeypatch.setattr("likewise.__file__", str(tmp_path / "site-packages" / "likewise" / "__init__.py"))
    monkeypatch.chdir(tmp_path)
    assert main.run(["bench"]) == 3
    assert "source repository" in capsys.readouterr().err
