"""The retention clock: the time by which stored things expire, while the machine's clock may be wrong.

A step of the clock that has stood for a minute is believed: events arrive by it. But a wrong clock may stand for
longer, and a machine may start with one; what is removed by such a clock is gone. So each believed step, and each start
after a time that the broker cannot account for, ends an *epoch* of the log: what was stored before it goes on to age by
the time in which the broker ran, `behind` the clock by the sum of the steps since.

For an hour after a step (`REVIEW_PERIOD_S`, counted while the broker runs) nothing that was stored before is removed
that would stay without the step, if more than half of a tenant's events would go; MQTT sessions, leases, retained
messages and the like wait in any case. After the hour, and at once where less would go, what everybody has read follows
the clock. What is unread ages by running time until it is over by that, until the clock comes back to where it was, or
until an operator accepts the clock (`likewise admin clock accept`).
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog

from likewise.api.operations import ClockStatus
from likewise.broker.clock import PLAUSIBLE_STEP_US, BelievedClock, shown_step

FILE: Final = "clock"
REVIEW_PERIOD_S: Final = 3_600.0  # of running time
SAVE_SECONDS: Final = 5.0  # between two notes of the time; a restart knows it as exactly
MOST_EPOCHS: Final = 16  # a clock that steps more often joins the oldest
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
TimeOf = Callable[[int], int]  # the time by which what is at a position of the log is over
_log = structlog.get_logger("likewise.clock")


class ClockEpoch(msgspec.Struct, frozen=True, gc=False):
    """A position of the log, and by how many µs entries up to it are behind the clock; negative: ahead of it."""

    upto: int
    behind: int


class DelayedRange(NamedTuple):
    """A range of positions, and by how many µs its expiry is delayed."""

    after: int
    upto: int
    behind: int


class _ClockRecord(msgspec.Struct, frozen=True):
    """The file: the time by both clocks, and the machine's boot id."""

    boot: str
    steady: float
    time: int
    epochs: tuple[ClockEpoch, ...] = ()
    hold: float = 0.0
    doubtful: bool | None = None


class RetentionTimes:
    """The time by which an entry of the log expires, by its position; a snapshot.

    >>> times = RetentionTimes(100, (ClockEpoch(7, 60), ClockEpoch(9, -5)))
    >>> times(3), times(7), times(8), times(10)
    (40, 40, 100, 100)
    """

    __slots__ = ("_bounds", "_epochs", "now")

    def __init__(self, now: int, epochs: tuple[ClockEpoch, ...] = ()) -> None:
        self.now = now
        self._epochs = epochs
        self._bounds = [epoch.upto for epoch in epochs]

    def __call__(self, position: int) -> int:
        """Return the time for an entry at a position."""
        if not self._epochs:
            return self.now
        place = bisect_left(self._bounds, position)
        return self.now if place == len(self._epochs) else self.now - max(0, self._epochs[place].behind)

    @property
    def oldest(self) -> int:
        """Return the earliest of these times."""
        return self.now - max((0, *(epoch.behind for epoch in self._epochs)))

    def spans(self, first: int = 0) -> list[DelayedRange]:
        """Return the ranges of positions whose expiry is delayed."""
        ranges, after = [], first - 1
        for epoch in self._epochs:
            if epoch.upto > after:
                if epoch.behind > 0:
                    ranges.append(DelayedRange(after, epoch.upto, epoch.behind))
                after = epoch.upto
        return ranges


