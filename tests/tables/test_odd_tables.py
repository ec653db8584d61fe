"""500 odd tables: whatever they contain, nothing is an error but a refusal, and nothing converted is wrong.

Each table has a temperature whose true values are known, written in some odd way, among columns that are traps. The
table may be a mapping, a frame of pandas or polars, or an Arrow table.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import likewise as lw
from likewise.errors import InputError
from likewise.tables import ColumnReport

TABLES = 500
Cell = Any
UNITS: dict[str, Callable[[float], float]] = {
    "°C": lambda t: t,
    "°F": lambda t: t * 9 / 5 + 32,
    "K": lambda t: t + 273.15,
}
HEADERS = ("Outdoor temperature", "outdoor_temperature", "OUTDOOR TEMPERATURE", "Temp_out", "outside temp", "T_out")
HOSTILE = (
    "",
    " ",
    "\n",
    "\x00",
    "<script>alert(1)</script>",
    "'; drop table x; --",
    "{temperature~ > 25 degC}",
    "temperature~ in degC as t",
    "../../etc/passwd",
    "=cmd|' /C calc'!A0",
    "\u202eerutarepmet",
    "t" * 20_000,
    "(" * 500,
    "[" * 300 + "]" * 300,
    "temperature [" + "°" * 2_000,
    "𝕋𝕖𝕞𝕡",
    "🌡",
    "null",
    "__proto__",
    "%s%n{0}",
    "None",
    "nan",
    "a\tb\tc",
    "1e309",
    "°",
    "_" * 999 + " 10 min" * 200,
)
TRAPS: tuple[Callable[[random.Random, int], tuple[str, list[Cell]]], ...] = (
    lambda r, n: (r.choice(HOSTILE), [r.random() for _ in range(n)]),
    lambda r, n: ("temperature sensor id", [f"T-{r.randint(1, 99)}" for _ in range(n)]),
    lambda r, n: ("timestamp", [datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=i) for i in range(n)]),
    lambda r, n: ("outdoor temperature alarm", [r.random() < 0.5 for _ in range(n)]),
    lambda r, n: ("Indoor temperature [°C]", [21.0 + r.random() for _ in range(n)]),
    lambda r, n: ("outdoor temperature set point (°C)", [20.0] * n),
    lambda r, n: ("outdoor humidity [%]", [r.uniform(20, 90) for _ in range(n)]),
    lambda r, n: (f"empty {r.randint(0, 999)}", [math.nan] * n),
    lambda r, n: (f"nothing {r.randint(0, 999)}", [None] * n),
    lambda r, n: (f"x{r.randint(0, 10**9)}", [r.choice(["", " ", "n/a", "-", "--", "nan"]) for _ in range(n)]),
    lambda r, n: ("note", [r.choice(["ok", "80 °F outside", "!", "\x00"]) for _ in range(n)]),
    lambda r, n: ("huge", [r.choice([1e308, -1e308, math.inf, -math.inf]) for _ in range(n)]),
)


def written(r: random.Random, truth: list[float | None]) -> tuple[str, list[Cell]]:
    """Return a header and cells that say these temperatures."""
    header, symbol = r.choice(HEADERS), r.choice(list(UNITS))
    shown = [None if t is None else round(UNITS[symbol](t), 4) for t in truth]
    form = r.choice(["numbers", "texts", "units", "two units", "decimal commas", "gaps", "decimals"])
    if form in ("units", "two units"):
        cells: list[Cell] = []
        for t in truth:
            each = r.choice(list(UNITS)) if form == "two units" else symbol
            cells.append(None if t is None else f"{round(UNITS[each](t), 4)} {each}")
        return header, cells
    header += r.choice([f" [{symbol}]", f" ({symbol})", f" {symbol}", f" - {symbol}"])
    if form == "texts":
        return header, [None if value is None else f" {value} " for value in shown]
    if form == "decimal commas":
        return header, [None if value is None else f"{value:.4f}".replace(".", ",") for value in shown]
    if form == "gaps":
        return header, [r.choice(["n/a", "-", None, ""]) if value is None else str(value) for value in shown]
    return header, [math.nan if value is None and form == "numbers" else value for value in shown]


def as_kind(kind: str, headers: list[str], columns: list[list[Cell]]) -> Any:
    """Return the table in one of the types; duplicates of a header have no place in a mapping and in polars."""
    if kind == "pandas":
        frame = pd.DataFrame(dict(enumerate(columns)))
        frame.columns = pd.Index(headers)
        return frame
    if kind == "arrow":
        return pa.Table.from_arrays([pa.array(cells, from_pandas=True) for cells in columns], names=headers)
    table = dict(zip(headers, columns, strict=True))
    return pl.DataFrame(table, strict=False) if kind == "polars" else table


def values_of(table: Any, name: str) -> list[float]:
    """Return a column of any table as numbers, NaN for missing ones."""
    column = table[name]
    listed = column.to_pylist() if isinstance(table, pa.Table) else list(column)
    return [math.nan if value is None else float(value) for value in listed]


@pytest.mark.parametrize("seed", range(0, TABLES, 25))
def test_an_odd_table_is_converted_rightly_or_left_to_a_person(seed: int, tmp_path: Path) -> None:
    """Also as its own saved report, printed, and as HTML."""
    taken = 0
    for number in range(seed, seed + 25):
        r = random.Random(number)
        rows = r.choice([1, 2, 3, 30, 300])
        truth = [None if rows > 2 and r.random() < 0.2 else r.uniform(-15, 38) for _ in range(rows)]
        if all(t is None for t in truth):
            truth[0] = 10.0
        columns = [written(r, truth)]
        columns += [r.choice(TRAPS)(r, rows) for _ in range(r.choice([0, 1, 3, 8, 30]))]
        r.shuffle(columns)
        kind = r.choice(["mapping", "pandas", "polars", "arrow"])
        if kind in ("mapping", "polars"):
            columns = list(dict(columns).items())
        headers, cells = [header for header, _ in columns], [values for _, values in columns]
        table = as_kind(kind, headers, cells)
        request = {"t": "outdoor temperature in degC", "note": "note"}
        result = lw.columns(table, request)
        source = result.report["t"]
        assert len(result.report) == 2
        if source.column is None:
            assert source.note, number
        else:
            taken += 1
            found = values_of(result.table, "t")
            expected = [math.nan if t is None else t for t in truth]
            assert np.allclose(found, expected, atol=2e-3, equal_nan=True), (number, source, found[:5], expected[:5])
            result.report.save(tmp_path / "report.json")
            again = lw.columns(table, ColumnReport.load(tmp_path / "report.json"))
            assert np.array_equal(values_of(again.table, "t"), found, equal_nan=True)
        assert "<script>" not in result.report._repr_html_()
        assert str(result.report)
    assert taken >= 18  # the others are uncertain on purpose: two such columns, or nothing that states the unit


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_the_same_header_twice_is_left_to_a_person(kind: str) -> None:
    """Whatever the values; a position settles it."""
    table = as_kind(kind, ["T_out [°C]", "T_out [°C]", "x"], [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])
    result = lw.columns(table, {"t": "outdoor temperature in degC"})
    assert result.report["t"].column is None
    assert "equally well" in result.report["t"].note
    settled = lw.columns(table, {"t": "outdoor temperature in degC"}, overrides={"t": 1})
    assert values_of(settled.table, "t") == [3.0, 4.0]
    with pytest.raises(InputError, match="by position"):
        lw.columns(table, {"t": "outdoor temperature in degC"}, overrides={"t": "T_out [°C]"})


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "arrow"])
def test_ten_thousand_columns_are_judged(kind: str) -> None:
    """The right one among them."""
    headers = [f"channel {number}" for number in range(10_000)]
    headers[7_777] = "outdoor temperature [°F]"
    table = as_kind(kind, headers, [[50.0, 59.0]] * len(headers))
    result = lw.columns(table, {"t": "outdoor temperature in degC"})
    assert result.report["t"].index == 7_777
    assert values_of(result.table, "t") == pytest.approx([10.0, 15.0])


@pytest.mark.parametrize("header", HOSTILE)
def test_a_hostile_header_is_a_header(header: str) -> None:
    """As the request, too, it is refused or parsed, never run."""
    result = lw.columns({header: [1.0, 2.0], "T_out [°C]": [3.0, 4.0]}, {"t": "outdoor temperature in degC"})
    assert result.report["t"].column == "T_out [°C]"
    chosen = lw.columns({header: [50.0]}, {"t": "temperature in degC"}, overrides={"t": 0})
    assert values_of(chosen.table, "t") == [50.0]
    with contextlib.suppress(InputError):
        lw.columns({"x": [1.0]}, {"t": header})
