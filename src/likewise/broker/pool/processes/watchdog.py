"""Whether a worker that owes an answer is still at it.

One that has died is seen by its socket. One that was stopped, or sleeps over its work, would be waited for without
end: its process says so where there is `/proc`. One that is ready to run, and is not let by a busy machine, is well;
one that runs and runs, and answers nothing, is not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

STOPPED: Final = 2.0  # seconds for which a process may be stopped, as a debugger or `kill -STOP` does
ASLEEP: Final = 20.0  # ... and may sleep without having used the processor, though it was asked something
PATIENCE: Final = 300.0  # seconds of the processor that an answer may take; of the clock, where those are not seen
LOOK: Final = 0.5  # seconds between two looks
TICKS: Final = os.sysconf("SC_CLK_TCK")


class Pulse:
    """What was seen of a process last."""

    def __init__(self, pid: int) -> None:
        self._stat = Path(f"/proc/{pid}/stat")
        self._looked = float("-inf")
        self._since = float("-inf")  # when it was first seen as it is now
        self._seen = ("", 0)
        self._heard, self._ran = float("-inf"), 0  # when it last answered, and how long it had run by then

    def hangs(self, now: float, heard: float, *, asked: bool) -> bool:
        """Whether it will not answer: to be called now and then while it owes something.

        `heard` is when it last answered anything, or was started; `asked`, if it could know that it owes something.
        """
        if now - self._looked < LOOK:
            return False
        rested = now - self._looked > 4 * LOOK  # nobody looked, since it owed nothing
        self._looked = now
        seen = _state(self._stat)
        if seen is None:
            return now - heard > PATIENCE
        if rested or heard != self._heard:
            self._heard, self._ran = heard, seen[1]
        if seen[1] - self._ran > PATIENCE * TICKS:
            return True
        if rested or seen != self._seen or seen[0] == "R":
            self._since, self._seen = now, seen
            return False
        held = now - self._since
        return held > STOPPED if seen[0] in "Tt" else asked and held > ASLEEP


def _state(stat: Path) -> tuple[str, int] | None:
    """The state of a process and how long it has run; None where that is not to be seen."""
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[11]) + int(fields[12])