class RetentionClock:
    """Returns the times by which things expire, and remembers steps of the clock over restarts. Thread-safe."""

    def __init__(self, clock: BelievedClock, position: Callable[[], int], data: Path | None, boot: str) -> None:
        """Go by a clock.

        Args:
            clock: whose steps count; its `on_step` is taken.
            position: gives the last position of the log.
            data: the broker's folder, None for one in memory.
            boot: names this run of the machine, in which `clock.elapsed` goes on; empty if that is not known.
        """
        self.doubtful: bool | None = None  # more than half of a tenant's events would go; None: that is not known yet
        self.delayed_events = 0  # events that are over by the clock and stay
        self._clock = clock
        self._position = position
        self._path = None if data is None else data / FILE
        self._boot = boot
        self._epochs: tuple[ClockEpoch, ...] = ()
        self._hold_until = clock.elapsed()
        self._saved = clock.elapsed()
        self._lock = threading.Lock()
        self._saving = threading.Lock()  # held while the record is written; the clock is never asked under it
        self._steps = 0
        self.changed: Callable[[], None] = lambda: None  # told after a step, and when the clock is accepted
        clock.on_step = self._stepped

    def start(self, last: int) -> None:
        """Compare the clock with the time that the broker knew last, in the record or of its last commit (µs)."""
        record = self._read()
        now, elapsed = self._clock(), self._clock.elapsed()
        passed = 0.0
        if record is not None:
            self._epochs, self._hold_until = record.epochs, elapsed + min(record.hold, REVIEW_PERIOD_S)
            self.doubtful = record.doubtful
            if self._boot and record.boot == self._boot and elapsed >= record.steady:
                passed = elapsed - record.steady
            last = record.time
        step = now - last - int(passed * 1e6)
        if last > 0 and abs(step) > PLAUSIBLE_STEP_US:
            _log.warning(
                "start_after_unknown_time",
                step=shown_step(step),
            )
            self._stepped(step, now)
        self.save()

    # -- asking ---------------------------------------------------------------------------------

    @property
    def hold_left(self) -> float:
        """Return the seconds of running time until everything but unread deliveries follows the clock."""
        return max(0.0, self._hold_until - self._clock.elapsed()) if self.behind else 0.0

    @property
    def behind(self) -> int:
        """Return by how many µs the oldest epoch is behind the clock; 0 if none is."""
        return max((0, *(epoch.behind for epoch in self._epochs)))

    @property
    def offset(self) -> int:
        """By how many µs the clock is ahead of the time that the broker can account for; negative: behind it."""
        latest = max((epoch.behind for epoch in self._epochs), default=0)
        return latest if abs(latest) > PLAUSIBLE_STEP_US else self.behind

    def times(self) -> RetentionTimes:
        """Return the times by which unread deliveries expire now."""
        now = self._clock()  # first: it may find a step, which changes the epochs
        return RetentionTimes(now, self._epochs)

    def __call__(self) -> int:
        """Return the time by which things without a position expire: the clock, an hour after a step."""
        now = self._clock()
        return now - self.behind if self.hold_left else now

    @property
    def removes_nothing(self) -> bool:
        """Return whether nothing is removed by the clock, read or not."""
        return self.doubtful is not False and self.hold_left > 0

    def trouble(self) -> str | None:
        """Say what is kept although the clock says it is over, and what to do; None if nothing is."""
        if self.offset < 0:
            return (
                f"the clock is {shown_step(-self.offset)[1:]} behind the time this broker can account for; nothing is "
                "removed by it: set the clock right, or if it is right say `likewise admin clock accept`"
            )
        if not self.behind or not (self.delayed_events or self.removes_nothing):
            return None
        left = self.hold_left
        until = (
            f"nothing of that is removed for {left / 60:.0f} min" if self.removes_nothing else "what is unread stays"
        )
        return (
            f"the clock is {shown_step(self.behind)} ahead of the time this broker can account for; "
            f"{self.delayed_events} events from before are over by it, and {until}: set the clock right, or if it is "
            "right say `likewise admin clock accept`"
        )

    def status(self) -> ClockStatus:
        """Return the state as values."""
        return ClockStatus(
            self._clock(),
            self.offset / 1e6,
            self.hold_left,
            self.delayed_events,
            self.removes_nothing,
            self._clock.doubt or self.trouble() or "",
        )

    # -- changing -------------------------------------------------------------------------------

    def _stepped(self, by: int, now: int) -> None:
        """Begin an epoch, durably: what arrives by the new time is stored only after the step is.

        Otherwise a kill before the next note would take those events into the epoch before the step.
        """
        with self._lock, self._saving:
            self._steps += 1
            moved = [ClockEpoch(each.upto, each.behind + by) for each in self._epochs]
            upto = self._position()
            if upto and (not moved or moved[-1].upto < upto):
                moved.append(ClockEpoch(upto, by))
            while len(moved) > MOST_EPOCHS:
                first, second, *rest = moved
                moved = [ClockEpoch(second.upto, max(first.behind, second.behind)), *rest]
            while moved and abs(moved[-1].behind) <= PLAUSIBLE_STEP_US:
                moved.pop()  # the clock came back; further down such an epoch stays: it bounds the next one
            self._epochs = tuple(moved)
            self._hold_until = self._clock.elapsed() + (REVIEW_PERIOD_S if self.behind else 0.0)
            self.doubtful, self.delayed_events = None, 0
            try:
                self._write(now)
            except OSError as error:  # the clock goes on; the next note tries again
                _log.warning("clock_record_not_saved", error=str(error))
        if self.behind:
            _log.warning(
                "removal_delayed_by_clock_step",
                step=shown_step(by),
                behind=shown_step(self.behind),
                seconds=REVIEW_PERIOD_S,
            )
        elif self.offset < 0:
            _log.warning("clock_behind_stored_events", step=shown_step(by))
        self.changed()

    def accept(self) -> bool:
        """Take the clock for right from now on, durably; whether there was anything to accept."""
        doubted = self._clock.accept()
        with self._lock:
            accepted = bool(self._epochs) or doubted
            self._epochs, self.delayed_events = (), 0
            self._hold_until = self._clock.elapsed()
        self.save()
        if accepted:
            _log.warning("clock_accepted")
            self.changed()
        return accepted

    @property
    def has_epochs(self) -> bool:
        """Return whether something was stored by another time than the clock's."""
        return bool(self._epochs)

    def forget(self, settled: Callable[[DelayedRange], bool]) -> None:
        """Forget the oldest epochs of which nothing is left that will ever be over."""
        if self.hold_left:
            return
        with self._lock:
            after = 0
            while self._epochs and settled(DelayedRange(after, self._epochs[0].upto, self._epochs[0].behind)):
                after = self._epochs[0].upto
                self._epochs = self._epochs[1:]

    # -- keeping --------------------------------------------------------------------------------

    def note(self) -> None:
        """Note the time from time to time, so that a restart knows how much of it passed."""
        if self._clock.elapsed() - self._saved >= SAVE_SECONDS or self._clock.elapsed() < self._saved:
            self.save()

    def save(self) -> None:
        """Bring what is known to disk, whole or not at all."""
        while True:
            steps = self._steps
            now = self._clock()
            with self._saving:
                if steps == self._steps:  # else the time may be that before a step, and the epochs those after it
                    self._write(now)
                    return

    def _write(self, now: int) -> None:
        """Write the record with a time that goes with the epochs; the caller holds `_saving`."""
        if self._path is None or not self._path.parent.is_dir():
            return
        self._saved = self._clock.elapsed()
        record = _ClockRecord(self._boot, self._clock.elapsed(), now, self._epochs, self.hold_left, self.doubtful)
        building = self._path.with_suffix(".new")
        with building.open("wb") as file:
            file.write(msgspec.json.encode(record))
            file.flush()
            os.fsync(file.fileno())
        os.replace(building, self._path)

    def _read(self) -> _ClockRecord | None:
        if self._path is None or not self._path.is_file():
            return None
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_ClockRecord)
        except msgspec.MsgspecError as error:
            _log.warning("clock_record_unreadable", error=str(error))
            return None


def boot_id() -> str:
    """Name this run of the machine; empty where it has no name."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""
