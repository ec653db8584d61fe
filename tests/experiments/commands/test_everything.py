"""`likewise eval all` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from likewise.cli.main import run
from likewise_experiments.report import everything as report
from likewise_experiments.report.parts import Part
from likewise_experiments.report.sections import Glance, Section


def _one(setting: object) -> Section:
    return Section("one", "One", glances=(Glance("F1", "0.5", "0.4 aimed at"),))


@pytest.fixture
def one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of one quick part."""
    monkeypatch.setitem(report.everything.__kwdefaults__ or {}, "parts", [Part("one", "One", (), _one)])


@pytest.mark.usefixtures("one_part")
def test_the_page_is_written_and_figures_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For people a table and where the page is; for machines JSON on standard output alone."""
    assert run(["eval", "all", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "0.4 aimed at" in said.out
    assert "1 of 1: One" in said.err
    assert (tmp_path / "report.html").is_file()
    assert run(["eval", "all", "--out", str(tmp_path), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)[0]["glances"][0]["here"] == "0.5"
    assert "taken from an earlier run" in said.err


def test_a_folder_of_data_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything runs."""
    assert run(["eval", "all", "--out", str(tmp_path / "out"), "--data", str(tmp_path / "absent")]) == 3
    assert "absent" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_ctrl_c_says_where_what_is_done_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 130, no traceback."""

    def stop(setting: object) -> Section:
        raise KeyboardInterrupt

    monkeypatch.setitem(
        report.everything.__kwdefaults__ or {}, "parts", [Part("one", "One", (), _one), Part("two", "Two", (), stop)]
    )
    assert run(["eval", "all", "--out", str(tmp_path)]) == 130
    assert "the same command goes on" in " ".join(capsys.readouterr().err.split())
    assert "not run yet" in (tmp_path / "report.html").read_text()
