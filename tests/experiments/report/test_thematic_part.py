"""The thematic experiment in the report, and what an earlier run left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from likewise_experiments.report import thematic_part
from likewise_experiments.report.sections import Figures, Table
from likewise_experiments.report.setting import Choices, Setting
from likewise_experiments.report.thematic_part import thematic
from likewise_experiments.thematic import experiment as thematic_experiment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = {"cells": "2x2x2", "events": 40, "subscriptions": 6}


def test_the_experiment_runs_without_data_and_is_taken_up_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WordNet makes the load, the section says it is circular; a folder of another grid is shown as it is."""
    monkeypatch.setattr(thematic_part, "QUICK", SMALL)
    section = thematic(Setting(Choices(quick=True), tmp_path))
    assert "circular" in str(section.blocks[0])
    assert "--cells 2x2x2 --events 40 --subscriptions 6" in section.command
    tables = [block for block in section.blocks if isinstance(block, Table)]
    assert [row[0] for row in tables[0].rows][:2] == ["baseline, no themes", "cells above it"]
    maps = next(block for block in section.blocks if isinstance(block, Figures))
    assert len(maps.figures) == 3  # the throughput of one sample has no error
    assert "combine" in section.facts["thematic load, F1"]
    assert {path.name for path in tmp_path.glob("*.png")} == {"f1.png", "f1-error.png", "throughput.png"}

    report = msgspec.json.decode((tmp_path / "report.json").read_bytes(), type=thematic_experiment.Report)
    marked = msgspec.structs.replace(report, grid_seconds=123_456.0)
    (tmp_path / "report.json").write_bytes(msgspec.json.encode(marked))
    made = msgspec.json.decode((tmp_path / "choices.json").read_bytes(), type=thematic_experiment.Choices)
    paper = msgspec.structs.replace(made, events=14_743, subscriptions=94)
    (tmp_path / "choices.json").write_bytes(msgspec.json.encode(paper))
    assert "123,456 s" in str(thematic(Setting(Choices(), tmp_path)).blocks[0])


def without_speeds(report: thematic_experiment.Report) -> thematic_experiment.Report:
    """A report without the throughput of measures, which is timed at each run."""
    timeless = tuple(msgspec.structs.replace(row, events_per_s=0.0) for row in report.measures)
    return msgspec.structs.replace(report, measures=timeless)


def test_a_finished_experiment_draws_its_figures_again_without_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command on the same folder: no sub-experiment and no cell is run again."""
    choices = thematic_experiment.Choices("wordnet", **SMALL)  # type: ignore[arg-type]
    first = thematic_experiment.experiment(choices, tmp_path)
    (tmp_path / "f1.png").unlink()

    def no_spark(master: str | None = None) -> None:
        raise AssertionError("nothing was lacking")

    monkeypatch.setattr("likewise.spark.session.spark_session", no_spark)
    monkeypatch.setattr("likewise_experiments.thematic.throughput.cold_throughput", no_spark)
    again = thematic_experiment.experiment(choices, tmp_path)
    assert without_speeds(again) == without_speeds(first)
    assert (tmp_path / "f1.png").is_file()
