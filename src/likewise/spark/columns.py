"""`likewise.spark.columns`: the columns of a Spark data frame under requested names and in requested units.

A sample of rows decides which column is taken for which name, as `likewise.columns` does. The conversion is an
expression of Spark, so it runs where the data is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from likewise.matching.matcher import Matcher
from likewise.tables.assign import CONFIDENCE, decide
from likewise.tables.frames import as_table
from likewise.tables.report import ColumnReport, ColumnResult, ColumnSource
from likewise.tables.values import affine
from likewise.units import unit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SAMPLE_ROWS: Final = 1_000


def columns(
    df: DataFrame,
    request: object,
    *,
    overrides: Mapping[str, str | int | None] | None = None,
    confidence: float = CONFIDENCE,
    matcher: Matcher | None = None,
    sample_rows: int = SAMPLE_ROWS,
) -> ColumnResult:
    """Return the requested columns of a data frame, under the requested names and in the requested units.

    Text is converted as far as it is a number without a unit; other text becomes null.

    Args:
        df: The data frame; not a streaming one, unless `request` is a report that was made before.
        request: As in `likewise.columns`.
        overrides: As in `likewise.columns`.
        confidence: Probability below which a column is left out, in [0, 1].
        matcher: Matcher whose space, measure and feedback decide. Default: what ships with the package.
        sample_rows: Number of rows that decide.

    Returns:
        The new data frame and the report.

    Raises:
        InputError: The request or an override is impossible.
    """
    if isinstance(request, ColumnReport) and not overrides:
        report = request
    else:
        table = as_table(df.limit(sample_rows).toArrow())
        report = decide(table, request, overrides or {}, confidence, matcher)
    chosen = [each for each in report if each.column is not None]
    return ColumnResult(df.select(*(_expression(df, each) for each in chosen)), report)


def _expression(df: DataFrame, source: ColumnSource) -> Column:
    from pyspark.sql import functions as f

    column = df[f"`{str(source.column).replace('`', '``')}`"]
    requested = source.requested
    if requested.type == "time":
        column = f.to_timestamp(column)
    elif requested.type == "number":
        factor, offset = 1.0, 0.0
        if source.unit and requested.unit:
            factor, offset = affine(unit(source.unit), unit(requested.unit))
        column = f.expr("try_cast(`" + str(source.column).replace("`", "``") + "` AS double)") * factor + offset
    return column.alias(requested.name)
