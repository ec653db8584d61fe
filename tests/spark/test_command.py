"""The promise of `likewise space build` as a whole: documents in, a space and a summary out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from likewise.cli.main import run
from likewise.semantics.spaces.files import SpaceFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_folder_of_text_becomes_a_space(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The summary comes as JSON or as a table, and the options reach the space."""
    (tmp_path / "texts").mkdir()
    for name, text in [("a", "cats and dogs"), ("b", "a dog"), ("c", "")]:
        (tmp_path / "texts" / f"{name}.txt").write_text(text)
    arguments = ["space", "build", str(tmp_path / "texts"), "--out", str(tmp_path / "s"), "--minimum-df", "2"]
    assert run([*arguments, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["read"], summary["kept"], summary["left_out"]) == (3, 2, {"too short": 1})
    files = SpaceFiles(tmp_path / "s")
    assert (files.terms(), files.titles(), files.manifest.name) == (["dog"], ["a", "b"], "s")
    counts = ["--word-counts", str(tmp_path / "words.tsv")]
    assert run([*arguments, "--overwrite", "--stemmer", "none", "--minimum-df", "1", *counts]) == 0
    assert (tmp_path / "words.tsv").read_text() == "a\t1\nand\t1\ncats\t1\ndog\t1\ndogs\t1\n"
    assert "1 too short" in capsys.readouterr().out
    assert SpaceFiles(tmp_path / "s").terms() == ["cats", "dog", "dogs"]
