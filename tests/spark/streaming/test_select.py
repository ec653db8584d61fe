"""Promises of `select` on Spark: what `Matcher.selected` says, in DataFrames, lakes and topics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.cli.main import run
from likewise.errors import InputError
from likewise.formats.json.events import event_from_json
from likewise.lake.change_log import ChangeLog
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.view import selected
from likewise.spark import match
from likewise.spark.stream import Stream, StreamSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


def reading(value: float, unit: str = "degC") -> dict[str, Any]:
    return {"value": value, "unit": unit}


WANTED = [
    "warm: {temperature~ > 25 degC} select (temperature~ in degC as t, @source as device, @score)",
    "plain: {temperature > 25 degC}",
    "city: {city exists} select (city, city in kg as odd, @payload as all, @time, @id)",
]
EVENTS: list[dict[str, Any]] = [
    {"v": 1, "id": "e0", "source": "roof", "time": 3_000_000, "payload": {"temperature": reading(81.5, "degF")}},
    {"v": 1, "id": "e1", "source": "hall", "payload": {"air temperature": reading(30), "city": "Cork"}},
    {"v": 1, "id": "e2", "source": "hall", "payload": {"temperature": 26, "city": "Galway", "tags": ["a", "b"]}},
    {"v": 1, "id": "e3", "payload": {"temperature": reading(1)}},
]


def subscriptions() -> list[lw.Subscription]:
    named = (each.partition(": ") for each in WANTED)
    return [lw.parse(text, id=name) for name, _, text in named]


def expected(source: str | None = None) -> dict[tuple[str, int], dict[str, Any]]:
    """What a Matcher says, by event and number; `source` is that of events that name none."""
    matcher = lw.Matcher()
    matcher.add_many(subscriptions())
    numbers = {s.id: number for number, s in enumerate(subscriptions())}
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for each in EVENTS:
        event = event_from_json(json.dumps({"source": source} | each if source else each))
        for met in matcher.match(event, at=0):
            if subscriptions()[numbers[met.subscription_id]].select:
                said = matcher.selected(event, met.subscription_id, 0, score=met.score)
                made = {"values": said.values, "notes": said.notes, "units": said.units}
                found[each["id"], numbers[met.subscription_id]] = json.loads(json.dumps(made))
    return found


def whole(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return {"values": {}, "notes": {}, "units": {}} | found


def test_a_matcher_selects_what_these_tests_are_about() -> None:
    """Something in its unit, something by its meaning, something that is null with a note."""
    found = expected()
    assert found["e0", 0]["values"] == {"t": 27.5, "device": "roof", "score": 1.0}
    assert found["e1", 0]["values"]["t"] == 30.0
    assert found["e2", 2]["notes"]["odd"]
    assert ("e3", 0) not in found


def test_a_dataframe_has_what_is_selected_beside_each_number(spark: SparkSession) -> None:
    """With matches and with all; null where a subscription selects nothing."""
    frame = spark.createDataFrame([(json.dumps(each),) for each in EVENTS], "value string")
    rows = match(frame, subscriptions(), at=0).collect()
    found = {
        (row.event_id, number): whole(text)
        for row in rows
        for number, text in zip(row.subscriptions, row.selected, strict=True)
        if text is not None
    }
    assert found == expected()
    assert any(1 in row.subscriptions for row in rows)
    every = match(frame, subscriptions(), keep="all", at=0).collect()
    assert [row.selected for row in every if row.subscriptions] == [row.selected for row in rows]
    assert every[3].selected == []
    nothing = match(frame, ["{city exists}"]).collect()
    assert [row.selected for row in nothing] == [[None], [None]]


@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_a_lake_has_what_is_selected_and_gives_its_columns(
    spark: SparkSession, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row a match, equal to what a Matcher says; the view has the columns with their types."""
    if kind == "delta":
        pytest.importorskip("deltalake")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in EVENTS))
    ChangeLog(tmp_path / "log").add(subscriptions(), at=0)

    settings = StreamSettings(f"files:{tmp_path / 'in'}", f"{kind}:{tmp_path / 'lake'}", str(tmp_path / "log"))
    stream = Stream(settings, tmp_path / "state")
    list(stream.run(spark))
    lake = (PlainCommits if kind == "parquet" else DeltaCommits)(tmp_path / "lake")
    paths = [tmp_path / "lake" / part.path for part in lake.parts("selected")]
    rows = [row for path in paths for row in pq.read_table(path, partitioning=None).to_pylist()]
    found = {
        (row["event_id"], row["subscription"]): {
            "values": json.loads(row["selected"]),
            "notes": json.loads(row["notes"] or "{}"),
            "units": json.loads(row["units"] or "{}"),
        }
        for row in rows
    }
    assert found == expected("a.jsonl")
    assert {row["offset"] for row in rows if row["event_id"] == "e0"} == {0}
    table = selected(tmp_path / "lake", "warm")
    assert table.column_names == ["event_id", "time", "t", "device", "score"]
    assert sorted(zip(*(table.column(name).to_pylist() for name in ("event_id", "t")), strict=True))[0] == ("e0", 27.5)
    assert str(table.schema.field("t").type) == "double"
    with pytest.raises(InputError, match=r"no subscription 'cold' .* city, plain, warm"):
        selected(tmp_path / "lake", "cold")
    assert run(["stream", "view", str(tmp_path / "lake"), "--selected", "warm", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {(row["event_id"], row["device"]) for row in shown} >= {("e0", "roof"), ("e1", "hall")}
    assert run(["stream", "compact", str(tmp_path / "lake")]) == 0
    assert selected(tmp_path / "lake", "warm").sort_by("event_id") == table.sort_by("event_id")
