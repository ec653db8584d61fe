"""Promises of the guide on lakes: what it shows in Python runs, on DuckDB, pandas and Spark."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lake.test_view import filled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "lake.md"
pytestmark = pytest.mark.timeout(900)


def test_the_guides_code_reads_a_lake(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One block after the other, in a folder with a lake."""
    pytest.importorskip("duckdb")
    filled(tmp_path / "lake")
    monkeypatch.chdir(tmp_path)
    sql = spark.read

    class Here:
        """The session of the tests, which knows its folder."""

        def __getattr__(self, name: str) -> Any:
            return self if name == "read" else getattr(spark, name)

        def parquet(self, path: str) -> Any:
            return sql.parquet(str(tmp_path / path))

    monkeypatch.setattr("likewise.spark.session.spark_session", lambda master: contextlib.nullcontext(Here()))
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    seen: dict[str, Any] = {}
    for block in blocks:
        exec(block, seen)
    printed = capfd.readouterr().out
    assert "27.5" in printed
    assert "81.5" in printed
