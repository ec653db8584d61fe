"""Compare alerts with the oracle over generated steps; `make alerts` runs a million of them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final, cast

import msgspec

from likewise.defaults import CLOCK_BEHIND, MAX_RETRACTABLE_EVENTS, UPLOAD_SLACK, UPLOAD_SPAN
from likewise.matching.alerts.engine import AlertEngine
from likewise.matching.engine import AlertingEngine
from likewise.matching.reference.alerts.outages import WHYS
from likewise.model import Event
from likewise.testing.contract import EnginePair, MakeEngine
from likewise.testing.generators import Choice, SeededChoice
from likewise.testing.oracle import Mismatch, OracleSettings

STEPS: Final = 60  # of one story
MOST: Final = 6  # alerts held at once
PRINT_EVERY: Final = 1_000  # stories
KEYS: Final = ("a", "b", "room 1")  # values of `per`, some of which events have


BEGIN: Final = 10 * CLOCK_BEHIND  # so that no clock falls back before 1970


class AlertEnginePair(EnginePair):
    """An engine of alerts and the oracle, told also what no event says: outages, and whose silence counts.

    Some sources have clocks that fell back by over a day, and upload what they kept; some alerts are valid for a while.
    """

    def __init__(self, make_engine: MakeEngine, setting: OracleSettings) -> None:
        super().__init__(make_engine, None, setting)
        self.now = BEGIN
        self._behind: dict[str | None, int] = {}  # by how much a source's clock is behind
        self._ends: dict[int, int] = {}

    def add(self, choice: Choice) -> None:
        """Add a random alert; some end by themselves."""
        before = set(self.held)
        super().add(choice)
        for ordinal in self.held.keys() - before:
            if choice.integer(0, 3) == 3:
                self._ends[ordinal] = self.now + choice.integer(1, 60)

    def end_validity(self) -> None:
        """Remove the alerts whose validity is over, as a matcher does before time moves on."""
        for ordinal in [each for each in self.held if self._ends.get(each, self.now + 1) <= self.now]:
            self.forget(ordinal)

    def draw_event(self, choice: Choice) -> tuple[Event, int]:
        """Draw a random event; its source's clock may be behind."""
        event, at = super().draw_event(choice)
        self.end_validity()
        if choice.integer(0, 15) == 0:
            self._behind[event.source] = choice.pick((0, CLOCK_BEHIND + 9, CLOCK_BEHIND, 2 * CLOCK_BEHIND))
        if by := self._behind.get(event.source, 0):
            received = at - choice.pick((0, 3, UPLOAD_SPAN)) if choice.integer(0, 3) == 3 else None
            event = msgspec.structs.replace(event, time=at - by, received=received)
            self.published[-1] = event
        return event, at

    def upload(self, choice: Choice) -> None:
        """Let a source upload stored events, or what looks like an upload."""
        source, spacing = self._source(choice), choice.pick((1, UPLOAD_SLACK, UPLOAD_SLACK + 1, 2 * UPLOAD_SLACK))
        first = self.now - 3 * CLOCK_BEHIND
        for place in range(choice.integer(1, 4)):
            event, at = super().draw_event(choice)
            event = msgspec.structs.replace(event, source=source or None, time=first + place * spacing)
            self.published[-1] = event
            self._compare(event, self.oracle.match(event, at), self.engine.match(event, at), "match")

    def repeat(self, choice: Choice) -> None:
        """Let an event come more often than a key remembers events, and withdraw the newest of them, or all."""
        event, _ = super().draw_event(choice)
        number = MAX_RETRACTABLE_EVENTS + choice.integer(-1, 3)
        again = [msgspec.structs.replace(event, id=f"{event.id} {n} of {len(self.published)}") for n in range(number)]
        for each in again:
            self.published.append(each)
            self._compare(each, self.oracle.match(each, self.now), self.engine.match(each, self.now), "match")
        for each in again[choice.integer(0, 4) :]:
            id = str(each.id)
            self._compare(None, self.oracle.withdraw(id), self.engine.withdraw(id), "withdraw")

    def wait(self, choice: Choice) -> None:
        """Let time pass until uploads are told from wrong clocks, or almost."""
        self.now += choice.pick((UPLOAD_SPAN, UPLOAD_SPAN - 1, UPLOAD_SPAN - 3))
        self.end_validity()
        self._compare(None, self.oracle.advance(self.now), self.engine.advance(self.now), "advance")

    def check_clocks(self) -> None:
        """Check that both name the same sources as having a wrong clock."""
        assert isinstance(self.engine, AlertEngine)
        expected, actual = self.oracle.alerts.clocks, self.engine.clocks
        if expected != actual:
            raise Mismatch(f"wrong clocks: expected {expected}, found {actual}")

    @property
    def _both(self) -> tuple[AlertingEngine, AlertingEngine]:
        return cast("AlertingEngine", self.engine), cast("AlertingEngine", self.oracle)

    def _source(self, choice: Choice) -> str:
        """Return a source that an event came from, or another."""
        known = [event.source or "" for event in self.published[-8:]]
        return choice.pick([*known, "announced"])

    def outage(self, choice: Choice) -> None:
        """Report an outage of the broker, up to now or to a moment before."""
        self.now += 2
        by, until = choice.integer(1, 4), choice.pick((None, self.now, self.now - 1))
        for engine in self._both:
            engine.outage(by, until)
            if until is None:
                engine.postpone_expiry(by)

    def unsend(self, choice: Choice) -> None:
        """The last alarm of a key turns out not to have been sent."""
        ordinal, source = choice.pick(sorted(self.held)), self._source(choice)
        for engine in self._both:
            engine.unsend(ordinal, (source,), "unsent")

    def suspend_absence(self, choice: Choice) -> None:
        """Suspend `absent for` for a source, or resume it."""
        sources, why = [self._source(choice)], choice.pick(WHYS)
        again = choice.integer(0, 1) == 1
        for engine in self._both:
            (engine.resume_absence if again else engine.suspend_absence)(sources, why, self.now)

    def expect(self, choice: Choice) -> None:
        """Announce a source to an alert, rename its announcement, or withdraw it."""
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
        """Rename a source, perhaps to another's name, or split a name that was several sources'."""
        before = self._source(choice)
        after = choice.pick((None, self._source(choice), f"renamed {before}"))
        if before != after:
            for engine in self._both:
                engine.rename_source(before, after)


