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


FIGURES = 'import json\n\nif __name__ == "__main__":\n    print(json.dumps({0!r}))\n'


def measure(folder: Path, figures: object, *options: str) -> int:
    """Record a benchmark that prints these figures."""
    (folder / "first.py").write_text(FIGURES.format(figures))
    return main.run(["bench", "first", "--record", *options])


def test_recorded_figures_are_kept_a_line_a_run(folder: Path) -> None:
    """A line says what was measured, at which commit, where and with which options."""
    assert measure(folder, {"rows": [{"engine": "bitmap", "us": 4}, {"engine": "naive", "us": 90}], "fast": True}) == 0
    assert measure(folder, {"seconds": 2}) == 0
    first, second = (json.loads(line) for line in (folder / "history" / "first.jsonl").read_text().splitlines())
    assert first["figures"] == {"rows.bitmap.us": 4, "rows.naive.us": 90}
    assert second["figures"] == {"seconds": 2}
    assert {"benchmark", "commit", "when", "machine", "arguments", "missed"} < first.keys()


def test_a_slow_down_is_seen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Times that grow and rates that fall by more than a fifth end with 1; what got better does not."""
    for _ in range(3):
        assert measure(folder, {"match_us": 10, "events/s": 1000, "matches": 7}) == 0
    assert measure(folder, {"match_us": 5, "events/s": 900, "matches": 70}) == 0
    capsys.readouterr()
    assert measure(folder, {"match_us": 13, "events/s": 700, "matches": 7}, "--json") == 1
    changes = json.loads(capsys.readouterr().out)["first"]["changes"]
    assert {each["figure"]: each["worse"] for each in changes} == {"match_us": True, "events/s": True, "matches": False}
    assert main.run(["bench", "--history"]) == 1
    assert "match_us: 10 -> 13 (1.30 times)  worse" in capsys.readouterr().out


def test_other_options_are_another_measurement(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only lines of the same options and machine are compared."""
    assert measure(folder, {"match_us": 10}) == 0
    assert measure(folder, {"match_us": 100}, "--", "--count", "10") == 0
    assert "nothing of the same machine and options" in capsys.readouterr().out


def test_a_benchmark_without_json_is_not_recorded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so, and keeps nothing."""
    assert main.run(["bench", "second", "--record"]) == 2
    assert "printed no JSON figures" in capsys.readouterr().err
    assert not (folder / "history").exists()


def test_a_damaged_history_names_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that was cut off is an error, not a measurement less."""
    assert measure(folder, {"match_us": 10}) == 0
    with (folder / "history" / "first.jsonl").open("a") as file:
        file.write('{"benchmark": "fir')
    assert main.run(["bench", "--history"]) == 3
    assert "line 2" in capsys.readouterr().err


def test_an_empty_history_says_how_to_begin(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing recorded is no error."""
    assert main.run(["bench", "--history"]) == 0
    assert "--record" in capsys.readouterr().out
