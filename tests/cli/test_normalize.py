"""`likewise normalize`: the file of common names, and options that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from likewise.cli.main import run
from likewise.matching.common_names.table import default_text, read_common_names


def test_init_writes_the_names_to_edit_and_overwrites_nothing(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    assert run(["normalize", "init", str(file)]) == 0
    assert file.read_text("utf-8") == default_text()
    file.write_text("name,means\nmine,temperature\n", "utf-8")
    assert run(["normalize", "init", str(file)]) != 0
    assert [row.name for row in read_common_names(file.read_text("utf-8")).rows] == ["mine"]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--to", "mqtt://localhost/norm/{name}"],
        ["--to", "mqtt://localhost/n/{source}/{name}", "--format", "xml"],
        ["--to", "mqtt://localhost/n/{source}/{name}", "--names", "missing.csv"],
        ["--to", "mqtt://localhost/n/{source}/{name}", "--confidence", "2"],
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_starts(options: list[str], tmp_path: Path) -> None:
    assert run(["normalize", "--data", str(tmp_path / "data"), *options]) != 0
    assert not (tmp_path / "data").exists()
