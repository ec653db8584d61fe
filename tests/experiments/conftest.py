"""Evaluations that run on Spark use the pipeline's small session."""

from __future__ import annotations

from tests.spark.conftest import spark

__all__ = ["spark"]
