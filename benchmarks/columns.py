"""How long `likewise.columns` takes beside the same conversions written by hand in pandas.

    python -m benchmarks.columns --json
    likewise bench columns --rows 100000

A weather table of ten columns: a time, eight numbers in other units than the requested ones, and a name. By hand, each
column is renamed and converted by its formula. Both ways take turns in one run; their tables are compared. CPU seconds,
medians of several rounds, and their ratio (target: 2). The exit code is 1 if the tables differ.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

import likewise as lw

ROUNDS = 7
TARGET = 2.0
REQUEST = {
    "time": "date",
    "t_out": "outdoor temperature in degC",
    "t_in": "indoor temperature in degC",
    "humidity": "outdoor humidity in %",
    "wind": "wind speed in m/s",
    "pressure": "air pressure in hPa",
    "rain": "rain in mm",
    "power": "power in kW",
    "energy": "energy in kWh",
    "station": "station",
}


def weather(rows: int) -> pd.DataFrame:
    """Return a table of readings as weather stations write them; one value in a hundred is missing."""
    random = np.random.default_rng(7)
    table = pd.DataFrame(
        {
            "Date": pd.date_range("2026-01-01", periods=rows, freq="min"),
            "Outdoor Temp (°F)": random.normal(55, 8, rows),
            "Indoor Temp (°F)": random.normal(70, 2, rows),
            "Outdoor Humidity (%)": random.uniform(30, 95, rows),
            "Wind Speed (mph)": random.gamma(2, 3, rows),
            "Air Pressure (inHg)": random.normal(29.9, 0.2, rows),
            "Rain (in)": random.exponential(0.01, rows),
            "Power (W)": random.uniform(100, 4_000, rows),
            "Energy (MJ)": random.uniform(1, 90, rows),
            "Station": pd.Series(random.choice(["north", "south", "harbour"], rows), dtype=object),
        }
    )
    for header in table.columns[1:-1]:
        table.loc[random.random(rows) < 0.01, header] = np.nan
    return table


def by_hand(table: pd.DataFrame) -> pd.DataFrame:
    """Return the requested columns by formulas."""
    return pd.DataFrame(
        {
            "time": table["Date"],
            "t_out": (table["Outdoor Temp (°F)"] - 32) / 1.8,
            "t_in": (table["Indoor Temp (°F)"] - 32) / 1.8,
            "humidity": table["Outdoor Humidity (%)"],
            "wind": table["Wind Speed (mph)"] * 0.44704,
            "pressure": table["Air Pressure (inHg)"] * 33.8638866667,
            "rain": table["Rain (in)"] * 25.4,
            "power": table["Power (W)"] / 1_000,
            "energy": table["Energy (MJ)"] / 3.6,
            "station": table["Station"],
        }
    )


def timed(action: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def compare(rows: int) -> dict[str, float | bool | int]:
    """Return the CPU seconds of both ways, their ratio, and whether their tables agree."""
    table = weather(rows)
    matcher = lw.Matcher()
    ours = lw.columns(table, REQUEST, matcher=matcher)  # the first call loads the space
    expected = by_hand(table)
    agree = list(ours.table.columns) == list(expected.columns) and all(
        np.allclose(ours.table[name], expected[name], rtol=1e-5, equal_nan=True)
        if expected[name].dtype.kind == "f"
        else bool(ours.table[name].equals(expected[name]))
        for name in expected
    )
    taken, formulas = [], []
    for _ in range(ROUNDS):
        taken.append(timed(lambda: lw.columns(table, REQUEST, matcher=matcher)))
        formulas.append(timed(lambda: by_hand(table)))
    columns_s, by_hand_s = statistics.median(taken), statistics.median(formulas)
    return {
        "rows": rows,
        "columns_s": round(columns_s, 4),
        "by_hand_s": round(by_hand_s, 4),
        "ratio": round(columns_s / max(by_hand_s, 1e-9), 2),
        "target": TARGET,
        "agree": agree,
    }


def main() -> None:
    """Compare both ways and print the figures."""
    asking = argparse.ArgumentParser(description="Columns by meaning beside conversions by hand.")
    asking.add_argument("--rows", type=int, default=1_000_000)
    asking.add_argument("--json", action="store_true", help="print JSON")
    asked = asking.parse_args()
    found = compare(asked.rows)
    if asked.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:10} {value}" for name, value in found.items()))
    sys.exit(not found["agree"])


if __name__ == "__main__":
    main()
