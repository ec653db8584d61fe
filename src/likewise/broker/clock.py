"""The broker's clock: it does not believe a sudden step of the machine's clock at once.

Events say when they expire by the clock on the wall, so that is the clock to go by. But a clock may be set wrong for a
moment, and what is over is removed for good. So the wall clock is held against one that nobody can set. A step that
is not plausible is in doubt until it has stood for a while. Meanwhile nothing is over that either clock holds valid,
and what begins to be kept is kept by the later one. A step that stands is believed, ahead or back; `on_step` is told,
so that nothing is removed on the word of a clock that may still be wrong (`retention_policy`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final, NamedTuple

import structlog

PLAUSIBLE_STEP_US: Final = 60 * 1_000_000  # µs by which the wall clock may step and be believed at once
BELIEVE_AFTER_S: Final = 60.0  # after which any other step is believed
_log = structlog.get_logger("likewise.clock")


_BOOT: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def steady_clock() -> float:
    """Return seconds that nobody can set, time asleep included where the machine counts it."""
    return time.clock_gettime(_BOOT)


class _Doubt(NamedTuple):
    """A step that is not believed yet: by how much, and since when on the steady clock."""

    step: int
    since: float


class BelievedClock:
    """Returns the time in µs UTC. Without a steady clock every step of the wall clock is believed.

    >>> wall, steady = [100_000_000], [0.0]
    >>> judged = BelievedClock(lambda: wall[0], lambda: steady[0])
    >>> wall[0] += 3_600_000_000  # an hour at once
    >>> from structlog.testing import capture_logs
    >>> with capture_logs() as said:
    ...     print(judged(), judged.latest())
    ...     steady[0] += 60  # it stands
    ...     print(judged(), said[-1]["event"])
    100000000 3700000000
    3700000000 clock_step_believed
    """

    def __init__(
        self,
        wall: Callable[[], int],
        steady: Callable[[], float] | None = None,
        *,
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        """Judge a clock.

        Args:
            wall: the clock that can be set, in µs UTC.
            steady: seconds that nobody can set; a step beside them is in doubt for `BELIEVE_AFTER_S`.
            elapsed: the same without a doubt: a step beside them is believed at once, and told to `on_step`.
        """
        self.steps = 0  # that were not plausible
        self.on_step: Callable[[int, int], None] = lambda by, now: (
            None
        )  # told of a step (µs) right before it is believed
        self._wall = wall
        self._steady = steady
        self.elapsed = steady or elapsed or time.monotonic
        self._compared = steady is not None or elapsed is not None
        self._believed = (wall(), self.elapsed())  # and when that was
        self._doubt: _Doubt | None = None
        self._lock = threading.Lock()

    def __call__(self) -> int:
        """Return the time by which things expire and events arrive: while a step is in doubt, the earlier one."""
        return min(self._look())

    def latest(self) -> int:
        """Return the time from which retention counts: while a step is in doubt, the later one."""
        return max(self._look())

    @property
    def doubt(self) -> str | None:
        """Describe the step that is in doubt; None if there is none."""
        doubt = self._doubt
        return None if doubt is None else f"the clock stepped by {shown_step(doubt.step)}, which is not believed yet"

    def _look(self) -> tuple[int, int]:
        """Return the believed time, and the wall clock's."""
        wall = self._wall()
        if not self._compared:
            return wall, wall
        steady, (then, at) = self.elapsed(), self._believed
        if self._doubt is None and abs(wall - then - int((steady - at) * 1e6)) <= PLAUSIBLE_STEP_US:
            self._believed = wall, steady  # nearly always, and whoever writes last: all of these go together
            return wall, wall
        if self._steady is None:
            return self._follow()
        with self._lock:
            wall, steady = self._wall(), self._steady()
            then, at = self._believed
            expected, before = then + int((steady - at) * 1e6), self._doubt
            believed, doubt = self._evaluate(wall, expected, steady)
            if doubt is None and abs(wall - expected) > PLAUSIBLE_STEP_US:
                self.on_step(wall - expected, wall)
            self._believed, self._doubt = (believed, steady), doubt
        if doubt is not None and (before is None or doubt.since != before.since):
            self.steps += 1
            _log.warning(
                "clock_step_in_doubt",
                step=shown_step(doubt.step),
                seconds=BELIEVE_AFTER_S,
            )
        elif doubt is None and before is not None:
            stood = abs(wall - expected) > PLAUSIBLE_STEP_US
            _log.warning(
                "clock_step_believed" if stood else "clock_step_reverted",
                step=shown_step(before.step),
            )
        return believed, wall

    def _follow(self) -> tuple[int, int]:
        """Believe a step at once, as of a clock that is not compared with a steady one, but report it."""
        with self._lock:
            for _ in range(3):  # the two clocks are not read in one moment: a step shows in every reading
                wall, steady = self._wall(), self.elapsed()
                then, at = self._believed
                step = wall - then - int((steady - at) * 1e6)
                if abs(step) <= PLAUSIBLE_STEP_US:
                    break
            else:
                self.steps += 1
                self.on_step(step, wall)
                _log.warning("clock_stepped", step=shown_step(step))
            self._believed = wall, steady
        return wall, wall

    def accept(self) -> bool:
        """Believe a step that is in doubt now; whether there was one."""
        with self._lock:
            doubted, self._doubt = self._doubt is not None, None
            self._believed = self._wall(), self.elapsed()
        return doubted

    def _evaluate(self, wall: int, expected: int, steady: float) -> tuple[int, _Doubt | None]:
        """Return the time to believe, and the step that is then in doubt."""
        step, doubt = wall - expected, self._doubt
        if abs(step) <= PLAUSIBLE_STEP_US:
            return wall, None
        if doubt is None or abs(step - doubt.step) > PLAUSIBLE_STEP_US:
            return expected, _Doubt(step, steady)
        return (wall, None) if steady - doubt.since >= BELIEVE_AFTER_S else (expected, doubt)


def shown_step(step: int) -> str:
    """Show a step with its sign.

    >>> shown_step(-3_600_000_000)
    '-1:00:00'
    """
    sign = "-" if step < 0 else "+"
    return f"{sign}{timedelta(seconds=abs(step) // 1_000_000)}"
