"""Tables and requests in files, and the command `likewise columns`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from likewise.cli.main import app
from likewise.errors import InputError
from likewise.tables.files import read_request, read_table, write_table

CSV = (
    "Date & Time,Temp - °F,Inside Temp - °F,Wind Speed - mph\n2026-01-05 10:00,50,68,10\n2026-01-05 10:05,51.8,68,--\n"
)
TOML = (
    '[columns]\nt_out = "outdoor temperature in degC"\n'
    't_in = "indoor temperature in degC"\nwind = "wind speed in m/s"\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table and a request."""
    (tmp_path / "station.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "wanted.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


def test_a_table_is_read_whatever_separates_its_fields(tmp_path: Path) -> None:
    """Commas, semicolons, tabs, compressed, Parquet."""
    names = {"a.csv": "x,y\n1,2\n", "b.csv": "x;y\n1;2\n", "c.tsv": "x\ty\n1\t2\n"}
    for name, text in names.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"x,y\n1,2\n"))
    write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "e.parquet")
    for name in (*names, "d.csv.gz", "e.parquet"):
        assert read_table(tmp_path / name).to_pydict() == {"x": [1], "y": [2]}


def test_what_is_no_table_is_refused_by_name(tmp_path: Path) -> None:
    """A missing file, an unknown name, damage."""
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    (tmp_path / "bad.csv").write_bytes(b"a,b\n1\n1,2,3\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    for name in ("none.csv", "table.xlsx", "bad.parquet", "bad.csv", "empty.csv"):
        with pytest.raises(InputError, match=name.replace(".", r"\.")):
            read_table(tmp_path / name)
    with pytest.raises(InputError, match="written to a file"):
        write_table(pa.table({"x": [1]}), tmp_path / "out.xlsx")


@pytest.mark.parametrize("text", ["", "columns = 3", "[columns]\n[other]\n", "[columns", "[overrides]\na = 1\n"])
def test_a_request_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    """With the file's name."""
    (tmp_path / "wanted.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"wanted\.toml"):
        read_request(tmp_path / "wanted.toml")


def test_the_command_writes_the_table_and_the_report(folder: Path) -> None:
    """And the report is a request for the next table."""
    call = ["columns", str(folder / "station.csv"), "--to", str(folder / "wanted.toml")]
    done = CliRunner().invoke(
        app, [*call, "--out", str(folder / "tidy.csv"), "--report", str(folder / "r.json"), "--json"]
    )
    assert done.exit_code == 0, done.output
    assert [each["column"] for each in json.loads(done.stdout)["columns"]] == [
        "Temp - °F",
        "Inside Temp - °F",
        "Wind Speed - mph",
    ]
    assert read_table(folder / "tidy.csv").to_pydict()["t_out"] == pytest.approx([10.0, 11.0])
    again = CliRunner().invoke(app, ["columns", str(folder / "station.csv"), "--to", str(folder / "r.json")])
    assert again.exit_code == 0, again.output


def test_the_command_says_by_its_exit_code_that_a_column_is_missing(folder: Path) -> None:
    """A script can rely on it."""
    (folder / "wanted.toml").write_text('[columns]\nco2 = "carbon dioxide in ppm"\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["columns", str(folder / "station.csv"), "--to", str(folder / "wanted.toml")])
    assert done.exit_code == 1
    assert "no column is near enough" in done.output


def test_a_review_asks_for_what_is_missing(folder: Path) -> None:
    """By number; an empty answer leaves it out."""
    (folder / "wanted.toml").write_text('[columns]\nco2 = "carbon dioxide in ppm"\n', encoding="utf-8")
    call = ["columns", str(folder / "station.csv"), "--to", str(folder / "wanted.toml"), "--review", "--json"]
    chosen = CliRunner().invoke(app, call, input="4\n")
    assert chosen.exit_code == 0, chosen.output
    assert '"index":3' in chosen.stdout.replace(" ", "")
    assert CliRunner().invoke(app, call, input="\n").exit_code == 1
