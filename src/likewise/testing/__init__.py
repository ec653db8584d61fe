"""What tests need, shipped to users: the contract of engines, measures and clocks held in memory.

`likewise.testing.growing` compares every engine with the reference while the vocabulary grows (`make growing`).
`likewise.testing.logs`, `doors` and `targets`, which need the broker's extra, have its log, its door and a target in
memory.
"""

from likewise.testing.bulk import Compared, compare_bulk, compare_interleavings
from likewise.testing.clocks import ManualClock
from likewise.testing.contract import check_engine, engine_machine
from likewise.testing.engines import TableEngine
from likewise.testing.measures import TableMeasure
from likewise.testing.oracle import Difference, Setting
from likewise.testing.regressions import REGRESSIONS, check_regressions

__all__ = [
    "REGRESSIONS",
    "Compared",
    "Difference",
    "ManualClock",
    "Setting",
    "TableEngine",
    "TableMeasure",
    "check_engine",
    "check_regressions",
    "compare_bulk",
    "compare_interleavings",
    "engine_machine",
]
