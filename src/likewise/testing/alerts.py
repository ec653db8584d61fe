"""Alerts beside the oracle over generated steps; `python -m likewise.testing.alerts` goes through a million of them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from likewise.matching.alerts.engine import AlertEngine
from likewise.testing.contract import Pair
from likewise.testing.generators import SeededChoice
from likewise.testing.oracle import Setting

STEPS: Final = 60  # of one story
MOST: Final = 6  # alerts held at once
SAID_EVERY: Final = 1_000  # stories


def compare_alerts(seed: int, steps: int = STEPS, lateness: int = 0) -> int:
    """One story, told to the engine and to the oracle, step by step; raises `Difference`. How many steps it had.

    >>> compare_alerts(seed=1, steps=20)
    20
    """
    setting, choice = Setting(lateness=lateness), SeededChoice(seed)
    pair = Pair(lambda: AlertEngine(setting.measure, setting.threshold, lateness=lateness), None, setting)
    for _ in range(3):
        pair.add(choice)
    for _ in range(steps):
        what = choice.integer(0, 30)
        if what < 20:
            pair.match(choice)
        elif what < 24:
            pair.advance(choice)
        elif what < 27:
            pair.withdraw(choice)
        elif what == 27 and len(pair.held) < MOST:
            pair.add(choice)
        elif what == 28 and len(pair.held) > 1:
            pair.remove(choice)
        elif what == 29:
            pair.save_and_load()
        elif pair.held:
            pair.explain(choice)
    return steps


def main(steps: int, progress: Path) -> None:
    """Go through so many steps; it goes on where it stopped."""
    first = int(progress.read_text()) if progress.is_file() else 0
    begun = time.monotonic()
    for seed in range(first, -(-steps // STEPS)):
        try:
            compare_alerts(seed, STEPS, (0, 0, 3)[seed % 3])
        except BaseException:
            print(f"story {seed} differs: compare_alerts({seed}, {STEPS}, {(0, 0, 3)[seed % 3]})")
            raise
        if (seed + 1) % SAID_EVERY == 0:
            progress.parent.mkdir(parents=True, exist_ok=True)
            progress.write_text(str(seed + 1))
            print(f"{(seed + 1) * STEPS:,} steps of {steps:,} equal, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{steps:,} steps equal")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, Path("build/alerts-progress"))
