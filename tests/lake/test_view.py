"""Promises of a lake's view: tuples as columns, in the unit that is asked for; what readers of files see beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.cli.main import run
from likewise.errors import ArtefactMissing, InputError
from likewise.formats.arrow.event_batch import EventBatch
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.parts import lake_schema, write_part
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.view import view

EVENTS: dict[str, list[dict[str, Any]]] = {
    "2024-05-01": [
        {"temperature": {"value": 81.5, "unit": "degF"}, "city": "Galway", "open": True},
        {"Temperature": {"value": 3, "unit": "degC"}, "n": 7},
        {"temperature": "warm"},
    ],
    "2024-05-02": [{"temperature": {"value": 4, "unit": "kg"}, "city": "Cork"}, {"temperature": [1, 2], "n": 8}],
}


def filled(folder: Path, kind: Any = PlainCommits) -> Path:
    """A lake of two days, and of another tenant."""
    lake = kind(folder)
    for batch, tenant in enumerate(("plant", "other/1")):
        parts = []
        for day, said in EVENTS.items():
            events = [lw.event(each, id=f"{day[-1]}{n}", time=f"{day}T12:00:00Z") for n, each in enumerate(said)]
            rows = EventBatch.from_events(events).to_arrow(dictionary=False).replace_schema_metadata(None)
            table = pa.Table.from_batches([rows], lake_schema("events"))
            parts.append(write_part(folder, "events", table, f"q-{batch}", tenant, day))
        lake.commit("q", batch, parts)
    return folder


@pytest.mark.parametrize("kind", [PlainCommits, DeltaCommits])
def test_tuples_become_columns_in_the_unit_that_is_asked_for(kind: Any, tmp_path: Path) -> None:
    """What has another kind of unit, or is no number, is null; of several readings the first counts."""
    if kind is DeltaCommits:
        pytest.importorskip("deltalake")
    found = view(filled(tmp_path, kind), ["temperature in degC", "city as town", "n"], tenant="plant")
    assert found.column_names == ["id", "source", "time", "tenant", "day", "temperature", "town", "n"]
    assert [found.schema.field(name).type for name in ("temperature", "town", "n")] == [
        pa.float64(),
        pa.string(),
        pa.int64(),
    ]
    rows = {row["id"]: (row["temperature"], row["town"], row["n"]) for row in found.to_pylist()}
    assert rows == {
        "10": (27.5, "Galway", None),
        "11": (3.0, None, 7),
        "12": (None, None, None),
        "20": (None, "Cork", None),
        "21": (None, None, 8),
    }
    listed = view(tmp_path, ["temperature[] in degC as t"], tenant="plant", first_day="2024-05-02")
    assert listed.column("t").to_pylist() == [None, 1.0]


def test_without_columns_there_is_one_for_each_attribute(tmp_path: Path) -> None:
    """The most frequent first; values of several kinds are text; days and tenants are chosen by folders."""
    found = view(filled(tmp_path), last_day="2024-05-01")
    assert found.column_names[5:] == ["temperature", "city", "open", "n"]
    assert found.column("temperature").to_pylist()[:3] == ["81.5", "3", "warm"]
    assert found.column("open").to_pylist()[0] is True
    assert set(found.column("tenant").to_pylist()) == {"plant", "other/1"}
    assert view(tmp_path, ["city"], tenant="nobody").num_rows == 0


def test_what_cannot_be_shown_is_said(tmp_path: Path) -> None:
    """A lake that is none, a unit that is none, two columns of one name."""
    with pytest.raises(ArtefactMissing):
        view(tmp_path)
    filled(tmp_path)
    with pytest.raises(InputError, match="blorps"):
        view(tmp_path, ["t in blorps"])
    with pytest.raises(InputError, match="two columns would be called 'city'"):
        view(tmp_path, ["city", "town as city"])


def test_the_command_shows_and_writes_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a table, as JSON, as Parquet and as CSV."""
    filled(tmp_path / "lake")
    said = ["stream", "view", str(tmp_path / "lake"), "-c", "temperature in degC", "-c", "city", "--tenant", "plant"]
    assert run([*said, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 5
    assert run(said) == 0
    assert "27.5" in capsys.readouterr().out
    for name in ("found.parquet", "found.csv"):
        assert run([*said, "--out", str(tmp_path / name)]) == 0
    assert pq.read_table(tmp_path / "found.parquet").num_rows == 5
    assert len((tmp_path / "found.csv").read_text().splitlines()) == 6
    assert run([*said, "--out", str(tmp_path / "found.xlsx")]) != 0


def test_duckdb_and_pandas_see_what_the_view_says(tmp_path: Path) -> None:
    """By the table, and by the files, whose folders are columns."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pandas")
    readings = view(filled(tmp_path), ["temperature in degC", "city"], tenant="plant")
    assert readings.to_pandas().temperature.max() == 27.5
    assert duckdb.sql("SELECT max(temperature) FROM readings WHERE city = 'Galway'").fetchall() == [(27.5,)]
    files = duckdb.sql(
        "SELECT tenant, count(*), max(list_filter(tuples, lambda t: t.attribute = 'temperature')[1].number) "
        f"FROM read_parquet('{tmp_path}/events/*/*/*.parquet', hive_partitioning = true) GROUP BY tenant ORDER BY 1"
    ).fetchall()
    assert files == [("other/1", 5, 81.5), ("plant", 5, 81.5)]
