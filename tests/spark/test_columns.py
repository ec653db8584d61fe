"""`likewise.spark.columns`: the same columns as `likewise.columns`, converted by Spark."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import likewise as lw
from likewise.errors import InputError
from likewise.spark import columns

FRAME = pd.DataFrame(
    {
        "Date & Time": ["2026-01-05 10:00:00", "2026-01-05 10:05:00", None],
        "Temp - °F": [50.0, 59.0, None],
        "Inside Temp - °F": ["68", "68.5", "--"],
        "a `b`": [1, 2, 3],
    }
)
REQUEST = {"t_out": "outdoor temperature in degC", "t_in": "indoor temperature in degC", "co2": "carbon dioxide in ppm"}


def test_spark_gives_the_columns_that_pandas_gives(spark: SparkSession) -> None:
    """Values, names, report; text that is no number is null."""
    here = lw.columns(FRAME, REQUEST)
    there = columns(spark.createDataFrame(FRAME), REQUEST)
    rows = there.table.toPandas()
    assert list(rows.columns) == list(here.table.columns) == ["t_out", "t_in"]
    for name in rows:
        assert rows[name].tolist() == pytest.approx(here.table[name].tolist(), nan_ok=True)
    assert there.report == here.report


def test_a_report_decides_without_looking_at_the_data(spark: SparkSession) -> None:
    """And an override takes a column whatever its header."""
    df = spark.createDataFrame(FRAME)
    report = columns(df, REQUEST).report
    assert columns(df, report).table.columns == ["t_out", "t_in"]
    taken = columns(df, {"x": "carbon dioxide"}, overrides={"x": "a `b`"}).table.toPandas()
    assert taken["x"].tolist() == [1, 2, 3]
    with pytest.raises(InputError):
        columns(df, {})
