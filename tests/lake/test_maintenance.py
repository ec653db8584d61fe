"""Promises of a lake's upkeep: the same rows in fewer files, days that are over gone, nothing half done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likewise.cli.main import run
from likewise.errors import ArtefactDamaged, ArtefactMissing, Conflict
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.maintenance import compact, expire, open_lake
from likewise.lake.parts import DAY, LakePart, day_text, lake_schema, write_part
from likewise.lake.plain_commits import EMPTY_CHECKPOINT, PlainCommits

KINDS = [PlainCommits, DeltaCommits]


def filled(kind: Any, folder: Path, batches: int = 3) -> Any:
    """A lake with a part of each of two days a batch."""
    if kind is DeltaCommits:
        pytest.importorskip("deltalake")
    lake = kind(folder)
    for batch in range(batches):
        parts = []
        for day in (10, 20):
            row = dict.fromkeys(lake_schema("matches").names) | {"query": "q", "batch": batch, "offset": day}
            table = pa.Table.from_pylist([row], schema=lake_schema("matches"))
            parts.append(write_part(folder, "matches", table, f"q-{batch}", "plant", day_text(day)))
        assert lake.commit("q", batch, parts)
        assert not lake.commit("q", batch, parts)
    return lake


def rows(lake: Any) -> list[tuple[int, int]]:
    tables = [pq.read_table(lake.folder / part.path, partitioning=None) for part in lake.parts("matches")]
    return sorted((row["batch"], row["offset"]) for table in tables for row in table.to_pylist())


@pytest.mark.parametrize("kind", KINDS)
def test_compaction_keeps_every_row_in_one_file_a_day(kind: Any, tmp_path: Path) -> None:
    """And doing it again changes nothing; batches that were committed stay so."""
    lake = filled(kind, tmp_path)
    before = rows(lake)
    assert len(before) == 6
    report = compact(tmp_path)
    assert (report.before, report.after) == (6, 2)
    assert rows(kind(tmp_path)) == before
    assert compact(tmp_path).after == 2
    assert lake.committed("q", 2)
    assert not kind(tmp_path).commit("q", 2, [])


def test_commits_are_folded_and_batches_stay_committed(tmp_path: Path) -> None:
    """One file in place of many; those that a fold which died left behind no longer count."""
    lake = filled(PlainCommits, tmp_path)
    left = {path: path.read_bytes() for path in (tmp_path / "_commits").iterdir()}
    before = rows(lake)
    compact(tmp_path)
    assert [path.name for path in (tmp_path / "_commits").iterdir()] == ["base-0000000000.json"]
    for path, data in left.items():
        path.write_bytes(data)
    assert rows(lake) == before
    assert all(lake.committed("q", batch) for batch in range(3))
    assert not lake.committed("q", 3)
    assert not lake.committed("other", 0)
    assert lake.commit("q", 3, [])
    assert not lake.commit("q", 2, [])
    assert lake.replace_parts([], ["nothing"])
    assert lake.checkpoint() > 0
    assert rows(lake) == before
    assert lake.committed("q", 3)


@pytest.mark.parametrize("kind", KINDS)
def test_days_that_are_over_go_and_others_stay(kind: Any, tmp_path: Path) -> None:
    """A day that ended too short a time ago stays."""
    filled(kind, tmp_path)
    assert expire(tmp_path, 5 * DAY, 15 * DAY).after == 6
    assert expire(tmp_path, 4 * DAY, 15 * DAY).after == 3
    assert {offset for _, offset in rows(kind(tmp_path))} == {20}


def test_after_compaction_the_files_that_are_there_are_those_that_count(tmp_path: Path) -> None:
    """Also where an earlier one died: before its commit, or before it removed files."""
    lake = filled(PlainCommits, tmp_path)
    left = tmp_path / "matches" / "tenant=plant" / f"day={day_text(10)}" / "together-left.parquet"
    left.write_bytes(b"")
    os.utime(left, (0, 0))
    files = {path: (tmp_path / path).read_bytes() for path in [part.path for part in lake.parts()]}
    compact(tmp_path)
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    compact(tmp_path)
    there = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.parquet")}
    assert there == {part.path for part in lake.parts()}


def test_two_at_once_change_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is told, and leaves no file behind."""
    lake = filled(PlainCommits, tmp_path)
    before = rows(lake)
    monkeypatch.setattr(PlainCommits, "replace_parts", lambda *rest: False)
    with pytest.raises(Conflict, match="try again"):
        compact(tmp_path)
    assert rows(lake) == before
    assert not list(tmp_path.rglob("together-*"))


def test_a_folder_without_a_lake_and_a_damaged_commit_are_refused(tmp_path: Path) -> None:
    """With words."""
    with pytest.raises(ArtefactMissing, match="there is no lake"):
        open_lake(tmp_path)
    filled(PlainCommits, tmp_path, 1)
    (next((tmp_path / "_commits").iterdir())).write_bytes(b"{")
    with pytest.raises(ArtefactDamaged, match="restore a copy"):
        compact(tmp_path)


def test_the_commands_say_how_many_files_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before and after."""
    filled(PlainCommits, tmp_path)
    assert run(["stream", "compact", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "6 files before, 2 now.\n"
    assert run(["stream", "expire", str(tmp_path), "--older", "90 d", "--json"]) == 0
    assert capsys.readouterr().out == '{"before":2,"after":0}\n'


def test_a_lake_is_read_whole_while_it_is_written_and_folded(tmp_path: Path) -> None:
    """Whoever looks sees every batch that was committed before; two that tidy at once cannot both."""
    import threading

    lake = PlainCommits(tmp_path)
    done = [0]

    def write() -> None:
        for batch in range(120):
            assert PlainCommits(tmp_path).commit("q", batch, [LakePart("matches", f"matches/{batch}.parquet", 1, 1)])
            done[0] = batch + 1

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        known = done[0]
        assert len(lake.parts()) >= known
        lake.checkpoint()
        assert all(lake.committed("q", batch) for batch in range(known))
    writer.join(60)
    lake.checkpoint()
    assert (len(lake.parts()), done[0]) == (120, 120)
    number = lake._checkpoint().tidied + 1
    assert lake.replace_parts([], ["matches/0.parquet"])
    lake.checkpoint()
    late = PlainCommits(tmp_path)
    late._files = lambda: []  # type: ignore[method-assign]  # what it saw before the other one was folded
    real, looked = PlainCommits._checkpoint, [0]

    def base(files: Any = None) -> Any:
        looked[0] += 1
        return EMPTY_CHECKPOINT if looked[0] == 1 and number == 0 else real(lake)

    late._checkpoint = base  # type: ignore[method-assign]
    assert not late.replace_parts([LakePart("matches", "matches/new.parquet", 1, 1)], ["matches/1.parquet"])
    assert len(lake.parts()) == 119
