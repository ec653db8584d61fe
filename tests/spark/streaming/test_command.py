"""Promises of `likewise stream run`: what it prints, and that it goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from likewise.cli.main import run
from likewise.lake.plain_commits import PlainCommits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


def test_a_folder_is_matched_once_and_what_comes_later_the_next_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line a batch with --json, a summary without; relative folders are understood."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in/a.jsonl").write_text('{"t": 30}\n{"t": 3}\nno event\n')
    assert run(["stream", "subscriptions", "add", "log", "warm: {t > 25}"]) == 0
    stream = [
        "stream",
        "run",
        "--from",
        "files:in",
        "--to",
        "parquet:lake",
        "-s",
        "log",
        "--checkpoint",
        "state",
        "--once",
    ]
    capsys.readouterr()
    assert run([*stream, "--json", "--bad", "bad", "--metrics", "metrics.prom"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["counts"] == {"events": 2, "matched": 1, "matches": 1, "bad": 1, "said": 0}
    assert 'likewise_stream_events_total{tenant="default"} 2' in Path("metrics.prom").read_text()
    assert len(list(Path("bad").iterdir())) == 1
    Path("in/b.jsonl").write_text('{"t": 40}\n')
    assert run(stream) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("1 events in 1 batches: 1 met something, 1 matches, 0 bad;")
    assert "batch 1: 1 events" in shown.err
    assert sum(part.rows for part in PlainCommits(tmp_path / "lake").parts("matches")) == 2
    assert run(stream) == 0
    assert capsys.readouterr().out.startswith("0 events in 0 batches")


def test_a_wrong_word_is_said_before_spark_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is that of bad input."""
    said = [
        "stream",
        "run",
        "--from",
        f"files:{tmp_path}",
        "--to",
        "lake",
        "-s",
        "log",
        "--checkpoint",
        str(tmp_path / "c"),
    ]
    assert run(said) == 2
    assert "parquet:DIR, delta:DIR or kafka:" in capsys.readouterr().err
