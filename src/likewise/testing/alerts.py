"""Alerts beside the oracle over generated steps; `python -m likewise.testing.alerts` goes through a million of them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final, cast

from likewise.matching.alerts.engine import AlertEngine
from likewise.matching.engine import AlertKeys
from likewise.matching.plain.alerts.excuses import WHYS
from likewise.testing.contract import Pair
from likewise.testing.generators import Choice, SeededChoice
from likewise.testing.oracle import Setting

STEPS: Final = 60  # of one story
MOST: Final = 6  # alerts held at once
SAID_EVERY: Final = 1_000  # stories
KEYS: Final = ("a", "b", "room 1")  # values of `per`, some of which events have


class AlertPair(Pair):
    """An engine of alerts and the oracle, told also what no event says: outages, and whose silence counts."""

    @property
    def _both(self) -> tuple[AlertKeys, AlertKeys]:
        return cast("AlertKeys", self.engine), cast("AlertKeys", self.oracle)

    def _source(self, choice: Choice) -> str:
        """A source that an event came from, or another."""
        known = [event.source or "" for event in self.published[-8:]]
        return choice.pick([*known, "announced"])

    def outage(self, choice: Choice) -> None:
        """Nothing could be heard for a while, up to now or to some moment before."""
        self.now += 2
        by, until = choice.integer(1, 4), choice.pick((None, self.now, self.now - 1))
        for engine in self._both:
            engine.outage(by, until)

    def excuse(self, choice: Choice) -> None:
        """The silence of a source means nothing from now on, or counts again."""
        sources, why = [self._source(choice)], choice.pick(WHYS)
        again = choice.integer(0, 1) == 1
        for engine in self._both:
            (engine.end_excuse if again else engine.excuse)(sources, why, self.now)

    def expect(self, choice: Choice) -> None:
        """A source is announced to an alert, says so anew, or takes it back."""
        silent = [ordinal for ordinal, (s, _) in self.held.items() if s.alert is not None and s.alert.absent_for]
        if not silent:
            return
        ordinal, source, what = choice.pick(silent), self._source(choice), choice.integer(0, 3)
        alert = self.held[ordinal][0].alert
        assert alert is not None
        key = tuple(choice.pick(KEYS) for _ in alert.per) or (source,)
        for engine in self._both:
            if what < 2:
                engine.expect(ordinal, key, source, f"says {ordinal} {source}", self.now)
            elif what == 2:
                engine.rename(f"says {ordinal} {source}", f"says {ordinal} {source} anew")
            else:
                engine.unexpect(ordinal, key, f"says {ordinal} {source}")

    def rename_source(self, choice: Choice) -> None:
        """A source has another name from now on, that of another perhaps, or its name was several sources'."""
        before = self._source(choice)
        after = choice.pick((None, self._source(choice), f"renamed {before}"))
        if before != after:
            for engine in self._both:
                engine.rename_source(before, after)


def compare_alerts(seed: int, steps: int = STEPS, lateness: int = 0) -> int:
    """One story, told to the engine and to the oracle, step by step; raises `Difference`. How many steps it had.

    >>> compare_alerts(seed=1, steps=20)
    20
    """
    setting, choice = Setting(lateness=lateness), SeededChoice(seed)
    pair = AlertPair(lambda: AlertEngine(setting.measure, setting.threshold, lateness=lateness), None, setting)
    for _ in range(3):
        pair.add(choice)
    for _ in range(steps):
        what = choice.integer(0, 35)
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
        elif what == 30:
            pair.outage(choice)
        elif what in (31, 32):
            pair.excuse(choice)
        elif what == 33:
            pair.expect(choice)
        elif what == 34:
            pair.rename_source(choice)
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
