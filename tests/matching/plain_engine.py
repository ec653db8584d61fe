"""The oracle with subscriptions in it, for tests."""

from __future__ import annotations

from typing import Any

from likewise.language import parse
from likewise.matching.oracle.engine import OracleEngine
from likewise.testing import TableMeasure

WORDS = TableMeasure({("laptop", "computer"): 0.81, ("device", "machine"): 0.49, ("temperature", "temp"): 0.64})


def engine_with(*texts: str, measure: Any = None, **options: Any) -> OracleEngine:
    """Subscriptions in the language, numbered from 0, with the ids s0, s1, ..."""
    engine = OracleEngine(measure, **options)
    for ordinal, text in enumerate(texts):
        engine.add(ordinal, parse(text, id=f"s{ordinal}"), 0)
    return engine
