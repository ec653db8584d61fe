"""Tools for tests, shipped to users: the contract of engines, and measures, engines and clocks in memory.

`likewise.testing.logs`, `gateway` and `targets`, which need the broker's extra, have its log, its door and a target in
memory.
"""

from likewise.testing.clocks import ManualClock
from likewise.testing.contract import (
    REGRESSIONS,
    ComparisonCounts,
    check_engine,
    check_regressions,
    compare_bulk,
    compare_interleavings,
    engine_machine,
)
from likewise.testing.oracle import Mismatch, OracleSettings
from likewise.testing.tables import TableEngine, TableMeasure

__all__ = [
    "REGRESSIONS",
    "ComparisonCounts",
    "ManualClock",
    "Mismatch",
    "OracleSettings",
    "TableEngine",
    "TableMeasure",
    "check_engine",
    "check_regressions",
    "compare_bulk",
    "compare_interleavings",
    "engine_machine",
]
