"""One small Spark session for all tests of the pipeline."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session of one core, tuned to start fast; it is shared, so it is never stopped by a test."""
    pytest.importorskip("pyspark")
    from likewise.errors import MissingDependency
    from likewise.spark.session import spark_session

    settings = {
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with spark_session("local[1]", memory="512m", settings=settings) as session:
                yield session
        except MissingDependency as missing:
            pytest.skip(str(missing))