def compare_alerts(seed: int, steps: int = STEPS, lateness: int = 0) -> int:
    """Run one random sequence of calls on the engine and the oracle; return its number of steps.

    >>> compare_alerts(seed=1, steps=20)
    20
    """
    setting, choice = OracleSettings(lateness=lateness), SeededChoice(seed)
    pair = AlertEnginePair(lambda: AlertEngine(setting.measure, setting.threshold, lateness=lateness), setting)
    for _ in range(3):
        pair.add(choice)
    for _ in range(steps):
        what = choice.integer(0, 39)
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
            if pair.held and choice.integer(0, 1):
                pair.unsend(choice)
        elif what in (31, 32):
            pair.suspend_absence(choice)
        elif what == 33:
            pair.expect(choice)
        elif what == 34:
            pair.rename_source(choice)
        elif what == 35:
            pair.upload(choice)
        elif what in (36, 37):
            pair.wait(choice)
        elif what == 38:
            pair.repeat(choice)
        elif pair.held:
            pair.explain(choice)
        pair.check_clocks()
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
        if (seed + 1) % PRINT_EVERY == 0:
            progress.parent.mkdir(parents=True, exist_ok=True)
            progress.write_text(str(seed + 1))
            print(f"{(seed + 1) * STEPS:,} steps of {steps:,} equal, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{steps:,} steps equal")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, Path("build/alerts-progress"))
