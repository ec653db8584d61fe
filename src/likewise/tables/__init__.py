"""The columns of a table under common names and in common units: `likewise.columns` (docs/guides/tables.md)."""

from likewise.tables.assign import columns
from likewise.tables.report import ColumnReport, ColumnResult, ColumnSource

__all__ = ["ColumnReport", "ColumnResult", "ColumnSource", "columns"]
